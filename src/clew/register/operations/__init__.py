"""The operations on managed requirements."""
