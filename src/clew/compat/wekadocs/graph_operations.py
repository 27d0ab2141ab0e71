"""Toolset graph: the older tools, with their exact signatures, defaults and clamps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from clew.compat.wekadocs import results as older
from clew.errors import InvalidArgument
from clew.kb.operations.arguments import SCHEMA_VERSION, in_range
from clew.kb.walk import results as shapes
from clew.kb.walk.envelope import ANSWER_TOKENS, MOST_PAGE_SIZE, PAGE_SIZE
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Toolset

if TYPE_CHECKING:
    from clew.kb.walk.answers import AnswerPage
    from clew.kb.walk.traversal import GraphSnapshot

MAX_IDS = 1_000
MAX_ENDS = 50
MAX_EXPAND_HOPS = 3
MAX_PATH_HOPS = 5
MAX_PATHS = 50
MAX_PER = 1_000

DISABLED = "Graph traversal is disabled (neo4j_disabled=true). Use kb_search or kb_retrieve_evidence instead."

Ids = Annotated[tuple[str, ...], Meta(max_length=MAX_IDS, description="Ids that tools returned")]
Ends = Annotated[tuple[str, ...], Meta(max_length=MAX_ENDS, description="Ids that tools returned")]
PageSize = Annotated[int, in_range(1, 100)]
Most = Annotated[int, in_range(1, 1000)]
TokenBudget = Annotated[int, in_range(1, 8_000, "Size of the answer")]
RelTypes = Annotated[tuple[str, ...] | None, Meta(description="Default all")]
Cursor = Annotated[str | None, Meta(description="next_cursor of the page before")]
SessionId = Annotated[str | None, Meta(description="Echoed; default one of this connection")]


class OlderGraphOperation(
    Operation,
    toolset=Toolset.GRAPH,
    needs=Freshness.DOCUMENT_GRAPH,
    budget=ANSWER_TOKENS,
    schema_version=SCHEMA_VERSION,
):
    """Common base of the older tools on the graph."""

    empty: ClassVar[str] = ""
    """The empty list that is answered where the graph is switched off; without a name, the tool works as ever."""

    def answer_early(self, call: Call) -> Any:
        if call.project.config.kb.graph or not self.empty:
            return None
        nothing: dict[str, Any] = {self.empty: ()}
        return older.SwitchedOff(error=DISABLED, **nothing)

    @contextmanager
    def walking(self, call: Call) -> Iterator[tuple["GraphSnapshot", "AnswerPage"]]:
        """One state of documents and graph, and the requested page. The cursor is not secret; an invalid one is the
        beginning."""
        from clew.compat.wekadocs.documents import decode_cursor, encode_cursor, session_name
        from clew.kb.walk.answers import MOST_OFFSET, AnswerPage

        cursor = getattr(self, "cursor", None)
        page = AnswerPage(
            session=session_name(call, getattr(self, "session_id", None)),
            cursor=cursor,
            offset=min(decode_cursor(cursor), MOST_OFFSET),
            cursor_to=encode_cursor,
            is_legacy=True,
        )
        with call.project.kb.snapshot(call.boundary, call.deadline) as snapshot:
            yield snapshot, page


def _at_most(name: str, value: int, most: int) -> int:
    if value < 1:
        raise InvalidArgument(f"{name} is {value}, but must be at least 1.", hint=f"Pass 1 to {most}.")
    return min(value, most)


def _page_size(asked: int) -> int:
    return _at_most("page_size", asked or PAGE_SIZE, MOST_PAGE_SIZE)


class DescribeGraphNodes(
    OlderGraphOperation,
    tool="describe_nodes",
    title="What nodes are (older)",
    example={"node_ids": ["doc:docs/guide.md"]},
):
    """Use when a client still calls the older tools. Do not use when graph.describe is there. Returns at most the named
    fields of each node, no text; ids that are not there are left out. If you need more, call expand_neighbors.
    Defaults: fields id, label, title, tokens, doc_tag. Max: 1000 ids."""

    empty = "nodes"

    node_ids: Ids
    fields: Annotated[
        tuple[str, ...] | None, Meta(description="Of id, label, title, level, tokens, doc_tag, anchor")
    ] = None
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.NodeDescriptions:
        from clew.kb.walk.answers import described

        with self.walking(call) as (snapshot, page):
            return described(snapshot, page, self.node_ids, self.fields)


class ExpandNeighbors(
    OlderGraphOperation,
    tool="expand_neighbors",
    title="What is around nodes (older)",
    example={"node_ids": ["doc:docs/guide.md"], "page_size": 5},
):
    """Use when a client still calls the older tools. Do not use when graph.expand is there. Returns at most page_size
    nodes, nearest first, and the edges to them, without what the session has got before. If you need more, call it
    with next_cursor. Defaults: direction both, max_hops 1, page_size 25. Max: 3, 100."""

    empty = "neighbors"

    node_ids: Ids
    rel_types: RelTypes = None
    direction: Annotated[str, Meta(description="out, in; anything else is both")] = "both"
    max_hops: Annotated[int, in_range(1, 3)] = 1
    include_snippet: Annotated[bool, Meta(description="With the first 200 characters")] = False
    cursor: Cursor = None
    page_size: PageSize = 25
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.NeighbourhoodPage:
        from clew.kb.walk.answers import WalkOptions, neighbourhood
        from clew.kb.walk.relationships import ways

        ways(self.rel_types)
        walk = WalkOptions(
            names=self.rel_types,
            direction="out" if self.direction == "out" else "in" if self.direction == "in" else "both",
            hops=_at_most("max_hops", self.max_hops, MAX_EXPAND_HOPS),
            limit=_page_size(self.page_size),
            include_snippet=self.include_snippet,
        )
        with self.walking(call) as (snapshot, page):
            if not self.node_ids:
                payload: dict[str, Any] = {"nodes": (), "edges": (), "cursor": self.cursor, "next_cursor": None}
                return shapes.NeighbourhoodPage(**payload, **page.envelope(payload))
            sent = (call.project.kb.deliveries, (call.session, page.session))
            return neighbourhood(snapshot, page, self.node_ids, walk, sent)


class GetPathsBetween(
    OlderGraphOperation,
    tool="get_paths_between",
    title="How nodes are connected (older)",
    example={"a_ids": ["doc:docs/guide.md"], "b_ids": ["REQ-d00001"]},
):
    """Use when a client still calls the older tools. Do not use when graph.paths is there. Returns at most max_paths
    shortest paths, one for each pair. If you need more, call it with next_cursor. Defaults: max_hops 3, max_paths 10.
    Max: 5, 50."""

    empty = "paths"

    a_ids: Ends
    b_ids: Ends
    rel_types: RelTypes = None
    max_hops: Annotated[int, in_range(1, 5)] = 3
    max_paths: Annotated[int, in_range(1, 50)] = 10
    cursor: Cursor = None
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.PathPage:
        from clew.kb.walk.answers import path_page

        hops = _at_most("max_hops", self.max_hops, MAX_PATH_HOPS)
        limit = _at_most("max_paths", self.max_paths, MAX_PATHS)
        with self.walking(call) as (snapshot, page):
            return path_page(snapshot, page, (self.a_ids, self.b_ids), self.rel_types, hops=hops, limit=limit)


class ListChildren(
    OlderGraphOperation,
    tool="list_children",
    title="Parts of a node (older)",
    example={"parent_id": "doc:docs/guide.md"},
):
    """Use when a client still calls the older tools. Do not use when graph.children is there. Returns at most page_size
    parts in their order. If you need more, call it with next_cursor. Defaults: page_size 50. Max: 100."""

    empty = "children"

    parent_id: Annotated[str, Meta(description="A document, section or procedure")]
    cursor: Cursor = None
    page_size: PageSize = 50
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.ChildPage:
        from clew.kb.walk.answers import child_page

        limit = _page_size(self.page_size)
        with self.walking(call) as (snapshot, page):
            return child_page(snapshot, page, self.parent_id, limit)


class ListParents(
    OlderGraphOperation,
    tool="list_parents",
    title="What sections are part of (older)",
    example={"section_ids": ["doc:docs/guide.md#making-a-table"]},
):
    """Use when a client still calls the older tools. Do not use when graph.parents is there. Returns at most the
    heading above and the document of each section. If you need more, call it with a parent's id. Defaults: none. Max:
    1000 ids."""

    empty = "parents"

    section_ids: Ids
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.Parents:
        from clew.kb.walk.answers import parent_rows

        with self.walking(call) as (snapshot, page):
            return parent_rows(snapshot, page, self.section_ids)


class GetEntitiesForSections(
    OlderGraphOperation,
    tool="get_entities_for_sections",
    title="What sections mention (older)",
    example={"section_ids": ["doc:docs/guide.md#making-a-table"]},
):
    """Use when a client still calls the older tools. Do not use when graph.entities_for_sections is there. Returns at
    most max_per_section entities of each section. If you need more, call get_sections_for_entities. Defaults:
    max_per_section 20. Max: 1000 ids."""

    empty = "entities"

    section_ids: Ids
    labels: Annotated[tuple[str, ...] | None, Meta(description="Default all")] = None
    max_per_section: Most = 20
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.Entities:
        from clew.kb.walk.answers import entity_rows

        most = _at_most("max_per_section", self.max_per_section, MAX_PER)
        with self.walking(call) as (snapshot, page):
            return entity_rows(snapshot, page, self.section_ids, self.labels, most)


class GetSectionsForEntities(
    OlderGraphOperation,
    tool="get_sections_for_entities",
    title="Where something is mentioned (older)",
    example={"entity_ids": ["REQ-d00001"]},
):
    """Use when a client still calls the older tools. Do not use when graph.sections_for_entities is there. Returns at
    most max_per sections of each entity. If you need more, call expand_neighbors. Defaults: max_per 20. Max: 1000
    ids."""

    empty = "sections"

    entity_ids: Ids
    max_per: Most = 20
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.Sections:
        from clew.kb.walk.answers import section_rows

        most = _at_most("max_per", self.max_per, MAX_PER)
        with self.walking(call) as (snapshot, page):
            return section_rows(snapshot, page, self.entity_ids, most)


class TraverseRelationships(
    OlderGraphOperation,
    tool="traverse_relationships",
    title="Walk from nodes (older)",
    example={"start_ids": ["doc:docs/guide.md#making-a-table"], "max_depth": 1},
):
    """Use when a client still calls the older tools. Do not use when graph.expand is there. Returns at most 100 nodes
    with their distance and up to three paths to each; an error is in the field error. If you need more, call it from a
    node further on. Defaults: max_depth 2, no text. Max: 3, 1000 characters of text."""

    start_ids: Ids
    rel_types: Annotated[
        tuple[str, ...] | None, Meta(description="Of MENTIONS, HAS_CHUNK, CONTAINS_STEP; default all three")
    ] = None
    max_depth: Annotated[int, in_range(1, 3)] = 2
    include_text: Annotated[bool, Meta(description="With up to 1,000 characters")] = False

    def answer_early(self, call: Call) -> Any:
        return None if call.project.config.kb.graph else older.Traversal(error=DISABLED, neo4j_disabled=True)

    def run(self, call: Call) -> older.Traversal:
        from clew.compat.wekadocs.graph import traverse

        with self.walking(call) as (snapshot, _):
            return traverse(snapshot, self.start_ids, self.rel_types, self.max_depth, include_text=self.include_text)


class SummarizeNeighborhood(
    OlderGraphOperation,
    tool="summarize_neighborhood",
    title="Nodes in a line each (older)",
    example={"node_ids": ["doc:docs/guide.md"]},
):
    """Use when a client still calls the older tools. Do not use when graph.describe is there. Returns at most 5 lines
    with title, label and size, and the ids; no text is written by a model. If you need more, call describe_nodes.
    Defaults: token_budget 400. Max: 8000."""

    node_ids: Ids
    token_budget: TokenBudget = 400

    def run(self, call: Call) -> older.NeighborhoodSummary:
        from clew.compat.wekadocs.graph import summary

        with self.walking(call) as (snapshot, page):
            return summary(snapshot, page, self.node_ids, self.token_budget)


class ComputeContextBundle(
    OlderGraphOperation,
    tool="compute_context_bundle",
    title="Nodes and their texts (older)",
    example={"seeds": ["doc:docs/guide.md#making-a-table"], "token_budget": 600},
):
    """Use when a client still calls the older tools. Do not use when quotes would do: kb.retrieve_evidence. Returns at
    most token_budget tokens: the nodes first, then their texts. If you need more, call get_section_text. Defaults:
    strategy hybrid, token_budget 2000. Max: 8000."""

    seeds: Ids
    strategy: Annotated[str, Meta(max_length=80, description="Echoed")] = "hybrid"
    token_budget: TokenBudget = 2000

    def run(self, call: Call) -> older.ContextBundle:
        from clew.compat.wekadocs.documents import SectionSearch
        from clew.compat.wekadocs.graph import BUNDLE_BYTES_PER_SECTION, context_bundle

        with self.walking(call) as (snapshot, page):
            texts = SectionSearch(call).section_text(self.seeds, BUNDLE_BYTES_PER_SECTION).results
            return context_bundle(snapshot, page, self.seeds, texts, self.strategy, self.token_budget)
