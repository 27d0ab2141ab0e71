"""The toolset cognition."""
