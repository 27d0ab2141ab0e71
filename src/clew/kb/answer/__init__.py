"""Answers from documents: search results, quotes, excerpts, and the texts they point to."""

# Implements: REQ-d00186
