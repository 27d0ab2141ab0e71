"""Toolset graph: the older tools, with their exact signatures, defaults and clamps."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from clew.errors import InvalidArgument
from clew.kb.operations.asking import SCHEMA_VERSION, session_name
from clew.kb.operations.graph_asking import DISABLED, standing
from clew.kb.walk import results as shapes
from clew.kb.walk.envelope import ANSWER_TOKENS, MOST_PAGE_SIZE, PAGE_SIZE
from clew.operation.call import Call
from clew.operation.registry import Freshness, Request, Tool, Toolset

if TYPE_CHECKING:
    from clew.kb.walk.answers import Asker

MAX_IDS = 1_000
MAX_ENDS = 50
MAX_EXPAND_HOPS = 3
MAX_PATH_HOPS = 5
MAX_PATHS = 50
MAX_PER = 1_000

Ids = Annotated[tuple[str, ...], Meta(max_length=MAX_IDS, description="Ids that tools returned")]
Ends = Annotated[tuple[str, ...], Meta(max_length=MAX_ENDS, description="Ids that tools returned")]
PageSize = Annotated[int, Meta(description="1 to 100")]
Most = Annotated[int, Meta(description="1 to 1000")]
TokenBudget = Annotated[int, Meta(description="Size of the answer")]
RelTypes = Annotated[tuple[str, ...] | None, Meta(description="Default all")]
Cursor = Annotated[str | None, Meta(description="next_cursor of the page before")]
SessionId = Annotated[str | None, Meta(description="Echoed; default one of this connection")]


class DescribeNodesRequest(Request, frozen=True, kw_only=True):
    node_ids: Ids
    fields: Annotated[
        tuple[str, ...] | None, Meta(description="Of id, label, title, level, tokens, doc_tag, anchor")
    ] = None
    session_id: SessionId = None


class ExpandNeighborsRequest(Request, frozen=True, kw_only=True):
    node_ids: Ids
    rel_types: RelTypes = None
    direction: Annotated[str, Meta(description="out, in; anything else is both")] = "both"
    max_hops: Annotated[int, Meta(description="1 to 3")] = 1
    include_snippet: Annotated[bool, Meta(description="With the first 200 characters")] = False
    cursor: Cursor = None
    page_size: PageSize = 25
    session_id: SessionId = None


class PathsBetweenRequest(Request, frozen=True, kw_only=True):
    a_ids: Ends
    b_ids: Ends
    rel_types: RelTypes = None
    max_hops: Annotated[int, Meta(description="1 to 5")] = 3
    max_paths: Annotated[int, Meta(description="1 to 50")] = 10
    cursor: Cursor = None
    session_id: SessionId = None


class ListChildrenRequest(Request, frozen=True, kw_only=True):
    parent_id: Annotated[str, Meta(description="A document, section or procedure")]
    cursor: Cursor = None
    page_size: PageSize = 50
    session_id: SessionId = None


class ListParentsRequest(Request, frozen=True, kw_only=True):
    section_ids: Ids
    session_id: SessionId = None


class EntitiesForSectionsRequest(Request, frozen=True, kw_only=True):
    section_ids: Ids
    labels: Annotated[tuple[str, ...] | None, Meta(description="Default all")] = None
    max_per_section: Most = 20
    session_id: SessionId = None


class SectionsForEntitiesRequest(Request, frozen=True, kw_only=True):
    entity_ids: Ids
    max_per: Most = 20
    session_id: SessionId = None


class TraverseRequest(Request, frozen=True, kw_only=True):
    start_ids: Ids
    rel_types: Annotated[
        tuple[str, ...] | None, Meta(description="Of MENTIONS, HAS_CHUNK, CONTAINS_STEP; default all three")
    ] = None
    max_depth: Annotated[int, Meta(description="1 to 3")] = 2
    include_text: Annotated[bool, Meta(description="With up to 1,000 characters")] = False


class SummarizeRequest(Request, frozen=True, kw_only=True):
    node_ids: Ids
    token_budget: TokenBudget = 400


class BundleRequest(Request, frozen=True, kw_only=True):
    seeds: Ids
    strategy: Annotated[str, Meta(max_length=80, description="Echoed")] = "hybrid"
    token_budget: TokenBudget = 2000


def _asker(call: Call, session_id: str | None = None, cursor: str | None = None) -> "Asker":
    """Who asks for a page with a cursor that anybody can read: what is no cursor is the beginning."""
    from clew.compat.wekadocs.documents import decode_cursor, encode_cursor
    from clew.kb.walk.answers import MOST_OFFSET, Asker

    return Asker(
        session=session_name(call, session_id),
        cursor=cursor,
        offset=min(decode_cursor(cursor), MOST_OFFSET),
        cursor_to=encode_cursor,
        is_legacy=True,
    )


def _at_most(name: str, value: int, most: int) -> int:
    if value < 1:
        raise InvalidArgument(f"{name} is {value}, but must be at least 1.", hint=f"Pass 1 to {most}.")
    return min(value, most)


def _page(page_size: int) -> int:
    return _at_most("page_size", page_size or PAGE_SIZE, MOST_PAGE_SIZE)


def run_describe(call: Call, request: DescribeNodesRequest) -> shapes.Described:
    from clew.kb.walk.answers import described

    with standing(call) as here:
        return described(here.ground, _asker(call, request.session_id), request.node_ids, request.fields)


def run_expand(call: Call, request: ExpandNeighborsRequest) -> shapes.Neighbourhood:
    from clew.kb.walk.answers import Walk, neighbourhood
    from clew.kb.walk.relationships import ways

    asker = _asker(call, request.session_id, request.cursor)
    ways(request.rel_types)
    walk = Walk(
        names=request.rel_types,
        direction="out" if request.direction == "out" else "in" if request.direction == "in" else "both",
        hops=_at_most("max_hops", request.max_hops, MAX_EXPAND_HOPS),
        limit=_page(request.page_size),
        include_snippet=request.include_snippet,
    )
    sent = (call.project.kb.deliveries, (call.session, asker.session))
    with standing(call) as here:
        if not request.node_ids:
            payload: dict[str, Any] = {"nodes": (), "edges": (), "cursor": request.cursor, "next_cursor": None}
            return shapes.Neighbourhood(**payload, **asker.envelope(payload))
        return neighbourhood(here.ground, asker, request.node_ids, walk, sent)


def run_paths(call: Call, request: PathsBetweenRequest) -> shapes.PathPage:
    from clew.kb.walk.answers import path_page
    from clew.kb.walk.relationships import ways

    hops = _at_most("max_hops", request.max_hops, MAX_PATH_HOPS)
    limit = _at_most("max_paths", request.max_paths, MAX_PATHS)
    ways(request.rel_types)
    with standing(call) as here:
        asker = _asker(call, request.session_id, request.cursor)
        ends = (request.a_ids, request.b_ids)
        return path_page(here.ground, asker, ends, request.rel_types, hops=hops, limit=limit)


def run_children(call: Call, request: ListChildrenRequest) -> shapes.ChildPage:
    from clew.kb.walk.answers import child_page

    limit = _page(request.page_size)
    with standing(call) as here:
        return child_page(here.ground, _asker(call, request.session_id, request.cursor), request.parent_id, limit)


def run_parents(call: Call, request: ListParentsRequest) -> shapes.Parents:
    from clew.kb.walk.answers import parent_rows

    with standing(call) as here:
        return parent_rows(here.ground, _asker(call, request.session_id), request.section_ids)


def run_entities(call: Call, request: EntitiesForSectionsRequest) -> shapes.Entities:
    from clew.kb.walk.answers import entity_rows

    most = _at_most("max_per_section", request.max_per_section, MAX_PER)
    with standing(call) as here:
        asker = _asker(call, request.session_id)
        return entity_rows(here.ground, asker, request.section_ids, request.labels, most)


def run_sections(call: Call, request: SectionsForEntitiesRequest) -> shapes.Sections:
    from clew.kb.walk.answers import section_rows

    most = _at_most("max_per", request.max_per, MAX_PER)
    with standing(call) as here:
        return section_rows(here.ground, _asker(call, request.session_id), request.entity_ids, most)


def run_traverse(call: Call, request: TraverseRequest) -> shapes.Traversal:
    from clew.compat.wekadocs.graph import traverse

    if not call.project.config.kb.graph:
        return shapes.Traversal(error=DISABLED, neo4j_disabled=True)
    with standing(call) as here:
        return traverse(
            here.ground, request.start_ids, request.rel_types, request.max_depth, include_text=request.include_text
        )


def run_summarize(call: Call, request: SummarizeRequest) -> shapes.Summary:
    from clew.compat.wekadocs.graph import summary

    with standing(call) as here:
        return summary(here.ground, _asker(call), request.node_ids, request.token_budget)


def run_bundle(call: Call, request: BundleRequest) -> shapes.ContextBundle:
    from clew.compat.wekadocs.graph import BUNDLE_BYTES_PER_SECTION, context_bundle

    with standing(call) as here:
        asker = _asker(call)
        texts = call.project.kb.legacy.section_text(request.seeds, BUNDLE_BYTES_PER_SECTION, asker.session).results
        return context_bundle(here.ground, asker, request.seeds, texts, request.strategy, request.token_budget)


def _unless_off(key: str, run: Callable[[Call, Any], Any]) -> Callable[[Call, Any], Any]:
    """The same, except where the graph is switched off: then an empty list under the name that users know."""

    def answer(call: Call, request: Any) -> Any:
        if call.project.config.kb.graph:
            return run(call, request)
        empty: dict[str, Any] = {key: ()}
        return shapes.SwitchedOff(error=DISABLED, **empty)

    return answer


def _tool(name: str, title: str, description: str, run: Callable[[Call, Any], Any], **more: Any) -> Tool:
    return Tool(
        name=name,
        toolset=Toolset.GRAPH,
        title=title,
        description=description,
        run=run,
        needs=Freshness.NONE,
        budget=ANSWER_TOKENS,
        schema_version=SCHEMA_VERSION,
        **more,
    )


TOOLS = (
    _tool(
        "describe_nodes",
        "What nodes are (older)",
        "Use when a client still calls the older tools. Do not use when graph.describe is there. Returns at most the "
        "named fields of each node, no text; ids that are not there are left out. If you need more, call "
        "expand_neighbors. Defaults: fields id, label, title, tokens, doc_tag. Max: 1000 ids.",
        _unless_off("nodes", run_describe),
        request=DescribeNodesRequest,
        result=shapes.Described,
        example={"node_ids": ["doc:docs/guide.md"]},
    ),
    _tool(
        "expand_neighbors",
        "What is around nodes (older)",
        "Use when a client still calls the older tools. Do not use when graph.expand is there. Returns at most "
        "page_size nodes, nearest first, and the edges to them, without what the session was told before. If you need "
        "more, call it with next_cursor. Defaults: direction both, max_hops 1, page_size 25. Max: 3, 100.",
        _unless_off("neighbors", run_expand),
        request=ExpandNeighborsRequest,
        result=shapes.Neighbourhood,
        example={"node_ids": ["doc:docs/guide.md"], "page_size": 5},
    ),
    _tool(
        "get_paths_between",
        "How nodes are connected (older)",
        "Use when a client still calls the older tools. Do not use when graph.paths is there. Returns at most "
        "max_paths shortest paths, one for each pair. If you need more, call it with next_cursor. Defaults: max_hops "
        "3, max_paths 10. Max: 5, 50.",
        _unless_off("paths", run_paths),
        request=PathsBetweenRequest,
        result=shapes.PathPage,
        example={"a_ids": ["doc:docs/guide.md"], "b_ids": ["REQ-d00001"]},
    ),
    _tool(
        "list_children",
        "Parts of a node (older)",
        "Use when a client still calls the older tools. Do not use when graph.children is there. Returns at most "
        "page_size parts in their order. If you need more, call it with next_cursor. Defaults: page_size 50. Max: 100.",
        _unless_off("children", run_children),
        request=ListChildrenRequest,
        result=shapes.ChildPage,
        example={"parent_id": "doc:docs/guide.md"},
    ),
    _tool(
        "list_parents",
        "What sections are part of (older)",
        "Use when a client still calls the older tools. Do not use when graph.parents is there. Returns at most the "
        "heading above and the document of each section. If you need more, call it with a parent's id. Defaults: "
        "none. Max: 1000 ids.",
        _unless_off("parents", run_parents),
        request=ListParentsRequest,
        result=shapes.Parents,
        example={"section_ids": ["doc:docs/guide.md#making-a-table"]},
    ),
    _tool(
        "get_entities_for_sections",
        "What sections mention (older)",
        "Use when a client still calls the older tools. Do not use when graph.entities_for_sections is there. Returns "
        "at most max_per_section entities of each section. If you need more, call get_sections_for_entities. "
        "Defaults: max_per_section 20. Max: 1000 ids.",
        _unless_off("entities", run_entities),
        request=EntitiesForSectionsRequest,
        result=shapes.Entities,
        example={"section_ids": ["doc:docs/guide.md#making-a-table"]},
    ),
    _tool(
        "get_sections_for_entities",
        "Where something is mentioned (older)",
        "Use when a client still calls the older tools. Do not use when graph.sections_for_entities is there. Returns "
        "at most max_per sections of each entity. If you need more, call expand_neighbors. Defaults: max_per 20. Max: "
        "1000 ids.",
        _unless_off("sections", run_sections),
        request=SectionsForEntitiesRequest,
        result=shapes.Sections,
        example={"entity_ids": ["REQ-d00001"]},
    ),
    _tool(
        "traverse_relationships",
        "Walk from nodes (older)",
        "Use when a client still calls the older tools. Do not use when graph.expand is there. Returns at most 100 "
        "nodes with their distance and up to three paths to each; what is wrong is told in error. If you need more, "
        "call it from a node further on. Defaults: max_depth 2, no text. Max: 3, 1000 characters of text.",
        run_traverse,
        request=TraverseRequest,
        result=shapes.Traversal,
        example={"start_ids": ["doc:docs/guide.md#making-a-table"], "max_depth": 1},
    ),
    _tool(
        "summarize_neighborhood",
        "Nodes in a line each (older)",
        "Use when a client still calls the older tools. Do not use when graph.describe is there. Returns at most 5 "
        "lines with title, label and size, and the ids; no text is written by a model. If you need more, call "
        "describe_nodes. Defaults: token_budget 400. Max: 8000.",
        run_summarize,
        request=SummarizeRequest,
        result=shapes.Summary,
        example={"node_ids": ["doc:docs/guide.md"]},
    ),
    _tool(
        "compute_context_bundle",
        "Nodes and their texts (older)",
        "Use when a client still calls the older tools. Do not use when quotes would do: kb.retrieve_evidence. Returns "
        "at most token_budget tokens: the nodes first, then their texts. If you need more, call get_section_text. "
        "Defaults: strategy hybrid, token_budget 2000. Max: 8000.",
        run_bundle,
        request=BundleRequest,
        result=shapes.ContextBundle,
        example={"seeds": ["doc:docs/guide.md#making-a-table"], "token_budget": 600},
    ),
)
