"""Changing requirements in their files at once."""
