"""The stateful cursor of elspais."""

# Implements: REQ-d00063
