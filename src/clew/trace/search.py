"""Finding requirements by words or by a pattern."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from clew.errors import InvalidArgument
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.text.keywords import keywords
from clew.trace.query import FIELDS, Query, Term, can_be_joined, compile_pattern, parse

ID_SCORE = 100
TITLE_SCORE = 50
KEYWORD_SCORE = 40
KEYWORD_PART_SCORE = 25
BODY_SCORE = 10

BELOW_EXACT = 0.9999
"""The most that a requirement scores which does not hold all the words."""

BATCH = 25
"""Requirements that a pattern is tried on at once."""


class Match(msgspec.Struct, frozen=True):
    node: Node
    score: float
    """Sum over the words of the best place each was found in; 0 for a pattern. Where meaning takes part: from 1 to 2
    for what holds all the words, below 1 for what only has to do with them."""


class Matches(msgspec.Struct, frozen=True):
    found: list[Match]
    """Best first."""
    notes: tuple[str, ...] = ()
    """What limits the answer."""
    indexed: str | None = None
    """How much of the project the search index covers; None where it was not asked."""


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


class _Texts(msgspec.Struct, frozen=True):
    """A requirement's searchable texts."""

    node: Node
    id: str
    title: str
    body: str
    everything: str
    """These three in folded case, and all of them together."""
    plain: str
    """The same as it is written."""


class RequirementSearch:
    """Searches the requirements of a graph. Folded texts are kept for as long as their node stays the same object."""

    def __init__(self, graph: Graph, rank: Rank = lambda query, again, check: None) -> None:
        self._graph = graph
        self._rank = rank
        self._known: dict[str, _Texts] = {}

    def find(self, query: str, *, field: str = "all", regex: bool = False, check: Check = lambda: None) -> list[Match]:
        """All matches, best first. `check` is called now and then and may raise to end the search."""
        if field not in FIELDS:
            raise InvalidArgument(f"There is no field '{field}'.", hint=f"Fields are: {', '.join(FIELDS)}.")
        if not query.strip():
            raise InvalidArgument("The query is empty.", hint="Pass a word, an id or a pattern to look for.")
        matches = list(self._by_pattern(query, field, check) if regex else self._by_words(parse(query), field, check))
        matches.sort(key=lambda match: (-match.score, match.node.id))
        return matches

    def ranked(self, query: str, *, again: bool = False, check: Check = lambda: None) -> Matches:
        """What holds the words of a query, ordered by relevance, and after that, for a query of plain words, what has
        to do with it."""
        exact = self.find(query, check=check)
        relevance = self._rank(query, again, check)
        if relevance is None:
            return Matches(exact)
        scores = relevance.scores
        # What the index did not rank keeps the order of the places the words were found in.
        found = [Match(match.node, round(1 + scores[match.node.id], 4)) for match in exact if match.node.id in scores]
        found.sort(key=lambda match: -match.score)
        found += [Match(match.node, 1.0) for match in exact if match.node.id not in scores]
        if parse(query).is_plain:
            known = {match.node.id for match in exact}
            nodes = (self._graph.get_node(id) for id in relevance.related if id not in known)
            found += [Match(node, min(round(scores[node.id], 4), BELOW_EXACT)) for node in nodes if node is not None]
        return Matches(found, relevance.notes, relevance.indexed)

    def _by_words(self, query: Query, field: str, check: Check) -> Iterator[Match]:
        if not query.groups:
            raise InvalidArgument("The query only excludes words.", hint="Add a word to look for.")
        candidates = self._texts()
        for group in query.groups:
            check()
            candidates = _holding(group, candidates)
        plain = field == "all" and not any(term.whole_keyword for group in query.groups for term in group)
        if plain and not query.excluded and all(len(group) == 1 for group in query.groups):
            yield from _all_held([group[0].text for group in query.groups], candidates)
            return
        score = _place_score if plain else _score
        for texts in candidates:
            scores = [max(score(term, texts, field) for term in group) for group in query.groups]
            if all(scores) and not any(_score(term, texts, field) for term in query.excluded):
                yield Match(texts.node, float(sum(scores)))

    def _by_pattern(self, pattern: str, field: str, check: Check) -> Iterator[Match]:
        matches = compile_pattern(pattern)
        if field == "all" and can_be_joined(pattern):
            # Most batches hold no match at all, which one look settles for every requirement in them.
            batches = self._graph.derived("requirement_batches", self._join)
        else:
            batches = [(None, self._texts())]
        for joined, members in batches:
            check()
            if joined is None or matches(joined):
                for texts in members:
                    if matches(_plain(texts, field)):
                        yield Match(texts.node, 0.0)

    def _join(self, graph: Graph) -> list[tuple[str | None, list[_Texts]]]:
        everything = self._texts()
        starts = range(0, len(everything), BATCH)
        parts = (everything[start : start + BATCH] for start in starts)
        return [("\n".join(texts.plain for texts in part), part) for part in parts]

    def _texts(self) -> list[_Texts]:
        return self._graph.derived("requirement_texts", self._fold_all)

    def _fold_all(self, graph: Graph) -> list[_Texts]:
        folded: dict[str, _Texts] = {}
        for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
            known = self._known.get(node.id)
            folded[node.id] = known if known is not None and known.node is node else _fold(node)
        self._known = folded
        return list(folded.values())


def _holding(group: tuple[Term, ...], candidates: list[_Texts]) -> list[_Texts]:
    """Those that can match a group. Most requirements hold none of its words: one look at the whole text spares them
    everything else. A keyword is normalised, so that it need not occur as it is."""
    if any(term.whole_keyword for term in group):
        return candidates
    if len(group) == 1:
        word = group[0].text
        return [texts for texts in candidates if word in texts.everything]
    words = [term.text for term in group]
    return [texts for texts in candidates if any(word in texts.everything for word in words)]


def _all_held(words: list[str], candidates: list[_Texts]) -> Iterator[Match]:
    """The matches of plain words, where each candidate is known to hold all of them: nearly every search is such."""
    for texts in candidates:
        id, title = texts.id, texts.title
        score = 0
        for word in words:
            score += ID_SCORE if word in id else TITLE_SCORE if word in title else BODY_SCORE
        yield Match(texts.node, float(score))


def _place_score(term: Term, texts: _Texts, field: str) -> int:
    """The score of a plain word looked for everywhere."""
    if term.text in texts.id:
        return ID_SCORE
    if term.text in texts.title:
        return TITLE_SCORE
    return BODY_SCORE if term.text in texts.everything else 0


def _fold(node: Node) -> _Texts:
    body = node.get_field("body", "")
    plain = f"{node.id}\n{node.title}\n{body}"
    return _Texts(
        node=node,
        id=node.id.casefold(),
        title=node.title.casefold(),
        body=body.casefold(),
        everything=plain.casefold(),
        plain=plain,
    )


def _score(term: Term, texts: _Texts, field: str) -> int:
    """How good a place the term was found in; 0 where it was not."""
    if term.whole_keyword:
        return KEYWORD_SCORE if field in ("all", "keywords") and term.text in keywords(texts.title) else 0
    if field in ("all", "id") and term.text in texts.id:
        return ID_SCORE
    if field in ("all", "title") and term.text in texts.title:
        return TITLE_SCORE
    if field == "keywords":
        found = keywords(texts.title)
        if term.text in found:
            return KEYWORD_SCORE
        return KEYWORD_PART_SCORE if any(term.text in keyword for keyword in found) else 0
    return BODY_SCORE if field in ("all", "body") and term.text in texts.body else 0


def _plain(texts: _Texts, field: str) -> str:
    """What a pattern is matched against. Its anchors hold at every line, so one text serves all fields."""
    node = texts.node
    if field == "all":
        return texts.plain
    if field == "id":
        return node.id
    if field == "title":
        return node.title
    return " ".join(keywords(texts.title)) if field == "keywords" else node.get_field("body", "")
