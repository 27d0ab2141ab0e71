"""The answers of the graph tools: pages of projections, within their budget, in one envelope.

`AnswerPage` holds what differs between the newer tools and the older ones. Answers of the newer tools are cut to a
small budget and name the ids that do not exist; answers of the older tools are cut only by the hard limit of all
answers, and leave out ids that do not exist.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from clew.graph.walk import Direction
from clew.kb.limits import ITEM_BYTES, ITEM_TOKENS, LimitReason
from clew.kb.walk import neighbours
from clew.kb.walk import results as shapes
from clew.kb.walk.deliveries import Deliveries, Session
from clew.kb.walk.envelope import Usage, charged, within_hard_limit
from clew.kb.walk.projections import checked_fields, shown, snippets
from clew.kb.walk.results import NamedEdge, Projection
from clew.kb.walk.traversal import GraphSnapshot, expand, shortest_paths
from clew.operation.budget import trim
from clew.text.instruction_like import flags_of, suspicious

MOST_OFFSET = 1_000_000
_MOST_NAMED = 20
_LONGEST_ID = 200

Item = TypeVar("Item", bound=msgspec.Struct)


class AnswerPage(NamedTuple):
    """The page that a caller asks for."""

    session: str
    cursor: str | None
    """As it was given."""
    offset: int
    cursor_to: Callable[[int], str]
    is_legacy: bool = False
    notes: tuple[str, ...] = ()

    def within_budget(self, items: Sequence[Item]) -> tuple[tuple[Item, ...], LimitReason]:
        """The first items that fit; at least one, so that a client that follows cursors advances."""
        if self.is_legacy:
            fitting, cut = within_hard_limit(items)
            return fitting or tuple(items[:1]), "token_cap" if cut else "none"
        kept = trim(items, max_tokens=ITEM_TOKENS, max_bytes=ITEM_BYTES)
        return kept.items or tuple(items[:1]), kept.limit_reason.value

    def next_cursor(self, shown: int, *, more: bool) -> str | None:
        return self.cursor_to(self.offset + shown) if more else None

    def envelope(
        self,
        payload: dict[str, Any],
        *,
        more: bool = False,
        cut: LimitReason = "none",
        is_incomplete: bool = False,
        duplicates: int = 0,
        missing: Sequence[str] = (),
        hubs: Sequence[str] = (),
        titles: Iterable[tuple[str, str]] = (),
    ) -> dict[str, Any]:
        charge = charged(payload, "neighbors")
        over = cut if cut != "none" or not self.is_legacy else charge.reason
        usage = Usage(tokens_estimate=charge.tokens, bytes_returned=charge.bytes, duplicates_suppressed=duplicates)
        return {
            "session_id": self.session,
            "partial": more or over != "none" or is_incomplete or bool(hubs),
            "limit_reason": over if over != "none" else "page_size" if more else "none",
            "meta": msgspec.to_builtins(self._meta(usage, missing, hubs, suspicious(titles) or UNSET)),
            "notes": self.notes or UNSET,
        }

    def _meta(self, usage: Usage, missing: Sequence[str], hubs: Sequence[str], flagged: shapes.Ids) -> shapes.GraphMeta:
        if self.is_legacy:
            return shapes.GraphMeta(usage=usage, flagged_ids=flagged)
        # An id as an answer may repeat it: short, and text.
        return shapes.GraphMeta(
            usage=usage,
            flagged_ids=flagged,
            missing_ids=tuple(id[:_LONGEST_ID].encode("utf-8", "replace").decode() for id in missing[:_MOST_NAMED])
            or UNSET,
            hubs=tuple(hubs[:_MOST_NAMED]) or UNSET,
        )


def described(
    snapshot: GraphSnapshot, page: AnswerPage, ids: Sequence[str], fields: Sequence[str] | None
) -> shapes.NodeDescriptions:
    chosen = checked_fields(fields)
    current = snapshot.resolved(ids)
    present = list(dict.fromkeys(id for id in current.values() if id is not None))
    nodes = [_flagged(each.projection(chosen)) for each in shown(snapshot.reading, snapshot.graph, present).values()]
    kept, cut = page.within_budget(nodes)
    payload = {"results": kept, "cursor": None, "next_cursor": None}
    missing = [id for id, now in current.items() if now is None]
    return shapes.NodeDescriptions(results=kept, **page.envelope(payload, cut=cut, missing=missing))


class WalkOptions(NamedTuple):
    """The length of a walk, and the relationships along it."""

    names: Sequence[str] | None
    direction: Direction
    hops: int
    limit: int
    include_snippet: bool = False


class _Row(msgspec.Struct, frozen=True):
    """A node with its edges, for a page."""

    node: Projection | None
    edges: tuple[NamedEdge, ...]


def neighbourhood(
    snapshot: GraphSnapshot,
    page: AnswerPage,
    ids: Sequence[str],
    walk: WalkOptions,
    sent: tuple[Deliveries, Session] | None = None,
) -> shapes.NeighbourhoodPage:
    """A page of the neighbours of nodes; with `sent`, without those that the session received before."""
    found = expand(snapshot, ids, walk.names, walk.direction, hops=walk.hops, offset=page.offset, limit=walk.limit)
    reached = [each.id for each in found.reached]
    nodes = shown(snapshot.reading, snapshot.graph, reached)
    texts = snippets(snapshot.reading, reached) if walk.include_snippet else {}
    known = _known(sent, found.reached)
    rows, seen, duplicates = [], set(known), 0
    for each in found.reached:
        is_new = each.id not in known
        fresh = tuple(link for link in each.path if link not in seen)
        seen.update(fresh)
        duplicates += (not is_new) + len(each.path) - len(fresh)
        node = nodes[each.id].projection(snippet=texts.get(each.id)) if is_new else None
        rows.append(_Row(_flagged(node) if node is not None else None, fresh))
    kept, cut = page.within_budget(rows)
    more = found.has_more or len(kept) < len(rows)
    payload: dict[str, Any] = {
        "nodes": tuple(row.node for row in kept if row.node is not None),
        "edges": tuple(link for row in kept for link in row.edges),
        "cursor": page.cursor,
        "next_cursor": page.next_cursor(len(kept), more=more),
        "dedupe_applied": sent is not None,
    }
    if sent is not None:
        deliveries, session = sent
        deliveries.note(session, [*(each.id for each in found.reached[: len(kept)]), *payload["edges"]])
    envelope = page.envelope(
        payload,
        more=more,
        cut=cut,
        is_incomplete=found.is_cut,
        duplicates=duplicates if sent is not None else 0,
        missing=found.missing,
        hubs=found.hubs,
    )
    return shapes.NeighbourhoodPage(**payload, **envelope)


def _known(sent: tuple[Deliveries, Session] | None, reached: Sequence[Any]) -> frozenset[Any]:
    if sent is None:
        return frozenset()
    deliveries, session = sent
    return deliveries.known(session, [key for each in reached for key in (each.id, *each.path)])


def _flagged(node: Projection) -> Projection:
    flags = flags_of("\n".join(text for text in (node.title, node.snippet) if text is not UNSET))
    return msgspec.structs.replace(node, flags=flags) if flags else node


def path_page(
    snapshot: GraphSnapshot,
    page: AnswerPage,
    ends: tuple[Sequence[str], Sequence[str]],
    names: Sequence[str] | None,
    *,
    hops: int,
    limit: int,
) -> shapes.PathPage:
    found = shortest_paths(snapshot, *ends, names, hops=hops, offset=page.offset, limit=limit)
    paths = [shapes.PathShown(path.nodes, path.types, path.length) for path in found.paths]
    kept, cut = page.within_budget(paths)
    more = found.has_more or len(kept) < len(paths)
    payload: dict[str, Any] = {
        "paths": kept,
        "cursor": page.cursor,
        "next_cursor": page.next_cursor(len(kept), more=more),
    }
    # A hub that was not gone through matters only where a pair stayed without a path.
    lacking = len(found.paths) < len(set(ends[0])) * len(set(ends[1])) and not more
    envelope = page.envelope(
        payload,
        more=more,
        cut=cut,
        is_incomplete=found.is_cut,
        missing=found.missing,
        hubs=found.hubs if lacking else (),
    )
    return shapes.PathPage(**payload, **envelope)


def child_page(snapshot: GraphSnapshot, page: AnswerPage, parent: str, limit: int) -> shapes.ChildPage:
    around, has_more = neighbours.children(snapshot, parent, offset=page.offset, limit=limit)
    parts = [shapes.Child(each.id, each.label, each.title, each.level) for each in around.found.get(parent, ())]
    kept, cut = page.within_budget(parts)
    more = has_more or len(kept) < len(parts)
    payload: dict[str, Any] = {
        "children": kept,
        "cursor": page.cursor,
        "next_cursor": page.next_cursor(len(kept), more=more),
    }
    titles = ((each.id, each.title) for each in kept)
    envelope = page.envelope(payload, more=more, cut=cut, missing=around.missing, titles=titles)
    return shapes.ChildPage(**payload, **envelope)


def parent_rows(snapshot: GraphSnapshot, page: AnswerPage, sections: Sequence[str]) -> shapes.Parents:
    around = neighbours.parents(snapshot, sections)
    rows = [
        shapes.ParentOf(section, each.id, each.title) for section, others in around.found.items() for each in others
    ]
    kept, cut = page.within_budget(rows)
    titles = ((each.parent_id, each.parent_title) for each in kept)
    envelope = page.envelope({"results": kept}, cut=cut, missing=around.missing, hubs=around.hubs, titles=titles)
    return shapes.Parents(results=kept, **envelope)


def entity_rows(
    snapshot: GraphSnapshot, page: AnswerPage, sections: Sequence[str], labels: Sequence[str] | None, most: int
) -> shapes.Entities:
    around = neighbours.mentioned(snapshot, sections, labels, most)
    found = around.found
    if page.is_legacy:
        found = {section: found.get(section, []) for section in dict.fromkeys(sections)}
    rows = [
        shapes.EntitiesOf(section, tuple(shapes.EntityNamed(each.id, each.label, each.title) for each in others))
        for section, others in found.items()
    ]
    kept, cut = page.within_budget(rows)
    titles = ((each.id, each.name) for row in kept for each in row.entities)
    envelope = page.envelope({"results": kept}, cut=cut, missing=around.missing, hubs=around.hubs, titles=titles)
    return shapes.Entities(results=kept, **envelope)


def section_rows(snapshot: GraphSnapshot, page: AnswerPage, entities: Sequence[str], most: int) -> shapes.Sections:
    around = neighbours.mentioning(snapshot, entities, most)
    rows = [
        shapes.SectionsOf(entity, tuple(shapes.SectionNamed(each.id, each.title) for each in others))
        for entity, others in around.found.items()
        if others
    ]
    kept, cut = page.within_budget(rows)
    titles = ((each.section_id, each.title) for row in kept for each in row.sections)
    envelope = page.envelope({"results": kept}, cut=cut, missing=around.missing, hubs=around.hubs, titles=titles)
    return shapes.Sections(results=kept, **envelope)
