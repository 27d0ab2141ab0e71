"""The operations on specs and changes: tools, and commands."""
