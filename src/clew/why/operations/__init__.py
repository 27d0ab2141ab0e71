"""The operations that need several services."""

# Implements: REQ-d00360
