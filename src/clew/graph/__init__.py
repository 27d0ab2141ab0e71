"""Nodes and edges: the model, the regions, recorded changes."""
