"""The texts of requirements for searches: case folded, with an index of their words, cached until they change."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.text.keywords import keywords
from clew.trace.find.keywords import WORD, WordIndex, Words, content, title_text
from clew.trace.find.query import ParsedQuery, QueryTerm


def requirement_text(node: Node) -> str:
    """The text of a requirement for searches. Each part is on lines of its own, so that the anchors of a pattern hold
    at its ends."""
    return f"{node.id}\n{node.title}\n{content(node)}"


ID_SCORE = 100
TITLE_SCORE = 50
KEYWORD_SCORE = 40
KEYWORD_PART_SCORE = 25
BODY_SCORE = 10

OUT_OF_ORDER = 8
"""The cost of looking one up, or of sorting it, relative to skipping it."""


class Texts(msgspec.Struct, frozen=True):
    """A requirement's searchable texts."""

    node: Node
    id: str
    title: str
    everything: str
    """Id, title and body together. These three in folded case."""
    plain: str
    """The last one as it is written."""


class AllTexts(msgspec.Struct, frozen=True):
    """The texts of all requirements."""

    texts: Mapping[str, Texts]
    """By id, in the order of the ids."""
    folded: Mapping[str, str]
    """By id: everything a requirement says."""
    spelt: Mapping[str, str]
    """The ids, by their letters and digits (`bare`); those that no two share."""
    ids: str
    """Of all requirements, joined: what is not in here is in none of them."""
    letters: frozenset[str]
    """All characters of the ids: a word with another one is in none of them."""


class SearchTexts(AllTexts, frozen=True, kw_only=True):
    """The texts of one state of the graph, prepared for searches."""

    words: Words
    of_titles: Words


class RequirementTexts:
    """Keeps the texts of a graph's requirements for searches; only changed ones are prepared again."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._index = WordIndex(graph)

    def now(self) -> SearchTexts:
        return self._graph.derived("requirement_search", self._prepare)

    def _prepare(self, graph: Graph) -> SearchTexts:
        known = graph.kept.list("requirement_texts", _all_folded, _folded, _in_order)
        words = self._index.words(NodeKind.REQUIREMENT, requirement_text)
        of_titles = self._index.words(NodeKind.REQUIREMENT, title_text)
        return SearchTexts(
            known.texts, known.folded, known.spelt, known.ids, known.letters, words=words, of_titles=of_titles
        )


def _all_folded(graph: Graph) -> dict[str, Texts]:
    return {node.id: _fold(node) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT)}


def _folded(graph: Graph, id: str) -> Texts | None:
    node = graph.get_node(id)
    return _fold(node) if node is not None and node.kind is NodeKind.REQUIREMENT else None


def _in_order(texts: Mapping[str, Texts]) -> AllTexts:
    ordered = {id: texts[id] for id in sorted(texts)}
    ids = "\n".join([each.id for each in ordered.values()])
    return AllTexts(
        texts=ordered,
        folded={id: each.everything for id, each in ordered.items()},
        spelt=_spelt(ordered),
        ids=ids,
        letters=frozenset(ids),
    )


def bare(id: str) -> str:
    """An id in lower case, with its letters and digits only."""
    return "".join([letter for letter in id.casefold() if letter.isalnum()])


def _spelt(ids: Iterable[str]) -> dict[str, str]:
    spelt: dict[str, str] = {}
    shared = set()
    for id in ids:
        shared |= {bare(id)} & spelt.keys()
        spelt[bare(id)] = id
    return {spelling: id for spelling, id in spelt.items() if spelling and spelling not in shared}


def holding(group: tuple[QueryTerm, ...], candidates: AbstractSet[str], prepared: SearchTexts) -> AbstractSet[str]:
    """The candidates that may match a group. A keyword is normalised, so it need not occur literally."""
    if any(term.whole_keyword for term in group):
        return candidates
    if len(group) == 1:
        return _with(group[0].text, candidates, prepared)
    return set().union(*(_with(term.text, candidates, prepared) for term in group))


def may_hold(query: ParsedQuery, words: Words) -> AbstractSet[str] | None:
    """The ids of the nodes with the words of a query; None if all nodes have to be searched."""
    found: AbstractSet[str] | None = None
    for group in query.groups:
        parts = [WORD.findall(term.text) for term in group]
        # The longest word of each alternative is enough: the caller checks the candidates.
        if all(parts) and not any(term.whole_keyword for term in group):
            having = words.having(*(max(each, key=len) for each in parts))
            if having is not None:
                found = having if found is None else found & having
    return found


def _with(text: str, candidates: AbstractSet[str], prepared: SearchTexts) -> AbstractSet[str]:
    """The candidates that contain a text. For a word, or a part of one, the list of words decides; for any other text
    its words limit the candidates, whose texts are then read."""
    words = dict.fromkeys(WORD.findall(text))
    places = [having for word in words if (having := prepared.words.having(word)) is not None]
    for having in sorted(places, key=len):
        candidates = having if len(candidates) == len(prepared.texts) else having & candidates
    if places and text in words:
        return candidates
    return _holding(text, candidates, prepared.folded)


def _holding(text: str, candidates: AbstractSet[str], folded: Mapping[str, str]) -> AbstractSet[str]:
    if len(candidates) * OUT_OF_ORDER < len(folded):
        return {id for id in candidates if text in folded[id]}
    # Most of them are looked at: one after the other as they lie in memory, which takes half the time.
    return {id for id, everything in folded.items() if id in candidates and text in everything}


def titled(words: Sequence[str], candidates: AbstractSet[str], prepared: SearchTexts) -> AbstractSet[str]:
    """The candidates with all words in the title."""
    for word in sorted(words, key=len, reverse=True):
        having = prepared.of_titles.having(word) if WORD.fullmatch(word) else None
        if having is None:
            candidates = {id for id in candidates if word in prepared.texts[id].title}
        else:
            candidates = having & candidates
        if not candidates:
            break
    return candidates


def points_of(words: Sequence[str], candidates: AbstractSet[str], prepared: SearchTexts) -> Mapping[str, int]:
    """The points for plain words, if each candidate is known to hold all of them, as in nearly every search."""
    points = dict.fromkeys(candidates, BODY_SCORE * len(words))
    for word in words:
        with_title = titled((word,), candidates, prepared)
        for id in with_title:
            points[id] += TITLE_SCORE - BODY_SCORE
        if prepared.letters.issuperset(word) and word in prepared.ids:
            for id in candidates:
                if word in prepared.texts[id].id:
                    points[id] += ID_SCORE - (TITLE_SCORE if id in with_title else BODY_SCORE)
    return points


def place_score(term: QueryTerm, texts: Texts, field: str) -> int:
    """The score of a plain word looked for everywhere."""
    if term.text in texts.id:
        return ID_SCORE
    if term.text in texts.title:
        return TITLE_SCORE
    return BODY_SCORE if term.text in texts.everything else 0


def _fold(node: Node) -> Texts:
    plain = requirement_text(node)
    return Texts(
        node=node, id=node.id.casefold(), title=node.title.casefold(), everything=plain.casefold(), plain=plain
    )


def field_score(term: QueryTerm, texts: Texts, field: str) -> int:
    """The points for the best place of a term; 0 if it was not found."""
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
    is_held = field in ("all", "body") and term.text in texts.everything
    return BODY_SCORE if is_held and term.text in content(texts.node).casefold() else 0


def plain_text(texts: Texts, field: str) -> str:
    """The text for matching a pattern. The anchors of a pattern hold at every line, so one text serves all fields."""
    node = texts.node
    if field == "all":
        return texts.plain
    if field == "id":
        return node.id
    if field == "title":
        return node.title
    return " ".join(keywords(texts.title)) if field == "keywords" else content(node)
