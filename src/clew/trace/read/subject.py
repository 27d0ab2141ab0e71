"""What somebody means who names an id or a file."""

from pathlib import Path

import msgspec

from clew.errors import NotFound
from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.text.shortening import shortened
from clew.trace.read.resolve import Resolver
from clew.workspace.files import path_inside

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
            f"'{path}' holds no requirement, test or citation that Clew knows of.",
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
