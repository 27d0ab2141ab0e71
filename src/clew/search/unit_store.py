"""Units of one index: put, deleted and counted in the same way in every engine."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, NamedTuple, Protocol

import msgspec

from clew.errors import InvalidArgument
from clew.search.reading import IndexReader
from clew.search.units import MAX_ID_CHARACTERS, Unit, moment
from clew.text.display import shortened
from clew.text.words import storable

MAX_TEXT_CHARACTERS = 8_000_000
AT_ONCE = 500
"""Units of one transaction."""


class WriteCounts(msgspec.Struct, frozen=True):
    """Counts of a write."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0

    def __add__(self, other: "WriteCounts") -> "WriteCounts":
        return WriteCounts(*(mine + theirs for mine, theirs in zip(_counts(self), _counts(other), strict=True)))

    @property
    def any(self) -> bool:
        return self.added + self.changed + self.removed > 0


class KnownUnit(NamedTuple):
    """A unit that the index holds already."""

    number: int
    content_hash: str
    text_hash: str


class NewUnit(NamedTuple):
    unit: Unit
    content_hash: str
    text_hash: str


class IndexedText(NamedTuple):
    """The text of a unit, and its place."""

    id: str
    part: str
    path: str | None
    is_section: bool
    said: str
    """Its path, title and text."""


class UnitTables(Protocol):
    """Statements that change the units, in one transaction."""

    def known(self, ids: Sequence[str]) -> dict[str, KnownUnit]: ...

    def insert(self, units: Sequence[NewUnit]) -> None: ...

    def update(self, units: Sequence[tuple[int, NewUnit]]) -> None:
        """Change other fields of units whose text stays the same: numbers, words and vectors stay too."""
        ...

    def remove(self, numbers: Sequence[int]) -> None: ...


class UnitStore(ABC):
    """Units are found by their words when `put` returns, and by no signal once `delete` does."""

    notes: tuple[str, ...]
    """Events of opening the index that a user should know."""

    @property
    @abstractmethod
    def is_replaced(self) -> bool:
        """True if the index was taken away, or rebuilt by another process."""

    @abstractmethod
    def asked(self) -> AbstractContextManager[IndexReader]:
        """One state of the index."""

    @abstractmethod
    def changing(self) -> AbstractContextManager[UnitTables]:
        """A transaction over the units."""

    @abstractmethod
    def hashes(self, part: str) -> dict[str, str]:
        """The content hash of every unit of a part, by id."""

    @abstractmethod
    def units_of_others(self, part: str) -> list[Unit]:
        """Every unit that is not of a part."""

    @abstractmethod
    def beyond_files(self) -> Iterable[IndexedText]:
        """Texts from the project's files that are kept elsewhere than in files."""

    @abstractmethod
    def tidy(self) -> bool: ...

    @abstractmethod
    def close(self) -> None: ...

    def put(self, units: Iterable[Unit]) -> WriteCounts:
        """Add units, or replace those with the same id. If an id occurs twice, the last unit counts."""
        total = WriteCounts()
        rest = iter(units)
        while batch := {unit.id: checked(unit) for unit in islice(rest, AT_ONCE)}:
            coming = [NewUnit(unit, unit.content_hash(), unit.text_hash()) for unit in batch.values()]
            with self.changing() as tables:
                total += _put(tables, coming)
        return total

    def delete(self, ids: Iterable[str]) -> WriteCounts:
        """Delete units. Unknown ids are skipped."""
        total = WriteCounts()
        rest = iter(ids)
        while batch := list(islice(rest, AT_ONCE)):
            with self.changing() as tables:
                known = tables.known(batch)
                tables.remove([each.number for each in known.values()])
            total += WriteCounts(removed=len(known))
        return total

    def count(self) -> int:
        with self.asked() as reading:
            return reading.totals().units

    def get(self, id: str) -> Unit | None:
        with self.asked() as reading:
            return next(iter(reading.units_of(reading.numbers_of([id]).values()).values()), None)


def _put(tables: UnitTables, coming: Sequence[NewUnit]) -> WriteCounts:
    known = tables.known([new.unit.id for new in coming])
    fresh: list[NewUnit] = []
    moved: list[tuple[int, NewUnit]] = []
    for new in coming:
        before = known.get(new.unit.id)
        if before is None or before.text_hash != new.text_hash:
            fresh.append(new)
        elif before.content_hash != new.content_hash:
            moved.append((before.number, new))
    tables.remove([known[new.unit.id].number for new in fresh if new.unit.id in known])
    tables.insert(fresh)
    tables.update(moved)
    added = sum(new.unit.id not in known for new in fresh)
    changed = len(fresh) - added + len(moved)
    return WriteCounts(added=added, changed=changed, unchanged=len(coming) - added - changed)


def _counts(written: WriteCounts) -> tuple[int, int, int, int]:
    return written.added, written.changed, written.unchanged, written.removed


def checked(unit: Unit) -> Unit:
    """The unit with storable texts, or an error that names the problem."""
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
