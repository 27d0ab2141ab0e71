"""The embedded engine: one SQLite file inside the project."""
