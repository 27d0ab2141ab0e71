"""Cognition: figures about the memory, and its upkeep, all computed from what was stored, asked and changed."""
