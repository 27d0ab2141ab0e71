"""What a search asks of an index: one state of it, whatever others write meanwhile.

An engine is a place where units are kept: a file of SQLite beside the project (`embedded.py`), or the tables of a
PostgreSQL database (`database/`). Everything above this interface, from the plan of a query to its recipe, is the same
for both. `tests/search` runs on both.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from clew.search.lexical.expression import Expression
from clew.search.lexical.packing import Row
from clew.search.lexical.tables import Totals
from clew.search.units import Condition, Unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.dense.indexing import Progress, VectorReport
    from clew.search.dense.search import DenseRanking
    from clew.search.index import Written
    from clew.search.lexical.plan import Plan
    from clew.search.lexical.ranking import Stream
    from clew.search.question import IndexState

    Vector = NDArray[np.float32]

Spelt = tuple[str, int, str]
"""A term, in how many units it occurs, and a spelling that leads to it."""


class Fact(NamedTuple):
    """What the index knows about a unit beside its text."""

    speaker: str | None
    role: str | None
    time: str | None
    characters: int


class Reading(Protocol):
    streams_at_once: int
    """How many are read together: as few as cost little more one by one, since some may be very long."""
    streams_kept: int
    """How many bytes of streams are worth keeping for the next ranking."""

    # Units

    def writes(self) -> tuple[str, int]:
        """The index, and how many writes changed something in it."""
        ...

    def parts(self) -> dict[str, int]:
        """How many units there are of each part."""
        ...

    def allowed(self, condition: Condition, among: Sequence[int]) -> list[int]:
        """Those of the given units that fulfil the condition, sorted."""
        ...

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]:
        """Units by number; those that are gone are left out."""
        ...

    def ids_of(self, numbers: Iterable[int]) -> dict[int, str]: ...

    def documents_of(self, numbers: Iterable[int]) -> dict[int, str | None]: ...

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]: ...

    # Words

    def totals(self) -> Totals: ...

    def units_with(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many units each of the terms occurs; terms that occur nowhere are left out."""
        ...

    def spelt(self, words: Iterable[str]) -> list[Spelt]:
        """The terms that some spellings lead to, themselves included."""
        ...

    def spelt_alike(self, beginning: str, shortest: int, longest: int, most: int) -> list[Spelt]:
        """Spellings of some length that begin so."""
        ...

    def terms_beginning(self, beginning: str, most: int) -> dict[str, int]:
        """The most frequent terms that begin so, or of which a spelling does, with the number of units each is in."""
        ...

    def is_visible(self, term: str, restrict: Condition) -> bool:
        """Whether a unit that the condition lets through holds a term."""
        ...

    def holds(self, name: str, restrict: Condition | None) -> bool:
        """Whether a unit that may be seen holds a name (`lexical.tables.forms_of`)."""
        ...

    def candidates(
        self,
        plan: "Plan",
        restrict: Condition | None,
        *,
        wanted: int,
        enough: int,
        matches: int,
        title_weight: int,
    ) -> list[int]:
        """The units worth ranking for a plan: about `wanted`, and not fewer than `enough` where there are so many."""
        ...

    def streams(self, units: Iterable[int]) -> list[Row]:
        """What is kept of the words of these units, for those that are there."""
        ...

    def numbered_streams(self, units: Sequence[int]) -> "Iterable[Stream]":
        """The same without the texts, of those units whose terms are kept as numbers."""
        ...

    def term_numbers(self, terms: Iterable[str]) -> Mapping[str, Sequence[int]]:
        """By which numbers a stream names each of some terms, where streams name them by numbers."""
        ...

    def holding(self, expression: Expression, units: Sequence[int]) -> set[int]:
        """Those of the units that hold what an expression asks for."""
        ...

    # What stands beside, and what is named

    def beside(
        self, numbers: Sequence[int], within: str, *, before: bool, count: int, restrict: Condition | None
    ) -> list[tuple[int, tuple[int | None, ...]]]:
        """The units on one side of each of these in its session or document, the nearest first; None where there is
        none."""
        ...

    def facts(self, numbers: Sequence[int]) -> dict[int, Fact]: ...

    def bodies(self, numbers: Sequence[int]) -> dict[int, str]: ...

    def sample(self, condition: Condition, count: int) -> list[int]:
        """Some of the units that fulfil a condition. Their ids decide which: the same units have the same sample."""
        ...

    def begun(self, beginnings: Sequence[str]) -> list[str]:
        """Those of the beginnings, of two words or more, with which the key of a title begins (whole words)."""
        ...

    def borne(self, keys: Sequence[str], restrict: Condition | None) -> Mapping[str, Sequence[int]]:
        """Those of the keys that are titles, with the units that bear each and may be seen: not all, where they are
        very many."""
        ...


class IndexedText(NamedTuple):
    """What a unit says, and where it stands."""

    id: str
    part: str
    path: str | None
    is_section: bool
    said: str
    """Its path, title and text."""


class Units(Protocol):
    """What can be found. Units are found by their words when `put` returns, and by no signal once `delete` does."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What happened to the index when it was opened."""
        ...

    @property
    def is_replaced(self) -> bool:
        """Whether the index was taken away, or made anew by another process."""
        ...

    def put(self, units: Iterable[Unit]) -> "Written": ...

    def delete(self, ids: Iterable[str]) -> "Written": ...

    def count(self) -> int: ...

    def get(self, id: str) -> Unit | None: ...

    def hashes(self, part: str) -> dict[str, str]: ...

    def units_of_others(self, part: str) -> list[Unit]: ...

    def beyond_files(self) -> Iterable[IndexedText]:
        """What was made of the files of the project and is kept elsewhere than in files."""
        ...

    def asked(self) -> AbstractContextManager[Reading]: ...

    def tidy(self) -> bool: ...

    def close(self) -> None: ...


class Meanings(Protocol):
    """The search by meaning of one engine. `reading` is one of its own."""

    damaged: bool

    def is_everything(self, reading: Any, condition: Condition) -> bool:
        """Whether the condition lets every unit through: then it need not be asked for each."""
        ...

    def rank(
        self, reading: Any, query: str, condition: Condition, depth: int, vector: "Vector | None" = None
    ) -> "DenseRanking":
        """The units nearest to a query, or to its vector where that is known."""
        ...

    def version(self, reading: Any) -> str: ...

    def embed_query(self, reading: Any, query: str, *, patiently: bool = True) -> "Vector | None":
        """The vector of a query. Whatever goes wrong with its encoder is raised, and TimeoutError where nobody waits
        patiently for one that is too busy."""
        ...

    def window_likeness(self, reading: Any, query: str, numbers: Sequence[int]) -> "dict[int, Vector]": ...

    def vectors_of(self, reading: Any, numbers: Sequence[int]) -> "dict[int, Vector]": ...

    def state(self, reading: Any) -> "IndexState": ...

    def forget(self, hashes: Sequence[str]) -> None:
        """Take out what was made of some texts for all servers."""
        ...

    def make(self, progress: "Progress") -> "VectorReport":
        """Make the vectors that are missing."""
        ...
