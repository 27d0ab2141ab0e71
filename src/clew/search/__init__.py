"""One retrieval engine for all parts."""

# Implements: REQ-o00010
