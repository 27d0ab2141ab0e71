"""Which word stands in which node: an inverted index that follows the graph, changed node by changed node."""

import re
import threading
from collections.abc import Callable, Mapping, Sequence

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind

WORD = re.compile(r"[^\W_]+")


class Words(msgspec.Struct, frozen=True):
    """The words of all nodes of a kind, in folded case."""

    nodes: Mapping[str, Node]
    places: Mapping[str, frozenset[str]]
    """By word: the ids of the nodes that have it."""
    vocabulary: Sequence[str]
    """All words, sorted."""
    text_of: Callable[[Node], str]

    def folded(self, id: str) -> str:
        return self.text_of(self.nodes[id]).casefold()


class WordIndex:
    """Keeps the words of each kind of node that was asked for, and reads a text again only when its node changed."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._turn = threading.Lock()
        self._known: dict[str, Words] = {}

    def words(self, kind: NodeKind, *, titles_only: bool = False) -> Words:
        name = f"words:{kind.value}:{titles_only}"
        with self._turn:
            return self._graph.derived(name, lambda graph: self._follow(graph, kind, name, titles_only))

    def _follow(self, graph: Graph, kind: NodeKind, name: str, titles_only: bool) -> Words:
        text_of = _title if titles_only else searchable_text
        before = self._known.get(name, Words({}, {}, (), text_of))
        nodes = {node.id: node for node in graph.nodes_by_kind(kind)}
        gone = {id: node for id, node in before.nodes.items() if nodes.get(id) is not node}
        came = {id: node for id, node in nodes.items() if before.nodes.get(id) is not node}
        changed: dict[str, set[str]] = {}
        for id, node in gone.items():
            for word in _words(text_of(node)):
                changed.setdefault(word, set(before.places[word])).discard(id)
        for id, node in came.items():
            for word in _words(text_of(node)):
                if word not in changed:
                    changed[word] = set(before.places.get(word, ()))
                changed[word].add(id)
        # Whoever still reads the words of the state before keeps them as they were.
        places = {word: ids for word, ids in before.places.items() if word not in changed}
        places.update((word, frozenset(ids)) for word, ids in changed.items() if ids)
        self._known[name] = Words(nodes, places, sorted(places), text_of)
        return self._known[name]


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))


def searchable_text(node: Node) -> str:
    """What a node says: title and body, a journey's actor and goal, free text as it stands."""
    parts = (node.get_field(name) for name in ("actor", "goal", "body", "text"))
    return "\n".join((node.title, *(part for part in parts if part)))


def _title(node: Node) -> str:
    return node.title
