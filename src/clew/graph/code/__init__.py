"""Functions, classes and imports of source files as a stored region of the graph."""

# Implements: REQ-d00363
