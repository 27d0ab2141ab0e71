"""Finding requirements by words or by a pattern.

Trying a pattern on very many texts: most are ruled out by the words they lack, the others are read together.
"""

import string
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import overload

import msgspec

from clew.errors import InvalidArgument
from clew.graph.graph import Graph
from clew.graph.model import Node
from clew.trace.find.keywords import Words
from clew.trace.find.query import FIELDS, Pattern, Query, can_be_joined, compile_pattern, parse
from clew.trace.find.texts import (
    OUT_OF_ORDER,
    RequirementTexts,
    field_score,
    holding,
    place_score,
    plain_text,
    points_of,
)

BELOW_EXACT = 0.9999
"""The most that a requirement scores which does not hold all the words."""

BATCH = 250
"""Requirements that a pattern is tried on at once."""


class Match(msgspec.Struct, frozen=True, gc=False):
    node: Node
    score: float
    """Sum over the words of the best place each was found in; 0 for a pattern. Where meaning takes part: from 1 to 2
    for what holds all the words, below 1 for what only has to do with them."""


class Matches(msgspec.Struct, frozen=True):
    found: Sequence[Match]
    """Best first."""
    notes: tuple[str, ...] = ()
    """What limits the answer."""
    indexed: str | None = None
    """How much of the project the search index covers; None where it was not asked."""


class LazyMatches(Sequence[Match]):
    """Matches in order. Those that nobody looks at are only counted: a page is a small part of what is found."""

    def __init__(self, first: list[Match], others: Callable[[], list[Match]], count: int, last: list[Match]) -> None:
        self._first = first
        self._others = others
        self._count = count
        self._last = last

    def __len__(self) -> int:
        return len(self._first) + self._count + len(self._last)

    def __iter__(self) -> Iterator[Match]:
        return iter(self._all())

    @overload
    def __getitem__(self, at: int) -> Match: ...
    @overload
    def __getitem__(self, at: slice) -> list[Match]: ...
    def __getitem__(self, at: int | slice) -> Match | list[Match]:
        if isinstance(at, slice) and 0 <= (at.start or 0) <= (-1 if at.stop is None else at.stop) <= len(self._first):
            return self._first[at]
        return self._all()[at]

    def _all(self) -> list[Match]:
        return [*self._first, *self._others(), *self._last]


class Relevance(msgspec.Struct, frozen=True):
    """What the search index says about the requirements of a project."""

    scores: Mapping[str, float]
    """By id, from 0 to 1."""
    related: tuple[str, ...]
    """Those that have to do with the query, though they may not hold all its words; best first."""
    notes: tuple[str, ...]
    indexed: str | None


Check = Callable[[], None]
Rank = Callable[[str, bool, Check], Relevance | None]
"""From a query, and whether a further page of the same ranking is wanted; None where there is no index to ask."""


class _Held(msgspec.Struct, frozen=True):
    """The requirements that hold what a query asks for."""

    ids: AbstractSet[str]
    points: Callable[[AbstractSet[str]], Mapping[str, int]]
    """For some of them: the sum over the words of what the best place is worth that each was found in."""


class RequirementSearch:
    """Searches the requirements of a graph."""

    def __init__(self, graph: Graph, rank: Rank = lambda query, again, check: None) -> None:
        self._rank = rank
        self._texts = RequirementTexts(graph)

    def find(
        self,
        query: str,
        *,
        field: str = "all",
        regex: bool = False,
        within: AbstractSet[str] | None = None,
        check: Check = lambda: None,
    ) -> list[Match]:
        """All matches, best first: of all requirements, or of those `within` a set of ids. `check` is called now and
        then and may raise to end the search."""
        if field not in FIELDS:
            raise InvalidArgument(f"There is no field '{field}'.", hint=f"Fields are: {', '.join(FIELDS)}.")
        if not query.strip():
            raise _nothing_to_look_for()
        if regex:
            return [Match(node, 0.0) for node in self._by_pattern(query, field, within, check)]
        texts = self._texts.now().texts
        held = self._by_words(parse(query), field, within, check)
        points = held.points(held.ids)
        return [Match(texts[id].node, float(points[id])) for id in self._best_first(points)]

    def ranked(
        self,
        query: str,
        *,
        related: bool = True,
        within: AbstractSet[str] | None = None,
        again: bool = False,
        check: Check = lambda: None,
    ) -> Matches:
        """What holds the words of a query, ordered by relevance, and after that, for a query of plain words, what has
        to do with it, unless that is not wanted."""
        if not query.strip():
            raise _nothing_to_look_for()
        parsed = parse(query)
        held = self._by_words(parsed, "all", within, check)
        relevance = self._rank(query, again, check)
        if relevance is None:
            return Matches(self.find(query, within=within, check=check))
        texts, scores = self._texts.now().texts, relevance.scores
        rated = {id: round(1 + score, 4) for id, score in scores.items() if id in held.ids}
        # What is equally relevant, and what the index did not rank, is ordered by the places the words were found in.
        first = sorted(self._best_first(held.points(rated.keys())), key=rated.__getitem__, reverse=True)

        def others() -> list[Match]:
            left = self._best_first(held.points(held.ids - rated.keys()))
            return [Match(texts[id].node, 1.0) for id in left]

        last = [id for id in relevance.related if id not in held.ids] if related and parsed.is_plain else []
        found = LazyMatches(
            [Match(texts[id].node, rated[id]) for id in first],
            others,
            len(held.ids) - len(first),
            [
                Match(texts[id].node, min(round(scores[id], 4), BELOW_EXACT))
                for id in last
                if id in texts and (within is None or id in within)
            ],
        )
        return Matches(found, relevance.notes, relevance.indexed)

    def _by_words(self, query: Query, field: str, within: AbstractSet[str] | None, check: Check) -> _Held:
        if not query.groups:
            raise InvalidArgument("The query only excludes words.", hint="Add a word to look for.")
        prepared = self._texts.now()
        candidates: AbstractSet[str] = prepared.texts.keys() if within is None else prepared.texts.keys() & within
        for group in query.groups:
            check()
            candidates = holding(group, candidates, prepared)
        plain = field == "all" and not any(term.whole_keyword for group in query.groups for term in group)
        if plain and not query.excluded and all(len(group) == 1 for group in query.groups):
            words = [group[0].text for group in query.groups]
            return _Held(candidates, lambda ids: points_of(words, ids, prepared))
        score = place_score if plain else field_score
        found = {}
        for id in candidates:
            texts = prepared.texts[id]
            scores = [max(score(term, texts, field) for term in group) for group in query.groups]
            if all(scores) and not any(field_score(term, texts, field) for term in query.excluded):
                found[id] = sum(scores)
        return _Held(found.keys(), lambda ids: {id: found[id] for id in ids})

    def _best_first(self, points: Mapping[str, int]) -> list[str]:
        everything = self._texts.now().texts
        # Where much is found, to go through all that are in order anyway takes less time than sorting.
        many = len(points) * OUT_OF_ORDER > len(everything)
        in_order = [id for id in everything if id in points] if many else sorted(points)
        return sorted(in_order, key=points.__getitem__, reverse=True)

    def _by_pattern(self, pattern: str, field: str, within: AbstractSet[str] | None, check: Check) -> Iterator[Node]:
        matches = compile_pattern(pattern)
        prepared = self._texts.now()
        # The keywords of a title are spelt in their own way, so that they may lack what the title has.
        candidates = may_match(pattern, prepared.words) if field != "keywords" else None
        if within is not None:
            candidates = within if candidates is None else candidates & within
        left = [texts for id, texts in prepared.texts.items() if candidates is None or id in candidates]
        for start in range(0, len(left), BATCH):
            check()
            batch = left[start : start + BATCH]
            if field == "all" and can_be_joined(pattern):
                yield from [batch[at].node for at in matching(matches, [texts.plain for texts in batch])]
            else:
                yield from [texts.node for texts in batch if matches(plain_text(texts, field))]


def _nothing_to_look_for() -> InvalidArgument:
    return InvalidArgument("The query is empty.", hint="Pass a word, an id or a pattern to look for.")


Alternatives = tuple[str, ...]

_LITERAL = frozenset(string.ascii_letters + string.digits) - {"i", "I"}
"""What stands for itself, whatever the case. An i also matches letters of Turkish that are not folded to it."""
_KINDS_OF_CHARACTERS = frozenset("dDsSwWbBAZnrtfv")
_QUANTIFIERS = frozenset("?*+{")
_DEEPEST = 20
_TELLING = 3
"""Shorter parts stand in words of all kinds."""


def needed_words(pattern: str) -> tuple[Alternatives, ...]:
    """Parts of words, in folded case, that a text holds if the pattern matches it: of each group one at least.

    Nothing is needed of a text where the pattern is not simple enough to tell.
    """
    try:
        return _either(_Reader(pattern).branches(depth=0))
    except _NotSimple:
        return ()


def may_match(pattern: str, words: Words) -> AbstractSet[str] | None:
    """The ids of the nodes that have the words a pattern needs; None where all have to be looked at."""
    found: AbstractSet[str] | None = None
    for parts in needed_words(pattern):
        having = words.having(*parts) if min(map(len, parts)) >= _TELLING else None
        if having is not None and len(having) < len(words.nodes):
            found = having if found is None else found & having
    return found


def matching(pattern: Pattern, texts: Sequence[str]) -> list[int]:
    """Which of the texts a pattern matches that can be tried on all of them joined."""
    starts = [0, *accumulate([len(text) + 1 for text in texts])]
    found: list[int] = []
    at = undecided = 0
    for start, end in pattern.spans("\n".join(texts)):
        if end < starts[undecided]:
            continue
        while starts[at + 1] <= start:
            at += 1
        if at >= undecided and end < starts[at + 1]:
            found.append(at)
            undecided = at + 1
        else:
            # The match goes beyond one text, and hides what may match in each of those it touches.
            last = min(bisect_right(starts, end), len(texts))
            found += [each for each in range(max(at, undecided), last) if pattern(texts[each])]
            undecided = max(undecided, last)
        if undecided == len(texts):
            break
    return found


class _NotSimple(Exception):
    """The pattern has what is not looked into."""


class _Reader:
    """Reads a pattern from left to right, and understands enough of it to know what it cannot do without."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def branches(self, depth: int) -> list[list[Alternatives]]:
        """What each of the alternatives up to the end of a group, or of the pattern, cannot do without."""
        found = [self._branch(depth)]
        while self._peek() == "|":
            self._at += 1
            found.append(self._branch(depth))
        if (self._peek() == ")") != (depth > 0):
            raise _NotSimple
        return found

    def _branch(self, depth: int) -> list[Alternatives]:
        needed: list[Alternatives] = []
        run = ""
        while (character := self._peek()) not in ("", "|", ")"):
            self._at += 1
            group: tuple[Alternatives, ...] = ()
            if character == "(":
                group = self._group(depth + 1)
            elif character == "[":
                self._pass_class()
            elif character == "\\":
                self._pass_escape()
            quantifier = self._quantifier()
            if character in _LITERAL and quantifier in ("", "+"):
                run += character
                if not quantifier:
                    continue
            needed += [(run.casefold(),)] if run else []
            run = ""
            needed += group if quantifier in ("", "+") else ()
        return [*needed, (run.casefold(),)] if run else needed

    def _group(self, depth: int) -> tuple[Alternatives, ...]:
        if self._peek() == "?" or depth > _DEEPEST:
            raise _NotSimple
        inner = self.branches(depth)
        self._at += 1
        return _either(inner)

    def _pass_class(self) -> None:
        self._at += self._peek() == "^"
        self._at += self._peek() == "]"
        while (character := self._peek()) != "]":
            if character in ("", "["):
                raise _NotSimple
            self._at += 2 if character == "\\" else 1
        self._at += 1

    def _pass_escape(self) -> None:
        character = self._peek()
        if character == "" or (character.isalnum() and character not in _KINDS_OF_CHARACTERS):
            raise _NotSimple
        self._at += 1

    def _quantifier(self) -> str:
        """The first character of what says how often something may stand there, which is passed over."""
        kind = self._peek() if self._peek() in _QUANTIFIERS else ""
        while kind and (character := self._peek()) in _QUANTIFIERS:
            if character == "{":
                self._at = self._pattern.find("}", self._at)
                if self._at < 0:
                    raise _NotSimple
                kind = "{"
            self._at += 1
        return kind

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]


def _either(branches: Sequence[Sequence[Alternatives]]) -> tuple[Alternatives, ...]:
    """What is needed where one of several branches matches: one thing of each, the longest."""
    if len(branches) == 1:
        return tuple(branches[0])
    if not all(branches):
        return ()
    longest = (max(branch, key=lambda group: min(map(len, group))) for branch in branches)
    return (tuple(word for group in longest for word in group),)
