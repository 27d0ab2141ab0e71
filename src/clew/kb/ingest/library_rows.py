"""What the store holds of a document, row by row, and the rows in it that belong to nothing."""

from typing import Any

from clew.store.sqlite.connections import Connection

Rows = tuple[list[tuple[Any, ...]], ...]

_DOCUMENT = "SELECT number FROM documents WHERE path = ?"
_ROWS = (
    # Without the size and the times of the file: another time alone makes no difference.
    """
    SELECT id, path, tag, environment, repository, content_hash,
        CASE WHEN json_valid(CAST(data AS TEXT))
            THEN json_remove(CAST(data AS TEXT), '$.size', '$.mtime_ns', '$.updated_at') END
    FROM documents WHERE number = ?
    """,
    """
    SELECT id, place, parent, version, data, text FROM sections LEFT JOIN section_texts USING (number)
    WHERE document = ? ORDER BY place
    """,
    "SELECT label, place FROM labels WHERE document = ? ORDER BY label",
    """
    SELECT place, entities.id, kind, normal, name, count FROM sections
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
    "sections": "document NOT IN (SELECT number FROM documents)",
    "labels": "document NOT IN (SELECT number FROM documents)",
    "section_texts": "number NOT IN (SELECT number FROM sections)",
    "mentions": "section NOT IN (SELECT number FROM sections)",
    "cites": "section NOT IN (SELECT number FROM sections)",
    "links": "section NOT IN (SELECT number FROM sections)",
    "entities": "number NOT IN (SELECT entity FROM mentions)",
    "steps": "procedure NOT IN (SELECT number FROM entities)",
    "aliases": "new NOT IN (SELECT id FROM sections UNION ALL SELECT id FROM documents)",
}
"""Rows that belong to nothing, in an order in which those that are taken away leave no others behind."""


def rows_of(connection: Connection, path: str) -> Rows:
    """Everything that is kept of a document; nothing where there is none."""
    number = connection.execute(_DOCUMENT, (path,)).fetchone()
    return tuple(connection.execute(sql, number).fetchall() for sql in _ROWS) if number is not None else ()


def strays(connection: Connection) -> dict[str, int]:
    """How many rows of each table belong to nothing; tables without any are left out."""
    counts = {
        table: connection.execute(f"SELECT count(*) FROM {table} WHERE {stray}").fetchone()[0]  # noqa: S608
        for table, stray in _STRAYS.items()
    }
    return {table: count for table, count in counts.items() if count}


def remove_strays(connection: Connection) -> None:
    for table, stray in _STRAYS.items():
        connection.execute(f"DELETE FROM {table} WHERE {stray}")  # noqa: S608
