"""Quality and speed of retrieval on a collection with known answers."""

# Implements: REQ-d00036
