"""A file of SQLite for a look at it, by a process that has no time to load more than SQLite: a hook."""

import sqlite3
from pathlib import Path

_ACCESS = ("mode=ro", "mode=ro&immutable=1")
"""The second where SQLite cannot make the files it needs beside one, because the folder is protected."""


def glance(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that can only read, and waits for others so many seconds. The file may come with a cloned project:
    nothing in its schema may call what was not made for that."""
    failure: sqlite3.Error | None = None
    for access in _ACCESS:
        connection = sqlite3.connect(f"{path.as_uri()}?{access}", uri=True, timeout=patience)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            failure = error
    raise failure or sqlite3.OperationalError(path.name)
