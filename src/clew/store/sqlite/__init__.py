"""The embedded engine: one SQLite file inside the project."""

from clew.store.sqlite.engine import SqliteStore, open_sqlite

__all__ = ["SqliteStore", "open_sqlite"]
