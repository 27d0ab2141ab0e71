"""The file that holds the documents, and its tables.

Everything in it was made from the files of the project, so a damaged one, or one that another version of Clew wrote, is
replaced by an empty one.
"""

from typing import Any
from zlib import crc32

from clew.derived.file import FileSchema
from clew.kb.entities.model import EntityKind
from clew.store.sqlite.connections import SqliteConnection

LAYOUT = 10
"""Changes when a table does."""

KINDS = tuple(kind.value for kind in EntityKind)
"""The kinds of entities in the order of the numbers by which they are kept."""
_KINDS = " ".join(f"WHEN {number} THEN '{kind}'" for number, kind in enumerate(KINDS))
_ITS_SECTIONS = "SELECT number FROM section_rows WHERE document = old.number"
_ONLY_THERE = f"""
    SELECT entity FROM mentions AS own WHERE section IN ({_ITS_SECTIONS}) AND NOT EXISTS (
        SELECT 1 FROM mentions AS others WHERE others.entity = own.entity AND others.section NOT IN ({_ITS_SECTIONS})
    )
"""  # noqa: S608
_TABLES = (
    """
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL UNIQUE,
        spelled TEXT,
        tag TEXT NOT NULL,
        environment TEXT NOT NULL,
        repository TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        reader TEXT NOT NULL,
        data BLOB NOT NULL,
        indexed INTEGER NOT NULL,
        id TEXT NOT NULL GENERATED ALWAYS AS (coalesce(spelled, 'doc:' || path)) VIRTUAL
    )
    """,
    "CREATE UNIQUE INDEX documents_by_id ON documents (id)",
    "CREATE INDEX documents_by_hash ON documents (content_hash)",
    "CREATE INDEX documents_pending ON documents (number) WHERE NOT indexed",
    # The id of a section begins with that of its document: only what comes after is written, and the view `sections`
    # puts it together again. One that is shortened is written as a whole.
    """
    CREATE TABLE section_rows (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        hash INTEGER NOT NULL,
        whole_id TEXT,
        end_of_id TEXT,
        document INTEGER NOT NULL,
        place INTEGER NOT NULL,
        parent INTEGER NOT NULL,
        block INTEGER NOT NULL,
        UNIQUE (document, place)
    )
    """,
    # Ids are found by a short hash (`hash_of_id`), which takes a sixth of an index of texts.
    "CREATE INDEX sections_by_hash ON section_rows (hash)",
    "CREATE INDEX sections_by_parent ON section_rows (document, parent, place)",
    # SQLite leaves the documents out where a question needs no id. It compares ids by an index of its own only where it
    # knows that they are texts. A section that no document has is called by what is kept of its id.
    """
    CREATE VIEW sections AS SELECT
        section_rows.number AS number, hash, document, place, parent, block,
        CAST(coalesce(whole_id, documents.id || end_of_id, end_of_id) AS TEXT) AS id
    FROM section_rows LEFT JOIN documents ON documents.number = section_rows.document
    """,
    # What the sections say (`blocks`), apart from `section_rows`, so that a walk reads short rows.
    """
    CREATE TABLE blocks (
        document INTEGER NOT NULL, block INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (document, block)
    )
    """,
    """
    CREATE TABLE labels (
        document INTEGER NOT NULL, place INTEGER NOT NULL, label TEXT NOT NULL, PRIMARY KEY (document, place, label)
    ) WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX labels_by_name ON labels (label, document)",
    # An id says kind and name once more, unless the name is too long for one: only then it is kept beside them.
    f"""
    CREATE TABLE entities (
        number INTEGER PRIMARY KEY AUTOINCREMENT, hash INTEGER NOT NULL, kind_number INTEGER NOT NULL,
        normal TEXT NOT NULL, shortened TEXT,
        kind TEXT NOT NULL GENERATED ALWAYS AS (CASE kind_number {_KINDS} END) VIRTUAL,
        id TEXT NOT NULL GENERATED ALWAYS AS (coalesce(shortened, 'entity:' || kind || ':' || normal)) VIRTUAL
    )
    """,
    "CREATE INDEX entities_by_hash ON entities (hash)",
    # Without a name it is written as the entity's normal one.
    """
    CREATE TABLE mentions (
        section INTEGER NOT NULL, entity INTEGER NOT NULL, name TEXT, count INTEGER NOT NULL,
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
    # With a document goes everything that only it contributed. An entity is there as long as something mentions it.
    f"""
    CREATE TRIGGER document_went AFTER DELETE ON documents BEGIN
        DELETE FROM steps WHERE procedure IN ({_ONLY_THERE});
        DELETE FROM entities WHERE number IN ({_ONLY_THERE});
        DELETE FROM mentions WHERE section IN ({_ITS_SECTIONS});
        DELETE FROM cites WHERE section IN ({_ITS_SECTIONS});
        DELETE FROM links WHERE section IN ({_ITS_SECTIONS});
        DELETE FROM labels WHERE document = old.number;
        DELETE FROM section_rows WHERE document = old.number;
        DELETE FROM blocks WHERE document = old.number;
    END
    """,  # noqa: S608
    # What is purged is looked for here as well, and taken out (`derived.packed`).
    """
    CREATE VIEW packed_texts AS SELECT number, path, content_hash, packed
    FROM blocks CROSS JOIN documents ON documents.number = blocks.document
    """,
    """
    CREATE TRIGGER text_went INSTEAD OF DELETE ON packed_texts BEGIN
        DELETE FROM aliases WHERE new IN (SELECT id FROM sections WHERE document = old.number);
        DELETE FROM aliases WHERE new IN (SELECT id FROM documents WHERE number = old.number);
        DELETE FROM documents WHERE number = old.number;
    END
    """,
    """
    CREATE VIEW earlier_names AS SELECT aliases.old AS name, documents.path AS path FROM aliases
    LEFT JOIN sections ON sections.id = aliases.new
    LEFT JOIN documents ON documents.number = sections.document OR documents.id = aliases.new
    """,
    """
    CREATE TRIGGER earlier_name_went INSTEAD OF DELETE ON earlier_names BEGIN
        DELETE FROM aliases WHERE aliases.old = old.name;
    END
    """,
)


def version(kinds: tuple[str, ...]) -> int:
    """The version of the layout. It changes with the tables, and with the kinds of entities and their order, because
    the file holds their numbers only."""
    return LAYOUT * 2**16 + (crc32("\n".join(kinds).encode()) & 0xFFFF)


SCHEMA = FileSchema(
    name="The store of documents",
    version=version(KINDS),
    statements=_TABLES,
    page_size=1024,
    remedy="run `clew kb index` to fill it again",
)


Rows = tuple[list[tuple[Any, ...]], ...]

_DOCUMENT = "SELECT number FROM documents WHERE path = ?"
_ROWS = (
    # Without the size and the times of the file: another time alone makes no difference.
    """
    SELECT id, path, tag, environment, repository, content_hash,
        CASE WHEN json_valid(CAST(data AS TEXT)) THEN json_remove(CAST(data AS TEXT), '$.updated_at') END
    FROM documents WHERE number = ?
    """,
    "SELECT id, hash, place, parent, block FROM sections WHERE document = ? ORDER BY place",
    "SELECT block, packed FROM blocks WHERE document = ? ORDER BY block",
    "SELECT label, place FROM labels WHERE document = ? ORDER BY label",
    """
    SELECT place, entities.id, entities.hash, kind, normal, name, count FROM sections
    JOIN mentions ON mentions.section = sections.number LEFT JOIN entities ON entities.number = mentions.entity
    WHERE document = ? ORDER BY place, entities.id
    """,
    """
    SELECT place, target, labels, rank, written FROM sections JOIN cites ON cites.section = sections.number
    WHERE document = ? ORDER BY place, target, labels
    """,
    """
    SELECT place, path, label, anywhere, text FROM sections JOIN links ON links.section = sections.number
    WHERE document = ? ORDER BY place, path, label
    """,
    """
    SELECT DISTINCT procedures.id, steps.place, parts.id FROM sections
    JOIN mentions ON mentions.section = sections.number JOIN steps ON steps.procedure = mentions.entity
    JOIN entities AS procedures ON procedures.number = steps.procedure
    LEFT JOIN entities AS parts ON parts.number = steps.step
    WHERE document = ? ORDER BY procedures.id, steps.place
    """,
)

_STRAYS = {
    "section_rows": "document NOT IN (SELECT number FROM documents)",
    "labels": "document NOT IN (SELECT number FROM documents)",
    "blocks": "document NOT IN (SELECT number FROM documents)",
    "mentions": "section NOT IN (SELECT number FROM section_rows)",
    "cites": "section NOT IN (SELECT number FROM section_rows)",
    "links": "section NOT IN (SELECT number FROM section_rows)",
    "entities": "number NOT IN (SELECT entity FROM mentions)",
    "steps": "procedure NOT IN (SELECT number FROM entities)",
    "aliases": "new NOT IN (SELECT id FROM sections UNION ALL SELECT id FROM documents)",
}
"""Rows that belong to nothing, in an order in which those that are taken away leave no others behind."""
_MEANT = {"section_rows": "sections"}
"""Names of tables for users, where they differ."""


def rows_of(connection: SqliteConnection, path: str) -> Rows:
    """All rows of a document; nothing if there is none."""
    number = connection.execute(_DOCUMENT, (path,)).fetchone()
    return tuple(connection.execute(sql, number).fetchall() for sql in _ROWS) if number is not None else ()


def strays(connection: SqliteConnection) -> dict[str, int]:
    """Counts of the rows that belong to nothing, by kind of row; kinds without any are left out."""
    counts = {
        _MEANT.get(table, table): connection.execute(f"SELECT count(*) FROM {table} WHERE {stray}").fetchone()[0]  # noqa: S608
        for table, stray in _STRAYS.items()
    }
    return {rows: count for rows, count in counts.items() if count}


def remove_strays(connection: SqliteConnection) -> None:
    for table, stray in _STRAYS.items():
        connection.execute(f"DELETE FROM {table} WHERE {stray}")  # noqa: S608
