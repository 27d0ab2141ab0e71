"""The tables of the search index in a file, and the upgrade of the file of an earlier Clew."""

import time

from clew.derived.file import FileSchema
from clew.search.lexical import tables as lexical_tables
from clew.store.sqlite.connections import SqliteConnection

LAYOUT = 10
"""Changes when a table does."""

_IN_ORDER = (
    "CREATE INDEX units_by_session ON unit_rows (session, place) WHERE session IS NOT NULL",
    # What is a piece of a file is found by that, in `units_by_file`.
    "CREATE INDEX units_by_document ON unit_rows (whole_document, place) WHERE whole_document IS NOT NULL",
)
_FIGURES = (
    # What changed lately, as runs of numbers: those of units that come together follow one another.
    """
    CREATE TABLE unit_changes (
        version INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (version, first)
    ) WITHOUT ROWID
    """,
    # How many there are: counting a hundred thousand units after each write takes too long.
    "CREATE TABLE unit_parts (part TEXT PRIMARY KEY, units INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TRIGGER unit_came AFTER INSERT ON unit_rows BEGIN
        INSERT INTO unit_parts VALUES (new.part, 1) ON CONFLICT (part) DO UPDATE SET units = units + 1;
    END
    """,
    """
    CREATE TRIGGER unit_went AFTER DELETE ON unit_rows BEGIN
        UPDATE unit_parts SET units = units - 1 WHERE part = old.part;
    END
    """,
    """
    CREATE TRIGGER unit_moved AFTER UPDATE OF part ON unit_rows WHEN new.part <> old.part BEGIN
        UPDATE unit_parts SET units = units - 1 WHERE part = old.part;
        INSERT INTO unit_parts VALUES (new.part, 1) ON CONFLICT (part) DO UPDATE SET units = units + 1;
    END
    """,
)
_UNITS = (
    "CREATE TABLE index_state (version INTEGER NOT NULL, series TEXT NOT NULL)",
    "INSERT INTO index_state VALUES (0, lower(hex(randomblob(8))))",
    # A number stands for one text for ever: a unit whose text changes gets a new one, and none is used again. So a
    # vector, which is kept under the number, is either that of the text or of no unit at all. `rest` has what no column
    # says of a unit; its title and text are in `unit_texts`.
    #
    # There are many, so that nothing is kept twice. The id of a section begins with its document and that ends with the
    # path, which all units of a file share, with the time: only what differs is written, and the view `indexed_units`
    # puts it together again. Ids are found by a short hash of theirs, which takes a sixth of an index of texts, and two
    # may share.
    "CREATE TABLE unit_files (file INTEGER PRIMARY KEY, path TEXT NOT NULL, before_path TEXT, common_time TEXT)",
    "CREATE INDEX files_by_path ON unit_files (path)",
    """
    CREATE TABLE unit_rows (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        hash INTEGER NOT NULL,
        whole_id TEXT,
        end_of_id TEXT,
        part TEXT NOT NULL,
        whole_document TEXT,
        file INTEGER,
        status TEXT,
        session TEXT,
        agent TEXT,
        own_time TEXT,
        content BLOB NOT NULL,
        text BLOB NOT NULL,
        characters INTEGER NOT NULL,
        place INTEGER,
        speaker TEXT,
        role TEXT,
        quoted INTEGER NOT NULL,
        tags INTEGER NOT NULL,
        rest BLOB
    )
    """,
    "CREATE INDEX units_by_hash ON unit_rows (hash)",
    "CREATE INDEX units_by_part ON unit_rows (part)",
    "CREATE INDEX units_by_file ON unit_rows (file, place) WHERE file IS NOT NULL",
    *_IN_ORDER,
    # SQLite leaves the files out where a question needs none. Until layout 8 a table was called `units`: an older Clew
    # that has the file open while it is upgraded misses that table, and does what it does with a damaged index. It
    # would take a view of the same name for it.
    """
    CREATE VIEW indexed_units AS SELECT
        number, hash, part, whole_document, file, path, status, session, agent, characters, place, speaker, role,
        quoted, tags, rest,
        coalesce(own_time, common_time) AS time,
        coalesce(whole_document, before_path || path) AS document,
        coalesce(whole_id, coalesce(whole_document, before_path || path) || end_of_id) AS id,
        lower(hex(content)) AS content_hash,
        lower(hex(text)) AS text_hash
    FROM unit_rows LEFT JOIN unit_files USING (file)
    """,
    # Many units have the same tags: lists of them are kept once, in JSON, and one by one.
    "CREATE TABLE tag_lists (tags INTEGER PRIMARY KEY, list TEXT NOT NULL UNIQUE)",
    "CREATE TABLE listed_tags (tags INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (tags, tag)) WITHOUT ROWID",
    "CREATE VIEW unit_tags AS SELECT number, listed_tags.tag FROM unit_rows CROSS JOIN listed_tags USING (tags)",
    "CREATE TABLE unit_titles (key TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID",
)
_EMBEDDINGS = (
    # What an embedder made of the text of a unit: one vector, or several one after another. A row never changes, and
    # its number is never used again: a reader that knows all rows up to one reads only those after it. A row outlives
    # its unit for a while: the same text may come again. `windows` has the vectors of the windows of a unit that is
    # quoted; NULL until they are made.
    """
    CREATE TABLE embeddings (
        row INTEGER PRIMARY KEY AUTOINCREMENT,
        embedder TEXT NOT NULL,
        number INTEGER NOT NULL,
        text_hash TEXT NOT NULL,
        vectors BLOB NOT NULL,
        windows BLOB
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
    ) WITHOUT ROWID
    """,
)


_REFILLED = "CREATE TABLE refilled (until REAL NOT NULL)"


def _upgrade(connection: SqliteConnection) -> bool:
    """Keep the embeddings, which take long to make: new units with the same text get them."""
    (made,) = connection.execute("PRAGMA user_version").fetchone()
    if made == SCHEMA.version or made // 100 not in _WITH_WINDOWS:
        return False
    # Numbers go on after the last one, so that no unit gets the vector of another.
    find = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name IN ('units', 'unit_rows')"
    (last,) = connection.execute(find).fetchone()
    kinds = dict(connection.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')").fetchall())
    for name in _BEFORE:
        if name in kinds:
            connection.execute(f"DROP {kinds[name]} {name}")
    for statement in (*_UNITS, *_FIGURES, *lexical_tables.SCHEMA):
        connection.execute(statement)
    connection.execute("INSERT INTO sqlite_sequence VALUES ('unit_rows', ?)", (last,))
    connection.execute(_REFILLED)
    connection.execute("INSERT INTO refilled VALUES (?)", (time.time() + _REFILLED_SECONDS,))
    return True


def is_refilled(connection: SqliteConnection) -> bool:
    """True while units of an earlier layout may still be missing: requirements, documents and memories come one after
    the other. Until all are there, the embeddings that wait for them are kept."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'refilled'").fetchone():
        return False
    (until,) = connection.execute("SELECT until FROM refilled").fetchone()
    return bool(time.time() < until)


_REFILLED_SECONDS = 24 * 3600.0
_WITH_WINDOWS = (5, 6, 7, 8, 9, LAYOUT)
_BEFORE = (
    *("index_state", "units", "indexed_units", "unit_rows", "unit_files", "unit_bodies", "unit_tags"),
    *("unit_titles", "unit_changes", "unit_parts"),
    *("lexical", "lexical_streams", "lexical_terms", "lexical_words", "lexical_totals"),
    *("unit_texts", "tagged", "tag_names", "tag_lists", "listed_tags", "unit_dictionary", "refilled"),
)
"""The layouts whose embeddings can be used, and their tables without those of embeddings."""

SCHEMA = FileSchema(
    name="The search index",
    version=LAYOUT * 100 + lexical_tables.ANALYSIS,
    statements=(*_UNITS, *_FIGURES, *_EMBEDDINGS, *lexical_tables.SCHEMA),
    remedy="it is rebuilt",
    # Half of what SQLite takes by itself: several tables have one page only, and a small project has many of them.
    page_size=2048,
    extra=(_REFILLED,),
    upgrade=_upgrade,
)
