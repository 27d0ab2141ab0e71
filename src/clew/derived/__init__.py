"""Derived data: files that can be deleted and made again from their sources."""

# Implements: REQ-d00035
