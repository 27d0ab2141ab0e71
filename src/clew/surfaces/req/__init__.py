"""Surfaces of the program req: its server for agents, its pages in a browser and its menu on a terminal."""

# Implements: REQ-d00171
