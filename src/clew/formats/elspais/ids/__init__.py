"""Ids of requirements and assertions: their grammar, templates, labels and levels."""

# Implements: REQ-d00008
