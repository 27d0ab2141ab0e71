"""Nodes and edges: the model, the regions, recorded changes."""

# Implements: REQ-o00001
