"""The words of nodes, in an inverted index that follows the graph, changed node by changed node."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.text.inverted import Inverted

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
