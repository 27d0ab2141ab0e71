"""Questions to the store of documents, all answered from one state of it.

A client that may not see all documents uses the same queries. Every table that holds something of a document is hidden
behind a view of the same name that leaves out what is outside of the boundary, so that no question can forget to ask.
"""

import posixpath
import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from clew.cache import Cache
from clew.kb import ids
from clew.kb.boundary import EVERYTHING, Boundary
from clew.kb.entities.model import EntityKind
from clew.kb.ingest.blocks import SectionBlock, block_in
from clew.kb.ingest.records import ChunkRecord, DocumentRecord, DocumentRest, EntityRecord
from clew.store.sql.conditions import Condition, Conditions
from clew.store.sqlite.connections import SqliteConnection
from clew.text.hashing import short_hash

_REST = msgspec.json.Decoder(DocumentRest).decode
_JSON = msgspec.json.Encoder().encode
_ENDINGS = (".md", ".rst", ".html", ".ipynb", ".txt", ".markdown", ".mdx", ".htm")
_INDEXES = ("index", "README", "readme")

_ENTITY = """
    SELECT entities.id, kind, normal,
        (SELECT coalesce(name, normal) AS written FROM mentions
            WHERE entity = entities.number ORDER BY count DESC, written LIMIT 1),
        (SELECT sum(count) FROM mentions WHERE entity = entities.number)
    FROM entities
"""


_DOCUMENT = "SELECT path, tag, environment, repository, content_hash, size, mtime_ns, data FROM documents"
_SECTION = """
    SELECT sections.id, documents.path, place, sections.parent, sections.document, block
    FROM documents JOIN sections ON sections.document = documents.number
"""

Blocks = Cache[tuple[int, int], SectionBlock]
"""Blocks that were read, by the numbers of their document and their own."""


class MentionOf(NamedTuple):
    id: str
    times: int


class CitedBy(NamedTuple):
    section: str
    target: str
    labels: tuple[str, ...]
    rank: int
    written: str


class LinkOf(NamedTuple):
    section: str
    path: str
    label: str
    anywhere: bool


class LibraryReader:
    """One state of the library, as far as it lies inside a boundary."""

    def __init__(
        self, connection: SqliteConnection, boundary: Boundary = EVERYTHING, blocks: Blocks | None = None
    ) -> None:
        self._connection = connection
        self._blocks = blocks
        self._view = BoundedTables(boundary)

    def rows(self, sql: str, *parameters: Any) -> list[Any]:
        """The answer to a question in SQL, with `?` for each parameter."""
        return self._connection.execute(self._view.over(sql), (*self._view.parameters, *parameters)).fetchall()

    def _row(self, sql: str, *parameters: Any) -> Any:
        return self._connection.execute(self._view.over(sql), (*self._view.parameters, *parameters)).fetchone()

    # Documents and sections

    def count(self, table: str) -> int:
        return int(self._row(f"SELECT count(*) FROM {table}")[0])  # noqa: S608 - no caller takes the name from outside

    def is_empty(self) -> bool:
        return self._row("SELECT 1 FROM sections LIMIT 1") is None

    def state(self) -> str:
        """Another one whenever a document came, went or changed."""
        row = self._connection.execute(
            "SELECT (SELECT max(seq) FROM sqlite_sequence WHERE name = 'documents'), (SELECT count(*) FROM documents)"
        ).fetchone()
        return f"{row[0]}.{row[1]}"

    def counts(self) -> dict[str, int]:
        return {
            table: self.count(table) for table in ("documents", "sections", "entities", "mentions", "links", "cites")
        }

    def pending(self) -> list[str]:
        """The documents that are not in the search index yet."""
        return [path for (path,) in self.rows("SELECT path FROM documents WHERE NOT indexed ORDER BY path")]

    def documents(self) -> Iterator[DocumentRecord]:
        return (_document(*row) for row in self.rows(f"{_DOCUMENT} ORDER BY path"))

    def document(self, path: str) -> DocumentRecord | None:
        row = self._row(f"{_DOCUMENT} WHERE path = ?", path)
        return None if row is None else _document(*row)

    def is_hidden(self, path: str) -> bool:
        """True if there is such a document, but outside of the boundary."""
        sql = """
            SELECT 1 FROM main.documents AS every WHERE every.path = ?1
            AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.path = ?1)
        """
        return self._row(sql, path) is not None

    def document_by_id(self, id: str) -> DocumentRecord | None:
        row = self._row(f"{_DOCUMENT} WHERE id = ?", id)
        return None if row is None else _document(*row)

    def section(self, id: str) -> ChunkRecord | None:
        row = self._row(f"{_SECTION} WHERE sections.hash = ? AND sections.id = ?", short_hash(id), id)
        return None if row is None else self._record(*row)

    def sections_of(self, path: str) -> list[ChunkRecord]:
        return [self._record(*row) for row in self.rows(f"{_SECTION} WHERE documents.path = ? ORDER BY place", path)]

    def section_at(self, path: str, place: int) -> ChunkRecord | None:
        row = self._row(f"{_SECTION} WHERE documents.path = ? AND place = ?", path, place)
        return None if row is None else self._record(*row)

    def sections_with_tags(self, wanted: Sequence[str]) -> list[tuple[ChunkRecord, str]]:
        """The sections with these ids that exist, each with the tag of its document."""
        sql = """
            SELECT documents.tag, sections.id, documents.path, place, sections.parent, sections.document, block
            FROM json_each(?) AS wanted CROSS JOIN sections
            ON sections.hash = hash_of_id(wanted.value) AND sections.id = wanted.value
            CROSS JOIN documents ON documents.number = sections.document
        """
        return [(self._record(*row), tag) for tag, *row in self.rows(sql, in_json(wanted))]

    def _record(self, id: str, path: str, place: int, parent: int, document: int, block: int) -> ChunkRecord:
        return self._block(document, block).record(id, path, place, parent)

    def _block(self, document: int, block: int) -> SectionBlock:
        """A block that a question to the tables led to. A document that changes gets another number."""
        kept = self._blocks.get((document, block)) if self._blocks is not None else None
        if kept is not None:
            return kept
        row = self._connection.execute(
            "SELECT packed FROM blocks WHERE document = ? AND block = ?", (document, block)
        ).fetchone()
        if row is None:
            raise msgspec.DecodeError(f"Block {block} of document {document} is missing.")
        found = block_in(row[0])
        if self._blocks is not None:
            self._blocks.put((document, block), found)
        return found

    def id_at(self, path: str, place: int | None) -> str:
        """The id of the section at a place of a document; of the document itself where nothing is there."""
        own = "document = (SELECT number FROM documents WHERE path = ?)"
        row = self._row(f"SELECT id FROM sections WHERE {own} AND place = ?", path, place)  # noqa: S608
        return ids.document_id(path) if row is None else str(row[0])

    def section_ids(self) -> list[str]:
        return [id for (id,) in self.rows("SELECT id FROM sections ORDER BY document, place")]

    def text(self, id: str) -> str | None:
        row = self._row("SELECT document, block, place FROM sections WHERE hash = ? AND id = ?", short_hash(id), id)
        return None if row is None else self._block(row[0], row[1]).text(row[2])

    def current_id(self, id: str) -> str | None:
        """The id itself if it exists, else the id that took its place."""
        if self._is_there(id):
            return id
        row = self._row("SELECT new FROM aliases WHERE old = ?", id)
        return str(row[0]) if row is not None and self._is_there(row[0]) else None

    def successors(self, old: Sequence[str]) -> dict[str, str]:
        """The new ids of sections whose old ids are gone, as far as they are known."""
        sql = "SELECT old, new FROM json_each(?) AS wanted CROSS JOIN aliases ON aliases.old = wanted.value"
        return dict(self.rows(sql, in_json(old)))

    def _is_there(self, id: str) -> bool:
        sql = "SELECT 1 FROM sections WHERE hash = ? AND id = ? UNION ALL SELECT 1 FROM documents WHERE id = ?"
        return self._row(sql, short_hash(id), id, id) is not None

    # Entities

    def entity(self, id: str) -> EntityRecord | None:
        row = self._row(f"{_ENTITY} WHERE entities.hash = ? AND entities.id = ?", short_hash(id), id)
        return None if row is None else EntityRecord(row[0], row[1], row[3], row[2], row[4])

    def entities(self) -> list[EntityRecord]:
        return [EntityRecord(row[0], row[1], row[3], row[2], row[4]) for row in self.rows(f"{_ENTITY} ORDER BY id")]

    def entities_named(self, normal: str, kind: str | None = None) -> list[str]:
        kinds = [kind] if kind is not None else [each.value for each in EntityKind]
        wanted = in_json([ids.entity_id(each, normal) for each in kinds])
        sql = """
            SELECT entities.id FROM json_each(?) AS wanted CROSS JOIN entities
            ON entities.hash = hash_of_id(wanted.value) AND entities.id = wanted.value
        """
        return sorted(id for (id,) in self.rows(sql, wanted))

    def mentioned_in(self, section: str) -> list[MentionOf]:
        sql = """
            SELECT entities.id, mentions.count FROM mentions JOIN entities ON entities.number = mentions.entity
            WHERE mentions.section = (SELECT number FROM sections WHERE hash = ? AND id = ?)
            ORDER BY mentions.count DESC, entities.id
        """
        return [MentionOf(*row) for row in self.rows(sql, short_hash(section), section)]

    def mentioning(self, entity: str) -> list[MentionOf]:
        sql = """
            SELECT sections.id, mentions.count FROM mentions JOIN sections ON sections.number = mentions.section
            WHERE mentions.entity = (SELECT number FROM entities WHERE hash = ? AND id = ?)
            ORDER BY mentions.count DESC, sections.id
        """
        return [MentionOf(*row) for row in self.rows(sql, short_hash(entity), entity)]

    # What leads out of a section

    def cites_of(self, section: str) -> list[CitedBy]:
        sql = """
            SELECT target, labels, rank, written FROM cites
            WHERE section = (SELECT number FROM sections WHERE hash = ? AND id = ?) ORDER BY written, rank, target
        """
        rows = self.rows(sql, short_hash(section), section)
        return [CitedBy(section, target, labels_in(joined), *rest) for target, joined, *rest in rows]

    def citing(self, target: str, most: int = -1) -> list[CitedBy]:
        """The sections that cite a target, at most so many."""
        sql = """
            SELECT sections.id, target, labels, rank, written
            FROM cites JOIN sections ON sections.number = cites.section
            WHERE target = ? ORDER BY cites.section LIMIT ?
        """
        return [CitedBy(id, own, labels_in(joined), *rest) for id, own, joined, *rest in self.rows(sql, target, most)]

    def target_of(self, link: LinkOf) -> "tuple[str, int | None] | None":
        """The document that a link leads to, with the place of the section if it names one that is there."""
        if link.anywhere:
            sql = """
                SELECT documents.path, labels.place FROM labels JOIN documents ON documents.number = labels.document
                WHERE label = ? ORDER BY documents.path LIMIT 1
            """
            row = self._row(sql, link.label)
            return None if row is None else (str(row[0]), int(row[1]))
        path = self._resolved(link.path)
        if path is None or not link.label:
            return None if path is None else (path, None)
        own = "document = (SELECT number FROM documents WHERE path = ?)"
        row = self._row(f"SELECT place FROM labels WHERE {own} AND label = ?", path, link.label)  # noqa: S608
        return path, None if row is None else int(row[0])

    def _resolved(self, path: str) -> str | None:
        """The document of a path as links spell it: with its ending or without, or by its folder."""
        stem = path.rstrip("/")
        candidates = [stem, *(stem + ending for ending in _ENDINGS)]
        candidates += [posixpath.normpath(f"{stem}/{name}{ending}") for name in _INDEXES for ending in _ENDINGS]
        sql = """
            SELECT documents.path FROM json_each(?) AS wanted CROSS JOIN documents ON documents.path = wanted.value
            ORDER BY wanted.key LIMIT 1
        """
        row = self._row(sql, in_json(candidates))
        return None if row is None else str(row[0])

    # Documents about the same things

    def shared_entities(self, path: str, most_documents: int, most_sections: int) -> list[tuple[str, int, int]]:
        """Documents that share rare entities with a document: path, number of the entity, and number of documents that
        mention it."""
        sql = """
            SELECT entity, path FROM (
                SELECT DISTINCT mentions.entity AS entity, sections.document AS document FROM (
                    SELECT DISTINCT mentions.entity AS entity
                    FROM sections JOIN main.mentions AS mentions ON mentions.section = sections.number
                    WHERE sections.document = (SELECT number FROM documents WHERE path = ?)
                ) AS said
                CROSS JOIN main.mentions AS mentions ON mentions.entity = said.entity
                CROSS JOIN sections ON sections.number = mentions.section
                WHERE ? >= (SELECT count(*) FROM (SELECT 1 FROM main.mentions WHERE entity = said.entity LIMIT ?))
            ) AS spread JOIN documents ON documents.number = spread.document
        """
        spread: dict[int, list[str]] = {}
        for entity, other in self.rows(sql, path, most_sections, most_sections + 1):
            spread.setdefault(entity, []).append(other)
        return [
            (other, entity, len(paths))
            for entity, paths in spread.items()
            if len(paths) <= most_documents
            for other in paths
            if other != path
        ]


def _document(*columns: Any) -> DocumentRecord:
    *plain, data = columns
    return _REST(data).with_columns(*plain)


def in_json(values: Sequence[Any]) -> str:
    """Many values as one parameter, for `json_each`: the question is the same however many there are."""
    return _JSON(values).decode()


def labels_in(joined: str) -> tuple[str, ...]:
    """The labels of a citation as they are stored."""
    return tuple(joined.split("+")) if joined else ()


def spellings(path: str) -> list[str]:
    """The ways in which a link may spell the path of a document."""
    stem = posixpath.splitext(path)[0]
    folder, _, name = stem.rpartition("/")
    return [path, stem, *([folder or "."] if name in _INDEXES else [])]


_IN_PLACE = "NOT MATERIALIZED " if sqlite3.sqlite_version_info >= (3, 35) else ""
"""Only a view that is not kept in between uses the indexes of its table; older versions never kept one."""
_COUNTED = re.compile(r"\?(\d+)")

_OF_DOCUMENT = "EXISTS (SELECT 1 FROM documents WHERE documents.number = own.document)"
_OF_SECTION = "EXISTS (SELECT 1 FROM sections WHERE sections.number = own.{column})"
_MENTIONED = "EXISTS (SELECT 1 FROM mentions WHERE mentions.entity = own.{column})"

_VIEWS = {
    "sections": _OF_DOCUMENT,
    "labels": _OF_DOCUMENT,
    "blocks": _OF_DOCUMENT,
    "mentions": _OF_SECTION.format(column="section"),
    "cites": _OF_SECTION.format(column="section"),
    "links": _OF_SECTION.format(column="section"),
    "entities": _MENTIONED.format(column="number"),
    "steps": _MENTIONED.format(column="step"),
}


class BoundedTables:
    """Tables of the visible documents, as the WITH clause of every query. Its parameters come before those of the
    query."""

    def __init__(self, boundary: Boundary) -> None:
        condition = _condition(boundary)
        self.parameters = condition.parameters
        views = {"documents": condition.sql, **_VIEWS} if condition.sql else {}
        self._before = ", ".join(
            f"{table} AS {_IN_PLACE}(SELECT * FROM main.{table} AS own WHERE {admitted})"  # noqa: S608
            for table, admitted in views.items()
        )

    def over(self, sql: str) -> str:
        return _over(self._before, len(self.parameters), sql) if self._before else sql


@lru_cache(maxsize=512)
def _over(before: str, count: int, sql: str) -> str:
    """The query with the views before it; the numbers of its own parameters are shifted."""
    own = _COUNTED.sub(lambda mark: f"?{int(mark[1]) + count}", sql.lstrip())
    if own.upper().startswith("WITH "):
        return f"WITH {before}, {own[len('WITH ') :]}"
    return f"WITH {before} {own}"


def _condition(boundary: Boundary) -> Condition:
    demands = Conditions()
    demands.one_of("own.tag", boundary.tags)
    demands.equal("own.environment", boundary.environment)
    demands.equal("own.repository", boundary.repository)
    return demands.all()
