"""The text behind a draft: how each mutation edits requirements and comments."""

# Implements: REQ-d00048
