"""What agents and people learned, tied to what it is about."""
