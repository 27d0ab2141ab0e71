"""How good and how fast retrieval is on a collection with known answers."""

# Implements: REQ-d00036
