"""Any node as today's elspais shows it: what it is, what it belongs to, and its parts.

Besides what the graph holds there are names that only elspais knows: a section (`REQ-d00001:section:1`), a step of a
journey (`JNY-Reader-01/1`), a file (`file:REQ:spec/a.md`), the copy of a template (`REQ-d00001::REQ-p00002`) and what
the settings declare (`decl:REQ:.elspais.toml:scopes:board`).
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from clew.compat.elspais.declarations import FILES as SETTINGS
from clew.compat.elspais.declarations import PREFIX, Declaration, Declarations
from clew.errors import ClewError, NotFound
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.text.keywords import keywords
from clew.trace.edit.mutations.mutation import path_of_file
from clew.trace.edit.text.sections import parsed_section, sections_of
from clew.trace.read.assertions import assertions_of, citations_of, owner_of
from clew.trace.read.copies import Copy, find_copy
from clew.trace.read.resolve import Resolver
from clew.trace.read.serialize import copy_full, file_version, integrated, version_of
from clew.workspace.files import read_bytes

if TYPE_CHECKING:
    from clew.project import Project

_AUTHORED = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
_SHOWN_ELSEWHERE = frozenset({"body", "steps", "labels", "retired_labels", "expected", "hash_now", "text"})
_CITING = (NodeKind.CODE, NodeKind.TEST)
STEP = "/"
DECLARATION = "declaration"


class NodeDetail(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str
    namespace: str
    source: Mapping[str, Any]
    keywords: tuple[str, ...]
    parents: tuple[Mapping[str, Any], ...]
    """The nodes that it cites."""
    children: tuple[Mapping[str, Any], ...]
    """Its sections, assertions or steps, and what cites it."""
    links: tuple[Mapping[str, Any], ...]
    """All that it is tied to."""
    properties: Mapping[str, Any]
    version: str
    truncated: bool = False


class NodeViewer:
    def __init__(self, project: "Project") -> None:
        self._project = project
        self._graph = project.graph
        self._resolver = Resolver(project.graph, project.context.grammar)

    def show(self, id: str) -> NodeDetail:
        wanted = id.strip()
        if parsed_section(wanted) is not None:
            return self._section(wanted)
        if wanted.startswith("file:"):
            return self._file(wanted)
        if wanted.startswith(PREFIX):
            return self._declaration(Declarations(self._project).find(wanted))
        if (copy := find_copy(self._graph, wanted)) is not None:
            return self._copy(copy)
        owner, separator, number = wanted.rpartition(STEP)
        journey = self._graph.get_node(owner) if separator else None
        if journey is not None and journey.kind is NodeKind.USER_JOURNEY:
            return self._step(journey, number)
        return self._node(self._resolver.node(wanted))

    # What the graph holds

    def _node(self, node: Node) -> NodeDetail:
        parts = tuple(self._parts(node))
        citing = [each for each in self._graph.iter_incoming_edges(node.id) if each.kind is not EdgeKind.STRUCTURES]
        cited = list(self._graph.iter_outgoing_edges(node.id))
        children = (*parts, *(self._child(each) for each in citing))
        own = owner_of(self._graph, node) if node.kind is NodeKind.ASSERTION else None
        return self._detail(
            node,
            parents=tuple(self._end(each, each.target) for each in cited if each.kind is not EdgeKind.STRUCTURES),
            children=children,
            links=(
                *(self._end(each, each.target) for each in cited),
                *({"id": each["id"], "kind": each["kind"], "edge_kind": "structures"} for each in parts),
                *(self._end(each, each.source) for each in citing),
            ),
            properties=self._properties(node),
            version=version_of(self._graph, own or node),
        )

    def _detail(self, node: Node, **parts: Any) -> NodeDetail:
        source = {"path": node.source.path, "line": node.source.line} if node.source else {"path": "", "line": None}
        given = {"keywords": keywords(node.title), "source": source, "parents": (), "children": (), "links": ()} | parts
        namespace = self._project.config.elspais.namespace
        return NodeDetail(id=node.id, kind=node.kind.value, title=node.title, namespace=namespace, **given)

    def _end(self, edge: Edge, id: str) -> dict[str, Any]:
        other = self._graph.get_node(id)
        kind, title = (other.kind.value, other.title) if other is not None else ("unknown", "")
        end: dict[str, Any] = {"id": id, "kind": kind, "title": title, "edge_kind": edge.kind.value}
        return {**end, "assertion_targets": list(edge.labels)} if edge.labels else end

    def _child(self, edge: Edge) -> dict[str, Any]:
        other = self._graph.get_node(edge.source)
        line = other.source.line if other is not None and other.source is not None else None
        return {**self._end(edge, edge.source), "line": line}

    def _parts(self, node: Node) -> Iterator[dict[str, Any]]:
        first = node.source.line - 1 if node.source is not None and node.source.line else 0
        for section in self._sections(node):
            yield {"kind": "remainder", **section, "line": section["line"] + first}
        if node.kind is NodeKind.REQUIREMENT:
            for each in assertions_of(self._graph, node.id):
                line = each.source.line if each.source else None
                label = each.get_field("label", "")
                yield {"kind": "assertion", "id": each.id, "label": label, "text": each.title, "line": line}
        elif node.kind is NodeKind.USER_JOURNEY:
            yield from self._steps(node)

    def _sections(self, node: Node) -> list[dict[str, Any]]:
        if node.kind not in _AUTHORED:
            return []
        try:
            record = self._project.mutations.record(node.id)
        except ClewError:
            return []  # another repository, or another format
        return [
            {"id": each.id, "heading": each.heading, "text": each.text, "line": each.line}
            for each in sections_of(record)
        ]

    def _properties(self, node: Node) -> dict[str, Any]:
        properties = {name: value for name, value in node.fields.items() if name not in _SHOWN_ELSEWHERE}
        if node.kind is NodeKind.USER_JOURNEY:
            failing = [each["label"] for each in self._steps(node) if each["status"] == "failed"]
            sections = [{"name": each["heading"], "content": each["text"]} for each in self._sections(node)]
            verdict = self._graph.evidence.verdict(node.id) or "unverified"
            properties |= {"sections": sections, "verdict": verdict, "failing_steps": failing}
        elif node.kind is NodeKind.REQUIREMENT:
            properties["stereotype"] = "template" if node.get_field("template") else "concrete"
            if (inherited := integrated(self._graph, node)) is not None:
                properties["integrates_rollup"] = msgspec.to_builtins(inherited)
        elif node.kind is NodeKind.ASSERTION:
            properties["text"] = node.title
        elif node.kind is NodeKind.REMAINDER:
            properties["text"] = node.get_field("text", "")
        return properties

    # What only elspais has names for

    def _steps(self, journey: Node) -> list[dict[str, Any]]:
        labels, texts = journey.get_field("labels", ()), journey.get_field("steps", ())
        cited = [each for each in citations_of(self._graph, journey.id) if each.is_test]
        found = []
        for label, text in zip(labels, texts, strict=False):
            tests = sorted({each.by.id for each in cited if label in each.edge.labels})
            found.append(
                {
                    "kind": "step",
                    "id": f"{journey.id}{STEP}{label}",
                    "label": label,
                    "text": text,
                    "status": self._verdict(tests),
                    "verifying_tests": [{"id": id, "status": self._graph.evidence.verdict(id) or ""} for id in tests],
                }
            )
        return found

    def _verdict(self, tests: list[str]) -> str:
        verdicts = {self._graph.evidence.verdict(id) for id in tests}
        if verdicts & {"failed", "error"}:
            return "failed"
        return "passed" if "passed" in verdicts else "untested"

    def _step(self, journey: Node, number: str) -> NodeDetail:
        found = next((each for each in self._steps(journey) if each["label"] == number), None)
        if found is None:
            known = ", ".join(journey.get_field("labels", ())) or "none"
            raise NotFound(f"'{journey.id}' has no step {number}.", hint=f"It has: {known}.")
        node = msgspec.structs.replace(journey, id=found["id"], title=found["text"])
        shown = self._detail(
            node,
            children=tuple({"kind": "test", **each} for each in found["verifying_tests"]),
            links=({"id": journey.id, "kind": "journey", "title": journey.title, "edge_kind": "structures"},),
            properties={"label": number, "status": found["status"]},
            version=version_of(self._graph, journey),
        )
        return msgspec.structs.replace(shown, kind="step")

    def _copy(self, copy: Copy) -> NodeDetail:
        shown = copy_full(self._graph, copy)
        parts = tuple(
            {"kind": "assertion", "id": each.id, "label": each.label, "text": each.text, "tested": each.tested}
            for each in shown.assertions
        )
        cited = tuple(msgspec.to_builtins(each) for each in (*shown.parents, *shown.children))
        return self._detail(
            copy.node,
            parents=cited[:1],
            children=(*cited[1:], *parts),
            links=cited,
            properties=shown.properties,
            version=shown.version,
        )

    def _section(self, id: str) -> NodeDetail:
        owner_id, number = parsed_section(id) or ("", 0)
        owner = self._resolver.node(owner_id)
        found = self._sections(owner)
        if number >= len(found):
            raise NotFound(
                f"'{owner.id}' has {len(found)} sections; there is no number {number}.",
                hint="Numbers begin with 0; get_node with the requirement's id lists them.",
            )
        section = found[number]
        node = msgspec.structs.replace(owner, id=section["id"], kind=NodeKind.REMAINDER, title=section["heading"])
        return self._detail(
            node,
            links=({"id": owner.id, "kind": owner.kind.value, "title": owner.title, "edge_kind": "structures"},),
            properties={"heading": section["heading"], "text": section["text"]},
            version=version_of(self._graph, owner),
        )

    def _file(self, id: str) -> NodeDetail:
        path = path_of_file(id)
        if path in SETTINGS:
            return self._settings(id, path)
        inside = [each for each in self._graph.nodes_in_file(path) if each.kind is not NodeKind.ASSERTION]
        if not inside:
            raise NotFound(f"'{path}' holds nothing that Clew reads.", hint="Files are named as in file:REQ:spec/a.md.")
        children = tuple(
            {"kind": each.kind.value, "id": each.id, "title": each.title, "line": each.source.line}
            for each in inside
            if each.source is not None
        )
        named = Node(id, NodeKind.FILE, path.rpartition("/")[2], {})
        return self._detail(
            named,
            source={"path": path, "line": None},
            children=children,
            properties={},
            version=self.file_version(path),
        )

    def _settings(self, id: str, path: str) -> NodeDetail:
        declarations = Declarations(self._project)
        children = tuple(
            {"kind": DECLARATION, "id": declarations.id(each), "title": each.name, "line": None}
            for each in declarations.in_file(path)
        )
        return self._detail(
            Node(id, NodeKind.FILE, path, {}),
            source={"path": path, "line": None},
            children=children,
            properties={},
            version=declarations.file_version(path),
        )

    def _declaration(self, found: Declaration) -> NodeDetail:
        id = Declarations(self._project).id(found)
        shown = self._detail(
            Node(id, NodeKind.FILE, found.name, {}),
            source={"path": found.file, "line": None},
            properties=dict(found.settings),
            version=found.version,
        )
        return msgspec.structs.replace(shown, kind=DECLARATION)

    def file_version(self, path: str) -> str:
        """The version of a file. For code, tests and settings it is that of their bytes, as apply_link expects it; for
        others it changes with the path and the nodes of the file, not with their texts."""
        from clew.text.hashing import content_hash

        if path in SETTINGS:
            return Declarations(self._project).file_version(path)
        nodes = list(self._graph.nodes_in_file(path))
        if nodes and all(each.kind in _CITING for each in nodes):
            config = self._project.config
            return content_hash(read_bytes(config.root, path, limit=config.max_file_bytes))
        return file_version(self._graph, path)
