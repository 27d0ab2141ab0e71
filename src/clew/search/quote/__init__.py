"""The few spans of a text that answer a question."""

# Implements: REQ-d00186
