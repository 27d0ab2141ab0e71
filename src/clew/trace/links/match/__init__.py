"""The similarity of two texts: by words, by meaning, by their surroundings."""

# Implements: REQ-d00055
