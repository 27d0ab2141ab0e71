"""The store of documents: one document goes in or out as a whole, or not at all.

Readers see one state for as long as they read, whatever is written meanwhile; any number of threads and processes may
do both.

A deleted section keeps the id of its successor, so that a client with the old id still finds the text.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from sqlite3 import IntegrityError
from typing import NamedTuple

import msgspec

from clew.cache import Cache
from clew.derived.file import PATIENCE_SECONDS, DerivedFile
from clew.errors import Conflict, StoreCorrupt
from clew.kb import ids
from clew.kb.boundary import EVERYTHING, Boundary
from clew.kb.ingest.blocks import SectionBlock, blocks_of
from clew.kb.ingest.library_file import KINDS, SCHEMA, Rows, remove_strays, rows_of, strays
from clew.kb.ingest.records import DocumentRecord, DocumentRest, PreparedDocument
from clew.kb.queries import Blocks, LibraryReader
from clew.store.sqlite.connections import SqliteConnection
from clew.store.sqlite.faults import damaged
from clew.text.hashing import short_hash
from clew.text.keywords import keywords
from clew.workspace.follow import FileState

ALIKE = 0.5
"""The share of words that two texts have in common when one is taken for an edit of the other."""
_MOST_COMPARED = 200


class ComparedSection(NamedTuple):
    id: str
    title: str
    ordinal: int
    version: str
    text: str


def successors(
    gone: Sequence[ComparedSection], fresh: Sequence[ComparedSection], kept: Iterable[str]
) -> dict[str, str]:
    """For each deleted section the one that took its place, as far as that is known.

    In this order: the same text, the same text below another heading, the same heading elsewhere, most of the words.
    A later piece of a section whose text grew shorter is followed by the first.
    """
    found: dict[str, str] = {}
    left = list(fresh)
    for same in (_text, _body, _heading):
        left = _matched(gone, left, same, found)
    found |= _alike([piece for piece in gone if piece.id not in found][:_MOST_COMPARED], left[:_MOST_COMPARED])
    known = {*kept, *(piece.id for piece in fresh)}
    for piece in gone:
        first = piece.id.rpartition("~")[0]
        if piece.id not in found and piece.ordinal > 1 and (first in known or first in found):
            found[piece.id] = found.get(first, first)
    return found


def _matched(
    gone: Sequence[ComparedSection],
    fresh: list[ComparedSection],
    same: Callable[[ComparedSection], object],
    found: dict[str, str],
) -> list[ComparedSection]:
    """Pair documents that are equal by a rule, in their order; returns the new ones without a partner."""
    waiting: dict[object, list[ComparedSection]] = {}
    for piece in reversed(fresh):
        waiting.setdefault(same(piece), []).append(piece)
    taken: set[str] = set()
    for piece in gone:
        key = same(piece)
        if piece.id not in found and key and waiting.get(key):
            found[piece.id] = waiting[key].pop().id
            taken.add(found[piece.id])
    return [piece for piece in fresh if piece.id not in taken]


def _text(piece: ComparedSection) -> object:
    return piece.version


def _body(piece: ComparedSection) -> object:
    """The text without its first line, which is the heading."""
    return piece.text.partition("\n")[2].strip() if piece.ordinal == 1 else ""


def _heading(piece: ComparedSection) -> object:
    return (piece.title, piece.ordinal)


def _alike(gone: Sequence[ComparedSection], fresh: Sequence[ComparedSection]) -> dict[str, str]:
    """For each removed section, the new one with the most words in common, if those are many."""
    found: dict[str, str] = {}
    waiting = {piece.id: frozenset(keywords(piece.text)) for piece in fresh}
    for piece in gone:
        own = frozenset(keywords(piece.text))
        shares = {id: _share(own, words) for id, words in waiting.items()}
        best = max(shares, key=lambda id: shares[id], default=None)
        if best is not None and shares[best] >= ALIKE:
            found[piece.id] = best
            del waiting[best]
    return found


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of their words that two texts have in common."""
    both = len(one & other)
    return both / max(1, len(one) + len(other) - both)


MADE_ANEW = "The store of documents was damaged; it is rebuilt from the files."

KEPT_CHARACTERS = 4_000_000
_ENCODE = msgspec.json.Encoder().encode
_REMOVE = "DELETE FROM documents WHERE path = ?"
"""With everything that only it contributed: see the triggers."""


class KnownDocument(NamedTuple):
    """The recorded state of a document's file."""

    file: FileState
    reader: str
    """Names what read it; another one may make something else of the same content."""
    indexed: bool


class SectionChanges(NamedTuple):
    """The sections that a write added and removed."""

    present: tuple[str, ...]
    gone: tuple[str, ...]


class Library:
    def __init__(self, path: Path, *, patience: float = PATIENCE_SECONDS) -> None:
        self.path = path
        self._opened = DerivedFile(path, SCHEMA, patience=patience)
        self.notes = self._opened.notes
        self._blocks: tuple[object, Blocks] = (None, Cache(0))
        self.joined_shares: Cache[tuple[object, str, Boundary], float] = Cache(64)
        """The share of sections that lead to others (`answer.section_search`), by opening, state and boundary."""

    @property
    def opening(self) -> object:
        """Another one whenever the file is another one."""
        return self._file.opening

    @property
    def _file(self) -> DerivedFile:
        """The present file: anybody may delete it, or make it again, at any time."""
        if self._opened.met_damage:
            self._opened.renew_damaged()
            self.notes = (MADE_ANEW,)
        if self._opened.follow():
            self.notes = self._opened.notes
        return self._opened

    def close(self) -> None:
        self._opened.close()

    def renew(self) -> None:
        """Begin with an empty file. A process that has the old one open goes on with the new one."""
        self._opened.renew()
        self.notes = (MADE_ANEW,)

    def tidy(self) -> bool:
        """Rewrite the file if it grew by half, or if most of it is free; True if it was rewritten."""
        return self._file.tidy()

    @contextmanager
    def reading(self, boundary: Boundary = EVERYTHING) -> Iterator[LibraryReader]:
        """One state of the library for a whole block. Documents outside of the boundary are invisible."""
        with _advised(), self._file.reading() as connection:
            # The state is that of the first look, not of the beginning.
            connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone()
            with _sound(self.path):
                yield LibraryReader(connection, boundary, self._blocks_kept())

    def _blocks_kept(self) -> Blocks:
        """Blocks of the file that is open: its numbers of documents are never used again."""
        opening, kept = self._blocks
        if opening is not self._opened.opening:
            kept = Cache(KEPT_CHARACTERS, size_of=_characters)
            self._blocks = (self._opened.opening, kept)
        return kept

    def _writing(self) -> AbstractContextManager[SqliteConnection]:
        return self._file.writing()

    # What is known of the files

    def known(self) -> dict[str, KnownDocument]:
        with self._file.reading() as connection:
            rows = connection.execute("SELECT path, size, mtime_ns, content_hash, reader, indexed FROM documents")
            return {
                path: KnownDocument(FileState(size, mtime, hash), reader, bool(done))
                for path, size, mtime, hash, reader, done in rows
            }

    def file_state(self, path: str) -> FileState | None:
        """The file of a document as it was when it was last read."""
        with self._file.reading() as connection:
            query = "SELECT size, mtime_ns, content_hash FROM documents WHERE path = ?"
            row = connection.execute(query, (path,)).fetchone()
        return FileState(*row) if row is not None else None

    def touch(self, path: str, size: int, mtime_ns: int) -> None:
        """Note that a file has another time, but the same content."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ? WHERE path = ?",
                (size, mtime_ns, path),
            )

    def mark_indexed(self, documents: Iterable[tuple[str, str]], *, unsettled: Iterable[str] = ()) -> None:
        """Note that the search index holds documents, if they still have these contents. Files that changed too
        recently are compared again, whatever their time."""
        with self._writing() as connection:
            connection.executemany(
                "UPDATE documents SET indexed = 1 WHERE path = ? AND content_hash = ?", list(documents)
            )
            connection.executemany("UPDATE documents SET mtime_ns = 0 WHERE path = ?", [(path,) for path in unsettled])

    # What the tables hold

    def rows_of(self, path: str) -> Rows:
        """All rows of a document."""
        with self._file.reading() as connection:
            return rows_of(connection, path)

    def section_ids(self) -> dict[str, list[str]]:
        """The ids of the sections of each document, by its path."""
        found: dict[str, list[str]] = {}
        with self._file.reading() as connection:
            for path, id in connection.execute(
                "SELECT documents.path, sections.id FROM sections JOIN documents ON documents.number = document"
            ):
                found.setdefault(path, []).append(id)
        return found

    def strays(self) -> dict[str, int]:
        """Counts of the rows that belong to no document, by kind of row."""
        with self._file.reading() as connection:
            return strays(connection)

    def remove_strays(self) -> None:
        with self._writing() as connection:
            remove_strays(connection)

    # Writing documents

    def replace(self, prepared: PreparedDocument, *, reader: str, moved_from: str | None = None) -> SectionChanges:
        """Replace the document of the same path, or the one that was moved here. Conflict if rows that belong to no
        document are in the way."""
        with self._writing() as connection, _sound(self.path), _unhindered(prepared.document.path):
            reading = LibraryReader(connection)
            before = [
                piece for path in (prepared.document.path, moved_from) if path for piece in _pieces(reading, path)
            ]
            for path in (prepared.document.path, moved_from):
                connection.execute(_REMOVE, (path,))
            insert_document(connection, prepared, reader)
            present = dict.fromkeys(section.id for section in prepared.sections)
            gone = [piece for piece in before if piece.id not in present]
            _alias(connection, prepared, before, gone)
            if moved_from is not None:
                old, new = ids.document_id(moved_from), ids.document_id(prepared.document.path)
                _set_aliases(connection, {old: new})
        return SectionChanges(tuple(present), tuple(piece.id for piece in gone))

    def remove(self, path: str) -> SectionChanges:
        """Remove a document, with everything that no other document has."""
        with self._writing() as connection:
            gone = tuple(section.id for section in LibraryReader(connection).sections_of(path))
            connection.execute(_REMOVE, (path,))
            _forget_aliases(connection, (*gone, ids.document_id(path)))
        return SectionChanges((), gone)


@contextmanager
def _advised() -> Iterator[None]:
    """Add to an error about damage how to repair it: documents are made from the files, so no backup is needed."""
    try:
        yield
    except StoreCorrupt as error:
        hint = "Run `clew kb reconcile`, which rebuilds it from the files."
        raise StoreCorrupt(error.message, hint=hint, data=error.data) from error


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Treat a record that cannot be read as damage."""
    try:
        yield
    except msgspec.DecodeError as error:
        raise damaged(path, str(error)) from error


@contextmanager
def _unhindered(path: str) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise Conflict(
            f"'{path}' cannot be kept: the store of documents holds something in its place ({error}).",
            hint="Run `clew kb reconcile`.",
        ) from error


def _characters(block: SectionBlock) -> int:
    return len(block.texts)


def _pieces(reading: LibraryReader, path: str) -> list[ComparedSection]:
    return [
        ComparedSection(section.id, section.title, section.ordinal, section.version, reading.text(section.id) or "")
        for section in reading.sections_of(path)
    ]


def insert_document(connection: SqliteConnection, prepared: PreparedDocument, reader: str) -> None:
    document = prepared.document
    id = ids.document_id(document.path)
    number = connection.execute(
        "INSERT INTO documents"
        " (spelled, path, tag, environment, repository, content_hash, size, mtime_ns, reader, data, indexed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        (*_columns(document), reader, _ENCODE(DocumentRest.of(document))),
    ).lastrowid
    numbers = []
    for block, (places, packed) in enumerate(blocks_of(prepared.sections, prepared.texts)):
        connection.execute("INSERT INTO blocks VALUES (?, ?, ?)", (number, block, packed))
        for section in prepared.sections[places.start : places.stop]:
            inserted = connection.execute(
                "INSERT INTO section_rows (hash, whole_id, end_of_id, document, place, parent, block)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (short_hash(section.id), *_parted(section.id, id), number, section.place, section.parent, block),
            )
            numbers.append(inserted.lastrowid)
    connection.executemany(
        "INSERT INTO labels (document, place, label) VALUES (?, ?, ?)",
        [(number, place, label) for label, place in prepared.labels.items()],
    )
    _insert_entities(connection, prepared, numbers)
    connection.executemany(
        "INSERT OR IGNORE INTO cites VALUES (?, ?, ?, ?, ?)",
        [(numbers[row.place], row.target, "+".join(row.labels), row.rank, row.written) for row in prepared.cites],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?, ?)",
        [(numbers[row.place], row.path, row.label, row.anywhere, row.text) for row in prepared.links],
    )


def _parted(id: str, document: str) -> tuple[str | None, str | None]:
    """The id of a section as it is stored: whole, or only the part after the id of its document."""
    return (None, id.removeprefix(document)) if id.startswith(document) else (id, None)


def _columns(document: DocumentRecord) -> tuple[object, ...]:
    id = ids.document_id(document.path)
    spelled = None if id == f"{ids.DOCUMENT}{document.path}" else id
    place = (document.tag, document.environment, document.repository)
    return spelled, document.path, *place, document.content_hash, document.size, document.mtime_ns


def _insert_entities(connection: SqliteConnection, prepared: PreparedDocument, numbers: list[int | None]) -> None:
    known = {
        row.entity: (KINDS.index(row.kind), row.normal, ids.shortened_entity(row.kind, row.normal))
        for row in prepared.mentions
    }
    connection.executemany(
        """
        INSERT INTO entities (hash, kind_number, normal, shortened) SELECT ?1, ?3, ?4, ?5
        WHERE NOT EXISTS (SELECT 1 FROM entities WHERE hash = ?1 AND id = ?2)
        """,
        [(short_hash(id), id, *row) for id, row in known.items()],
    )
    find = "SELECT number FROM entities WHERE hash = ? AND id = ?"
    entities = {id: connection.execute(find, (short_hash(id), id)).fetchone()[0] for id in known}
    connection.executemany(
        "INSERT INTO mentions VALUES (?, ?, ?, ?)",
        [
            (numbers[row.place], entities[row.entity], row.name if row.name != row.normal else None, row.count)
            for row in prepared.mentions
        ],
    )
    connection.executemany(
        "INSERT INTO steps VALUES (?, ?, ?)",
        [(entities[row.procedure], row.place, entities[row.step]) for row in prepared.steps],
    )


def _alias(
    connection: SqliteConnection, prepared: PreparedDocument, before: list[ComparedSection], gone: list[ComparedSection]
) -> None:
    known = {piece.id for piece in before}
    present = [section.id for section in prepared.sections]
    connection.executemany("DELETE FROM aliases WHERE old = ?", [(id,) for id in present])
    connection.execute("DELETE FROM aliases WHERE old = ?", (ids.document_id(prepared.document.path),))
    fresh = [
        ComparedSection(section.id, section.title, section.ordinal, section.version, text)
        for section, text in zip(prepared.sections, prepared.texts, strict=True)
        if section.id not in known
    ]
    found = successors(gone, fresh, (id for id in present if id in known))
    _set_aliases(connection, found)
    _forget_aliases(connection, [piece.id for piece in gone if piece.id not in found])


def _set_aliases(connection: SqliteConnection, found: dict[str, str]) -> None:
    """Aliases of a deleted section now lead to its successor."""
    connection.executemany("UPDATE aliases SET new = ?2 WHERE new = ?1", list(found.items()))
    connection.executemany("INSERT OR REPLACE INTO aliases VALUES (?, ?)", list(found.items()))


def _forget_aliases(connection: SqliteConnection, ids: Iterable[str]) -> None:
    connection.executemany("DELETE FROM aliases WHERE new = ?", [(id,) for id in ids])
