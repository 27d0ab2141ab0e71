"""Questions to the store of documents, all answered from one state of it."""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from clew.kb.records import DocumentRecord, EntityRecord, SectionRecord
from clew.store.sqlite.connections import Connection

_SECTION = msgspec.json.Decoder(SectionRecord).decode
_DOCUMENT = msgspec.json.Decoder(DocumentRecord).decode
_ENDINGS = (".md", ".rst", ".html", ".ipynb", ".txt", ".markdown", ".mdx", ".htm")
_INDEXES = ("index", "README", "readme")

_ENTITY = """
    SELECT entities.id, kind, normal,
        (SELECT name FROM mentions WHERE entity = entities.number ORDER BY count DESC, name LIMIT 1),
        (SELECT sum(count) FROM mentions WHERE entity = entities.number)
    FROM entities
"""


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


class Reading:
    """One state of the library."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _rows(self, sql: str, *parameters: Any) -> list[Any]:
        return self._connection.execute(sql, parameters).fetchall()

    def _row(self, sql: str, *parameters: Any) -> Any:
        return self._connection.execute(sql, parameters).fetchone()

    # Documents and sections

    def count(self, table: str) -> int:
        return int(self._row(f"SELECT count(*) FROM {table}")[0])  # noqa: S608 - no caller takes the name from outside

    def counts(self) -> dict[str, int]:
        return {
            table: self.count(table) for table in ("documents", "sections", "entities", "mentions", "links", "cites")
        }

    def pending(self) -> list[str]:
        """The documents that the search index does not hold yet."""
        return [path for (path,) in self._rows("SELECT path FROM documents WHERE NOT indexed ORDER BY path")]

    def documents(self) -> Iterator[DocumentRecord]:
        return (_DOCUMENT(data) for (data,) in self._rows("SELECT data FROM documents ORDER BY path"))

    def document(self, path: str) -> DocumentRecord | None:
        row = self._row("SELECT data FROM documents WHERE path = ?", path)
        return None if row is None else _DOCUMENT(row[0])

    def document_by_id(self, id: str) -> DocumentRecord | None:
        row = self._row("SELECT data FROM documents WHERE id = ?", id)
        return None if row is None else _DOCUMENT(row[0])

    def section(self, id: str) -> SectionRecord | None:
        row = self._row("SELECT data FROM sections WHERE id = ?", id)
        return None if row is None else _SECTION(row[0])

    def sections_of(self, path: str) -> list[SectionRecord]:
        sql = "SELECT data FROM sections WHERE document = (SELECT number FROM documents WHERE path = ?) ORDER BY place"
        return [_SECTION(data) for (data,) in self._rows(sql, path)]

    def section_at(self, path: str, place: int) -> SectionRecord | None:
        own = "document = (SELECT number FROM documents WHERE path = ?)"
        row = self._row(f"SELECT data FROM sections WHERE {own} AND place = ?", path, place)  # noqa: S608
        return None if row is None else _SECTION(row[0])

    def below(self, path: str, parent: int) -> list[SectionRecord]:
        """The sections right below one of the document; below none with -1."""
        own = "document = (SELECT number FROM documents WHERE path = ?)"
        rows = self._rows(f"SELECT data FROM sections WHERE {own} AND parent = ? ORDER BY place", path, parent)  # noqa: S608
        return [_SECTION(data) for (data,) in rows]

    def section_ids(self) -> list[str]:
        return [id for (id,) in self._rows("SELECT id FROM sections ORDER BY document, place")]

    def text(self, id: str) -> str | None:
        sql = "SELECT text FROM section_texts WHERE number = (SELECT number FROM sections WHERE id = ?)"
        row = self._row(sql, id)
        return None if row is None else str(row[0])

    def current_id(self, id: str) -> str | None:
        """The id itself where something has it, else the id of what took its place."""
        sql = "SELECT 1 FROM sections WHERE id = ?1 UNION ALL SELECT 1 FROM documents WHERE id = ?1"
        if self._row(sql, id) is not None:
            return id
        row = self._row("SELECT new FROM aliases WHERE old = ?", id)
        return None if row is None else str(row[0])

    # Entities

    def entity(self, id: str) -> EntityRecord | None:
        row = self._row(f"{_ENTITY} WHERE entities.id = ?", id)
        return None if row is None else EntityRecord(row[0], row[1], row[3], row[2], row[4])

    def entities(self) -> list[EntityRecord]:
        return [EntityRecord(row[0], row[1], row[3], row[2], row[4]) for row in self._rows(f"{_ENTITY} ORDER BY id")]

    def entities_named(self, normal: str, kind: str | None = None) -> list[str]:
        rows = self._rows("SELECT id, kind FROM entities WHERE normal = ? ORDER BY id", normal)
        return [id for id, own in rows if kind is None or own == kind]

    def mentioned_in(self, section: str) -> list[MentionOf]:
        sql = """
            SELECT entities.id, mentions.count FROM mentions JOIN entities ON entities.number = mentions.entity
            WHERE mentions.section = (SELECT number FROM sections WHERE id = ?)
            ORDER BY mentions.count DESC, entities.id
        """
        return [MentionOf(*row) for row in self._rows(sql, section)]

    def mentioning(self, entity: str) -> list[MentionOf]:
        sql = """
            SELECT sections.id, mentions.count FROM mentions JOIN sections ON sections.number = mentions.section
            WHERE mentions.entity = (SELECT number FROM entities WHERE id = ?) ORDER BY mentions.count DESC, sections.id
        """
        return [MentionOf(*row) for row in self._rows(sql, entity)]

    def few_mentioning(self, entity: str, most: int) -> list[str]:
        """The sections that mention an entity; none where there are more than so many."""
        sql = """
            SELECT sections.id FROM mentions JOIN sections ON sections.number = mentions.section
            WHERE mentions.entity = (SELECT number FROM entities WHERE id = ?) LIMIT ?
        """
        found = [id for (id,) in self._rows(sql, entity, most + 1)]
        return found if len(found) <= most else []

    def steps_of(self, procedure: str) -> list[str]:
        sql = """
            SELECT entities.id FROM steps JOIN entities ON entities.number = steps.step
            WHERE steps.procedure = (SELECT number FROM entities WHERE id = ?) ORDER BY steps.place
        """
        return [id for (id,) in self._rows(sql, procedure)]

    def procedure_of(self, step: str) -> str | None:
        sql = """
            SELECT entities.id FROM steps JOIN entities ON entities.number = steps.procedure
            WHERE steps.step = (SELECT number FROM entities WHERE id = ?)
        """
        row = self._row(sql, step)
        return None if row is None else str(row[0])

    # What leads out of a section

    def cites_of(self, section: str) -> list[CitedBy]:
        sql = """
            SELECT target, labels, rank, written FROM cites
            WHERE section = (SELECT number FROM sections WHERE id = ?) ORDER BY written, rank, target
        """
        return [CitedBy(section, target, _labels(joined), *rest) for target, joined, *rest in self._rows(sql, section)]

    def citing(self, target: str) -> list[CitedBy]:
        sql = """
            SELECT sections.id, target, labels, rank, written
            FROM cites JOIN sections ON sections.number = cites.section
            WHERE target = ? ORDER BY sections.id
        """
        return [CitedBy(id, own, _labels(joined), *rest) for id, own, joined, *rest in self._rows(sql, target)]

    def links_of(self, section: str) -> list[LinkOf]:
        sql = "SELECT path, label, anywhere FROM links WHERE section = (SELECT number FROM sections WHERE id = ?)"
        return [LinkOf(section, path, label, bool(anywhere)) for path, label, anywhere in self._rows(sql, section)]

    def linking(self, path: str, labels: Sequence[str] | None) -> list[LinkOf]:
        """Every link that may lead to a document or into it; with labels, only those that name one of them."""
        sql = """
            SELECT sections.id, path, label, anywhere FROM links JOIN sections ON sections.number = links.section
            WHERE links.path = ?
        """
        if labels is None:
            found = [row for spelled in _spellings(path) for row in self._rows(sql, spelled)]
        else:
            ways = [(spelled, label) for spelled in (*_spellings(path), "") for label in labels]
            found = [row for way in ways for row in self._rows(f"{sql} AND links.label = ?", *way)]
        return [LinkOf(id, own, label, bool(anywhere)) for id, own, label, anywhere in found]

    def labels_of(self, path: str, place: int) -> list[str]:
        own = "document = (SELECT number FROM documents WHERE path = ?)"
        return [label for (label,) in self._rows(f"SELECT label FROM labels WHERE {own} AND place = ?", path, place)]  # noqa: S608

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
        for candidate in candidates:
            if self._row("SELECT 1 FROM documents WHERE path = ?", candidate) is not None:
                return candidate
        return None

    # Documents about the same things

    def shared_entities(self, path: str, most_documents: int) -> list[tuple[str, int, int]]:
        """Other documents that mention what a document mentions: for each entity that is rare enough, the document,
        the number of the entity and in how many documents it is."""
        sql = """
            WITH own AS (
                SELECT DISTINCT mentions.entity FROM mentions JOIN sections ON sections.number = mentions.section
                WHERE sections.document = (SELECT number FROM documents WHERE path = ?1)
            ),
            spread AS (
                SELECT DISTINCT mentions.entity AS entity, sections.document AS document
                FROM own JOIN mentions ON mentions.entity = own.entity
                JOIN sections ON sections.number = mentions.section
            ),
            rare AS (SELECT entity, count(*) AS documents FROM spread GROUP BY entity HAVING count(*) BETWEEN 2 AND ?2)
            SELECT documents.path, rare.entity, rare.documents
            FROM rare JOIN spread ON spread.entity = rare.entity JOIN documents ON documents.number = spread.document
            WHERE documents.path <> ?1
        """
        return [(path, entity, number) for path, entity, number in self._rows(sql, path, most_documents)]


def _labels(joined: str) -> tuple[str, ...]:
    return tuple(joined.split("+")) if joined else ()


def _spellings(path: str) -> list[str]:
    """How a link may spell the path of a document."""
    stem = posixpath.splitext(path)[0]
    folder, _, name = stem.rpartition("/")
    return [path, stem, *([folder or "."] if name in _INDEXES else [])]
