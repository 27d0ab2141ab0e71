"""The texts of requirements as a search looks at them: folded, with their words looked up, and kept while they last.

The words of nodes, in an inverted index that follows the graph, changed node by changed node.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.text.inverted import Inverted
from clew.text.keywords import keywords
from clew.trace.find.query import Term

WORD = re.compile(r"[^\W_]+")

_FREQUENT = 2
"""So many places for each node are not worth collecting: a look at the texts is faster."""


class Words(msgspec.Struct, frozen=True):
    """The words of all nodes of a kind, in folded case."""

    nodes: Mapping[str, Node]
    index: Inverted[str, str, None]
    """The ids of the nodes that have a word. It follows the graph."""
    vocabulary: Sequence[str]
    """All words, sorted."""
    joined: str
    """The vocabulary as one text, a word on each line."""
    text_of: Callable[[Node], str]

    def folded(self, id: str) -> str:
        return self.text_of(self.nodes[id]).casefold()

    def having(self, *parts: str) -> AbstractSet[str] | None:
        """The ids of the nodes that have a word with one of the parts, each a word or a part of one, anywhere in it;
        None where there are too many of them to be worth the effort."""
        places = [self.index.holders(word).keys() for part in parts for word in self._with(part)]
        if len(places) == 1:
            return places[0]
        if sum(map(len, places)) > _FREQUENT * len(self.nodes):
            return None
        return frozenset().union(*places)

    def _with(self, part: str) -> Iterator[str]:
        joined = self.joined
        at = joined.find(part)
        while at >= 0:
            end = joined.index("\n", at)
            yield joined[joined.rfind("\n", 0, at) + 1 : end]
            at = joined.find(part, end)


class WordIndex:
    """Keeps the words of each kind of node that was asked for, and reads a text again only when its node changed."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._turn = threading.Lock()
        self._known: dict[str, Words] = {}

    def words(self, kind: NodeKind, text_of: Callable[[Node], str]) -> Words:
        """The words of the text that `text_of`, a function with a name of its own, finds in the nodes of a kind."""
        name = f"words:{kind.value}:{text_of.__name__}"
        with self._turn:
            return self._graph.derived(name, lambda graph: self._follow(graph, kind, name, text_of))

    def _follow(self, graph: Graph, kind: NodeKind, name: str, text_of: Callable[[Node], str]) -> Words:
        # Whoever reads the graph holds it back from changing, so nobody reads the words of the state before any more.
        # They are taken away first: what fails half-way begins anew.
        before = self._known.pop(name, None) or Words({}, Inverted(), (), "", text_of)
        nodes = {node.id: node for node in graph.nodes_by_kind(kind)}
        index, gone, new = before.index, set[str](), set[str]()
        for id, node in before.nodes.items():
            if nodes.get(id) is not node:
                gone.update(index.remove(id, _words(text_of(node))))
        for id, node in nodes.items():
            if before.nodes.get(id) is not node:
                new.update(index.add(id, _words(text_of(node))))
        vocabulary, joined = before.vocabulary, before.joined
        if gone != new:
            vocabulary = sorted(index)
            joined = "".join([f"{word}\n" for word in vocabulary])
        self._known[name] = Words(nodes, index, vocabulary, joined, text_of)
        return self._known[name]


def _words(text: str) -> dict[str, None]:
    return dict.fromkeys(WORD.findall(text.casefold()))


def searchable_text(node: Node) -> str:
    """What a node says: title and body, a journey's actor and goal, free text as it stands."""
    parts = (node.get_field(name) for name in ("actor", "goal", "body", "text"))
    return "\n".join((node.title, *(part for part in parts if part)))


def title_text(node: Node) -> str:
    return node.title


def requirement_text(node: Node) -> str:
    """What a search of requirements looks at. Each part stands on lines of its own, so that the anchors of a pattern
    hold at its ends."""
    return f"{node.id}\n{node.title}\n{node.get_field('body', '')}"


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


class AllTexts(msgspec.Struct, frozen=True):
    """The texts of all requirements."""

    texts: Mapping[str, Texts]
    """By id, in the order of the ids."""
    folded: Mapping[str, str]
    """By id: everything a requirement says."""
    ids: str
    titles: str
    """Of all requirements, joined: what is not in here is in none of them."""


class Prepared(AllTexts, frozen=True, kw_only=True):
    """What a search needs of one state of the graph."""

    words: Words


class RequirementTexts:
    """Prepares the requirements of a graph; only what a change touched is prepared again."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._index = WordIndex(graph)

    def now(self) -> Prepared:
        return self._graph.derived("requirement_search", self._prepare)

    def _prepare(self, graph: Graph) -> Prepared:
        known = graph.kept.list("requirement_texts", _all_folded, _folded, _in_order)
        words = self._index.words(NodeKind.REQUIREMENT, requirement_text)
        return Prepared(known.texts, known.folded, known.ids, known.titles, words=words)


def _all_folded(graph: Graph) -> dict[str, Texts]:
    return {node.id: _fold(node) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT)}


def _folded(graph: Graph, id: str) -> Texts | None:
    node = graph.get_node(id)
    return _fold(node) if node is not None and node.kind is NodeKind.REQUIREMENT else None


def _in_order(texts: Mapping[str, Texts]) -> AllTexts:
    ordered = {id: texts[id] for id in sorted(texts)}
    return AllTexts(
        texts=ordered,
        folded={id: each.everything for id, each in ordered.items()},
        ids="\n".join([each.id for each in ordered.values()]),
        titles="\n".join([each.title for each in ordered.values()]),
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
