"""The few spans of a text that answer a question."""
