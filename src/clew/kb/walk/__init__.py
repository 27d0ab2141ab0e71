"""Documents, sections and entities as a graph."""

# Implements: REQ-d00181
