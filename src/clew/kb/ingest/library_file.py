"""The file that holds the documents, and its tables.

Everything in it was made from the files of the project, so a damaged one, or one that another version of Clew wrote, is
replaced by an empty one.
"""

from clew.derived.file import Schema

LAYOUT = 3
"""Changes when a table does."""

_TABLES = (
    """
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        path TEXT NOT NULL UNIQUE,
        tag TEXT NOT NULL,
        environment TEXT NOT NULL,
        repository TEXT NOT NULL,
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
    "CREATE INDEX labels_by_place ON labels (document, place)",
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

SCHEMA = Schema(
    name="The store of documents",
    version=LAYOUT,
    statements=_TABLES,
    remedy="run `clew kb index` to fill it again",
)
