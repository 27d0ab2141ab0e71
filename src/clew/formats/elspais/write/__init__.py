"""Editing requirements as text: whatever is not named keeps every byte."""

# Implements: REQ-d00048
