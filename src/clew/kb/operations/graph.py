"""Toolset graph: walking the graph of documents, entities and everything they mention."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from clew.kb.operations import graph_texts
from clew.kb.operations.asking import SCHEMA_VERSION, Clamped, Scope
from clew.kb.operations.graph_asking import require_graph, standing
from clew.kb.walk import results as shapes
from clew.operation.call import Call
from clew.operation.registry import Freshness, Request, Tool, Toolset

if TYPE_CHECKING:
    from clew.graph.walk import Direction

MAX_IDS = 100
MAX_ENDS = 25
MAX_PAGE_SIZE = 100
MAX_EXPAND_HOPS = 3
MAX_PATH_HOPS = 5
MAX_PATHS = 50
MAX_PER = 100

BUDGET = 8_000
"""Of data and text together; the items of an answer are cut to less than half of it before."""

Ids = Annotated[tuple[str, ...], Meta(max_length=MAX_IDS, description="Ids")]
Ends = Annotated[tuple[str, ...], Meta(max_length=MAX_ENDS, description="Ids")]
Cursor = Annotated[str | None, Meta(description="next_cursor")]
PageSize = Annotated[int, Meta(description="1 to 100")]
RelTypes = Annotated[tuple[str, ...] | None, Meta(description="E.g. MENTIONS; default all")]

_WHEN = (
    " Use after kb.search to explore relationships between the top 1-3 candidates. Do not call if neo4j_disabled=true "
    "(use kb.search/kb.retrieve_evidence only). Do not fetch text until you have narrowed to <=3 passages."
)


class DescribeRequest(Request, frozen=True, kw_only=True):
    node_ids: Ids
    fields: Annotated[
        tuple[str, ...] | None, Meta(description="Of id, label, title, level, tokens, doc_tag, anchor")
    ] = None
    scope: Scope = None


class ExpandRequest(Request, frozen=True, kw_only=True):
    node_ids: Ids
    rel_types: RelTypes = None
    direction: Annotated[Literal["both", "out", "in"], Meta(description="Of edges")] = "both"
    max_hops: Annotated[int, Meta(description="1 to 3")] = 1
    include_snippet: Annotated[bool, Meta(description="Some text")] = False
    cursor: Cursor = None
    page_size: PageSize = 25
    scope: Scope = None


class PathsRequest(Request, frozen=True, kw_only=True):
    a_ids: Ends
    b_ids: Ends
    rel_types: RelTypes = None
    max_hops: Annotated[int, Meta(description="1 to 5")] = 2
    max_paths: Annotated[int, Meta(description="1 to 50")] = 10
    cursor: Cursor = None
    scope: Scope = None


class ParentsRequest(Request, frozen=True, kw_only=True):
    section_ids: Ids
    scope: Scope = None


class ChildrenRequest(Request, frozen=True, kw_only=True):
    parent_id: Annotated[str, Meta(description="A document, section or procedure")]
    cursor: Cursor = None
    page_size: PageSize = 25
    scope: Scope = None


class EntitiesRequest(Request, frozen=True, kw_only=True):
    section_ids: Ids
    labels: Annotated[tuple[str, ...] | None, Meta(description="Such as Command, Requirement; default all")] = None
    max_per_section: Annotated[int, Meta(description="1 to 100")] = 20
    scope: Scope = None


class SectionsRequest(Request, frozen=True, kw_only=True):
    entity_ids: Ids
    max_per: Annotated[int, Meta(description="1 to 100")] = 20
    scope: Scope = None


def run_describe(call: Call, request: DescribeRequest) -> shapes.Described:
    from clew.kb.walk.answers import described
    from clew.kb.walk.projections import checked_fields

    require_graph(call)
    checked_fields(request.fields)
    with standing(call, request.scope) as here:
        return described(here.ground, here.asker(request), request.node_ids, request.fields)


def run_expand(call: Call, request: ExpandRequest) -> shapes.Neighbourhood:
    from clew.kb.walk.answers import Walk, neighbourhood
    from clew.kb.walk.relationships import ways

    require_graph(call)
    clamped, direction = Clamped(), _direction(request.direction)
    ways(request.rel_types, direction)
    walk = Walk(
        names=request.rel_types,
        direction=direction,
        hops=clamped.most("max_hops", request.max_hops, MAX_EXPAND_HOPS),
        limit=clamped.most("page_size", request.page_size, MAX_PAGE_SIZE),
        include_snippet=request.include_snippet,
    )
    with standing(call, request.scope) as here:
        return neighbourhood(here.ground, here.asker(request, tuple(clamped.notes)), request.node_ids, walk)


def run_paths(call: Call, request: PathsRequest) -> shapes.PathPage:
    from clew.kb.walk.answers import path_page
    from clew.kb.walk.relationships import ways

    require_graph(call)
    clamped = Clamped()
    hops = clamped.most("max_hops", request.max_hops, MAX_PATH_HOPS)
    limit = clamped.most("max_paths", request.max_paths, MAX_PATHS)
    ways(request.rel_types)
    with standing(call, request.scope) as here:
        asker = here.asker(request, tuple(clamped.notes))
        ends = (request.a_ids, request.b_ids)
        return path_page(here.ground, asker, ends, request.rel_types, hops=hops, limit=limit)


def run_parents(call: Call, request: ParentsRequest) -> shapes.Parents:
    from clew.kb.walk.answers import parent_rows

    require_graph(call)
    with standing(call, request.scope) as here:
        return parent_rows(here.ground, here.asker(request), request.section_ids)


def run_children(call: Call, request: ChildrenRequest) -> shapes.ChildPage:
    from clew.kb.walk.answers import child_page

    require_graph(call)
    clamped = Clamped()
    limit = clamped.most("page_size", request.page_size, MAX_PAGE_SIZE)
    with standing(call, request.scope) as here:
        return child_page(here.ground, here.asker(request, tuple(clamped.notes)), request.parent_id, limit)


def run_entities(call: Call, request: EntitiesRequest) -> shapes.Entities:
    from clew.kb.walk.answers import entity_rows

    require_graph(call)
    clamped = Clamped()
    most = clamped.most("max_per_section", request.max_per_section, MAX_PER)
    with standing(call, request.scope) as here:
        asker = here.asker(request, tuple(clamped.notes))
        return entity_rows(here.ground, asker, request.section_ids, request.labels, most)


def run_sections(call: Call, request: SectionsRequest) -> shapes.Sections:
    from clew.kb.walk.answers import section_rows

    require_graph(call)
    clamped = Clamped()
    most = clamped.most("max_per", request.max_per, MAX_PER)
    with standing(call, request.scope) as here:
        return section_rows(here.ground, here.asker(request, tuple(clamped.notes)), request.entity_ids, most)


def _direction(given: str) -> "Direction":
    return "out" if given == "out" else "in" if given == "in" else "both"


GRAPH_DESCRIBE = Tool(
    name="graph.describe",
    toolset=Toolset.GRAPH,
    title="What nodes are",
    description=(
        "Use when you have ids of documents, sections, entities, requirements, code or files and want to know what "
        "they are. Do not use when you want their text: kb.read_excerpt. Returns at most 100 nodes as short fields. "
        "If you need more, call graph.expand for what is around them. Defaults: fields id, label, title, tokens, "
        "doc_tag. Max: 100 ids." + _WHEN
    ),
    request=DescribeRequest,
    result=shapes.Described,
    run=run_describe,
    needs=Freshness.NONE,
    text=graph_texts.described_text,
    budget=BUDGET,
    schema_version=SCHEMA_VERSION,
    example={"node_ids": ["doc:docs/guide.md#making-a-table", "REQ-d00001"]},
)

GRAPH_EXPAND = Tool(
    name="graph.expand",
    toolset=Toolset.GRAPH,
    title="Around nodes",
    description=(
        "Use when you want what is connected with nodes. Do not use when you want answers. Returns at most page_size "
        "nodes, nearest first. If you need more, call with next_cursor. Defaults: 1 hop, 25. Max: 3, 100." + _WHEN
    ),
    request=ExpandRequest,
    result=shapes.Neighbourhood,
    run=run_expand,
    needs=Freshness.NONE,
    text=graph_texts.neighbourhood_text,
    budget=BUDGET,
    schema_version=SCHEMA_VERSION,
    example={"node_ids": ["doc:docs/guide.md#making-a-table"], "page_size": 10},
)

GRAPH_PATHS = Tool(
    name="graph.paths",
    toolset=Toolset.GRAPH,
    title="How nodes are connected",
    description=(
        "Use when you want to know how two things are connected. Do not use when you want everything around one of "
        "them: graph.expand. Returns at most max_paths shortest paths, one for each pair of ids. If you need more, "
        "call it with next_cursor or a larger max_hops. Defaults: max_hops 2, max_paths 10. Max: 5, 50, 25 ids on "
        "each side." + _WHEN
    ),
    request=PathsRequest,
    result=shapes.PathPage,
    run=run_paths,
    needs=Freshness.NONE,
    text=graph_texts.paths_text,
    budget=BUDGET,
    schema_version=SCHEMA_VERSION,
    example={"a_ids": ["doc:docs/guide.md"], "b_ids": ["REQ-d00001"]},
)

GRAPH_PARENTS = Tool(
    name="graph.parents",
    toolset=Toolset.GRAPH,
    title="What sections are part of",
    description=(
        "Use when you want to know where sections stand: the heading above and the document. Do not use when you want "
        "what is below: graph.children. Returns at most a few parents of each of 100 sections. If you need more, call "
        "it with a parent's id. Defaults: none. Max: 100 ids." + _WHEN
    ),
    request=ParentsRequest,
    result=shapes.Parents,
    run=run_parents,
    needs=Freshness.NONE,
    text=graph_texts.parents_text,
    budget=BUDGET,
    schema_version=SCHEMA_VERSION,
    example={"section_ids": ["doc:docs/guide.md#making-a-table"]},
)

GRAPH_CHILDREN = Tool(
    name="graph.children",
    toolset=Toolset.GRAPH,
    title="Parts of a node",
    description=(
        "Use when you want the sections of a document or below a heading, the steps of a procedure or the assertions "
        "of a requirement, in their order. Do not use when you want what is connected otherwise: graph.expand. Returns "
        "at most page_size parts. If you need more, call it with next_cursor. Defaults: page_size 25. Max: 100." + _WHEN
    ),
    request=ChildrenRequest,
    result=shapes.ChildPage,
    run=run_children,
    needs=Freshness.NONE,
    text=graph_texts.children_text,
    budget=BUDGET,
    schema_version=SCHEMA_VERSION,
    example={"parent_id": "doc:docs/guide.md"},
)

GRAPH_ENTITIES = Tool(
    name="graph.entities_for_sections",
    toolset=Toolset.GRAPH,
    title="What sections mention",
    description=(
        "Use when you want the commands, flags, settings, files, requirements and code that sections mention. Do not "
        "use when you start from one of those: graph.sections_for_entities. Returns at most max_per_section of each "
        "section, most often mentioned first. If you need more, call graph.expand. Defaults: max_per_section 20. Max: "
        "100, 100 ids." + _WHEN
    ),
    request=EntitiesRequest,
    result=shapes.Entities,
    run=run_entities,
    needs=Freshness.NONE,
    text=graph_texts.entities_text,
    budget=BUDGET,
    schema_version=SCHEMA_VERSION,
    example={"section_ids": ["doc:docs/guide.md#making-a-table"]},
)

GRAPH_SECTIONS = Tool(
    name="graph.sections_for_entities",
    toolset=Toolset.GRAPH,
    title="Where something is mentioned",
    description=(
        "Use when you want the sections that mention an entity, a requirement, a file or a piece of code. Do not use "
        "when you have only words: kb.search. Returns at most max_per sections of each, headings of high rank first. "
        "If you need more, call graph.expand. Defaults: max_per 20. Max: 100, 100 ids." + _WHEN
    ),
    request=SectionsRequest,
    result=shapes.Sections,
    run=run_sections,
    needs=Freshness.NONE,
    text=graph_texts.sections_text,
    budget=BUDGET,
    schema_version=SCHEMA_VERSION,
    example={"entity_ids": ["REQ-d00001"]},
)

TOOLS = (
    GRAPH_DESCRIBE,
    GRAPH_EXPAND,
    GRAPH_PATHS,
    GRAPH_PARENTS,
    GRAPH_CHILDREN,
    GRAPH_ENTITIES,
    GRAPH_SECTIONS,
)
