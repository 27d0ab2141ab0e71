"""The embedded engine: one SQLite file inside the project."""

# Implements: REQ-d00005
