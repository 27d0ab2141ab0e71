"""Extras of the program req: preparing a clone and its clients, and the check before a commit."""

# Implements: REQ-d00171
