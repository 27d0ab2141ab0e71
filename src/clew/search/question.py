"""Requests and answers of a search."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.search.lexical.plan import Correction
from clew.search.quote.evidence import Preview
from clew.search.rank.fuse import SignalScore
from clew.search.units import Filters, Scope
from clew.text.display import counted

DEFAULT_RECIPE = "default"
MAX_LIMIT = 500


class Question(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    scope: Scope
    """The units that may be seen. There is no search without one."""
    filters: Filters = Filters()
    recipe: str = DEFAULT_RECIPE
    words: str | None = None
    """The words to search for, if they differ from the text: a whole passage is compared by its meaning and by the few
    of its words that tell most."""
    like: str | None = None
    """The unit that the text is of, if it is one: then its own vector is compared, and nothing is encoded."""
    by_windows: bool = False
    """True to count the nearest window of a unit beside the whole unit, by meaning: for questions that only units with
    windows answer, because others would fall behind these."""
    limit: int = 10
    """Results on one page, at most."""
    max_per_document: int | None = None
    """Narrower than the recipe's own rule, if that is narrower."""
    max_tokens: int | None = None
    max_bytes: int | None = None
    """Of the titles and previews on one page together; whole results are left for the next page."""
    cursor: str | None = None
    """`next_cursor` of the page before."""

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_LIMIT:
            raise InvalidArgument(
                f"A page of {self.limit} results was asked for.", hint=f"Ask for 1 to {MAX_LIMIT} at a time."
            )
        if self.max_per_document is not None and self.max_per_document < 1:
            raise InvalidArgument(
                f"max_per_document is {self.max_per_document}.", hint="Allow 1 or more, or leave it out."
            )

    def identity(self) -> dict[str, Any]:
        """The fields that make two questions different; the size of a page is not among them."""
        everything: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("limit", "max_tokens", "max_bytes", "cursor"):
            del everything[name]
        return everything


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One result."""

    id: str
    part: str
    title: str
    document: str | None
    path: str | None
    links: tuple[str, ...]
    score: float
    preview: Preview
    """The spans of the body that say most about the question, with their places in it."""
    matched: tuple[str, ...]
    """The words of the query that the unit holds."""
    why: tuple[SignalScore, ...]
    """The contribution of each signal; their values add up to the score."""


class RankedUnit(msgspec.Struct, frozen=True, gc=False):
    id: str
    score: float
    why: tuple[SignalScore, ...]

    def signal(self, name: str) -> float | None:
        """The score of a signal; None if the signal did not find the unit."""
        return next((part.score for part in self.why if part.signal == name), None)


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    units: tuple[RankedUnit, ...]
    matched: Mapping[str, tuple[str, ...]]
    """By id: the words of the query that a unit holds."""
    reason: str | None
    notes: tuple[str, ...]
    indexed: str


class IndexState(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of the indexed texts, and the signals that can find them."""

    units: int
    """Texts that can be found by their words."""
    embedded: int
    """The texts that can be found by their meaning as well."""
    embedder: str | None
    """The embedder of the vectors that answer now; None if only words are searched."""
    state: str
    """`words_only`, `indexing`, `changing_embedder`, `damaged` or `complete`."""
    parts: dict[str, int]
    notes: tuple[str, ...] = ()

    def describe(self) -> str:
        if self.state == "words_only":
            return f"{counted(self.units, 'text')} indexed, without embeddings"
        return f"{counted(self.units, 'text')} indexed, {self.embedded:,} with embeddings"


class Results(msgspec.Struct, frozen=True, kw_only=True):
    results: tuple[Hit, ...]
    total: int
    """Results on all pages together: what the signals ranked, not all that would match in some way."""
    next_cursor: str | None
    recipe: str
    """Name and version."""
    truncated: bool = False
    limit_reason: str = "none"
    """The limit that ended the page early: none, token_cap or byte_cap."""
    corrections: tuple[Correction, ...] = ()
    reason: str | None = None
    """The reason why nothing was found, if it is known."""
    notes: tuple[str, ...] = ()
    """Limits of the answer, such as vectors that are still being made."""
    indexed: str = ""
    """A sentence about the state of the index."""
