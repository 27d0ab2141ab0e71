"""The texts of requirements as a search looks at them: folded, with their words looked up, and kept while they last."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.text.keywords import keywords
from clew.trace.find_kinds import sorted_nodes
from clew.trace.find_words import WORD, WordIndex, Words, requirement_text
from clew.trace.query import Term

ID_SCORE = 100
TITLE_SCORE = 50
KEYWORD_SCORE = 40
KEYWORD_PART_SCORE = 25
BODY_SCORE = 10

OUT_OF_ORDER = 8
"""How many times longer it takes to look one up, or to bring it into order, than to pass over it."""


class Texts(msgspec.Struct, frozen=True):
    """A requirement's searchable texts."""

    node: Node
    id: str
    title: str
    everything: str
    """Id, title and body together. These three in folded case."""
    plain: str
    """The last one as it is written."""


class Prepared(msgspec.Struct, frozen=True):
    """What a search needs of one state of the graph."""

    texts: Mapping[str, Texts]
    """By id, in the order of the ids."""
    folded: Mapping[str, str]
    """By id: everything a requirement says."""
    words: Words
    ids: str
    titles: str
    """Of all requirements, joined: what is not in here is in none of them."""


class RequirementTexts:
    """Prepares the requirements of a graph; what was made of a node is kept for as long as it stays the same object."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._index = WordIndex(graph)
        self._known: Mapping[str, Texts] = {}

    def now(self) -> Prepared:
        return self._graph.derived("requirement_search", self._prepare)

    def _prepare(self, graph: Graph) -> Prepared:
        before, texts = self._known, {}
        for node in sorted_nodes(graph, NodeKind.REQUIREMENT):
            known = before.get(node.id)
            texts[node.id] = known if known is not None and known.node is node else _fold(node)
        self._known = texts
        return Prepared(
            texts=texts,
            folded={id: each.everything for id, each in texts.items()},
            words=self._index.words(NodeKind.REQUIREMENT, requirement_text),
            ids="\n".join(each.id for each in texts.values()),
            titles="\n".join(each.title for each in texts.values()),
        )


def holding(group: tuple[Term, ...], candidates: AbstractSet[str], prepared: Prepared) -> AbstractSet[str]:
    """Those that can match a group. A keyword is normalised, so that it need not occur as it is."""
    if any(term.whole_keyword for term in group):
        return candidates
    if len(group) == 1:
        return _with(group[0].text, candidates, prepared)
    return set().union(*(_with(term.text, candidates, prepared) for term in group))


def _with(text: str, candidates: AbstractSet[str], prepared: Prepared) -> AbstractSet[str]:
    """Those that hold a text. What is a word or a part of one is held where a word has it; for anything else the words
    in it say where to look."""
    looked_up = False
    for word in dict.fromkeys(WORD.findall(text)):
        having = prepared.words.having(word)
        if having is not None:
            candidates = having if len(candidates) == len(prepared.texts) else having & candidates
            looked_up = word == text
    if looked_up:
        return candidates
    folded = prepared.folded
    if len(candidates) * OUT_OF_ORDER < len(folded):
        return {id for id in candidates if text in folded[id]}
    # Most of them are looked at: one after the other as they lie in memory, which takes half the time.
    return {id for id, everything in folded.items() if id in candidates and text in everything}


def points_of(words: Sequence[str], candidates: AbstractSet[str], prepared: Prepared) -> Mapping[str, int]:
    """What plain words are worth, where each candidate is known to hold all of them: nearly every search is such."""
    points = dict.fromkeys(candidates, BODY_SCORE * len(words))
    for word in words:
        in_an_id, in_a_title = word in prepared.ids, word in prepared.titles
        if not (in_an_id or in_a_title):
            continue
        for id in candidates:
            texts = prepared.texts[id]
            if in_an_id and word in texts.id:
                points[id] += ID_SCORE - BODY_SCORE
            elif in_a_title and word in texts.title:
                points[id] += TITLE_SCORE - BODY_SCORE
    return points


def place_score(term: Term, texts: Texts, field: str) -> int:
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


def field_score(term: Term, texts: Texts, field: str) -> int:
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
    is_held = field in ("all", "body") and term.text in texts.everything
    return BODY_SCORE if is_held and term.text in texts.node.get_field("body", "").casefold() else 0


def plain_text(texts: Texts, field: str) -> str:
    """What a pattern is matched against. Its anchors hold at every line, so one text serves all fields."""
    node = texts.node
    if field == "all":
        return texts.plain
    if field == "id":
        return node.id
    if field == "title":
        return node.title
    return " ".join(keywords(texts.title)) if field == "keywords" else node.get_field("body", "")
