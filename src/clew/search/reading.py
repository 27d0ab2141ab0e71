"""Reading an index: one state of it, whatever others write during the search.

An engine is a place where units are kept: a file of SQLite beside the project (`embedded.py`), or the tables of a
PostgreSQL database (`database/`). Everything above this interface, from the plan of a query to its recipe, is the same
for both. `tests/search` runs on both.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from clew.search.lexical.expression import Expression
from clew.search.lexical.packing import UnitTerms
from clew.search.lexical.tables import IndexTotals, Spelling
from clew.search.units import Unit
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    from clew.search.lexical.plan import QueryPlan
    from clew.search.lexical.ranking import Stream


class UnitFacts(NamedTuple):
    """The speaker, role, time and length of a unit."""

    speaker: str | None
    role: str | None
    time: str | None
    characters: int


class IndexReader(Protocol):
    streams_at_once: int
    """The number of streams read together: as few as cost little more one by one, since some may be very long."""
    streams_kept: int
    """The bytes of streams that are worth keeping for the next ranking."""

    # Units

    def writes(self) -> tuple[str, int]:
        """The index, and how many writes changed something in it."""
        ...

    def parts(self) -> dict[str, int]:
        """The number of units of each part."""
        ...

    def allowed(self, condition: Condition, among: Sequence[int]) -> list[int]:
        """The given units that fulfil the condition, sorted."""
        ...

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]:
        """Units by number; missing ones are left out."""
        ...

    def ids_of(self, numbers: Iterable[int]) -> dict[int, str]: ...

    def documents_of(self, numbers: Iterable[int]) -> dict[int, str | None]: ...

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]: ...

    # Words

    def totals(self) -> IndexTotals: ...

    def units_with(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many units each of the terms occurs; terms that occur nowhere are left out."""
        ...

    def terms_spelled(self, words: Iterable[str]) -> list[Spelling]:
        """The terms that some spellings lead to, themselves included."""
        ...

    def spellings_beginning(self, beginning: str, shortest: int, longest: int, most: int) -> list[Spelling]:
        """Spellings of some length with a beginning."""
        ...

    def terms_beginning(self, beginning: str, most: int) -> dict[str, int]:
        """The most frequent terms with a beginning, or with a spelling that has it, and the number of units of each."""
        ...

    def is_visible(self, term: str, restrict: Condition) -> bool:
        """True if a unit that fulfils the condition has a term."""
        ...

    def has_name(self, name: str, restrict: Condition | None) -> bool:
        """True if a visible unit has a name (`lexical.tables.forms_of`)."""
        ...

    def candidates(
        self,
        plan: "QueryPlan",
        restrict: Condition | None,
        *,
        wanted: int,
        enough: int,
        matches: int,
        title_weight: int,
    ) -> list[int]:
        """The units worth ranking for a plan: about `wanted`, and at least `enough` if there are so many."""
        ...

    def streams(self, units: Iterable[int]) -> list[UnitTerms]:
        """The terms of these units; missing units are left out."""
        ...

    def numbered_streams(self, units: Sequence[int]) -> "Iterable[Stream]":
        """The terms of these units as numbers, without texts; only for units whose terms are stored as numbers."""
        ...

    def term_numbers(self, terms: Iterable[str]) -> Mapping[str, Sequence[int]]:
        """The numbers by which a stream names each of some terms, where streams name them by numbers."""
        ...

    def matching(self, expression: Expression, units: Sequence[int]) -> set[int]:
        """The units that fulfil an expression."""
        ...

    # What is beside, and what is named

    def neighbours(
        self, numbers: Sequence[int], within: str, *, before: bool, count: int, restrict: Condition | None
    ) -> list[tuple[int, tuple[int | None, ...]]]:
        """The units on one side of each of these in its session or document, nearest first; None at the end."""
        ...

    def facts(self, numbers: Sequence[int]) -> dict[int, UnitFacts]: ...

    def bodies(self, numbers: Sequence[int]) -> dict[int, str]: ...

    def sample(self, condition: Condition, count: int) -> list[int]:
        """Some of the units that fulfil a condition. Their ids decide which: the same units have the same sample."""
        ...

    def title_beginnings(self, beginnings: Sequence[str]) -> list[str]:
        """The beginnings, of two words or more, with which the key of a title begins (whole words)."""
        ...

    def units_titled(self, keys: Sequence[str], restrict: Condition | None) -> Mapping[str, Sequence[int]]:
        """The keys that are titles, each with the visible units that bear it: not all, if they are very many."""
        ...
