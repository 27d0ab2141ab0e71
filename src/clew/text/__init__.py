"""Pure functions on text."""
