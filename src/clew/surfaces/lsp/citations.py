"""Finding the id at a place in a text, and the places of a node's ids."""

import re
from collections.abc import Iterator, Sequence

import msgspec
from lsprotocol import types as lsp

from clew.graph.model import Node, NodeKind, Source
from clew.project import Project
from clew.surfaces.lsp.editor_project import EditorProject
from clew.trace.read.assertions import owner_of
from clew.trace.read.resolve import Resolver

CITED = (NodeKind.REQUIREMENT, NodeKind.ASSERTION, NodeKind.USER_JOURNEY, NodeKind.SPEC)
_TOKEN = re.compile(r"[A-Za-z0-9][\w./#+-]*")
_END = ".,+-/#"
LONGEST = 500
"""No id has more characters."""
_ABOVE = 12
"""A citation is at most so many lines above what it belongs to: comments and decorators are between."""


class IdInLine(msgspec.Struct, frozen=True):
    """An id in a line, and the node that it means."""

    text: str
    start: int
    end: int
    node: Node
    """A requirement, an assertion, a journey or a spec."""
    owner: Node
    """The requirement of an assertion; otherwise the node itself."""
    labels: tuple[str, ...]
    """The assertions that are named."""


def citations_in(project: Project, line: str) -> Iterator[IdInLine]:
    """The ids in a line that mean a node. The caller holds the graph's lock."""
    graph, grammar = project.graph, project.context.grammar
    resolver = Resolver(graph, grammar)
    for match in _TOKEN.finditer(line):
        text = match[0].rstrip(_END)
        # A short form such as `d1` is a variable more often than an id.
        if graph.memory.get_node(text) is None and not grammar.resembles(text):
            continue
        node = resolver.find(text)
        if node is None or node.kind not in CITED:
            continue
        owner = (owner_of(graph, node) if node.kind is NodeKind.ASSERTION else node) or node
        reference = grammar.parse_reference(text)
        labels = reference.labels if reference is not None else ()
        if not labels and node.kind is NodeKind.ASSERTION:
            labels = (str(node.get_field("label")),)
        yield IdInLine(text, match.start(), match.start() + len(text), node, owner, labels)


def citation_at(editor: EditorProject, project: Project, uri: str, position: lsp.Position) -> IdInLine | None:
    """The id under the cursor. The caller holds the graph's lock."""
    document = editor.document(uri)
    if document is None or not 0 <= position.line < len(document.lines):
        return None
    line, column = document.lines[position.line], editor.column(document, position)
    # A line may be as long as a file; what is under the cursor is near it.
    first = max(column - LONGEST, 0)
    found = citations_in(project, line[first : column + LONGEST])
    here = next((each for each in found if each.start <= column - first <= each.end), None)
    return here and msgspec.structs.replace(here, start=here.start + first, end=here.end + first)


def nodes_at(editor: EditorProject, project: Project, uri: str, line: int) -> list[Node]:
    """Tests, code and requirements that begin at a line, counted from 1, or are cited from it."""
    path = editor.path_of(uri)
    found = project.graph.memory.nodes_in_file(path) if path is not None else ()
    return [
        node
        for node in found
        if node.source is not None and line in (node.source.line, node.get_field("line", node.source.line))
    ]


def places_in(lines: Sequence[str], source: Source, names: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """The places in a piece of a file that name one of some ids: line from 0, first and last character. The lines above
    the piece count too, because a citation is above the code that it belongs to."""
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-]*\w)")
    wide = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})")
    last = min(source.end_line, len(lines))
    for wanted in (pattern, wide):
        inside = [*range(source.line - 1, last), *range(source.line - 2, max(source.line - 2 - _ABOVE, -1), -1)]
        for number in inside:
            if number < len(lines) and (match := wanted.search(lines[number])) is not None:
                yield number, match.start(), match.end()
                return
