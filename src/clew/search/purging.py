"""Taking units out of an index so that no byte of them is left in its files."""

from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from clew.derived.file import throw_away
from clew.search.engine import INDEX_FILE
from clew.search.index import UnitIndex, sweep
from clew.search.lexical.tables import texts
from clew.workspace.find import paths_named


def purge_units(folder: Path, parts: Collection[str], ids: Collection[str], holds: Callable[[str], bool]) -> int:
    """Take units out of the index in a folder, with their words and vectors: those of these ids, and those of the parts
    whose text `holds`. How many; 0 where there is no index."""
    if not (folder / INDEX_FILE).exists():
        return 0
    index = UnitIndex(folder / INDEX_FILE)
    try:
        with index.reading() as connection:
            rows = connection.execute(
                "SELECT number, id FROM units WHERE part IN (SELECT value FROM json_each(?))",
                (msgspec.json.encode(sorted(parts)).decode(),),
            ).fetchall()
            wanted = frozenset(ids)
            found = [
                id
                for number, id in rows
                if id in wanted or any(holds("\n".join(said)) for said in texts(connection, [number]).values())
            ]
        removed = index.delete(found).removed
        with index.writing(durable=True) as connection:
            # What is kept for a text that may come again is taken out as well.
            connection.execute("DELETE FROM embeddings WHERE number NOT IN (SELECT number FROM units)")
            sweep(connection)
            # A word that was taken out stays in the full-text index until its parts are merged.
            connection.execute("INSERT INTO lexical (lexical) VALUES ('optimize')")
        # Copies of the table, which are made again from it.
        for file in paths_named(folder, "vectors-*"):
            throw_away(file)
        index.compact()
    finally:
        index.close()
    return removed
