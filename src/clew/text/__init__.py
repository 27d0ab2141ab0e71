"""Pure functions on text."""

# Implements: REQ-d00263
