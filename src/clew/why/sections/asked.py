"""Section "asked for by": the requirements, scenarios and documents that the target is there for."""

import posixpath
from collections.abc import Iterator, Sequence

from clew.derived.history import Commit
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.text.display import one_line
from clew.trace.read.assertions import owner_of, written
from clew.trace.read.resolve import Subject
from clew.trace.reports.impact import documented
from clew.why.answer import Basis, EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry, grep

_NO_CITATIONS = frozenset({EdgeKind.STRUCTURES, EdgeKind.YIELDS})
_PACKAGE_FILES = ("__init__.py", "mod.rs", "doc.go", "package-info.java", "index.ts", "index.js")
"""The file that speaks for its folder."""
_MOST_MENTIONS = 20
_DOCUMENTS = ("*.md", "*.rst", "*.txt", "*.adoc", "*.mdx")


class TargetCitations:
    """The citations of the target, and those that it inherits from its surroundings."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry
        self.edges: list[tuple[Edge, Basis, str]] = []
        """With the basis, and from what it is inherited."""
        target = inquiry.target
        if target.node is not None and target.node.kind is not NodeKind.TEST_RESULT:
            self._add(target.node, "stated", "")
            if target.node.kind is NodeKind.ASSERTION and (owner := owner_of(inquiry.graph, target.node)) is not None:
                self._add(owner, "inferred", owner.id)
        elif target.path is not None:
            self._collect(target.path)

    def _collect(self, path: str) -> None:
        inquiry = self._inquiry
        first, last = inquiry.span
        is_file = not inquiry.target.first
        for node in inquiry.nodes_here():
            source = node.source
            if source is None:
                continue
            marker = node.get_field("line") or source.line
            inside = first <= source.line and source.end_line <= last
            if is_file or inside or first <= marker <= last:
                self._add(node, "stated", "" if inside and not is_file else _owner(node))
            elif source.line <= first and last <= source.end_line:
                self._add(node, "inferred", _owner(node) or path)
            elif not node.get_field("owner") and node.kind is NodeKind.CODE:
                self._add(node, "inferred", path)
        if not self.edges:
            self._inherit(path)

    def _inherit(self, path: str) -> None:
        """From the file that speaks for the folder, or for the next one above that cites anything."""
        folder = posixpath.dirname(path)
        while True:
            for name in _PACKAGE_FILES:
                place = posixpath.join(folder, name)
                for node in self._inquiry.graph.memory.nodes_in_file(place) if place != path else ():
                    if node.kind is NodeKind.CODE and not node.get_field("owner"):
                        self._add(node, "inferred", f"the package {folder or '.'}")
            if self.edges or not folder:
                return
            folder = posixpath.dirname(folder)

    def _add(self, node: Node, basis: Basis, source: str) -> None:
        for edge in self._inquiry.graph.memory.iter_outgoing_edges(node.id):
            if edge.kind not in _NO_CITATIONS:
                self.edges.append((edge, basis, source))

    @property
    def requirements(self) -> list[str]:
        return list(dict.fromkeys(edge.target for edge, _, _ in self.edges))


def _owner(node: Node) -> str:
    return str(node.get_field("owner") or node.get_field("function") or "")


def asked(inquiry: Inquiry, cited: TargetCitations, commits: Sequence[Commit]) -> EvidenceSection:
    facts = [*_citations(inquiry, cited), *_in_messages(inquiry, commits), *_mentions(inquiry)]
    return section("asked_for_by", facts, absent="Not known: no requirement, scenario or document was found.")


def _citations(inquiry: Inquiry, cited: TargetCitations) -> Iterator[Fact]:
    graph = inquiry.graph
    for edge, basis, source in cited.edges:
        node = graph.get_node(edge.target)
        if node is None:
            continue
        name = written(graph, edge)
        inherited = f", inherited from {source}" if basis == "inferred" else f", cited by {source}" if source else ""
        yield Fact(f"{edge.kind.value} {name}: {_text(inquiry, node, edge)}{inherited}", basis, _place(node))


def _text(inquiry: Inquiry, node: Node, edge: Edge) -> str:
    """The text of the assertion that is meant, or the title."""
    if len(edge.labels) == 1:
        for part in inquiry.graph.iter_children(node.id, (EdgeKind.STRUCTURES,)):
            if part.get_field("label") == edge.labels[0]:
                return one_line(part.title, 160)
    return one_line(node.title, 120)


def _place(node: Node) -> str:
    return f"{node.source.path}:{node.source.line}" if node.source is not None else ""


def _in_messages(inquiry: Inquiry, commits: Sequence[Commit]) -> Iterator[Fact]:
    own = inquiry.target.node.id if inquiry.target.node is not None else None
    for commit in commits[:3]:
        for node in inquiry.ids_in(commit.message):
            if node.id != own:
                text = f"{node.id}: {one_line(node.title, 120)}, named in the message of {commit.id[:12]}"
                yield Fact(text, "stated", _place(node))


def _mentions(inquiry: Inquiry) -> Iterator[Fact]:
    """Sections of documents that name the target; their lines, as long as nobody has read the documents."""
    if not inquiry.project.kb.was_read:
        yield from _lines_naming(inquiry)
        return
    target, found = inquiry.target, {}
    if target.node is not None or (target.path is not None and not target.first):
        ids_ = (target.node.id,) if target.node is not None else tuple(node.id for node in inquiry.nodes_here())
        subject = Subject(target.path or target.name, "file" if target.node is None else target.kind, "", ids_)
        for each in documented(inquiry.graph, subject)[:_MOST_MENTIONS]:
            found[each.id] = (each.path, each.line, each.title)
    if target.symbol is not None and target.kind == "symbol":
        symbol = f"symbol:{target.path}::{target.symbol.qualname}"
        for step in inquiry.graph.neighbours((symbol,), (EdgeKind.MENTIONS,), "in", _MOST_MENTIONS):
            node = inquiry.graph.get_node(step.id)
            if node is not None and node.source is not None:
                found.setdefault(node.id, (node.source.path, node.source.line, node.title))
    if not found:
        # Names in blocks of code are no mentions in the index of documents.
        yield from _lines_naming(inquiry)
    own = target.path if target.node is not None else None
    for path, line, title in found.values():
        if path != own:
            yield Fact(f"mentioned in {path}: {one_line(title, 80)}", "inferred", f"{path}:{line}")


def _lines_naming(inquiry: Inquiry) -> Iterator[Fact]:
    target = inquiry.target
    word = target.node.id if target.node is not None else target.path if not target.first else None
    if target.kind == "deleted file" and "/" not in target.asked and "." in target.asked:
        # A module is mentioned by the name by which it was imported.
        word = target.asked
    if target.kind == "symbol" and target.symbol is not None:
        # A plain word means something else in most texts.
        name = target.symbol.name
        word = name if len(name) > 5 and ("_" in name[1:] or name[1:] != name[1:].lower()) else target.symbol.qualname
        word = word if word != word.lower() or "_" in word or "." in word else None
    own = target.path if target.node is not None else None
    seen: set[str] = set()
    for path, line, text in grep(inquiry, word, *_DOCUMENTS) if word else ():
        if path != own and path not in seen:
            seen.add(path)
            yield Fact(f"mentioned in {path}: {one_line(text, 80)}", "inferred", f"{path}:{line}")
