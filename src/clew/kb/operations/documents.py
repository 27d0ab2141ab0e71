"""Toolset kb: documentation that answers without flooding the context."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta

from clew.errors import InvalidArgument, OverBudget
from clew.kb.answer import results
from clew.kb.operations import texts as kb_texts
from clew.kb.operations.asking import (
    SCHEMA_VERSION,
    Clamped,
    Filters,
    ModeName,
    PassageId,
    Query,
    Scope,
    asked,
    brought_up_to_date,
    mode_of,
    narrowing_of,
    visitor_of,
)
from clew.operation.call import Call
from clew.operation.registry import Freshness, Request, ResourceRef, Tool, Toolset

if TYPE_CHECKING:
    from clew.search.quote.evidence import Limits

MAX_TOP_K = 50
MAX_PAGE_SIZE = 25
MAX_SNIPPET_CHARS = 600
MAX_EXCERPT_TOKENS = 800
MAX_AROUND_TOKENS = 400
MAX_PASSAGES = 20
MAX_QUOTES = 20
MAX_QUOTE_TOKENS = 125
MAX_CONTEXT_TOKENS = 80
MAX_EVIDENCE_PASSAGES = 5

_BUDGET = 8_000
"""Of data and text together; the items of an answer are cut to less than half of it before."""

NotNegative = Annotated[int, Meta(ge=0)]


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    max_snippet_chars: int = 280
    max_per_doc: int = 1
    include_scores: bool = False
    include_debug: bool = False
    mode: ModeName = "auto"


class KbSearchRequest(Request, frozen=True, kw_only=True):
    query: Query
    top_k: Annotated[int, Meta(description="Results on all pages")] = 5
    cursor: Annotated[str | None, Meta(description="next_cursor of a page")] = None
    page_size: Annotated[int, Meta(description="Results on one page")] = 5
    scope: Scope = None
    filters: Annotated[Filters | None, Meta(description="Tag, folder, ISO time")] = None
    options: Annotated[SearchOptions | None, Meta(description="How to search and show")] = None


class ExcerptOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: Literal["text", "bullets"] = "text"
    include_citation: bool = True


class ReadExcerptRequest(Request, frozen=True, kw_only=True):
    passage_id: PassageId
    max_tokens: Annotated[int, Meta(description="Tokens at most")] = 300
    start_char: Annotated[NotNegative, Meta(description="Where to begin, in characters")] = 0
    scope: Scope = None
    options: Annotated[ExcerptOptions | None, Meta(description="Format, and whether to cite")] = None


class ExpandExcerptRequest(Request, frozen=True, kw_only=True):
    passage_id: PassageId
    before_tokens: Annotated[NotNegative, Meta(description="Tokens before the span")] = 150
    after_tokens: Annotated[NotNegative, Meta(description="Tokens after the span")] = 150
    scope: Scope = None
    anchor_start_char: Annotated[NotNegative | None, Meta(description="Another span: its first character")] = None
    anchor_end_char: Annotated[NotNegative | None, Meta(description="The character after its last")] = None


class ExtractEvidenceRequest(Request, frozen=True, kw_only=True):
    question: Query
    passage_ids: Annotated[tuple[PassageId, ...], Meta(min_length=1, description="From a search")]
    max_quotes: Annotated[int, Meta(description="Quotes at most")] = 6
    max_quote_tokens: Annotated[int, Meta(description="Tokens of each")] = 80
    include_context_tokens: Annotated[NotNegative, Meta(description="Tokens of context on each side")] = 20
    scope: Scope = None


class EvidenceOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mode: ModeName = "auto"
    max_per_doc: int = 1


class RetrieveEvidenceRequest(Request, frozen=True, kw_only=True):
    question: Query
    scope: Scope = None
    top_k: Annotated[int, Meta(description="Documents read")] = 5
    max_quotes: Annotated[int, Meta(description="Quotes")] = 6
    max_quote_tokens: Annotated[int, Meta(description="Of each")] = 80
    cursor: Annotated[str | None, Meta(description="next_cursor")] = None
    filters: Annotated[Filters | None, Meta(description="Tag, folder, ISO time")] = None
    options: Annotated[EvidenceOptions | None, Meta(description="How")] = None


def run_search(call: Call, request: KbSearchRequest) -> results.SearchPage:
    from clew.kb.answer.shortlist import SearchRequest, Shown, fingerprint

    clamped, options = Clamped(), request.options or SearchOptions()
    top_k = clamped.most("top_k", request.top_k, MAX_TOP_K)
    page_size = clamped.most("page_size", request.page_size, MAX_PAGE_SIZE)
    snippet = clamped.most("max_snippet_chars", options.max_snippet_chars, MAX_SNIPPET_CHARS)
    search = SearchRequest(
        query=asked(request.query, "query"),
        top_k=top_k,
        mode=mode_of(options.mode),
        narrowing=narrowing_of(request.filters),
        max_per_document=clamped.most("max_per_doc", options.max_per_doc, MAX_TOP_K),
    )
    # What may not be asked for is refused before anything is read for it.
    visitor = visitor_of(call, request.scope, writes=True)
    late = brought_up_to_date(call)
    shortlist = call.project.kb.shortlist
    visitor = msgspec.structs.replace(visitor, check=visitor.check.again())
    found = shortlist.ranked(search, visitor)
    pages, state = call.pages(request, besides=("page_size",), lenient=True), fingerprint(found.sections)
    offset = pages.begin(state)
    shown = Shown(
        offset=offset,
        page_size=page_size,
        max_snippet_chars=snippet,
        scores=options.include_scores,
        debug=options.include_debug,
        mode=found.mode,
    )
    items, reason = shortlist.page(request.query, found, shown, visitor)
    end = offset + len(items)
    more = end < len(found.sections)
    notes = (*clamped.notes, *late, *found.notes, *((found.reason,) if found.reason and not items else ()))
    return results.SearchPage(
        results=items,
        next_cursor=pages.cursor_to(end, state) if more else None,
        partial=more,
        limit_reason=reason,
        session_id=visitor.session,
        notes=notes or UNSET,
    )


def run_read(call: Call, request: ReadExcerptRequest) -> results.ExcerptAnswer:
    clamped, options = Clamped(), request.options or ExcerptOptions()
    answer = call.project.kb.passages.read(
        request.passage_id,
        request.start_char,
        clamped.most("max_tokens", request.max_tokens, MAX_EXCERPT_TOKENS),
        visitor_of(call, request.scope),
        bullets=options.format == "bullets",
        cited=options.include_citation,
    )
    return msgspec.structs.replace(answer, notes=_notes(clamped, answer))


def run_expand(call: Call, request: ExpandExcerptRequest) -> results.ExcerptAnswer:
    clamped = Clamped()
    answer = call.project.kb.passages.expand(
        request.passage_id,
        clamped.most("before_tokens", request.before_tokens, MAX_AROUND_TOKENS, least=0),
        clamped.most("after_tokens", request.after_tokens, MAX_AROUND_TOKENS, least=0),
        visitor_of(call, request.scope),
        (request.anchor_start_char, request.anchor_end_char),
    )
    return msgspec.structs.replace(answer, notes=_notes(clamped, answer))


def run_extract(call: Call, request: ExtractEvidenceRequest) -> results.Evidence:
    from clew.kb.answer.answering import EvidenceRequest

    if len(request.passage_ids) > MAX_PASSAGES:
        raise OverBudget(
            f"{len(request.passage_ids)} passages were named; one call reads at most {MAX_PASSAGES}.",
            hint="Name the best ones only, or call again for the others.",
            data={"reason": "too_many_passages", "max": MAX_PASSAGES},
        )
    clamped = Clamped()
    limits = _limits(clamped, request.max_quotes, request.max_quote_tokens)
    context = clamped.most("include_context_tokens", request.include_context_tokens, MAX_CONTEXT_TOKENS, least=0)
    wanted = EvidenceRequest(
        question=asked(request.question, "question"), limits=msgspec.structs.replace(limits, context_tokens=context)
    )
    answer = call.project.kb.quoting.extract(wanted, request.passage_ids, visitor_of(call, request.scope))
    return msgspec.structs.replace(answer, notes=_notes(clamped, answer))


def run_retrieve(call: Call, request: RetrieveEvidenceRequest) -> results.RetrievedEvidence:
    from clew.kb.answer.answering import EvidenceRequest

    clamped, options = Clamped(), request.options or EvidenceOptions()
    wanted = EvidenceRequest(
        question=asked(request.question, "question"),
        limits=_limits(clamped, request.max_quotes, request.max_quote_tokens),
        top_k=clamped.most("top_k", request.top_k, MAX_EVIDENCE_PASSAGES),
        max_per_document=clamped.most("max_per_doc", options.max_per_doc, MAX_EVIDENCE_PASSAGES),
        mode=mode_of(options.mode),
        narrowing=narrowing_of(request.filters),
    )
    visitor = visitor_of(call, request.scope, writes=True)
    late = brought_up_to_date(call)
    visitor = msgspec.structs.replace(visitor, check=visitor.check.again())
    pages = call.pages(request, besides=("max_quotes",), lenient=True)
    answer = call.project.kb.quoting.retrieve(wanted, visitor, pages)
    return msgspec.structs.replace(answer, notes=_notes(clamped, answer, late))


def _notes(
    clamped: Clamped,
    answer: results.ExcerptAnswer | results.Evidence | results.RetrievedEvidence,
    late: tuple[str, ...] = (),
) -> results.Notes:
    """What has to be said of a request comes before what has to be said of its answer."""
    said = () if answer.notes is UNSET else answer.notes
    return (*clamped.notes, *late, *said) or UNSET


def _limits(clamped: Clamped, quotes: int, tokens: int) -> "Limits":
    from clew.search.quote.evidence import Limits

    if tokens == 1:
        raise OverBudget(
            "max_quote_tokens is 1: not even one character fits.",
            hint="Pass 2 or more; 80 is the default.",
            data={"reason": "budget_too_small", "max_tokens": tokens},
        )
    return Limits(
        max_quotes=clamped.most("max_quotes", quotes, MAX_QUOTES),
        max_quote_tokens=clamped.most("max_quote_tokens", tokens, MAX_QUOTE_TOKENS),
        context_tokens=0,
    )


def _links(call: Call, data: Mapping[str, Any]) -> tuple[ResourceRef, ...]:
    """The passages that an answer names, each once."""
    named = {each["passage_id"]: each for key in ("results", "sources") for each in data.get(key, ())}
    found = []
    for id, each in named.items():
        try:
            passage = call.project.kb.scratch.get(call.session, id)
        except InvalidArgument:
            # Others needed the room just now; the excerpt tools say the same to who asks.
            continue
        uri = each.get("scratch_uri") or each["uri"]
        found.append(ResourceRef(uri, passage.title, passage.size_bytes, passage.created_at))
    return tuple(found)


KB_SEARCH = Tool(
    name="kb.search",
    toolset=Toolset.KB,
    title="Search documentation",
    description=(
        "Use when you want to see which documents cover a topic. Do not use when a question is to be answered: "
        "kb.retrieve_evidence. Returns at most page_size passages with a preview, never whole texts. If you need more, "
        "call kb.read_excerpt with a passage_id, or pass next_cursor. Defaults: top_k 5, page_size 5, "
        "max_snippet_chars 280, max_per_doc 1, mode auto. Max: 50, 25, 600."
    ),
    request=KbSearchRequest,
    result=results.SearchPage,
    run=run_search,
    needs=Freshness.NONE,
    default=True,
    text=kb_texts.search_text,
    budget=_BUDGET,
    links=_links,
    schema_version=SCHEMA_VERSION,
    example={"query": "how is the margin set"},
)

KB_READ_EXCERPT = Tool(
    name="kb.read_excerpt",
    toolset=Toolset.KB,
    title="Read a part of a passage",
    description=(
        "Use when the preview or quote of a passage is not enough. Do not use when quotes would do "
        "(kb.extract_evidence), or for more than 3 passages. Returns at most max_tokens tokens and 32,768 bytes of the "
        "passage, with its source. If you need more, call again with next_start_char as start_char, or "
        "kb.expand_excerpt. Defaults: max_tokens 300, start_char 0, format text. Max: max_tokens 800."
    ),
    request=ReadExcerptRequest,
    result=results.ExcerptAnswer,
    run=run_read,
    needs=Freshness.NONE,
    text=kb_texts.excerpt_text,
    budget=_BUDGET,
    schema_version=SCHEMA_VERSION,
)

KB_EXPAND_EXCERPT = Tool(
    name="kb.expand_excerpt",
    toolset=Toolset.KB,
    title="What stands around a preview",
    description=(
        "Use when you need what stands around the span for which a passage was found. Do not use when you want the "
        "passage from its beginning: kb.read_excerpt. Returns at most before_tokens + span + after_tokens, 800 tokens "
        "in all, with start_char and end_char. If you need more, call kb.read_excerpt with next_start_char. Defaults: "
        "before_tokens 150, after_tokens 150. Max: 400 each."
    ),
    request=ExpandExcerptRequest,
    result=results.ExcerptAnswer,
    run=run_expand,
    needs=Freshness.NONE,
    text=kb_texts.excerpt_text,
    budget=_BUDGET,
    schema_version=SCHEMA_VERSION,
)

KB_EXTRACT_EVIDENCE = Tool(
    name="kb.extract_evidence",
    toolset=Toolset.KB,
    title="Quotes that answer a question",
    description=(
        "Use when you have passage_ids of a search and want only the sentences that answer a question. Do not use when "
        "you have none yet: kb.retrieve_evidence searches too. Returns at most max_quotes quotes of max_quote_tokens "
        "tokens (500 characters), each with its source. If you need more, call kb.expand_excerpt. Defaults: "
        "max_quotes 6, max_quote_tokens 80, include_context_tokens 20. Max: 20 passages, 20 quotes, 125 tokens."
    ),
    request=ExtractEvidenceRequest,
    result=results.Evidence,
    run=run_extract,
    needs=Freshness.NONE,
    text=kb_texts.evidence_text,
    budget=_BUDGET,
    schema_version=SCHEMA_VERSION,
)

KB_RETRIEVE_EVIDENCE = Tool(
    name="kb.retrieve_evidence",
    toolset=Toolset.KB,
    title="Answer from documentation",
    description=(
        "Use when documentation may answer a question. Do not use when you explore: kb.search. Returns at most "
        "max_quotes quotes with sources. If you need more, call it with next_cursor, or kb.expand_excerpt. Defaults: "
        "top_k 5, 6 quotes of 80 tokens, max_per_doc 1, mode auto. Max: 5, 20, 125."
    ),
    request=RetrieveEvidenceRequest,
    result=results.RetrievedEvidence,
    run=run_retrieve,
    needs=Freshness.NONE,
    default=True,
    text=kb_texts.evidence_text,
    budget=_BUDGET,
    links=_links,
    schema_version=SCHEMA_VERSION,
    example={"question": "what is the default margin?"},
)

TOOLS = (KB_SEARCH, KB_READ_EXCERPT, KB_EXPAND_EXCERPT, KB_EXTRACT_EVIDENCE, KB_RETRIEVE_EVIDENCE)
