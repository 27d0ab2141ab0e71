"""Texts to vectors: embedders, and opening the configured one."""

# Implements: REQ-d00031
