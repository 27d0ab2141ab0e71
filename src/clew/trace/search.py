"""Finding requirements by words or by a pattern."""

from collections.abc import Callable, Iterator

import msgspec

from clew.errors import InvalidArgument
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.text.keywords import keywords
from clew.trace.query import FIELDS, Query, Term, compile_pattern, parse

ID_SCORE = 100
TITLE_SCORE = 50
KEYWORD_SCORE = 40
KEYWORD_PART_SCORE = 25
BODY_SCORE = 10


class Match(msgspec.Struct, frozen=True):
    node: Node
    score: float
    """Sum over the words of the best place each was found in; 0 for a pattern."""


class _Folded(msgspec.Struct, frozen=True):
    """A requirement's searchable texts in folded case."""

    node: Node
    id: str
    title: str
    body: str
    keywords: frozenset[str]


class RequirementSearch:
    """Searches the requirements of a graph. Folded texts are kept for as long as their node stays the same object."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._folded: dict[str, _Folded] = {}

    def find(
        self, query: str, *, field: str = "all", regex: bool = False, check: Callable[[], None] = lambda: None
    ) -> list[Match]:
        """All matches, best first. `check` is called now and then and may raise to end the search."""
        if field not in FIELDS:
            raise InvalidArgument(f"There is no field '{field}'.", hint=f"Fields are: {', '.join(FIELDS)}.")
        if not query.strip():
            raise InvalidArgument("The query is empty.", hint="Pass a word, an id or a pattern to look for.")
        matches = list(self._by_pattern(query, field, check) if regex else self._by_words(parse(query), field, check))
        matches.sort(key=lambda match: (-match.score, match.node.id))
        return matches

    def _by_words(self, query: Query, field: str, check: Callable[[], None]) -> Iterator[Match]:
        if not query.groups:
            raise InvalidArgument("The query only excludes words.", hint="Add a word to look for.")
        for number, folded in enumerate(self._texts()):
            if number % 500 == 0:
                check()
            score = 0
            for group in query.groups:
                best = max(_score(term, folded, field) for term in group)
                if not best:
                    break
                score += best
            else:
                if not any(_score(term, folded, field) for term in query.excluded):
                    yield Match(folded.node, float(score))

    def _by_pattern(self, pattern: str, field: str, check: Callable[[], None]) -> Iterator[Match]:
        matches = compile_pattern(pattern)
        for node in self._graph.nodes_by_kind(NodeKind.REQUIREMENT):
            check()
            if any(matches(text) for text in _plain_texts(node, field)):
                yield Match(node, 0.0)

    def _texts(self) -> Iterator[_Folded]:
        for node in self._graph.nodes_by_kind(NodeKind.REQUIREMENT):
            folded = self._folded.get(node.id)
            if folded is None or folded.node is not node:
                folded = self._folded[node.id] = _fold(node)
            yield folded


def _fold(node: Node) -> _Folded:
    body = node.get_field("body", "")
    return _Folded(
        node=node,
        id=node.id.casefold(),
        title=node.title.casefold(),
        body=body.casefold(),
        keywords=frozenset(keywords(node.title)),
    )


def _score(term: Term, folded: _Folded, field: str) -> int:
    """How good a place the term was found in; 0 where it was not."""
    if term.whole_keyword:
        return KEYWORD_SCORE if field in ("all", "keywords") and term.text in folded.keywords else 0
    if field in ("all", "id") and term.text in folded.id:
        return ID_SCORE
    if field in ("all", "title") and term.text in folded.title:
        return TITLE_SCORE
    if field == "keywords":
        if term.text in folded.keywords:
            return KEYWORD_SCORE
        return KEYWORD_PART_SCORE if any(term.text in keyword for keyword in folded.keywords) else 0
    return BODY_SCORE if field in ("all", "body") and term.text in folded.body else 0


def _plain_texts(node: Node, field: str) -> Iterator[str]:
    if field in ("all", "id"):
        yield node.id
    if field in ("all", "title"):
        yield node.title
    if field in ("all", "body"):
        yield node.get_field("body", "")
    if field == "keywords":
        yield " ".join(keywords(node.title))
