"""Texts to vectors: what an embedder is, and opening the one that is configured."""

# Implements: REQ-d00031
