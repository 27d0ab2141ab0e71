"""Specs and changes: questions about them, their rules, and archiving without losing what others wrote."""

# Implements: REQ-d00076
