"""File formats: bytes in, records with spans out."""
