"""The query language of requirement search.

Words are combined with AND; `OR` is between alternatives, parentheses group them, "quotes" make a phrase, a leading
minus excludes, and a leading `=` asks for a whole keyword. A pattern is a regular expression, run with a time limit.

Kinds of nodes and edges may be written by value or by name, one or several, in any case.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, InvalidPattern
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.display import shortened
from clew.text.keywords import keywords

MAX_QUERY_CHARACTERS = 1_000
MAX_TERMS = 40
PATTERN_SECONDS = 2.0

FIELDS = ("all", "id", "title", "body", "keywords")
SearchField = Annotated[Literal["all", "id", "title", "body", "keywords"], Meta(description="Where to look")]

_WORD = re.compile(r'-?"[^"]*"|[^\s()]+')
_REPEATS = re.compile(r"[*+]|\{\d*,|\{[^\d,]|\)\{|\(\?")
_CHOICE = re.compile(r"[?|]")
_MOST_CHOICES = 4
_REPEATS_A_GROUP = re.compile(r"\)(?:\s|#[^\n]*\n|\(\?#[^)]*\))*[*+{]")
"""While it matches, the library keeps a record of each repetition, and of each group in it."""
_RECORDS = 15
"""The memory of a repetition without groups is at most that of so many records."""
_MOST_RECORDS = 1_500_000
"""About 100 MB."""
_RECORDS_OF_A_TURN = 100_000
_turns = threading.BoundedSemaphore(2)
"""Held by matches that may need more memory than many at once should have."""
_SEES_THE_EDGES = re.compile(r"\(\?|\\[AZzGK]|[*+?}]\+")
_EMPTY = frozenset({'""', '-""', "-"})


class QueryTerm(msgspec.Struct, frozen=True):
    text: str
    """In folded case."""
    whole_keyword: bool = False


class ParsedQuery(msgspec.Struct, frozen=True):
    """A query: every group has to match by one of its terms, and no excluded term may match."""

    groups: tuple[tuple[QueryTerm, ...], ...]
    excluded: tuple[QueryTerm, ...]
    is_plain: bool = False
    """Words without operators. A query with an operator is taken literally."""


def parse(text: str) -> ParsedQuery:
    check_length(text)
    # Alternatives bind closest, so parentheses around them change nothing and are dropped.
    words = [word for word in _WORD.findall(text) if word not in _EMPTY]
    if len(words) > MAX_TERMS:
        raise InvalidArgument(
            f"The query has {len(words)} words; at most {MAX_TERMS} are allowed.",
            hint="Search for fewer words at once.",
        )
    groups: list[list[QueryTerm]] = []
    excluded: list[QueryTerm] = []
    alternative = False
    for word in words:
        if word in ("OR", "AND"):
            alternative = word == "OR"
            continue
        if _excludes(word):
            excluded.append(_term(word[1:]))
        elif alternative and groups:
            groups[-1].append(_term(word))
        else:
            groups.append([_term(word)])
        alternative = False
    plain = not any(word in ("OR", "AND") or word[0] in '="' or _excludes(word) for word in words)
    return ParsedQuery(groups=tuple(tuple(group) for group in groups), excluded=tuple(excluded), is_plain=plain)


def _excludes(word: str) -> bool:
    """True for an excluded term. Two dashes begin the name of an option, which is searched for like any other word."""
    return word.startswith("-") and not word.startswith("--")


def _term(word: str) -> QueryTerm:
    if word.startswith("=") and len(word) > 1:
        return QueryTerm(word[1:].casefold(), whole_keyword=True)
    return QueryTerm(word.strip('"').casefold())


def check_length(text: str) -> None:
    if len(text) > MAX_QUERY_CHARACTERS:
        raise InvalidArgument(
            f"The query has {len(text)} characters; at most {MAX_QUERY_CHARACTERS} are allowed.",
            hint="Search for the few words that matter.",
        )


def text_matcher(query: str, *, regex: bool) -> Callable[[str], bool]:
    """A test for single texts that match a query by themselves. A whole keyword must be one of the text's own
    keywords."""
    if regex:
        return compile_pattern(query)
    parsed = parse(query)

    def matches(text: str) -> bool:
        folded = text.casefold()
        if not all(any(_occurs(term, folded) for term in group) for group in parsed.groups):
            return False
        return bool(parsed.groups) and not any(_occurs(term, folded) for term in parsed.excluded)

    return matches


def _occurs(term: QueryTerm, folded: str) -> bool:
    return term.text in keywords(folded) if term.whole_keyword else term.text in folded


def can_be_joined(pattern: str) -> bool:
    """True if a pattern that matches a text also matches any longer text with these lines, and needs no more memory for
    it. Patterns with lookarounds, anchors of the whole text or possessive repetitions may not."""
    return not _SEES_THE_EDGES.search(pattern) and not _REPEATS_A_GROUP.search(pattern)


class SearchPattern:
    """A regular expression, in any case, with ^ and $ at every line. All it does gets PATTERN_SECONDS of time."""

    def __init__(self, pattern: str, compiled: Any) -> None:
        self._pattern = pattern
        self._compiled = compiled
        # Watching the clock costs more than a pattern ever will that can go wrong in a few ways only.
        self._is_watched = bool(_REPEATS.search(pattern)) or len(_CHOICE.findall(pattern)) > _MOST_CHOICES
        self._records = self._compiled.groups + _RECORDS if _REPEATS_A_GROUP.search(pattern) else 0
        """Per character of a text, at most."""
        self._deadline = time.monotonic() + PATTERN_SECONDS

    def __call__(self, text: str) -> bool:
        """True if it matches anything in the text."""
        if not self._is_watched:
            return self._compiled.search(text) is not None
        with self._within_bounds(text):
            # Without the interpreter's lock, so that a slow pattern holds up nobody else.
            return self._compiled.search(text, timeout=self._left(), concurrent=True) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The spans of its matches, from left to right, without overlaps."""
        if not self._is_watched:
            for match in self._compiled.finditer(text):
                yield match.span()
            return
        with self._within_bounds(text):
            for match in self._compiled.finditer(text, timeout=self._left(), concurrent=True):
                yield match.span()
                self._left()

    # Implements: REQ-d00650-C
    @contextmanager
    def _within_bounds(self, text: str) -> Iterator[None]:
        """InvalidPattern where matching takes too much memory or time. The library bounds memory on its own, at a
        gigabyte for each of those who search at once."""
        records = self._records * len(text)
        if records > _MOST_RECORDS:
            raise self._too_large(f"repeating a group in a text of {len(text):,} characters")
        takes_turn = records > _RECORDS_OF_A_TURN
        if takes_turn and not _turns.acquire(timeout=self._left()):
            raise self._too_slow()
        try:
            yield
        except TimeoutError:
            raise self._too_slow() from None
        except MemoryError:
            raise self._too_large("matching it") from None
        finally:
            if takes_turn:
                _turns.release()

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._too_slow()
        return left

    def _too_large(self, what: str) -> InvalidPattern:
        return InvalidPattern(
            f"'{shortened(self._pattern)}' takes too much memory: {what}.",
            hint="Repeat a class such as [ab]* in place of a group, have fewer groups, or search for words.",
        )

    def _too_slow(self) -> InvalidPattern:
        return InvalidPattern(
            f"'{self._pattern}' took longer than {PATTERN_SECONDS:g} s.",
            hint="Nested repetitions such as (a|aa)+ explode; simplify the pattern or search for words.",
        )


def compile_pattern(pattern: str) -> SearchPattern:
    import regex

    from clew.text.given_pattern import PatternTooLarge, compile_given

    check_length(pattern)
    try:
        return SearchPattern(pattern, compile_given(pattern, regex.IGNORECASE | regex.MULTILINE))
    except PatternTooLarge as error:
        raise InvalidPattern(
            f"The regular expression '{shortened(pattern)}' is too large: {error}.",
            hint="Use smaller repetition counts, or search for words.",
        ) from error
    except ValueError as error:
        raise InvalidPattern(
            f"'{pattern}' is not a regular expression: {error}.", hint="Escape special characters, or pass regex=false."
        ) from error


Listed = str | Sequence[str]
"""Several values: a list, or one text with commas between them."""

K = TypeVar("K", NodeKind, EdgeKind)


def sorted_nodes(graph: Graph, kind: NodeKind) -> tuple[Node, ...]:
    """The nodes of a kind in the order of their ids."""
    return graph.derived(
        f"sorted_nodes:{kind.value}", lambda graph: tuple(sorted(graph.nodes_by_kind(kind), key=lambda node: node.id))
    )


def listed(values: Listed) -> tuple[str, ...]:
    """The values without blanks, empty ones and repeats, in their order."""
    parts = values.split(",") if isinstance(values, str) else values
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def node_kinds(values: Listed) -> tuple[NodeKind, ...]:
    return _kinds(NodeKind, values, "kind of node")


def edge_kinds(values: Listed) -> tuple[EdgeKind, ...]:
    return _kinds(EdgeKind, values, "kind of edge")


@cache
def _all_spellings(enum: type[K]) -> dict[str, K]:
    return {spelling: kind for kind in enum for spelling in _spellings(kind)}


def _kinds(enum: type[K], values: Listed, what: str) -> tuple[K, ...]:
    spellings = _all_spellings(enum)
    found: dict[K, None] = {}
    for value in listed(values):
        kind = spellings.get(value.casefold())
        if kind is None:
            raise InvalidArgument(
                f"There is no {what} '{shortened(value)}'.",
                hint=f"There are: {', '.join(kind.value for kind in enum)}.",
            )
        found[kind] = None
    return tuple(found)


def _spellings(kind: StrEnum) -> tuple[str, str]:
    return kind.value.casefold(), kind.name.casefold()
