"""Clew: one thread through everything a project knows."""

__version__ = "0.1.0"
