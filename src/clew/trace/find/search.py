"""Finding requirements by words or by a pattern."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from typing import overload

import msgspec

from clew.errors import InvalidArgument
from clew.graph.graph import Graph
from clew.graph.model import Node
from clew.trace.find.keywords import WORD
from clew.trace.find.patterns import matching, may_match
from clew.trace.find.query import FIELDS, ParsedQuery, can_be_joined, compile_pattern, parse
from clew.trace.find.texts import (
    ID_SCORE,
    OUT_OF_ORDER,
    RequirementTexts,
    bare,
    field_score,
    holding,
    place_score,
    plain_text,
    points_of,
    titled,
)
from clew.trace.read.assertions import assertions_of

BELOW_EXACT = 0.9999
"""The most that a requirement scores which does not hold all the words."""
MOST_RELATED = 10
MOST_READ = 500
"""Of so many requirements that hold the words, each is read for where they stand; of more, those that are relevant."""

_AROUND_IDS = " \t\r\n.,;:?!()[]<>`'\"*#"

_PHRASE = re.compile(r'"[^"]*"')
_SEPARATED = r"[\W_]+"
"""The characters between two words."""

BATCH = 250
"""Requirements that a pattern is tried on at once."""


class RequirementMatch(msgspec.Struct, frozen=True, gc=False):
    node: Node
    score: float
    """Sum over the words of the best place each was found in; 0 for a pattern. Where the index takes part: from 1 to 2
    for what holds all the words, below 1 for what only has to do with them."""


class Matches(msgspec.Struct, frozen=True):
    found: Sequence[RequirementMatch]
    """The requirements with all the words, best first."""
    related: tuple[RequirementMatch, ...] = ()
    """Requirements without all the words that are related to the query."""
    notes: tuple[str, ...] = ()
    """Notes on the limits of the answer."""
    indexed: str | None = None
    """The share of the project that the search index covers; None if the index was not asked."""


class LazyMatches(Sequence[RequirementMatch]):
    """Matches in order. Those after the page are only counted, because a page is a small part of them."""

    def __init__(self, first: list[RequirementMatch], others: Callable[[], list[RequirementMatch]], count: int) -> None:
        self._first = first
        self._others = others
        self._count = count

    def __len__(self) -> int:
        return len(self._first) + self._count

    def __iter__(self) -> Iterator[RequirementMatch]:
        return iter(self._all())

    @overload
    def __getitem__(self, at: int) -> RequirementMatch: ...
    @overload
    def __getitem__(self, at: slice) -> list[RequirementMatch]: ...
    def __getitem__(self, at: int | slice) -> RequirementMatch | list[RequirementMatch]:
        if isinstance(at, slice) and 0 <= (at.start or 0) <= (-1 if at.stop is None else at.stop) <= len(self._first):
            return self._first[at]
        return self._all()[at]

    def _all(self) -> list[RequirementMatch]:
        return [*self._first, *self._others()]


class Relevance(msgspec.Struct, frozen=True):
    """The search index's ranking of a project's requirements."""

    scores: Mapping[str, float]
    """By id, from 0 to 1."""
    related: tuple[str, ...]
    """The requirements related to the query, though they may not hold all its words; best first."""
    notes: tuple[str, ...]
    indexed: str | None


Check = Callable[[], None]
Rank = Callable[[str, bool, Check], Relevance | None]
"""From a query, and whether a further page of the same ranking is wanted; None where there is no index to ask."""
Named = Callable[[str], Node | None]
"""The requirement that an id means, in whatever spelling; None where it means none."""


class WordPosition(IntEnum):
    """The position of a query's words in a requirement; a higher one comes before all lower ones."""

    ASSERTION = 1
    PHRASE = 2
    """One after the other, as they were asked for."""
    TITLE = 3
    WHOLE_TITLE = 4
    ID = 5


class _Held(msgspec.Struct, frozen=True):
    """The requirements that match a query."""

    ids: AbstractSet[str]
    points: Callable[[AbstractSet[str]], Mapping[str, int]]
    """For some of them: the sum over the words of what the best place is worth that each was found in."""


class RequirementSearch:
    """Searches the requirements of a graph."""

    def __init__(self, graph: Graph, named: Named, rank: Rank = lambda query, again, check: None) -> None:
        self._graph = graph
        self._named = named
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
    ) -> list[RequirementMatch]:
        """All matches, best first: of all requirements, or of those `within` a set of ids. `check` is called now and
        then and may raise to end the search."""
        if field not in FIELDS:
            raise InvalidArgument(f"There is no field '{field}'.", hint=f"Fields are: {', '.join(FIELDS)}.")
        if not query.strip():
            raise _nothing_to_look_for()
        if regex:
            return [RequirementMatch(node, 0.0) for node in self._by_pattern(query, field, within, check)]
        texts = self._texts.now().texts
        held = self._by_words(parse(query), field, within, check)
        points = dict(held.points(held.ids))
        if field in ("all", "id") and (id := self._id_in(query, within)) is not None:
            points[id] = max(points.values(), default=0) + ID_SCORE
        return [RequirementMatch(texts[id].node, float(points[id])) for id in self._best_first(points)]

    def ranked(
        self,
        query: str,
        *,
        within: AbstractSet[str] | None = None,
        again: bool = False,
        check: Check = lambda: None,
    ) -> Matches:
        """The requirements with all words of a query, ordered by the position of the words and then by relevance; and
        separately, for a query of plain words, those related to it."""
        if not query.strip():
            raise _nothing_to_look_for()
        parsed = parse(query)
        held = self._by_words(parsed, "all", within, check)
        relevance = self._rank(query, again, check)
        if relevance is None:
            return Matches(self.find(query, within=within, check=check))
        prepared = self._texts.now()
        texts, scores = prepared.texts, relevance.scores
        places = self._places(query, parsed, held.ids, scores, within)
        rated = {
            id: round(1 + (places.get(id, 0) + min(1.0, scores.get(id, 0.0))) / (WordPosition.ID + 1), 4)
            for id in places.keys() | (scores.keys() & held.ids)
        }
        # What is equally relevant, and what the index did not rank, is ordered by the places the words were found in.
        held_and_rated = rated.keys() & held.ids
        points = {**dict.fromkeys(rated, 0), **held.points(held_and_rated)}
        first = sorted(self._best_first(points), key=rated.__getitem__, reverse=True)

        def others() -> list[RequirementMatch]:
            missed = held.ids - held_and_rated
            return [RequirementMatch(texts[id].node, 1.0) for id in self._best_first(held.points(missed))]

        missed_count = len(held.ids) - len(held_and_rated)
        found = LazyMatches([RequirementMatch(texts[id].node, rated[id]) for id in first], others, missed_count)
        # What shares only a part of an id with it, such as its prefix, has nothing to do with it.
        is_id = WordPosition.ID in places.values() and self.meant(query) is not None and any(map(str.isdigit, query))
        related = relevance.related if parsed.is_plain and not is_id else ()
        unseen = [id for id in related if id not in rated and id not in held.ids]
        seen = [id for id in unseen if id in texts and (within is None or id in within)]
        return Matches(
            found,
            tuple(
                RequirementMatch(texts[id].node, min(round(scores[id], 4), BELOW_EXACT)) for id in seen[:MOST_RELATED]
            ),
            relevance.notes,
            relevance.indexed,
        )

    def _places(
        self,
        query: str,
        parsed: ParsedQuery,
        held: AbstractSet[str],
        relevant: Mapping[str, float],
        within: AbstractSet[str] | None,
    ) -> dict[str, int]:
        """The position at which the words of a query are adjacent, for the requirements in which they are."""
        prepared = self._texts.now()
        found: dict[str, int] = {}
        if parsed.is_plain:
            asked = WORD.findall(query.casefold())
            if len(asked) > 1:
                found |= self._stand_together(asked, held if len(held) <= MOST_READ else held & relevant.keys())
            words = [group[0].text for group in parsed.groups]
            if with_title := titled(words, held, prepared):
                whole = re.compile(rf"[\W_]*{_SEPARATED.join(asked)}[\W_]*")
                for id in with_title:
                    is_whole = whole.fullmatch(prepared.texts[id].title) is not None
                    found[id] = WordPosition.WHOLE_TITLE if is_whole else WordPosition.TITLE
        if (named := self._id_in(query, within)) is not None:
            found[named] = WordPosition.ID
        return found

    def _stand_together(self, asked: Sequence[str], ids: AbstractSet[str]) -> dict[str, int]:
        """The requirements in which the whole words are adjacent, or are in one assertion."""
        folded = self._texts.now().folded
        longest, *shorter = sorted(dict.fromkeys(asked), key=len, reverse=True)
        # The words are made of letters and digits only. The first one comes first: that is found fastest.
        first, *others = asked
        phrase = re.compile(_SEPARATED.join((rf"{first}(?<![^\W_]{first})", *others)) + r"(?![^\W_])")
        assertions: dict[str, tuple[str, ...]] = self._graph.derived("assertions_folded", lambda graph: {})
        found: dict[str, int] = {}
        for id in ids:
            if phrase.search(folded[id]) is not None:
                found[id] = WordPosition.PHRASE
                continue
            parts = assertions.get(id)
            if parts is None:
                parts = assertions[id] = tuple(part.title.casefold() for part in assertions_of(self._graph, id))
            # The longest is the rarest, mostly; all of them are in few texts.
            for part in [part for part in parts if longest in part]:
                if [word for word in shorter if word not in part]:
                    continue
                if _is_word_in(longest, part) and all(_is_word_in(word, part) for word in shorter):
                    found[id] = WordPosition.ASSERTION
                    break
        return found

    def _id_in(self, query: str, within: AbstractSet[str] | None) -> str | None:
        """The requirement that a query names, by its own id or that of an assertion, in any spelling: the whole query,
        or one of its words. A phrase in quotes is searched as it is."""
        free = _PHRASE.sub(" ", query)
        id = next(filter(None, map(self.meant, (free, *free.split()))), None)
        return id if id in self._texts.now().texts and (within is None or id in within) else None

    def meant(self, word: str) -> str | None:
        """The requirement whose id, or the id of whose assertion, is a word, in any spelling."""
        if (node := self._named(word.strip(_AROUND_IDS))) is not None:
            return node.id
        spelt = self._texts.now().spelt
        plain = bare(word)
        found = spelt.get(plain)
        if found is None and plain[-1:].isalpha():
            owner = spelt.get(plain[:-1])
            labels = (part.id.rpartition("-")[2] for part in assertions_of(self._graph, owner)) if owner else ()
            found = owner if plain[-1:] in map(str.casefold, labels) else None
        return found

    def _by_words(self, query: ParsedQuery, field: str, within: AbstractSet[str] | None, check: Check) -> _Held:
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


def _is_word_in(word: str, text: str) -> bool:
    """True if a text has a word of letters and digits as a whole word: quicker than splitting the text into words."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(word, at + 1)
    return False


def _nothing_to_look_for() -> InvalidArgument:
    return InvalidArgument("The query is empty.", hint="Pass a word, an id or a pattern to look for.")
