"""The file that holds the units and the lexical index, and its tables.

Everything in it can be made again from what the units were made of, so a damaged file, or one that an older Clew cut
into words in another way, is replaced by an empty one.
"""

from pathlib import Path

from clew.search.lexical import search as lexical
from clew.search.lexical import tables as lexical_tables
from clew.store.sqlite.connections import Connection, Connections
from clew.store.sqlite.derived import Tables, open_derived

LAYOUT = 2
"""Changes when a table does."""

_SCHEMA = (
    """
    CREATE TABLE index_state (
        layout INTEGER NOT NULL, analysis INTEGER NOT NULL, version INTEGER NOT NULL, series TEXT NOT NULL
    )
    """,
    # A number stands for one text for ever: a unit whose text changes gets a new one, and none is used again. So a
    # vector, which is kept elsewhere under the number, is either that of the text or of no unit at all.
    """
    CREATE TABLE units (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        part TEXT NOT NULL,
        title TEXT NOT NULL,
        document TEXT,
        path TEXT,
        status TEXT,
        session TEXT,
        agent TEXT,
        time TEXT,
        content_hash TEXT NOT NULL,
        text_hash TEXT NOT NULL,
        characters INTEGER NOT NULL
    )
    """,
    "CREATE INDEX units_by_part ON units (part)",
    "CREATE INDEX units_by_path ON units (path) WHERE path IS NOT NULL",
    "CREATE INDEX units_by_session ON units (session) WHERE session IS NOT NULL",
    "CREATE INDEX units_by_document ON units (document) WHERE document IS NOT NULL",
    "CREATE INDEX units_by_text ON units (text_hash)",
    # Apart from `units`, so that a condition on those reads short rows.
    "CREATE TABLE unit_bodies (number INTEGER PRIMARY KEY, body TEXT NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE unit_tags (number INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (number, tag)) WITHOUT ROWID",
    "CREATE INDEX unit_tags_by_tag ON unit_tags (tag)",
    "CREATE TABLE unit_titles (key TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID",
    "CREATE INDEX unit_titles_by_number ON unit_titles (number)",
    # What an embedder made of a text: one vector, or several one after another. Those that are searched are made from
    # these, and again where they are lost.
    """
    CREATE TABLE embeddings (
        embedder TEXT NOT NULL, text_hash TEXT NOT NULL, vectors BLOB NOT NULL, UNIQUE (embedder, text_hash)
    )
    """,
    """
    CREATE TABLE embedders (
        name TEXT PRIMARY KEY, dimensions INTEGER NOT NULL, settings TEXT NOT NULL, complete INTEGER NOT NULL
    )
    """,
)


def open_index(path: Path, *, busy_timeout: float) -> tuple[Connections, tuple[str, ...]]:
    """Connections to the index at `path`, made where there is none, and what happened to it on the way."""
    return open_derived(path, _TABLES, busy_timeout=busy_timeout)


def _create(connection: Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)
    lexical.create(connection)
    connection.execute(
        "INSERT INTO index_state VALUES (?, ?, 0, lower(hex(randomblob(8))))", (LAYOUT, lexical_tables.ANALYSIS)
    )


def _is_current(connection: Connection) -> bool:
    row = connection.execute("SELECT layout, analysis FROM index_state").fetchone()
    return bool(row == (LAYOUT, lexical_tables.ANALYSIS))


_TABLES = Tables(
    name="The search index",
    state="index_state",
    create=_create,
    is_current=_is_current,
    remedy="it is made anew",
)
