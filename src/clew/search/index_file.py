"""The file that holds the units and the lexical index, and its tables.

Everything in it can be made again from what the units were made of, so a damaged file, or one that an older Clew cut
into words in another way, is replaced by an empty one.
"""

from clew.derived.file import Schema
from clew.search.lexical import tables as lexical_tables
from clew.store.sqlite.connections import Connection

LAYOUT = 3
"""Changes when a table does."""

_UNITS = (
    "CREATE TABLE index_state (version INTEGER NOT NULL, series TEXT NOT NULL)",
    "INSERT INTO index_state VALUES (0, lower(hex(randomblob(8))))",
    # A number stands for one text for ever: a unit whose text changes gets a new one, and none is used again. So a
    # vector, which is kept under the number, is either that of the text or of no unit at all.
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
)
_EMBEDDINGS = (
    # What an embedder made of the text of a unit: one vector, or several one after another. A row never changes, and
    # its number is never used again: whoever knows all rows up to one reads only those after it. A row outlives its
    # unit for a while: the same text may come again.
    """
    CREATE TABLE embeddings (
        row INTEGER PRIMARY KEY AUTOINCREMENT,
        embedder TEXT NOT NULL,
        number INTEGER NOT NULL,
        text_hash TEXT NOT NULL,
        vectors BLOB NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX embeddings_by_number ON embeddings (embedder, number)",
    "CREATE INDEX embeddings_by_text ON embeddings (embedder, text_hash)",
    # `folded` is the last row that the mapped file of the embedder's vectors holds.
    """
    CREATE TABLE embedders (
        name TEXT PRIMARY KEY,
        dimensions INTEGER NOT NULL,
        settings TEXT NOT NULL,
        complete INTEGER NOT NULL,
        folded INTEGER NOT NULL DEFAULT 0
    )
    """,
)


def _upgrade(connection: Connection) -> bool:
    """Keep units and embeddings of the layout before, which held embeddings by their text only."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(index_state)")}
    if "layout" not in columns:
        return False
    made = connection.execute("SELECT layout, analysis FROM index_state").fetchone()
    if made != (2, lexical_tables.ANALYSIS):
        return False
    for table in ("embeddings", "embedders"):
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for statement in _EMBEDDINGS:
        connection.execute(statement)
    connection.execute("INSERT INTO embedders SELECT name, dimensions, settings, complete, 0 FROM old_embedders")
    connection.execute(
        """
        INSERT INTO embeddings (embedder, number, text_hash, vectors)
        SELECT old.embedder, units.number, old.text_hash, old.vectors
        FROM old_embeddings AS old JOIN units ON units.text_hash = old.text_hash
        """
    )
    for table in ("embeddings", "embedders"):
        connection.execute(f"DROP TABLE old_{table}")
    for column in ("layout", "analysis"):
        connection.execute(f"ALTER TABLE index_state DROP COLUMN {column}")
    return True


SCHEMA = Schema(
    name="The search index",
    version=LAYOUT * 100 + lexical_tables.ANALYSIS,
    statements=(*_UNITS, *_EMBEDDINGS, *lexical_tables.SCHEMA),
    remedy="it is made anew",
    upgrade=_upgrade,
)
