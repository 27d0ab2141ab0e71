"""The units of a project, and the lexical index over them.

Writes are transactions: a unit is in the tables and in the lexical index together, or in neither. Any number of threads
and processes may read and write. Nothing here knows of vectors; they follow under the numbers of the units.

Everything in the file can be made again from what the units were made of, so a damaged file, or one that an older Clew
cut into words in another way, is replaced by an empty one.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from clew.derived.file import PATIENCE_SECONDS, DerivedFile, Schema
from clew.errors import InvalidArgument
from clew.search.lexical import tables as lexical_tables
from clew.search.rank.mentions import title_key
from clew.search.units import MAX_ID_CHARACTERS, Condition, Unit, moment
from clew.store.sqlite.connections import Connection
from clew.text.shortening import shortened
from clew.text.words import storable

MAX_TEXT_CHARACTERS = 8_000_000

_AT_ONCE = 500
WRITES_NOTED = 256
"""Whoever knows the units as they were so many writes ago looks only at what changed since."""
_WORTH_TIDYING = 1_000
"""Pages, of 4 KB."""
_DATA = msgspec.msgpack.Decoder(Unit)


class Written(msgspec.Struct, frozen=True):
    """What a write did."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0

    def __add__(self, other: "Written") -> "Written":
        return Written(*(mine + theirs for mine, theirs in zip(_counts(self), _counts(other), strict=True)))

    @property
    def any(self) -> bool:
        return self.added + self.changed + self.removed > 0


class Known(NamedTuple):
    number: int
    content_hash: str
    text_hash: str


class UnitIndex(DerivedFile):
    def __init__(self, path: Path, *, patience: float = PATIENCE_SECONDS) -> None:
        super().__init__(path, SCHEMA, patience=patience)
        with self.reading() as connection:
            (self.series,) = connection.execute("SELECT series FROM index_state").fetchone()
        """Names this file: another one, even at the same place, counts its units anew."""

    # Writing

    def put(self, units: Iterable[Unit]) -> Written:
        """Add units, or replace those of the same id. Of an id that comes twice the last unit counts."""
        total = Written()
        rest = iter(units)
        while batch := {unit.id: checked(unit) for unit in islice(rest, _AT_ONCE)}:
            with self.writing() as connection:
                total += _put(connection, batch.values())
        return total

    def delete(self, ids: Iterable[str]) -> Written:
        """Take units out. Ids that are not there are passed over."""
        total = Written()
        rest = iter(ids)
        while batch := list(islice(rest, _AT_ONCE)):
            with self.writing() as connection:
                numbers = [each.number for each in _known(connection, batch).values()]
                _remove(connection, numbers)
                total += _count(connection, Written(removed=len(numbers)), numbers)
        return total

    def tidy(self) -> bool:
        """Give the space of what was deleted back where it is most of the file; whether that was done. It takes as long
        as writing the rest anew; others may read meanwhile."""
        with self.unbound() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (free,) = connection.execute("PRAGMA freelist_count").fetchone()
            if free < _WORTH_TIDYING or free * 2 < pages:
                return False
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return True

    # Reading

    def count(self) -> int:
        with self.reading() as connection:
            return lexical_tables.totals(connection).units

    def get(self, id: str) -> Unit | None:
        with self.reading() as connection:
            known = _known(connection, [id])
            return units_of(connection, [known[id].number])[known[id].number] if known else None

    def hashes(self, part: str) -> dict[str, str]:
        """The content hash of every unit of a part, by id."""
        with self.reading() as connection:
            rows = connection.execute("SELECT id, content_hash FROM units WHERE part = ?", (part,))
            return dict(rows.fetchall())

    def units_of_others(self, part: str) -> list[Unit]:
        """Every unit that is not of a part."""
        with self.reading() as connection:
            rows = connection.execute("SELECT number FROM units WHERE part <> ? ORDER BY number", (part,))
            return list(units_of(connection, [number for (number,) in rows]).values())


# Questions inside one `reading` block


def version(connection: Connection) -> str:
    """Differs after every write that changed something, and between two indexes."""
    series, number = writes(connection)
    return f"{series}-{number}"


def writes(connection: Connection) -> tuple[str, int]:
    """The index, and how many writes changed something in it."""
    series, number = connection.execute("SELECT series, version FROM index_state").fetchone()
    return series, number


def touched_since(connection: Connection, version: int, most: int) -> list[int] | None:
    """The numbers of units that were added, changed or deleted after a write; None where that is no longer known, or
    where they are more than `most`."""
    _, now = writes(connection)
    if not now - WRITES_NOTED <= version <= now:
        return None
    find = "SELECT DISTINCT number FROM unit_changes WHERE version > ? LIMIT ?"
    found = [number for (number,) in connection.execute(find, (version, most + 1)).fetchall()]
    return found if len(found) <= most else None


def parts(connection: Connection) -> dict[str, int]:
    """How many units there are of each part."""
    return dict(connection.execute("SELECT part, units FROM unit_parts WHERE units > 0 ORDER BY part").fetchall())


def allowed(connection: Connection, condition: Condition, among: Sequence[int]) -> list[int]:
    """Those of the given units that fulfil the condition, sorted."""
    # The condition is Clew's own text; every value is a parameter.
    statement = f"SELECT number FROM json_each(?) CROSS JOIN units ON number = value WHERE {condition.sql}"  # noqa: S608
    wanted = msgspec.json.encode(list(among)).decode()
    return sorted(number for (number,) in connection.execute(statement, (wanted, *condition.parameters)))


def units_of(connection: Connection, numbers: Iterable[int]) -> dict[int, Unit]:
    """Units by number; those that are gone are left out."""
    find = "SELECT data, body FROM unit_bodies WHERE number = ?"
    rows = ((number, connection.execute(find, (number,)).fetchone()) for number in dict.fromkeys(numbers))
    return {number: msgspec.structs.replace(_DATA.decode(row[0]), body=row[1]) for number, row in rows if row}


def ids_of(connection: Connection, numbers: Iterable[int]) -> dict[int, str]:
    return dict(_about(connection, "id", numbers))


def documents_of(connection: Connection, numbers: Iterable[int]) -> dict[int, str | None]:
    return dict(_about(connection, "document", numbers))


def _about(connection: Connection, column: str, numbers: Iterable[int]) -> list[tuple[int, str]]:
    """One question for all: asking for hundreds of rows one by one takes longer than ranking them."""
    wanted = msgspec.json.encode(list(numbers)).decode()
    statement = f"SELECT number, units.{column} FROM json_each(?) CROSS JOIN units ON number = value"  # noqa: S608
    return connection.execute(statement, (wanted,)).fetchall()


def numbers_of(connection: Connection, ids: Iterable[str]) -> dict[str, int]:
    return {id: known.number for id, known in _known(connection, ids).items()}


# How units get in and out


class _New(NamedTuple):
    unit: Unit
    content_hash: str
    text_hash: str


def _put(connection: Connection, units: Iterable[Unit]) -> Written:
    coming = [_New(unit, unit.content_hash(), unit.text_hash()) for unit in units]
    known = _known(connection, (new.unit.id for new in coming))
    fresh: list[_New] = []
    moved: list[_New] = []
    for new in coming:
        before = known.get(new.unit.id)
        if before is None or before.text_hash != new.text_hash:
            fresh.append(new)
        elif before.content_hash != new.content_hash:
            moved.append(new)
    replaced = [known[new.unit.id].number for new in fresh if new.unit.id in known]
    _remove(connection, replaced)
    numbers = [(_insert(connection, new), new.unit) for new in fresh]
    for new in moved:
        _update(connection, known[new.unit.id].number, new)
    touched = [*replaced, *(number for number, _ in numbers), *(known[new.unit.id].number for new in moved)]
    lexical_tables.put(connection, ((number, unit.title, unit.body) for number, unit in numbers))
    added = sum(new.unit.id not in known for new in fresh)
    changed = len(fresh) - added + len(moved)
    written = Written(added=added, changed=changed, unchanged=len(coming) - added - changed)
    return _count(connection, written, touched)


def _insert(connection: Connection, new: _New) -> int:
    unit = new.unit
    columns = (
        *(unit.id, unit.part, unit.title, unit.document, unit.path, unit.status, unit.session, unit.agent),
        *(moment(unit.time), new.content_hash, new.text_hash, len(unit.title) + len(unit.body)),
        *(unit.place, unit.speaker, unit.role, unit.quoted),
    )
    inserted = connection.execute(
        """
        INSERT INTO units (
            id, part, title, document, path, status, session, agent, time, content_hash, text_hash, characters,
            place, speaker, role, quoted
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        columns,
    )
    number = inserted.lastrowid
    assert number is not None  # noqa: S101
    connection.execute("INSERT INTO unit_bodies VALUES (?, ?, ?)", (number, unit.body, encoded(unit)))
    _tag(connection, number, unit)
    if key := title_key(unit.title):
        connection.execute("INSERT OR IGNORE INTO unit_titles VALUES (?, ?)", (key, number))
    return number


def _update(connection: Connection, number: int, new: _New) -> None:
    """Other fields of a unit whose text stayed: its number, its words and its vector stay too."""
    unit = new.unit
    connection.execute(
        """
        UPDATE units SET part = ?, document = ?, path = ?, status = ?, session = ?, agent = ?, time = ?,
            place = ?, speaker = ?, role = ?, content_hash = ? WHERE number = ?
        """,
        (
            *(unit.part, unit.document, unit.path, unit.status, unit.session, unit.agent, moment(unit.time)),
            *(unit.place, unit.speaker, unit.role, new.content_hash, number),
        ),
    )
    connection.execute("UPDATE unit_bodies SET data = ? WHERE number = ?", (encoded(unit), number))
    connection.execute("DELETE FROM unit_tags WHERE number = ?", (number,))
    _tag(connection, number, unit)


def _tag(connection: Connection, number: int, unit: Unit) -> None:
    connection.executemany("INSERT OR IGNORE INTO unit_tags VALUES (?, ?)", [(number, tag) for tag in unit.tags])


def _remove(connection: Connection, numbers: list[int]) -> None:
    lexical_tables.remove(connection, numbers)
    rows = [(number,) for number in numbers]
    for table in ("units", "unit_bodies", "unit_tags", "unit_titles"):
        connection.executemany(f"DELETE FROM {table} WHERE number = ?", rows)  # noqa: S608


def _known(connection: Connection, ids: Iterable[str]) -> dict[str, Known]:
    find = "SELECT number, content_hash, text_hash FROM units WHERE id = ?"
    rows = ((id, connection.execute(find, (id,)).fetchone()) for id in ids)
    return {id: Known(*row) for id, row in rows if row}


def _count(connection: Connection, written: Written, numbers: Sequence[int]) -> Written:
    """Count a write, and note which units it touched."""
    if written.any:
        connection.execute("UPDATE index_state SET version = version + 1")
        _, version = writes(connection)
        connection.executemany(
            "INSERT OR IGNORE INTO unit_changes VALUES (?, ?)", [(version, each) for each in numbers]
        )
        connection.execute("DELETE FROM unit_changes WHERE version <= ?", (version - WRITES_NOTED,))
    return written


def _counts(written: Written) -> tuple[int, int, int, int]:
    return written.added, written.changed, written.unchanged, written.removed


def encoded(unit: Unit) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.replace(unit, body=""))


def checked(unit: Unit) -> Unit:
    """The unit with texts that can be stored, or an error that names what is wrong with it."""
    if not unit.id or len(unit.id) > MAX_ID_CHARACTERS or not unit.id.isprintable():
        raise InvalidArgument(
            f"The id {shortened(unit.id)!r} of a unit has {len(unit.id)} characters, or some that cannot be printed.",
            hint=f"Ids have 1 to {MAX_ID_CHARACTERS} printable characters.",
        )
    if len(unit.title) + len(unit.body) > MAX_TEXT_CHARACTERS:
        raise InvalidArgument(
            f"The unit {unit.id!r} has {len(unit.title) + len(unit.body):,} characters.",
            hint=f"Split it: a unit has at most {MAX_TEXT_CHARACTERS:,}. It and those after it were not added.",
        )
    moment(unit.time)
    try:
        unit.content_hash()
    except UnicodeEncodeError:
        # Half a character, as a broken file name or file yields it, cannot be stored.
        return msgspec.convert(_storable(msgspec.to_builtins(unit)), Unit)
    return unit


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {name: _storable(inner) for name, inner in value.items()}
    return [_storable(inner) for inner in value] if isinstance(value, list | tuple) else value


LAYOUT = 5
"""Changes when a table does."""

_IN_ORDER = (
    "CREATE INDEX units_by_session ON units (session, place) WHERE session IS NOT NULL",
    "CREATE INDEX units_by_document ON units (document, place) WHERE document IS NOT NULL",
)
_FIGURES = (
    # What changed lately, and how many there are: counting a hundred thousand units after each write takes too long.
    """
    CREATE TABLE unit_changes (version INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (version, number))
    WITHOUT ROWID
    """,
    "CREATE TABLE unit_parts (part TEXT PRIMARY KEY, units INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TRIGGER unit_came AFTER INSERT ON units BEGIN
        INSERT INTO unit_parts VALUES (new.part, 1) ON CONFLICT (part) DO UPDATE SET units = units + 1;
    END
    """,
    """
    CREATE TRIGGER unit_went AFTER DELETE ON units BEGIN
        UPDATE unit_parts SET units = units - 1 WHERE part = old.part;
    END
    """,
    """
    CREATE TRIGGER unit_moved AFTER UPDATE OF part ON units WHEN new.part <> old.part BEGIN
        UPDATE unit_parts SET units = units - 1 WHERE part = old.part;
        INSERT INTO unit_parts VALUES (new.part, 1) ON CONFLICT (part) DO UPDATE SET units = units + 1;
    END
    """,
)
_UNITS = (
    "CREATE TABLE index_state (version INTEGER NOT NULL, series TEXT NOT NULL)",
    "INSERT INTO index_state VALUES (0, lower(hex(randomblob(8))))",
    # A number stands for one text for ever: a unit whose text changes gets a new one, and none is used again. So a
    # vector, which is kept under the number, is either that of the text or of no unit at all.
    """
    CREATE TABLE units (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        part TEXT NOT NULL,
        title TEXT NOT NULL,
        document TEXT,
        path TEXT,
        status TEXT,
        session TEXT,
        agent TEXT,
        time TEXT,
        content_hash TEXT NOT NULL,
        text_hash TEXT NOT NULL,
        characters INTEGER NOT NULL,
        place INTEGER,
        speaker TEXT,
        role TEXT,
        quoted INTEGER NOT NULL
    )
    """,
    "CREATE INDEX units_by_part ON units (part)",
    "CREATE INDEX units_by_path ON units (path) WHERE path IS NOT NULL",
    *_IN_ORDER,
    "CREATE INDEX units_by_text ON units (text_hash)",
    # Apart from `units`, so that a condition on those reads short rows.
    "CREATE TABLE unit_bodies (number INTEGER PRIMARY KEY, body TEXT NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE unit_tags (number INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (number, tag)) WITHOUT ROWID",
    "CREATE INDEX unit_tags_by_tag ON unit_tags (tag)",
    "CREATE TABLE unit_titles (key TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID",
    "CREATE INDEX unit_titles_by_number ON unit_titles (number)",
)
_EMBEDDINGS = (
    # What an embedder made of the text of a unit: one vector, or several one after another. A row never changes, and
    # its number is never used again: whoever knows all rows up to one reads only those after it. A row outlives its
    # unit for a while: the same text may come again. `windows` has the vectors of the windows of a unit that is quoted;
    # NULL until they are made.
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
    )
    """,
)


def _upgrade(connection: Connection) -> bool:
    """Keep units and embeddings of the layouts before this one."""
    (made,) = connection.execute("PRAGMA user_version").fetchone()
    if made != 4 * 100 + lexical_tables.ANALYSIS and not _with_places(connection, made):
        return False
    if "windows" not in {row[1] for row in connection.execute("PRAGMA table_info(embeddings)")}:
        connection.execute("ALTER TABLE embeddings ADD COLUMN windows BLOB")
    if "quoted" not in {row[1] for row in connection.execute("PRAGMA table_info(units)")}:
        connection.execute("ALTER TABLE units ADD COLUMN quoted INTEGER NOT NULL DEFAULT 0")
    return True


def _with_places(connection: Connection, made: int) -> bool:
    """From the layout without places and speakers to the one after it."""
    if made != 3 * 100 + lexical_tables.ANALYSIS and not _with_own_embeddings(connection):
        return False
    for column in ("place INTEGER", "speaker TEXT", "role TEXT"):
        connection.execute(f"ALTER TABLE units ADD COLUMN {column}")
    for index in ("units_by_session", "units_by_document"):
        connection.execute(f"DROP INDEX {index}")
    for statement in (*_IN_ORDER, *_FIGURES):
        connection.execute(statement)
    connection.execute("INSERT INTO unit_parts SELECT part, count(*) FROM units GROUP BY part")
    return True


def _with_own_embeddings(connection: Connection) -> bool:
    """From the layout that held embeddings by their text only to the one after it."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(index_state)")}
    if "layout" not in columns:
        return False
    made = connection.execute("SELECT layout, analysis FROM index_state").fetchone()
    if made != (2, lexical_tables.ANALYSIS):
        return False
    for table in ("embeddings", "embedders"):
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for statement in _EMBEDDINGS:
        connection.execute(statement)
    connection.execute("INSERT INTO embedders SELECT name, dimensions, settings, complete, 0 FROM old_embedders")
    connection.execute(
        """
        INSERT INTO embeddings (embedder, number, text_hash, vectors)
        SELECT old.embedder, units.number, old.text_hash, old.vectors
        FROM old_embeddings AS old JOIN units ON units.text_hash = old.text_hash
        """
    )
    for table in ("embeddings", "embedders"):
        connection.execute(f"DROP TABLE old_{table}")
    for column in ("layout", "analysis"):
        connection.execute(f"ALTER TABLE index_state DROP COLUMN {column}")
    return True


SCHEMA = Schema(
    name="The search index",
    version=LAYOUT * 100 + lexical_tables.ANALYSIS,
    statements=(*_UNITS, *_FIGURES, *_EMBEDDINGS, *lexical_tables.SCHEMA),
    remedy="it is made anew",
    upgrade=_upgrade,
)
