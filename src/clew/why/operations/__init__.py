"""The operations that need several services."""
