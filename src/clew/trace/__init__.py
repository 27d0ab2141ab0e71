"""Requirements: the trace graph as a service."""
