"""Toolset kb: the older tools, with their exact signatures."""

from typing import Annotated, Any

from msgspec import Meta

from clew.compat.wekadocs import results as shapes
from clew.kb.operations.arguments import SCHEMA_VERSION, bounded, in_range
from clew.kb.walk.envelope import ANSWER_TOKENS
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Toolset

SessionId = Annotated[str | None, Meta(description="Echoed; default one of this connection")]


class OlderDocumentOperation(
    Operation,
    toolset=Toolset.KB,
    needs=Freshness.DOCUMENTS,
    budget=ANSWER_TOKENS,
    schema_version=SCHEMA_VERSION,
):
    """Common base of the older tools on documents."""


class SearchSections(
    OlderDocumentOperation,
    tool="search_sections",
    title="Search sections",
    example={"query": "how is the margin set", "top_k": 3, "page_size": 3},
):
    """Use when a client still calls the older tools. Do not use when kb.search is there. Returns at most page_size rows
    of ids and scores. If you need more, call get_section_text, or pass next_cursor, which comes when top_k is above
    page_size. Defaults: top_k 20, page_size 25. Max: page_size 100."""

    query: Annotated[str, Meta(description="A question, or words")]
    top_k: Annotated[int, in_range(0, 10_000, "Results on all pages")] = 20
    filters: Annotated[dict[str, Any] | None, Meta(description="doc_tag, document_id")] = None
    cursor: Annotated[str | None, Meta(description="next_cursor")] = None
    page_size: Annotated[int, in_range(1, 100)] = 25
    session_id: SessionId = None

    def answer_early(self, call: Call) -> None:
        bounded(self.query, "query")
        bounded(self.cursor or "", "cursor")

    def run(self, call: Call) -> shapes.SectionRows:
        from clew.compat.wekadocs.documents import SectionSearch

        return SectionSearch(call, self.session_id).search_sections(self)


class GetSectionText(
    OlderDocumentOperation,
    tool="get_section_text",
    title="Text of sections",
    example={"section_ids": ["doc:docs/guide.md#how-the-water-is-counted"], "max_bytes_per": 400},
):
    """Use when you have section ids and need their text. Do not use when quotes would do (kb.extract_evidence), or for
    more than 3 sections. Returns at most max_bytes_per bytes of each; ids that are not there are left out. If you need
    more, call kb.read_excerpt, or graph.expand for what is around. Defaults: max_bytes_per 8192. Max: 32768."""

    section_ids: Annotated[tuple[str, ...], Meta(description="From a search")]
    max_bytes_per: Annotated[int, in_range(0, 32_768, "Bytes of each section at most")] = 8192
    session_id: SessionId = None

    def run(self, call: Call) -> shapes.SectionTexts:
        from clew.compat.wekadocs.documents import SectionSearch

        return SectionSearch(call, self.session_id).section_text(self.section_ids, self.max_bytes_per)


class SearchDocumentation(
    OlderDocumentOperation,
    tool="search_documentation",
    title="Search documentation in full",
    example={"query": "default margin", "top_k": 2},
):
    """Use when a client still calls the older tool. Do not use when kb.retrieve_evidence is there: it answers in a
    tenth of the tokens. Returns at most top_k sections with their texts, and quotes as answer_markdown; errors are
    data. If you need more, call get_section_text. Defaults: top_k 20, verbosity graph. Max: top_k 100, 32768 bytes
    of a section."""

    query: Annotated[str, Meta(description="A question, or words")]
    top_k: Annotated[int, in_range(1, 100, "Sections at most")] = 20
    verbosity: Annotated[str, Meta(description="graph or full; snippet means graph")] = "graph"

    def answer_early(self, call: Call) -> None:
        bounded(self.query, "query")

    def run(self, call: Call) -> shapes.Documentation:
        from clew.compat.wekadocs.documents import SectionSearch

        return SectionSearch(call).search_documentation(self)
