"""Changing requirements in their files at once."""

# Implements: REQ-d00051
