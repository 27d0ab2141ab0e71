"""How strongly two texts belong together: by words, by meaning, by where they stand."""

# Implements: REQ-d00055
