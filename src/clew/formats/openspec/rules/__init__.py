"""The rules that specs and changes are held to."""

# Implements: REQ-d00073
