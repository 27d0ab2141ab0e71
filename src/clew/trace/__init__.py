"""Requirements: the trace graph as a service."""

# Implements: REQ-d00013
