"""The units of a project, and the lexical index over them.

Writes are transactions: a unit is in the tables and in the lexical index together, or in neither. Any number of threads
and processes may read and write. Nothing here uses vectors; they are kept apart, under the numbers of the units.

Everything in the file can be made again from what the units were made of, so a damaged file is replaced by an empty
one. Of one that an older Clew cut into words in another way the embeddings stay, which take long to make.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from clew.derived.file import PATIENCE_SECONDS, DerivedFile
from clew.errors import InvalidArgument, StoreCorrupt
from clew.search.index_tables import SCHEMA
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.packing import Text
from clew.search.rank.mentions import title_key
from clew.search.units import MAX_ID_CHARACTERS, Condition, Unit, moment
from clew.store.sqlite.connections import Connection
from clew.text.display import shortened
from clew.text.hashing import short_hash
from clew.text.words import storable

MAX_TEXT_CHARACTERS = 8_000_000

_AT_ONCE = 500
WRITES_NOTED = 256
"""A reader that is at most this many writes behind reads only what changed since."""
_REMEDY = "Run `clew index --rebuild`, which makes it anew."


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
    series = ""

    def __init__(self, path: Path, *, patience: float = PATIENCE_SECONDS) -> None:
        super().__init__(path, SCHEMA, patience=patience)
        with self.reading() as connection:
            (self.series,) = connection.execute("SELECT series FROM index_state").fetchone()
        """Names this file: another one, even at the same place, counts its units anew."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._naming_itself(), super().reading() as connection:
            yield connection

    @contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[Connection]:
        with self._naming_itself(), super().writing(durable=durable) as connection:
            yield connection

    @contextmanager
    def unbound(self) -> Iterator[Connection]:
        with self._naming_itself(), super().unbound() as connection:
            yield connection

    @contextmanager
    def _naming_itself(self) -> Iterator[None]:
        """An error by damage names the index that has it."""
        try:
            yield
        except StoreCorrupt as error:
            if error.data.get("path", str(self.path)) != str(self.path):
                # A search follows edges, which other files hold.
                raise
            raise StoreCorrupt(error.message, hint=_REMEDY, data={**error.data, "index": self.series}) from error

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
                with _without_empty_files(connection, numbers):
                    _remove(connection, numbers)
                total += _count(connection, Written(removed=len(numbers)), numbers)
        return total

    def before_tidying(self, connection: Connection) -> None:
        sweep(connection)
        repack(connection)
        # What many writes left behind is merged as well.
        connection.execute("INSERT INTO lexical (lexical) VALUES ('optimize')")

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
            rows = connection.execute("SELECT id, content_hash FROM indexed_units WHERE part = ?", (part,))
            return dict(rows.fetchall())

    def units_of_others(self, part: str) -> list[Unit]:
        """Every unit that is not of a part."""
        with self.reading() as connection:
            rows = connection.execute("SELECT number FROM indexed_units WHERE part <> ? ORDER BY number", (part,))
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
    found: set[int] = set()
    for first, last in connection.execute("SELECT first, last FROM unit_changes WHERE version > ?", (version,)):
        found.update(range(first, min(last, first + most) + 1))
        if len(found) > most:
            return None
    return sorted(found)


def parts(connection: Connection) -> dict[str, int]:
    """How many units there are of each part."""
    return dict(connection.execute("SELECT part, units FROM unit_parts WHERE units > 0 ORDER BY part").fetchall())


def allowed(connection: Connection, condition: Condition, among: Sequence[int]) -> list[int]:
    """Those of the given units that fulfil the condition, sorted."""
    # The condition is Clew's own text; every value is a parameter.
    statement = f"""
        SELECT number FROM json_each(?) CROSS JOIN indexed_units AS units ON number = value WHERE {condition.sql}
    """  # noqa: S608
    wanted = msgspec.json.encode(list(among)).decode()
    return sorted(number for (number,) in connection.execute(statement, (wanted, *condition.parameters)))


def units_of(connection: Connection, numbers: Iterable[int]) -> dict[int, Unit]:
    """Units by number; those that are gone are left out."""
    wanted = tuple(dict.fromkeys(numbers))
    # One query each, because texts are long: a caller that wants many asks for some at a time.
    rows = [row for number in wanted if (row := connection.execute(_UNIT, (number,)).fetchone()) is not None]
    said = lexical_tables.texts(connection, [row[0] for row in rows])
    return {number: _unit(said[number], *row) for number, *row in rows if number in said}


def ids_of(connection: Connection, numbers: Iterable[int]) -> dict[int, str]:
    return dict(_about(connection, "id", numbers))


def documents_of(connection: Connection, numbers: Iterable[int]) -> dict[int, str | None]:
    return dict(_about(connection, "document", numbers))


def _about(connection: Connection, column: str, numbers: Iterable[int]) -> list[tuple[int, str]]:
    """One question for all: asking for hundreds of rows one by one takes longer than ranking them."""
    wanted = msgspec.json.encode(list(numbers)).decode()
    statement = f"""
        SELECT number, units.{column} FROM json_each(?) CROSS JOIN indexed_units AS units ON number = value
    """  # noqa: S608
    return connection.execute(statement, (wanted,)).fetchall()


def numbers_of(connection: Connection, ids: Iterable[str]) -> dict[str, int]:
    return {id: known.number for id, known in _known(connection, ids).items()}


# How units get in and out


class _Rest(msgspec.Struct, frozen=True, array_like=True):
    """What the columns do not say of a unit."""

    links: tuple[str, ...]
    """Empty for its own id."""
    time: str | None
    """As it was given, where that differs from the form in which times are compared."""


_ONLY_ITSELF = _Rest(("",), None)
"""What most units have; it is not written."""
_REST = msgspec.msgpack.Decoder(_Rest)
_TAGS = msgspec.json.Decoder(tuple[str, ...])
_UNIT = """
    SELECT number, rest, list, id, part, time, quoted, document, path, status, session, agent, place, speaker, role
    FROM indexed_units JOIN tag_lists USING (tags) WHERE number = ?
    """
_PLAIN = ("document", "path", "status", "session", "agent", "place", "speaker", "role")


def _unit(said: Text, packed: bytes | None, tags: str, *columns: Any) -> Unit:
    rest = _REST.decode(packed) if packed is not None else _ONLY_ITSELF
    id, part, time, quoted, *plain = columns
    return Unit(
        id=id,
        part=part,
        title=said.title,
        body=said.body,
        tags=_TAGS.decode(tags),
        time=rest.time or time,
        links=tuple(link or id for link in rest.links),
        quoted=bool(quoted),
        **dict(zip(_PLAIN, plain, strict=True)),
    )


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
    updated = [known[new.unit.id].number for new in moved]
    with _without_empty_files(connection, [*replaced, *updated]):
        _remove(connection, replaced)
        numbers = [(_insert(connection, new), new.unit) for new in fresh]
        for number, new in zip(updated, moved, strict=True):
            _update(connection, number, new)
    touched = [*replaced, *(number for number, _ in numbers), *updated]
    # What is quoted stands in a file of the project; what somebody asked to remember may have to go without a trace.
    lasting = frozenset(number for number, unit in numbers if unit.quoted)
    lexical_tables.put(connection, ((number, unit.title, unit.body) for number, unit in numbers), lasting)
    added = sum(new.unit.id not in known for new in fresh)
    changed = len(fresh) - added + len(moved)
    written = Written(added=added, changed=changed, unchanged=len(coming) - added - changed)
    return _count(connection, written, touched)


def _insert(connection: Connection, new: _New) -> int:
    unit = new.unit
    columns = (
        *(short_hash(unit.id), bytes.fromhex(new.text_hash), len(unit.title) + len(unit.body), unit.quoted),
        *_changeable(connection, new),
    )
    inserted = connection.execute(
        f"""
        INSERT INTO unit_rows (hash, text, characters, quoted, {", ".join(_CHANGEABLE)})
        VALUES (?, ?, ?, ?, {", ".join("?" * len(_CHANGEABLE))})
        """,  # noqa: S608 - names of columns
        columns,
    )
    number = inserted.lastrowid
    assert number is not None  # noqa: S101
    if key := title_key(unit.title):
        connection.execute("INSERT OR IGNORE INTO unit_titles VALUES (?, ?)", (key, number))
    return number


def _update(connection: Connection, number: int, new: _New) -> None:
    """Other fields of a unit whose text stayed: its number, its words and its vector stay too."""
    columns = ", ".join(f"{column} = ?" for column in _CHANGEABLE)
    values = (*_changeable(connection, new), number)
    connection.execute(f"UPDATE unit_rows SET {columns} WHERE number = ?", values)  # noqa: S608 - names of columns


_CHANGEABLE = (
    *("whole_id", "end_of_id", "whole_document", "file", "part", "status", "session", "agent", "own_time"),
    *("place", "speaker", "role", "tags", "rest", "content"),
)
"""The columns that may change while the text of a unit stays."""


def _changeable(connection: Connection, new: _New) -> tuple[object, ...]:
    unit = new.unit
    id = (None, unit.id.removeprefix(unit.document)) if unit.document and unit.id.startswith(unit.document) else None
    before_path = None
    if unit.document is not None and unit.path and unit.document.endswith(unit.path):
        before_path = unit.document.removesuffix(unit.path)
    time = moment(unit.time)
    return (
        *(id or (unit.id, None)),
        *(unit.document if before_path is None else None, _file(connection, unit.path, before_path, time)),
        *(unit.part, unit.status, unit.session, unit.agent, time if unit.path is None else None),
        *(unit.place, unit.speaker, unit.role, _tags(connection, unit.tags), _rest(unit)),
        bytes.fromhex(new.content_hash),
    )


def _rest(unit: Unit) -> bytes | None:
    links = tuple("" if link == unit.id else link for link in unit.links)
    time = None if unit.time == moment(unit.time) else unit.time
    rest = _Rest(links, time)
    return msgspec.msgpack.encode(rest) if rest != _ONLY_ITSELF else None


def _file(connection: Connection, path: str | None, before_path: str | None, time: str | None) -> int | None:
    """The number of what the units of a file share; None for what is in no file."""
    if path is None:
        return None
    find = "SELECT file FROM unit_files WHERE path = ? AND before_path IS ? AND common_time IS ?"
    known = connection.execute(find, (path, before_path, time)).fetchone()
    if known is not None:
        return int(known[0])
    put = "INSERT INTO unit_files (path, before_path, common_time) VALUES (?, ?, ?)"
    return connection.execute(put, (path, before_path, time)).lastrowid


@contextmanager
def _without_empty_files(connection: Connection, numbers: Iterable[int]) -> Iterator[None]:
    """Take out what these units shared with others, where the block leaves no unit that has it. A file that is edited
    gets another time, and what it had before would be looked at with every unit that comes."""
    wanted = msgspec.json.encode(list(numbers)).decode()
    find = "SELECT DISTINCT file FROM json_each(?) CROSS JOIN unit_rows ON number = value WHERE file IS NOT NULL"
    files = connection.execute(find, (wanted,)).fetchall()
    yield
    unused = "NOT EXISTS (SELECT 1 FROM unit_rows WHERE unit_rows.file = unit_files.file)"
    connection.executemany(f"DELETE FROM unit_files WHERE file = ? AND {unused}", files)  # noqa: S608


def _tags(connection: Connection, tags: tuple[str, ...]) -> int:
    """The number of a list of tags."""
    listed = (msgspec.json.encode(tags).decode(),)
    find = "SELECT tags FROM tag_lists WHERE list = ?"
    known = connection.execute(find, listed).fetchone()
    if known is None:
        number = connection.execute("INSERT INTO tag_lists (list) VALUES (?)", listed).lastrowid
        connection.executemany("INSERT OR IGNORE INTO listed_tags VALUES (?, ?)", [(number, tag) for tag in tags])
        known = (number,)
    return int(known[0])


def _remove(connection: Connection, numbers: list[int]) -> None:
    said = lexical_tables.texts(connection, numbers)
    keys = [(title_key(text.title), number) for number, text in said.items()]
    connection.executemany("DELETE FROM unit_titles WHERE key = ? AND number = ?", keys)
    lexical_tables.remove(connection, numbers)
    connection.executemany("DELETE FROM unit_rows WHERE number = ?", [(number,) for number in numbers])


def sweep(connection: Connection) -> None:
    """Take out what was kept for units that are gone."""
    lexical_tables.sweep(connection)
    for table in ("listed_tags", "tag_lists"):
        connection.execute(f"DELETE FROM {table} WHERE tags NOT IN (SELECT tags FROM unit_rows)")  # noqa: S608
    used = "SELECT file FROM unit_rows WHERE file IS NOT NULL"
    connection.execute(f"DELETE FROM unit_files WHERE file NOT IN ({used})")  # noqa: S608


def repack(connection: Connection) -> None:
    """Leave nothing that only units said which are gone in what the others are packed by."""
    rows = connection.execute("SELECT number FROM indexed_units WHERE quoted ORDER BY number")
    lexical_tables.repack(connection, [number for (number,) in rows])


def _known(connection: Connection, ids: Iterable[str]) -> dict[str, Known]:
    find = "SELECT number, content_hash, text_hash FROM indexed_units WHERE hash = ? AND id = ?"
    rows = ((id, connection.execute(find, (short_hash(id), id)).fetchone()) for id in ids)
    return {id: Known(*row) for id, row in rows if row}


def _count(connection: Connection, written: Written, numbers: Sequence[int]) -> Written:
    """Count a write, and note which units it touched."""
    if written.any:
        connection.execute("UPDATE index_state SET version = version + 1")
        _, version = writes(connection)
        connection.executemany("INSERT INTO unit_changes VALUES (?, ?, ?)", [(version, *run) for run in _runs(numbers)])
        connection.execute("DELETE FROM unit_changes WHERE version <= ?", (version - WRITES_NOTED,))
    return written


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of numbers that follow one another."""
    first = last = None
    for number in sorted(set(numbers)):
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last


def _counts(written: Written) -> tuple[int, int, int, int]:
    return written.added, written.changed, written.unchanged, written.removed


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
