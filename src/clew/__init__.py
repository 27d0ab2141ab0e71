"""Clew: one thread through everything a project knows."""

# Implements: REQ-d00015

__version__ = "0.1.0"
