"""The language server: requirements where they are cited, in an editor."""

# Implements: REQ-d00522
