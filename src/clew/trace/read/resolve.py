"""From an id or a path in a request to the node that it means."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from clew.errors import NotFound, WrongKind
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.text.display import LONGEST_SHOWN, shortened
from clew.trace.read.assertions import owner_of
from clew.trace.read.copies import find_copy
from clew.workspace.files import path_inside


class Resolver:
    """Finds nodes by their id as written, or in any other spelling that the project's grammar accepts."""

    def __init__(self, graph: Graph, grammar: IdGrammar) -> None:
        self._graph = graph
        self._grammar = grammar

    def find(self, id: str) -> Node | None:
        """The node of any kind with this id; None if there is none."""
        node = self._graph.get_node(id)
        if node is not None:
            return node
        reference = self._grammar.parse_reference(id.strip())
        if reference is None:
            return None
        if len(reference.labels) == 1:
            part = self._graph.get_node(self._grammar.assertion_id(reference.target, reference.labels[0]))
            if part is not None:
                return part
        return self._graph.get_node(reference.target)

    def find_requirement(self, id: str) -> Node | None:
        """The requirement that an id means, also the id of one of its assertions; None if it means none."""
        node = self.find(id)
        if node is not None and node.kind is NodeKind.ASSERTION:
            node = owner_of(self._graph, node)
        return node if node is not None and node.kind is NodeKind.REQUIREMENT else None

    def node(self, id: str) -> Node:
        node = self.find(id)
        self._refuse_copy(id, node)
        if node is None:
            raise NotFound(f"Node '{shortened(id)}' not found.", hint=self._suggestion(id))
        return node

    def requirement(self, id: str) -> Node:
        node = self.find(id)
        if node is not None and node.kind is NodeKind.ASSERTION:
            node = owner_of(self._graph, node)
        self._refuse_copy(id, node)
        if node is None:
            raise NotFound(f"Requirement '{shortened(id)}' not found.", hint=self._suggestion(id))
        if node.kind is not NodeKind.REQUIREMENT:
            raise WrongKind(
                f"Node '{node.id}' is a {node.kind.value}, not a requirement.",
                hint="Pass the id of a requirement; search finds them.",
            )
        return node

    def _refuse_copy(self, id: str, node: Node | None) -> None:
        """Refuse the copy of a template: tools may read it, but nothing else can be done with it."""
        copy = find_copy(self._graph, id.strip()) if node is None else None
        if copy is not None:
            raise WrongKind(
                f"'{copy.id}' is the copy of the template {copy.template.id}, which has no text of its own.",
                hint=f"Pass {copy.template.id}, which every copy follows, or {copy.declaring.id}, which satisfies it.",
            )

    def _suggestion(self, id: str) -> str:
        kinds = (NodeKind.REQUIREMENT, NodeKind.SPEC, NodeKind.USER_JOURNEY)
        nodes = [node for kind in kinds for node in self._graph.nodes_by_kind(kind)]
        close = (*_near(id[:LONGEST_SHOWN], nodes), *_titled(id[:LONGEST_SHOWN], nodes))
        titles = {node.id: node.title for node in close}
        named = [f"{id} ({shortened(title)})" for id, title in titles.items()][:MOST_SUGGESTED]
        known = f"Did you mean {', '.join(named)}? " if named else ""
        return known + 'search(query="...") finds requirements by words of their title or text.'


def _near(id: str, nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes with a similar id, in full or without the prefix that all ids have."""
    spelled: dict[str, Node] = {}
    for node in nodes:
        for name in (node.id, node.id.rpartition("-")[2], node.id.rpartition("/")[2]):
            spelled.setdefault(_plain(name), node)
    yield from (spelled[name] for name in get_close_matches(_plain(id), spelled, n=MOST_SUGGESTED, cutoff=0.6))


def _plain(id: str) -> str:
    """An id without the zeros that fill it up, which nobody types."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", id.casefold())


def _titled(words: str, nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes with all the words in the title."""
    asked = words.casefold().replace("-", " ").split()
    yield from (node for node in nodes if asked and all(word in node.title.casefold() for word in asked))


MOST_SUGGESTED = 3


_MEANT = frozenset(NodeKind) - {NodeKind.REMAINDER, NodeKind.ASSERTION}


class Subject(msgspec.Struct, frozen=True):
    name: str
    """The id, or the file's path relative to the project."""
    kind: str
    """That of the node, or `file`."""
    title: str
    ids: tuple[str, ...]
    """The nodes that are meant: one, or those of the file."""


def subject_of(graph: Graph, resolver: Resolver, root: Path, text: str, near: Path) -> Subject:
    """The node of this id in any spelling, or the file of this path, seen from `near` or from the project's folder."""
    node = resolver.find(text)
    if node is not None:
        return Subject(node.id, node.kind.value, node.title, (node.id,))
    path = _file(root, text, near)
    ids = tuple(node.id for node in graph.nodes_in_file(path) if node.kind in _MEANT) if path is not None else ()
    if path is None:
        raise NotFound(
            f"'{shortened(text)}' is neither an id nor a file of this project.",
            hint="`clew search` finds ids; a file is named by its path.",
        )
    if not ids:
        raise NotFound(
            f"'{path}' holds no requirement, test or citation that Clew knows.",
            hint="clew.toml says which folders are read; `clew doctor` shows them.",
        )
    return Subject(path, "file", "", ids)


def _file(root: Path, text: str, near: Path) -> str | None:
    if "\0" in text:
        return None
    base = root.resolve()
    for folder in (near, base):
        place = (folder / text).absolute()
        if place.is_file():
            return path_inside(base, str(place))
    return None
