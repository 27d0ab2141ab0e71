"""Removing units from an index so that no byte of them is left in its files."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from clew.derived.file import PATIENCE_SECONDS, throw_away
from clew.errors import StoreError
from clew.search.embedded import EmbeddedIndexReader
from clew.search.engine import INDEX_FILE
from clew.search.index import UnitIndex, repack, sweep
from clew.search.index_tables import is_refilled
from clew.search.lexical.tables import is_outdated, texts
from clew.search.unit_store import IndexedText, UnitStore
from clew.store.sqlite.connections import SqliteConnection, SqliteConnections
from clew.workspace.find import paths_named

_AT_ONCE = 500

Pieces = frozenset[str]


class PurgedText(NamedTuple):
    """A text to remove wherever it is."""

    parts: Collection[str]
    """Parts whose units are in no file of the project: every such unit that holds some of the text is deleted."""
    staying: Collection[str]
    """The ids of units of those parts that are kept all the same."""
    held: Callable[[str], Pieces]
    """The pieces of the sought text in a text."""
    is_said: Callable[[str, Pieces], bool]
    """True if the file at a path holds such pieces now: then they are the project's own text."""


class PurgeProgress(NamedTuple):
    """The part of an index that was looked through."""

    series: str = ""
    last: int = 0
    """The last number of a unit. A number stands for one text for ever."""
    own: Pieces = frozenset()
    """The pieces that files of the project hold now."""


def purge_units(
    folder: Path, ids: Collection[str], sought: PurgedText | None = None, text_hashes: Collection[str] = ()
) -> PurgeProgress:
    """Take units out of the index in a folder, with their words and vectors: those of these ids, those that hold what
    is sought and do not stand so in a file, and all sections of such a file. `text_hashes` names texts that units had
    before."""
    if not (folder / INDEX_FILE).exists():
        return PurgeProgress()
    with closing(UnitIndex(folder / INDEX_FILE)) as index:
        found, seen = list(ids), PurgeProgress()
        with index.reading() as connection:
            if sought is not None:
                gone, seen = _looked_through(connection, sought, PurgeProgress())
                found += gone
            hashes = {*text_hashes, *_text_hashes(connection, found)}
        index.delete(dict.fromkeys(found))
        with index.writing(durable=True) as connection:
            _forget_embeddings(connection, hashes)
            sweep(connection)
            # It may be made of a document that is gone by now, and that was a copy of what is purged.
            repack(connection)
            # A word that was taken out stays in the full-text index until its parts are merged.
            connection.execute("INSERT INTO lexical (lexical) VALUES ('optimize')")
        # Copies of the table, which are made again from it.
        for file in paths_named(folder, "vectors-*"):
            throw_away(file)
        index.compact()
    return seen


def held_beyond_files(units: UnitStore, sought: PurgedText) -> list[str]:
    """The ids of units with the purged text that are kept elsewhere than in files, and whose file does not say it."""
    gone, _ = _held(units.beyond_files(), sought)
    return list(dict.fromkeys(gone))


def _text_hashes(connection: SqliteConnection, ids: Collection[str]) -> list[str]:
    numbers = EmbeddedIndexReader(connection).numbers_of(ids).values()
    find = "SELECT text_hash FROM indexed_units WHERE number = ?"
    found = (connection.execute(find, (number,)) for number in numbers)
    return [hash for rows in found for (hash,) in rows]


def _forget_embeddings(connection: SqliteConnection, text_hashes: Collection[str]) -> None:
    """Delete the embeddings of these texts, and those that wait for a text to come again, which may be an earlier
    version of the purged one. While units of an earlier layout are missing, the others keep waiting."""
    orphaned = "DELETE FROM embeddings WHERE number NOT IN (SELECT number FROM indexed_units)"
    if is_refilled(connection):
        which = "text_hash IN (SELECT value FROM json_each(?))"
        connection.execute(f"{orphaned} AND {which}", (msgspec.json.encode(sorted(text_hashes)).decode(),))
    else:
        connection.execute(orphaned)


def is_held(folder: Path, sought: PurgedText, seen: PurgeProgress) -> bool:
    """True if units that were written since the last look have some of the text, apart from quotes of project files, or
    if the dictionary of the packed texts may have it. True for an index that cannot be read."""
    place = folder / INDEX_FILE
    if not place.exists():
        return False
    with closing(SqliteConnections(place, read_only=True, busy_timeout=PATIENCE_SECONDS)) as connections:
        try:
            with connections.reading() as connection:
                gone, _ = _looked_through(connection, sought, seen)
                return bool(gone) or is_outdated(connection)
        except StoreError:
            return True


def _looked_through(
    connection: SqliteConnection, sought: PurgedText, seen: PurgeProgress
) -> tuple[list[str], PurgeProgress]:
    """The ids of units with text that they should not have, among those not checked yet."""
    series, _ = EmbeddedIndexReader(connection).writes()
    after = seen.last if series == seen.series else 0
    find = "SELECT number, id, part, path, quoted FROM indexed_units WHERE number > ?"
    units = {number: unit for number, *unit in connection.execute(find, (after,)).fetchall()}
    gone, own = _held(_indexed_texts(connection, units), sought)
    return gone, PurgeProgress(series, max(units, default=after), own)


def _indexed_texts(connection: SqliteConnection, units: dict[int, list[Any]]) -> Iterator[IndexedText]:
    rest: Iterable[int] = iter(units)
    while batch := list(islice(rest, _AT_ONCE)):
        said = texts(connection, batch)
        for number in batch:
            id, part, path, is_section = units[number]
            yield IndexedText(id, part, path, bool(is_section), "\n".join((path or "", *said.get(number, ()))))


def _held(units: Iterable[IndexedText], sought: PurgedText) -> tuple[list[str], Pieces]:
    """The ids of the units with text that they should not have, and the parts of it that project files say now."""
    gone: list[str] = []
    own: set[str] = set()
    outdated: set[str] = set()
    sections: list[tuple[str, str | None]] = []
    for id, part, path, is_section, said in units:
        if is_section:
            sections.append((id, path))
        if not (held := sought.held(said)):
            continue
        if part in sought.parts:
            gone += [id] if id not in sought.staying else []
        elif path is None or sought.is_said(path, held):
            own |= held
        else:
            gone.append(id)
            outdated |= {path} if is_section else set()
    gone += [id for id, path in sections if path in outdated]
    return gone, frozenset(own)
