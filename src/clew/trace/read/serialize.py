"""From nodes to results. A serializer reads fields, metrics and the edges at one node, and walks no further."""

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.hashing import content_hash
from clew.text.keywords import keywords
from clew.trace.read.assertions import citations_of
from clew.trace.read.copies import Copy, copies_of
from clew.trace.read.results import (
    AssertionDetail,
    Location,
    Neighbour,
    RequirementDetail,
    RequirementSummary,
)


def requirement_summary(node: Node) -> RequirementSummary:
    return RequirementSummary(
        id=node.id,
        title=node.title,
        level=node.get_field("level", "Unknown"),
        status=node.get_field("status", "Unknown"),
    )


class CoverageSummary(msgspec.Struct, frozen=True):
    """The coverage of a requirement in short."""

    total: int
    covered: int
    """Assertions that a test names."""
    pct: float
    """The share of these."""
    implemented: int
    """Assertions that code or another requirement implements."""


def coverage_summary(graph: Graph, node: Node) -> CoverageSummary | None:
    """The coverage of a requirement by its metrics. Other kinds have none."""
    metrics = graph.metrics(node.id)
    if "total_assertions" not in metrics:
        return None
    return CoverageSummary(
        metrics["total_assertions"], metrics["tested"], metrics["tested_pct"], metrics["implemented"]
    )


def place(node: Node) -> str | None:
    """Path and line of a node, as an editor opens it."""
    return f"{node.source.path}:{node.source.line}" if node.source is not None else None


_RANKS = {kind.value: rank for rank, kind in enumerate((NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY, NodeKind.CODE))}
"""In which order the children of a requirement come: what is said of it before what is done about it."""


def requirement_full(
    graph: Graph, node: Node, broken: tuple[str, ...] = (), *, offset: int = 0, limit: int | None = None
) -> RequirementDetail:
    metrics = graph.metrics(node.id)
    untested = frozenset(metrics.get("untested_labels", ()))
    assertions: list[AssertionDetail] = []
    children: list[Neighbour] = []
    for edge in graph.iter_incoming_edges(node.id):
        if (other := graph.get_node(edge.source)) is None:
            continue
        if edge.kind is not EdgeKind.STRUCTURES:
            children.append(_neighbour(other, edge.kind, edge.labels))
        elif other.kind is NodeKind.ASSERTION:
            label = other.get_field("label", "")
            line, retired = other.source.line if other.source else 0, bool(other.get_field("retired"))
            tested = label not in untested and not retired
            assertions.append(AssertionDetail(other.id, label, other.title, line, tested, retired))
    if node.kind is NodeKind.REQUIREMENT:
        children += [_neighbour(each.node, EdgeKind.SATISFIES, ()) for each in copies_of(graph, node)]
    children.sort(key=lambda item: (_RANKS.get(item.kind, len(_RANKS)), item.kind, item.id))
    parents, source = _parents(graph, node), node.source
    return RequirementDetail(
        id=node.id,
        kind=node.kind.value,
        title=node.title,
        level=node.get_field("level", "Unknown"),
        status=node.get_field("status", "Unknown"),
        hash=node.get_field("hash"),
        hash_state=node.get_field("hash_state", "none"),
        body=node.get_field("body", ""),
        source=Location(source.path, source.line, source.end_line) if source is not None else None,
        assertions=tuple(sorted(assertions, key=lambda item: item.line)),
        sections=node.get_field("sections", ()),
        parents=parents,
        children=tuple(children[offset : None if limit is None else offset + limit]),
        coverage={
            "total_assertions": metrics.get("total_assertions", 0),
            "tested": metrics.get("tested", 0),
            "tested_pct": metrics.get("tested_pct", 0.0),
            "implemented_total_covered": metrics.get("implemented", 0),
            "implemented_total_pct": metrics.get("implemented_pct", 0.0),
            "untested_labels": metrics.get("untested_labels", ()),
            **({"integrated": inherited} if (inherited := integrated(graph, node)) is not None else {}),
        },
        metrics=metrics,
        broken_references=broken,
        keywords=keywords(node.title),
        properties={
            "level": node.get_field("level", "Unknown"),
            "status": node.get_field("status", "Unknown"),
            "hash": node.get_field("hash"),
            "body_text": node.get_field("body", ""),
        },
        version=_version(node, parents),
        file_version=file_version(graph, source.path) if source is not None else None,
        children_total=len(children),
        associate=node.get_field("associate"),
    )


def copy_full(graph: Graph, copy: Copy) -> RequirementDetail:
    """The copy of a template, with the template's text and coverage."""
    shown = requirement_full(graph, copy.template)
    kept = tuple(each for each in shown.assertions if each.label in copy.labels)
    live = [each for each in kept if not each.retired]
    untested = tuple(each.label for each in live if not each.tested)
    implemented = sum(
        any(each.implements(label.label) for each in citations_of(graph, copy.template.id)) for label in live
    )
    coverage = {
        "total_assertions": len(live),
        "tested": len(live) - len(untested),
        "tested_pct": _percent(len(live) - len(untested), len(live)),
        "implemented_total_covered": implemented,
        "implemented_total_pct": _percent(implemented, len(live)),
        "untested_labels": untested,
        "inherited_from": copy.template.id,
    }
    stem = copy.template.id
    return msgspec.structs.replace(
        shown,
        id=copy.id,
        assertions=tuple(msgspec.structs.replace(each, id=copy.id + each.id.removeprefix(stem)) for each in kept),
        parents=(_neighbour(copy.declaring, EdgeKind.SATISFIES, ()),),
        children=(_neighbour(copy.template, EdgeKind.INSTANCE, ()),),
        children_total=1,
        coverage=coverage,
        metrics=coverage,
        broken_references=(),
        properties={**shown.properties, "stereotype": "instance", "template_id": copy.template.id},
    )


def _percent(part: int, whole: int) -> float:
    return round(100.0 * part / whole, 1) if whole else 0.0


def file_version(graph: Graph, path: str) -> str:
    """The version of a file of requirements: it changes with the path and the nodes of the file, not with their
    texts."""
    return content_hash(msgspec.json.encode((path, [each.id for each in graph.nodes_in_file(path)])), size=8)


def version_of(graph: Graph, node: Node) -> str:
    """The version of a requirement, as in `requirement_full`."""
    return _version(node, _parents(graph, node))


def _version(node: Node, parents: tuple[Neighbour, ...]) -> str:
    content = msgspec.msgpack.encode((node.title, dict(node.fields), parents))
    return content_hash(content, size=8)


def _parents(graph: Graph, node: Node) -> tuple[Neighbour, ...]:
    found: list[Neighbour] = []
    for edge in graph.iter_outgoing_edges(node.id):
        other = graph.get_node(edge.target)
        if other is not None:
            found.append(_neighbour(other, edge.kind, edge.labels))
    return tuple(sorted(found, key=lambda item: (item.id, item.edge_kind, item.assertion_targets)))


def _neighbour(node: Node, kind: EdgeKind, labels: tuple[str, ...]) -> Neighbour:
    level = node.get_field("level") if node.kind is NodeKind.REQUIREMENT else None
    return Neighbour(node.id, node.kind.value, node.title, kind.value, labels, level or msgspec.UNSET)


class Integrated(msgspec.Struct, frozen=True):
    """The coverage of integrated requirements, under the names that elspais gives these figures."""

    implemented_covered: int
    implemented_total: int
    verified_covered: int
    """The number of those of which a test passed and none failed."""
    verified_total: int
    has_failures: bool


def is_integrating(graph: Graph, node: Node) -> bool:
    return any(edge.kind is EdgeKind.INTEGRATES for edge in graph.memory.iter_outgoing_edges(node.id))


def integrated(graph: Graph, node: Node) -> Integrated | None:
    """The coverage of the requirements of other repositories that a requirement integrates; None if it integrates none.
    It does not count among the figures of the requirement itself."""
    cited = {edge.target for edge in graph.memory.iter_outgoing_edges(node.id) if edge.kind is EdgeKind.INTEGRATES}
    figures = [found for id in sorted(cited) if "implemented" in (found := graph.metrics(id))]
    if not figures:
        return None
    total = sum(each["total_assertions"] for each in figures)
    return Integrated(
        implemented_covered=sum(each["implemented"] for each in figures),
        implemented_total=total,
        verified_covered=sum(each["validated"] or 0 for each in figures),
        verified_total=total,
        has_failures=any(each["has_failures"] for each in figures),
    )
