"""The three older graph tools that have no newer name."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from clew.compat.wekadocs import results as shapes
from clew.compat.wekadocs.results import SectionText
from clew.errors import InvalidArgument
from clew.graph.walk import Walk
from clew.kb.walk.adjacency import Adjacency
from clew.kb.walk.answers import AnswerPage
from clew.kb.walk.envelope import Meta, Usage, charged, within_hard_limit
from clew.kb.walk.projections import USUAL_FIELDS, NodeView, shown
from clew.kb.walk.results import NamedEdge
from clew.kb.walk.traversal import BY_ID, MOST_OF_OTHERS, GraphSnapshot
from clew.operation.budget import trim
from clew.search.quote.evidence import fitting_end
from clew.text.display import shortened
from clew.text.instruction_like import flags_of, suspicious
from clew.text.tokens import estimate_tokens

TRAVERSED = ("MENTIONS", "HAS_CHUNK", "CONTAINS_STEP")
MOST_DEPTH = 3
MOST_NODES = 100
MOST_PATHS = 3
"""Shown of each node."""
_MOST_PREDECESSORS = 10
_TEXT_CHARACTERS = 1_000

MOST_BUDGET = 8_000
"""Tokens that a summary or a bundle may take, whatever is asked for."""
MOST_BULLETS = 5
BUNDLE_BYTES_PER_SECTION = 16_384


def traverse(
    snapshot: GraphSnapshot, starts: Sequence[str], names: Sequence[str] | None, depth: int, *, include_text: bool
) -> shapes.Traversal:
    """The nodes that can be reached from some nodes, in both directions, with a few paths to each. Wrong arguments are
    reported in the answer too."""
    if not starts:
        return shapes.Traversal(error="start_ids is required and cannot be empty")
    problem = _problem(names, depth)
    if problem is not None:
        return shapes.Traversal(error=f"Validation error: {problem}")
    current = snapshot.resolved(starts)
    begin = list(dict.fromkeys(id for id in current.values() if id is not None))
    found = _Traversal(snapshot.adjacency(), names or TRAVERSED, begin)
    found.go(depth)
    reached = found.nearest(MOST_NODES)
    nodes = shown(snapshot.reading, snapshot.graph, reached)
    rows, seen = [], set()
    for id in reached:
        paths = found.paths_to(id)
        links = [link for path in paths for link in path.links() if link not in seen]
        seen.update(links)
        text = snapshot.reading.text(id) if include_text else None
        rows.append(_row(nodes[id], found.distances[id], paths, links, text))
    kept, cut = within_hard_limit(rows)
    return shapes.Traversal(
        nodes=tuple(row.node for row in kept),
        relationships=tuple(link for row in kept for link in row.relationships),
        paths=tuple(path for row in kept for path in row.paths),
        truncated=True if cut or found.is_cut else UNSET,
    )


def _problem(names: Sequence[str] | None, depth: int) -> str | None:
    if depth > MOST_DEPTH:
        return f"max_depth cannot exceed {MOST_DEPTH}"
    if depth < 1:
        return "max_depth must be at least 1"
    unknown = next((name for name in names or () if name not in TRAVERSED), None)
    if unknown is not None:
        return f"Invalid relationship type: {shortened(unknown)}. Allowed types: {', '.join(TRAVERSED)}"
    return None


class _Path(NamedTuple):
    nodes: tuple[str, ...]
    types: tuple[str, ...]

    def links(self) -> list[NamedEdge]:
        """The steps of the path, each in its direction."""
        return [NamedEdge(*step) for step in zip(self.nodes, self.nodes[1:], self.types, strict=False)]


class _Row(msgspec.Struct, frozen=True):
    node: shapes.TraversedNode
    relationships: tuple[shapes.TraversedRelationship, ...]
    paths: tuple[shapes.TraversedPath, ...]


def _row(node: NodeView, distance: int, paths: Sequence[_Path], links: Sequence[NamedEdge], text: str | None) -> _Row:
    properties: dict[str, Any] = {
        "title": node.title,
        "heading": node.title if node.level is not None else None,
        "name": node.title if node.level is None else None,
        "doc_tag": node.doc_tag,
        "level": node.level,
        "tokens": node.tokens,
        "anchor": node.anchor,
        "text": text[:_TEXT_CHARACTERS] if text else None,
    }
    properties["flags"] = flags_of(f"{node.title}\n{properties['text'] or ''}") or None
    known = {name: value for name, value in properties.items() if value is not None}
    return _Row(
        shapes.TraversedNode(node.id, node.label, known, distance),
        tuple(shapes.TraversedRelationship(link.src, link.dst, link.type, {}) for link in links),
        tuple(shapes.TraversedPath(path.nodes, len(path.types)) for path in paths),
    )


class _Traversal:
    """A walk that remembers several ways to each node."""

    def __init__(self, adjacency: Adjacency, names: Sequence[str], begin: Sequence[str]) -> None:
        self._adjacency = adjacency
        self._names = names
        self._walk = Walk(adjacency, sorted(begin), names, "both", order=BY_ID)
        self.distances = dict.fromkeys(begin, 0)
        self._before: dict[str, list[tuple[str, str]]] = {}

    @property
    def is_cut(self) -> bool:
        return self._adjacency.is_cut or bool(self._adjacency.hubs) or len(self.distances) > MOST_NODES

    def go(self, depth: int) -> None:
        """Walk to this depth, or until there are enough nodes: the nearest are shown."""
        walk = self._walk
        while walk.depth < depth and len(self.distances) <= MOST_NODES:
            before = walk.frontier
            self.distances.update((step.id, walk.depth) for step in walk.advance(MOST_OF_OTHERS))
            # The adjacency looks nodes up once, so that asking again costs nothing.
            for step in self._adjacency.neighbours(before, self._names, "both", MOST_OF_OTHERS):
                ways_there = self._before.setdefault(step.id, [])
                if self.distances[step.id] == walk.depth and len(ways_there) < _MOST_PREDECESSORS:
                    ways_there.append((step.own, step.edge.type))

    def nearest(self, most: int) -> list[str]:
        return sorted(self.distances, key=lambda id: (self.distances[id], id))[:most]

    def paths_to(self, id: str) -> list[_Path]:
        """A few of the shortest ways from where the walk began."""
        ways_back = [_Path((id,), ())]
        for _ in range(self.distances[id]):
            longer = [
                _Path((previous, *path.nodes), (type_, *path.types))
                for path in ways_back
                for previous, type_ in self._before[path.nodes[0]]
            ]
            ways_back = longer[:MOST_PATHS]
        return [path for path in ways_back if path.types]


def summary(
    snapshot: GraphSnapshot, page: AnswerPage, ids: Sequence[str], token_budget: int
) -> shapes.NeighborhoodSummary:
    """One line for each of the first nodes, as many as the budget holds."""
    bullets: list[str] = []
    citations: list[str] = []
    left = _positive("token_budget", token_budget)
    nodes = _shown(snapshot, ids)
    for node in nodes[:MOST_BULLETS]:
        line = f"{node.title or node.id} — {node.label} (≈{node.tokens or 0} tokens)"
        left -= estimate_tokens(line) + estimate_tokens(node.id)
        if left < 0:
            break
        bullets.append(line)
        citations.append(node.id)
    charge = charged({"bullets": bullets, "citations": citations}, "neighbors")
    cut = len(bullets) < min(len(nodes), MOST_BULLETS)
    return shapes.NeighborhoodSummary(
        bullets=tuple(bullets),
        citations=tuple(citations),
        session_id=page.session,
        partial=cut,
        limit_reason="token_cap" if cut else "none",
        meta=Meta(
            Usage(tokens_estimate=charge.tokens, bytes_returned=charge.bytes),
            suspicious(zip(citations, bullets, strict=True)) or UNSET,
        ),
    )


def context_bundle(
    snapshot: GraphSnapshot,
    page: AnswerPage,
    ids: Sequence[str],
    texts: Sequence[SectionText],
    strategy: str,
    token_budget: int,
) -> shapes.ContextBundle:
    """Nodes first, then their texts, as much as the budget holds; the last text that fits in part is cut."""
    left = _positive("token_budget", token_budget)
    snippets: list[SectionText] = []
    wanted = [node.projection(USUAL_FIELDS) for node in _shown(snapshot, ids)]
    kept = trim(wanted, max_tokens=left)
    nodes, left = kept.items, left - kept.tokens
    for each in texts if len(nodes) == len(wanted) else ():
        fitting = _fitting(each, left)
        if fitting is not None:
            snippets.append(fitting)
            left -= _cost(fitting)
        if fitting is not each:
            break
    bundle = shapes.Bundle(nodes, tuple(snippets), strategy)
    charge = charged({"bundle": bundle}, "snippets")
    cut = len(nodes) < len(wanted) or list(snippets) != list(texts)
    return shapes.ContextBundle(
        bundle=bundle,
        usage=shapes.BundleUsage(charge.tokens, charge.bytes),
        session_id=page.session,
        partial=cut,
        limit_reason="token_cap" if cut else "none",
        meta=Meta(
            Usage(tokens_estimate=charge.tokens, bytes_returned=charge.bytes),
            suspicious((each.section_id, f"{each.title}\n{each.text_truncated}") for each in snippets) or UNSET,
        ),
    )


def _fitting(text: SectionText, left: int) -> SectionText | None:
    """The part of the text for which there is room."""
    if _cost(text) <= left:
        return text
    room = left - _cost(msgspec.structs.replace(text, text_truncated=""))
    while room > 0:
        shown = text.text_truncated[: fitting_end(text.text_truncated, 0, len(text.text_truncated), max_tokens=room)]
        shorter = msgspec.structs.replace(text, text_truncated=shown, bytes=len(shown.encode()), truncated=True)
        if shown and _cost(shorter) <= left:
            return shorter
        # As JSON a text may take more than as it is.
        room = room * 3 // 4
    return None


def _cost(item: msgspec.Struct) -> int:
    return estimate_tokens(msgspec.json.encode(item).decode())


def _shown(snapshot: GraphSnapshot, ids: Sequence[str]) -> list[NodeView]:
    current = snapshot.resolved(ids)
    present = list(dict.fromkeys(id for id in current.values() if id is not None))
    return list(shown(snapshot.reading, snapshot.graph, present).values())


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise InvalidArgument(f"{name} is {value}, but must be at least 1.", hint=f"Pass a {name} such as 400.")
    return min(value, MOST_BUDGET)
