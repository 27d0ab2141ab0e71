"""The operations on managed requirements."""

# Implements: REQ-d00089
