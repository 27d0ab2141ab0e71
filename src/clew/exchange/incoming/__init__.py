"""Formats that are only read."""
