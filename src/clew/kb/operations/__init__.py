"""The operations on documents and their graph."""

# Implements: REQ-d00245
