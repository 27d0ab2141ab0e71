"""Taking units out of an index so that no byte of them is left in its files."""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from clew.derived.file import throw_away
from clew.search.engine import INDEX_FILE
from clew.search.index import UnitIndex, repack, sweep
from clew.search.lexical.tables import packed_by, texts
from clew.store.sqlite.connections import Connection
from clew.workspace.find import paths_named

_AT_ONCE = 500


class Sought(NamedTuple):
    """What is taken out wherever it stands."""

    parts: Collection[str]
    """Those of which every unit is looked at."""
    holds: Callable[[str], bool]
    """Whether a text holds some of it."""
    is_file: Callable[[str], bool]
    """Whether a document is there, by its path: then it is the project's own text."""


def purge_units(folder: Path, ids: Collection[str], sought: Sought | None = None) -> int:
    """Take units out of the index in a folder, with their words and vectors: those of these ids, those of the parts
    that hold what is sought, and all of documents that held it and are gone. How many; 0 where there is no index."""
    if not (folder / INDEX_FILE).exists():
        return 0
    index = UnitIndex(folder / INDEX_FILE)
    try:
        with index.reading() as connection:
            found = [*ids, *(_holding(connection, sought) if sought is not None else ())]
        removed = index.delete(dict.fromkeys(found)).removed
        with index.writing(durable=True) as connection:
            # What is kept for a text that may come again is taken out as well.
            connection.execute("DELETE FROM embeddings WHERE number NOT IN (SELECT number FROM units)")
            sweep(connection)
            # It may be made of a document that is gone by now, and that was a copy of what is purged.
            repack(connection)
            # A word that was taken out stays in the full-text index until its parts are merged.
            connection.execute("INSERT INTO lexical (lexical) VALUES ('optimize')")
        # Copies of the table, which are made again from it.
        for file in paths_named(folder, "vectors-*"):
            throw_away(file)
        index.compact()
    finally:
        index.close()
    return removed


def is_held(folder: Path, sought: Sought) -> bool:
    """Whether what is packed in the index in a folder holds some of it still, beside what documents say that are
    there."""
    if not (folder / INDEX_FILE).exists():
        return False
    index = UnitIndex(folder / INDEX_FILE)
    try:
        with index.reading() as connection:
            if any(True for _ in _holding(connection, sought)):
                return True
            # It is made of what documents say.
            return sought.holds(packed_by(connection)) and not _documents(connection, sought)
    finally:
        index.close()


def _holding(connection: Connection, sought: Sought) -> Iterator[str]:
    """The ids of the units that hold it and should not."""
    find = "SELECT number, id FROM units WHERE part IN (SELECT value FROM json_each(?))"
    own = dict(connection.execute(find, (msgspec.json.encode(sorted(sought.parts)).decode(),)).fetchall())
    yield from (own[number] for number in _saying(connection, own, sought))
    for path in sorted(_documents(connection, sought)):
        if not sought.is_file(path):
            # It is gone as a whole, also the pieces of it that say something else.
            find = "SELECT id FROM units WHERE quoted AND path = ?"
            yield from (id for (id,) in connection.execute(find, (path,)).fetchall())


def _documents(connection: Connection, sought: Sought) -> set[str]:
    """The paths of the documents that hold it."""
    paths = dict(connection.execute("SELECT number, path FROM units WHERE quoted AND path IS NOT NULL").fetchall())
    return {paths[number] for number in _saying(connection, paths, sought)}


def _saying(connection: Connection, numbers: Iterable[int], sought: Sought) -> Iterator[int]:
    """Those of the units whose title or text holds it."""
    rest = iter(numbers)
    while batch := list(islice(rest, _AT_ONCE)):
        for number, said in texts(connection, batch).items():
            if sought.holds("\n".join(said)):
                yield number
