"""Effects of a change on specs: applying it, its conflicts, its order among other changes."""

# Implements: REQ-d00074
