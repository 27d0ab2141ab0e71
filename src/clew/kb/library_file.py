"""The file that holds the documents, and its tables.

Everything in it was made from the files of the project, so a damaged one, or one that another version of Clew wrote, is
replaced by an empty one. Writes may be lost with the machine's power, never by half.
"""

import os
import time
from pathlib import Path

from clew.errors import StoreBusy, StoreCorrupt
from clew.search.index_file import remove
from clew.store.sqlite.connections import Connection, Connections

LAYOUT = 1
"""Changes when a table does."""

_PAUSE = 0.005

_SCHEMA = (
    "CREATE TABLE library_state (layout INTEGER NOT NULL)",
    """
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        path TEXT NOT NULL UNIQUE,
        tag TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        reader TEXT NOT NULL,
        data BLOB NOT NULL,
        indexed INTEGER NOT NULL
    )
    """,
    "CREATE INDEX documents_by_hash ON documents (content_hash)",
    "CREATE INDEX documents_pending ON documents (number) WHERE NOT indexed",
    """
    CREATE TABLE sections (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        document INTEGER NOT NULL,
        place INTEGER NOT NULL,
        parent INTEGER NOT NULL,
        version TEXT NOT NULL,
        data BLOB NOT NULL,
        UNIQUE (document, place)
    )
    """,
    "CREATE INDEX sections_by_parent ON sections (document, parent, place)",
    # Apart from `sections`, so that a walk reads short rows.
    "CREATE TABLE section_texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    """
    CREATE TABLE labels (
        document INTEGER NOT NULL, label TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (document, label)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX labels_by_name ON labels (label)",
    """
    CREATE TABLE entities (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, normal TEXT NOT NULL
    )
    """,
    "CREATE INDEX entities_by_name ON entities (normal)",
    """
    CREATE TABLE mentions (
        section INTEGER NOT NULL, entity INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (section, entity)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX mentions_by_entity ON mentions (entity, section)",
    """
    CREATE TABLE steps (
        procedure INTEGER NOT NULL, place INTEGER NOT NULL, step INTEGER NOT NULL, PRIMARY KEY (procedure, place)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX steps_by_step ON steps (step)",
    """
    CREATE TABLE cites (
        section INTEGER NOT NULL, target TEXT NOT NULL, labels TEXT NOT NULL, rank INTEGER NOT NULL,
        written TEXT NOT NULL, PRIMARY KEY (section, target, labels)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX cites_by_target ON cites (target)",
    """
    CREATE TABLE links (
        section INTEGER NOT NULL, path TEXT NOT NULL, label TEXT NOT NULL, anywhere INTEGER NOT NULL,
        text TEXT NOT NULL, PRIMARY KEY (section, path, label)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX links_by_target ON links (path, label)",
    "CREATE TABLE aliases (old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX aliases_by_new ON aliases (new)",
)


def open_library(path: Path, *, busy_timeout: float) -> tuple[Connections, tuple[str, ...]]:
    """Connections to the library at `path`, made where there is none, and what happened to it on the way."""
    try:
        connections = _opened(path, busy_timeout)
        if _is_current(connections):
            return connections, ()
        connections.close()
        cause = "was made by another version of Clew"
    except StoreCorrupt:
        cause = "was damaged"
    remove(path)
    return _opened(path, busy_timeout), (f"The store of documents {cause}; run `clew kb index` to fill it again.",)


def _opened(path: Path, busy_timeout: float) -> Connections:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o644))
    connections = Connections(path, read_only=False, busy_timeout=busy_timeout)
    deadline = time.monotonic() + busy_timeout
    try:
        while not _is_ready(connections):
            # Two processes that make one library meet where SQLite reports "busy" without waiting.
            if time.monotonic() >= deadline:
                raise StoreBusy(f"The store of documents {path} is held by another process.", hint="Try again.")
            time.sleep(_PAUSE)
    except BaseException:
        connections.close()
        raise
    return connections


def _is_ready(connections: Connections) -> bool:
    try:
        with connections.reading() as connection:
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                connection.execute("PRAGMA journal_mode = WAL")
            if _has_tables(connection):
                return True
        with connections.writing(durable=False) as connection:
            if not _has_tables(connection):
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute("INSERT INTO library_state VALUES (?)", (LAYOUT,))
    except StoreBusy:
        return False
    return True


def _has_tables(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'library_state'").fetchone() is not None


def _is_current(connections: Connections) -> bool:
    with connections.reading() as connection:
        return bool(connection.execute("SELECT layout FROM library_state").fetchone() == (LAYOUT,))
