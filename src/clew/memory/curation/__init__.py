"""Keeping memories in order: forgetting, restoring, merging, and finding what is wrong."""
