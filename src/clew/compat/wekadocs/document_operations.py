"""Toolset kb: the older tools, with their exact signatures."""

from typing import Annotated, Any

from msgspec import Meta

from clew.compat.wekadocs import results as shapes
from clew.kb.operations.asking import SCHEMA_VERSION, bounded, brought_up_to_date, session_name
from clew.kb.walk.envelope import ANSWER_TOKENS
from clew.operation.call import Call
from clew.operation.registry import Freshness, Request, Tool, Toolset

SessionId = Annotated[str | None, Meta(description="Echoed; default one of this connection")]


class SearchSectionsRequest(Request, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="A question, or words")]
    top_k: Annotated[int, Meta(description="Results on all pages")] = 20
    filters: Annotated[dict[str, Any] | None, Meta(description="doc_tag, document_id")] = None
    cursor: Annotated[str | None, Meta(description="next_cursor")] = None
    page_size: Annotated[int, Meta(description="1 to 100")] = 25
    session_id: SessionId = None


class SectionTextRequest(Request, frozen=True, kw_only=True):
    section_ids: Annotated[tuple[str, ...], Meta(description="From a search")]
    max_bytes_per: Annotated[int, Meta(description="Bytes of each section at most")] = 8192
    session_id: SessionId = None


class SearchDocumentationRequest(Request, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="A question, or words")]
    top_k: Annotated[int, Meta(description="Sections at most")] = 20
    verbosity: Annotated[str, Meta(description="graph or full; snippet means graph")] = "graph"


def run_search_sections(call: Call, request: SearchSectionsRequest) -> shapes.SectionRows:
    query, cursor = bounded(request.query, "query"), request.cursor and bounded(request.cursor, "cursor")
    brought_up_to_date(call)
    return call.project.kb.legacy.search_sections(
        query,
        request.top_k,
        request.filters,
        cursor,
        request.page_size,
        session_name(call, request.session_id),
        call.deadline(),
    )


def run_section_text(call: Call, request: SectionTextRequest) -> shapes.SectionTexts:
    brought_up_to_date(call)
    session = session_name(call, request.session_id)
    return call.project.kb.legacy.section_text(request.section_ids, request.max_bytes_per, session, call.deadline())


def run_search_documentation(call: Call, request: SearchDocumentationRequest) -> shapes.Documentation:
    query = bounded(request.query, "query")
    brought_up_to_date(call)
    return call.project.kb.legacy.search_documentation(query, request.top_k, request.verbosity, call.deadline())


SEARCH_SECTIONS = Tool(
    name="search_sections",
    toolset=Toolset.KB,
    title="Search sections",
    description=(
        "Use when a client still calls the older tools. Do not use when kb.search is there. Returns at most page_size "
        "rows of ids and scores. If you need more, call get_section_text, or pass next_cursor, which comes when top_k "
        "is above page_size. Defaults: top_k 20, page_size 25. Max: page_size 100."
    ),
    request=SearchSectionsRequest,
    result=shapes.SectionRows,
    run=run_search_sections,
    needs=Freshness.NONE,
    budget=ANSWER_TOKENS,
    schema_version=SCHEMA_VERSION,
    example={"query": "how is the margin set", "top_k": 3, "page_size": 3},
)

GET_SECTION_TEXT = Tool(
    name="get_section_text",
    toolset=Toolset.KB,
    title="Text of sections",
    description=(
        "Use when you have section ids and need their text. Do not use for more than 3 sections, or when quotes would "
        "do: kb.extract_evidence. Returns at most max_bytes_per bytes of each; ids that are not there are left out. If "
        "you need more, call kb.read_excerpt, or graph.expand for what is around. Defaults: max_bytes_per 8192. Max: "
        "32768."
    ),
    request=SectionTextRequest,
    result=shapes.SectionTexts,
    run=run_section_text,
    needs=Freshness.NONE,
    budget=ANSWER_TOKENS,
    schema_version=SCHEMA_VERSION,
    example={"section_ids": ["doc:docs/guide.md#how-the-water-is-counted"], "max_bytes_per": 400},
)

SEARCH_DOCUMENTATION = Tool(
    name="search_documentation",
    toolset=Toolset.KB,
    title="Search documentation in full",
    description=(
        "Use when a client still calls the older tool. Do not use when kb.retrieve_evidence is there: it answers in a "
        "tenth of the tokens. Returns at most top_k sections with their texts, and quotes as answer_markdown; errors "
        "are told as data. If you need more, call get_section_text. Defaults: top_k 20, verbosity graph. Max: top_k "
        "100, 32768 bytes of a section."
    ),
    request=SearchDocumentationRequest,
    result=shapes.Documentation,
    run=run_search_documentation,
    needs=Freshness.NONE,
    budget=ANSWER_TOKENS,
    schema_version=SCHEMA_VERSION,
    example={"query": "default margin", "top_k": 2},
)

TOOLS = (SEARCH_SECTIONS, GET_SECTION_TEXT, SEARCH_DOCUMENTATION)
