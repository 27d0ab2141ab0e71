"""Search by words, on FTS5."""

# Implements: REQ-d00031
