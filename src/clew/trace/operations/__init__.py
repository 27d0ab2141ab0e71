"""The operations on requirements."""

# Implements: REQ-d00013
