"""References from documents to the rest of the project: requirements, specs, code and files."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind, Source
from clew.kb import ids
from clew.kb.entities.model import EntityKind
from clew.kb.queries import CitedBy, LibraryReader
from clew.workspace.paths import raw

_SYMBOL = ids.entity_id(EntityKind.SYMBOL.value, "")
_CODE_BY_NAME = "kb.code_by_name"


class CrossReferences:
    def __init__(self, graph: Graph, root: Path) -> None:
        self._graph = graph
        self._root = root

    def file_node(self, id: str) -> Node | None:
        """A file of the project; None if it does not exist."""
        path = id.removeprefix(ids.FILE)
        return Node(id, NodeKind.FILE, path, {}, Source(path, 1, 1)) if self._is_file(path) else None

    def is_named(self, reading: LibraryReader, id: str) -> bool:
        """True if an id is that of an existing file that a document names. A document that may not be seen is no file
        either, so that no answer reveals that it exists."""
        is_seen = bool(reading.citing(id, 1)) and not reading.is_hidden(id.removeprefix(ids.FILE))
        return is_seen and self.file_node(id) is not None

    def cited(self, reading: LibraryReader, cites: Sequence[CitedBy]) -> Iterator[Edge]:
        """The targets that a section cites: of everything that one mention may mean, the first that exists."""
        for _, possible in groupby(cites, key=lambda cite: (cite.written, cite.target.startswith(ids.FILE))):
            for cite in possible:
                targets = self._nodes(reading, cite.target)
                for target in targets:
                    yield Edge(EdgeKind.MENTIONS, cite.section, target, cite.labels)
                if targets:
                    break

    def citing(self, reading: LibraryReader, id: str, most: int = -1) -> Iterator[Edge]:
        """Edges from the sections that cite a node of another region, or a file; at most `most` for each spelling."""
        node = self._graph.memory.get_node(id)
        for target in self._targets(id, node):
            for cite in reading.citing(target, most):
                for edge in self.cited(
                    reading, [each for each in reading.cites_of(cite.section) if each.written == cite.written]
                ):
                    if edge.target in (id, self._as_document(reading, id)):
                        yield edge

    def naming(self, reading: LibraryReader, id: str) -> Iterator[Edge]:
        """The sections that call a piece of code by its name."""
        code = self._graph.memory.get_node(id)
        for symbol in self.symbols_of(code) if code is not None and code.kind is NodeKind.CODE else ():
            for mention in reading.mentioning(symbol):
                yield Edge(EdgeKind.MENTIONS, mention.id, id)

    @staticmethod
    def symbols_of(code: Node) -> list[str]:
        """The entities that name a piece of code, if anybody mentions them."""
        return [ids.entity_id(EntityKind.SYMBOL.value, name) for name in _names(code)]

    def code_named(self, entity: str) -> Sequence[str]:
        """The code that an entity names, if it is a symbol."""
        if not entity.startswith(_SYMBOL):
            return ()
        return self._graph.derived(_CODE_BY_NAME, _code_by_name).get(entity.removeprefix(_SYMBOL), ())

    def _nodes(self, reading: LibraryReader, target: str) -> list[str]:
        """The nodes that a target means, if there are any."""
        if not target.startswith(ids.FILE):
            return [target] if self._graph.memory.get_node(target) is not None else []
        path = target.removeprefix(ids.FILE)
        if reading.document(path) is not None:
            return [ids.document_id(path)]
        if reading.is_hidden(path) or not self._is_file(path):
            return []
        specs = [node.id for node in self._graph.memory.nodes_in_file(path) if node.kind is NodeKind.SPEC]
        return [target, *specs]

    def _as_document(self, reading: LibraryReader, id: str) -> str | None:
        path = id.removeprefix(ids.FILE)
        return ids.document_id(path) if path != id and reading.document(path) is not None else None

    def _targets(self, id: str, node: Node | None) -> list[str]:
        """The targets under which citations of a node are stored."""
        if node is not None and node.kind is NodeKind.SPEC and node.source is not None:
            return [id, ids.file_id(node.source.path)]
        return [id]

    def _is_file(self, path: str) -> bool:
        return (self._root / raw(path)).is_file()


def _code_by_name(graph: Graph) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for node in graph.memory.nodes_by_kind(NodeKind.CODE):
        for name in _names(node):
            found[name] = (*found.get(name, ()), node.id)
    return found


def _names(code: Node) -> tuple[str, ...]:
    """The names by which prose may call a piece of code: its own name, alone or with the names of the modules it is
    in."""
    owner = code.get_field("owner")
    if not owner or code.source is None:
        return ()
    module = code.source.path.removeprefix("src/").rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
    parts = module.split(".")
    return (str(owner), *(".".join([*parts[start:], str(owner)]) for start in range(len(parts))))
