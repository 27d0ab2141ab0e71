"""Drafts: planning mutations, keeping them, saving them to files, taking them back."""

# Implements: REQ-d00045
