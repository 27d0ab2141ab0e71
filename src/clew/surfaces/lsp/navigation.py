"""Going from a citation to what it cites, and from a requirement to everything that cites it."""

from collections.abc import Iterator

from lsprotocol import types as lsp

from clew.graph.model import EdgeKind, Node, NodeKind
from clew.project import Project
from clew.surfaces.lsp import code
from clew.surfaces.lsp.citations import IdInLine, citation_at, nodes_at, places_in
from clew.surfaces.lsp.editor_project import EditorProject

MOST_REFERENCES = 500
_PARTS = (EdgeKind.STRUCTURES, EdgeKind.NEXT)


def definitions(editor: EditorProject, uri: str, position: lsp.Position) -> list[lsp.Location]:
    """The definition of the id under the cursor; on a test or function without an id, those of the ids it cites."""
    with editor.reading() as project:
        citation = citation_at(editor, project, uri, position)
        if citation is not None:
            return list(_defined(editor, _meant(project, citation)))
        cited = [
            target
            for node in nodes_at(editor, project, uri, position.line + 1)
            for edge in project.graph.memory.iter_outgoing_edges(node.id)
            if edge.kind not in _PARTS
            for target in _targets(project, edge.target, edge.labels)
        ]
        return list(_defined(editor, cited))


def references(editor: EditorProject, uri: str, position: lsp.Position, *, declaration: bool) -> list[lsp.Location]:
    """Everything that cites the id under the cursor: code, tests, requirements and documents; of a name in code the
    places that use it."""
    # Pages that mention it are known once they were read.
    editor.project.kb.refresh()
    with editor.reading() as project:
        citation = citation_at(editor, project, uri, position)
        if citation is None:
            return code.references(editor, uri, position, declaration=declaration)
        found = list(_defined(editor, _meant(project, citation))) if declaration else []
        found += _citing(editor, project, citation)
        return list({_key(each): each for each in found}.values())[:MOST_REFERENCES]


def _meant(project: Project, citation: IdInLine) -> list[Node]:
    return _targets(project, citation.owner.id, citation.labels) or [citation.node]


def _targets(project: Project, id: str, labels: tuple[str, ...]) -> list[Node]:
    """The assertions that are named, or the whole."""
    graph = project.graph
    parts = (graph.get_node(project.context.grammar.assertion_id(id, label)) for label in labels)
    whole = graph.get_node(id)
    return [node for node in parts if node is not None] or ([whole] if whole is not None else [])


def _defined(editor: EditorProject, nodes: list[Node]) -> Iterator[lsp.Location]:
    for node in nodes:
        if node.source is not None:
            yield lsp.Location(editor.uri_of(node.source.path), editor.line_range(node.source.path, node.source.line))


def _citing(editor: EditorProject, project: Project, citation: IdInLine) -> Iterator[lsp.Location]:
    graph, owner, wanted = project.graph, citation.owner, {*citation.labels}
    names = [owner.id, *(project.context.grammar.assertion_id(owner.id, label) for label in wanted)][::-1]
    for edge in graph.memory.iter_incoming_edges(owner.id):
        node = graph.get_node(edge.source)
        if node is None or edge.kind in _PARTS or (wanted and edge.labels and not wanted & {*edge.labels}):
            continue
        yield from _place(editor, node, names)
    for name in names:
        for step in graph.neighbours((name,), (EdgeKind.MENTIONS,), "in", MOST_REFERENCES):
            node = graph.get_node(step.id)
            if node is not None and node.kind in (NodeKind.SECTION, NodeKind.DOCUMENT):
                yield from _place(editor, node, names)


def _place(editor: EditorProject, node: Node, names: list[str]) -> Iterator[lsp.Location]:
    """The position of the id in the citing lines; the first line if the id has another spelling there."""
    if node.source is None:
        return
    path = node.source.path
    lines = editor.lines_of(path)
    place = next(places_in(lines, node.source, names), None)
    range_ = editor.span(lines, *place) if place is not None else editor.line_range(path, node.source.line)
    yield lsp.Location(editor.uri_of(path), range_)


def _key(place: lsp.Location) -> tuple[str, int, int]:
    return place.uri, place.range.start.line, place.range.start.character
