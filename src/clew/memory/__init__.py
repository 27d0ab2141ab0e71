"""What agents and people learned, tied to what it is about."""

# Implements: REQ-o00041
