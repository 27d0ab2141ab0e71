"""File formats: bytes in, records with spans out."""

# Implements: REQ-d00264
