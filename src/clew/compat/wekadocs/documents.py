"""The older tools on documents, with their arithmetic and their shapes, on the same core.

They keep what their users rely on, odd as some of it is: a page of 25 rows where 20 were asked for, cursors that
anybody can read and that are never refused, ids that are missing passed over in silence. They write nothing to scratch
space.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from clew.compat.wekadocs import results as shapes
from clew.errors import Cancelled, ClewError, InvalidArgument
from clew.graph.model import EdgeKind
from clew.kb import ids
from clew.kb.answer.requests import Mode, Narrowing, SearchRequest
from clew.kb.answer.section_search import FoundSection
from clew.kb.answer.shortlist import source_of
from clew.kb.operations.arguments import bounded
from clew.kb.queries import LibraryReader
from clew.kb.walk.edges import DocumentEdges
from clew.kb.walk.envelope import (
    MOST_PAGE_SIZE,
    PAGE_SIZE,
    TEXT_BYTES_PER_SECTION,
    Meta,
    Usage,
    charged,
    within_hard_limit,
)
from clew.operation.call import Call
from clew.search.question import MAX_LIMIT
from clew.search.quote.evidence import evidence
from clew.text.display import shortened
from clew.text.instruction_like import suspicious

if TYPE_CHECKING:
    from clew.compat.wekadocs.document_operations import SearchDocumentation, SearchSections

_SNIPPET_CHARACTERS = 200
_MOST_ENTITIES = 20
_TEXTS_AT_ONCE = 64
_VERBOSITY = {"graph": "graph", "full": "full", "snippet": "graph", "snip": "graph", "short": "graph", "": "graph"}


def encode_cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


def decode_cursor(cursor: str | None) -> int:
    """The offset of a page; 0 if the cursor is not valid."""
    try:
        return max(0, int(base64.urlsafe_b64decode((cursor or "").encode()).decode()))
    except ValueError:
        return 0


def session_name(call: Call, given: str | None = None) -> str:
    """The session's name for the older tools: the one that the caller gives, or one name for the whole connection."""
    return bounded(given, "session_id") if given else call.project.kb.session_name(call.session, call.credential)


class SectionSearch:
    """Searches and reads sections for one call of an older tool."""

    def __init__(self, call: Call, session_id: str | None = None) -> None:
        self._kb = call.project.kb
        self._boundary = call.boundary
        self._check = call.deadline
        self._mode = Mode.AUTO if call.project.config.kb.graph else Mode.VECTOR_ONLY
        self._session = session_name(call, session_id)

    def search_sections(self, request: "SearchSections") -> shapes.SectionRows:
        offset = decode_cursor(request.cursor)
        page = max(1, min(request.page_size or PAGE_SIZE, MOST_PAGE_SIZE))
        wanted = min(max(page, request.top_k or page), offset + page + 1)
        found = self._found(request.query, wanted, request.filters) if wanted > offset else ()
        shown = found[offset : offset + page]
        with self._kb.library.reading(self._boundary) as reading:
            rows = [_row(reading, each, offset + place) for place, each in enumerate(shown, start=1)]
        kept, cut = within_hard_limit(rows)
        more = len(found) > offset + len(kept)
        next_cursor = encode_cursor(offset + len(kept)) if more else None
        charge = charged({"results": kept, "cursor": request.cursor, "next_cursor": next_cursor}, "seeds")
        over = "token_cap" if cut else charge.reason
        usage = Usage(
            tokens_estimate=charge.tokens,
            bytes_returned=charge.bytes,
            source={"mode": self._mode.value, "seed_count": len(found), "elapsed_ms": self._check.elapsed_ms()},
        )
        return shapes.SectionRows(
            results=kept,
            cursor=request.cursor,
            next_cursor=next_cursor,
            session_id=self._session,
            partial=more or over != "none",
            limit_reason=over if over != "none" else "page_size" if more else "none",
            meta=Meta(usage, suspicious((row.section_id, row.title) for row in kept) or UNSET),
        )

    def _found(self, query: str, limit: int, filters: Mapping[str, Any] | None) -> tuple[FoundSection, ...]:
        given = filters or {}
        tags = _texts(given.get("doc_tag"))
        document = next(iter(_texts(given.get("document_id"))), None)
        narrowing = Narrowing(tags=tags, path=document.removeprefix(ids.DOCUMENT) if document is not None else None)
        self._check.step = "search"
        request = SearchRequest(
            query=query,
            top_k=min(limit, MAX_LIMIT),
            mode=self._mode,
            narrowing=narrowing,
            max_per_document=None,
        )
        return self._kb.finder.find(request, boundary=self._boundary, check=self._check).sections

    def section_text(self, section_ids: Sequence[str], max_bytes_per: int) -> shapes.SectionTexts:
        most = max(0, min(max_bytes_per, TEXT_BYTES_PER_SECTION))
        texts: list[shapes.SectionText] = []
        with self._kb.library.reading(self._boundary) as reading:
            for id in dict.fromkeys(section_ids):
                self._check()
                text = _section_text(reading, id, most)
                if text is None:
                    continue
                texts.append(text)
                # Nobody reads a thousand texts to return the first dozen.
                if len(texts) % _TEXTS_AT_ONCE == 0 and within_hard_limit(texts)[1]:
                    break
        kept, cut = within_hard_limit(texts)
        charge = charged({"results": kept}, "snippets")
        over = "token_cap" if cut else charge.reason
        return shapes.SectionTexts(
            results=kept,
            hints=shapes.Hints(),
            session_id=self._session,
            partial=over != "none",
            limit_reason=over,
            meta=Meta(
                Usage(tokens_estimate=charge.tokens, bytes_returned=charge.bytes),
                suspicious((each.section_id, f"{each.title}\n{each.text_truncated}") for each in kept) or UNSET,
            ),
        )

    def search_documentation(self, request: "SearchDocumentation") -> shapes.Documentation:
        """Errors are returned as data, as they always were."""
        try:
            return self._documentation(request.query, request.top_k, request.verbosity)
        except Cancelled:
            raise
        except ClewError as error:
            return shapes.Documentation(
                answer_markdown=f"Error: {error}",
                answer_json=shapes.DocumentationAnswer(
                    answer=f"Search failed: {error}",
                    evidence=(),
                    confidence=0.0,
                    diagnostics={"error": error.message, "code": error.code},
                ),
            )

    def _documentation(self, query: str, top_k: int, verbosity: str) -> shapes.Documentation:
        level = _VERBOSITY.get(verbosity.strip().lower())
        if level is None:
            raise InvalidArgument(f"verbosity is '{shortened(verbosity)}'.", hint="Pass graph or full.")
        if top_k < 1 or not query.strip():
            raise InvalidArgument("query is empty, or top_k below 1.", hint="Pass words, and a top_k of 1 or more.")
        found = self._found(query, min(top_k, MOST_PAGE_SIZE), None)
        quotes = evidence(query, [each.text for each in found])
        scores = [max((q.score for q in quotes if q.passage == place), default=0.0) for place in range(len(found))]
        with self._kb.library.reading(self._boundary) as reading:
            items = [_evidence(reading, each, scores[place], level) for place, each in enumerate(found)]
        kept, cut = within_hard_limit(items)
        quoted = [
            f"> {' '.join(found[q.passage].text[q.start : q.end].split())}\n>\n> — {found[q.passage].section.id}"
            for q in quotes
        ]
        return shapes.Documentation(
            answer_markdown="\n\n".join(quoted) or "Nothing found.",
            answer_json=shapes.DocumentationAnswer(
                answer=f"{len(quotes)} quotes of {len(found)} sections; they are text of documents.",
                evidence=kept,
                confidence=round(max(scores, default=0.0), 4),
                diagnostics={
                    "mode": self._mode.value,
                    "verbosity": level,
                    "sections_found": len(found),
                    "left_out": len(items) - len(kept),
                    "truncated": cut,
                    "elapsed_ms": self._check.elapsed_ms(),
                    "flagged_ids": suspicious((each.section_id, f"{each.title}\n{each.full_text}") for each in kept),
                },
            ),
        )


def _row(reading: LibraryReader, found: FoundSection, rank: int) -> shapes.SectionRow:
    section = found.section
    scores = {each.signal: each.score for each in found.why}
    values = {each.signal: round(each.value, 6) for each in found.why}
    walked = [each.value for each in found.why if each.signal not in ("lexical", "dense")]
    edges = DocumentEdges(reading)
    links = {edge.target for edge in edges.outgoing((section.id,), (EdgeKind.STRUCTURES, EdgeKind.NEXT))[section.id]}
    links |= {edge.source for edge in edges.incoming((section.id,))[section.id]}
    return shapes.SectionRow(
        section_id=section.id,
        title=section.title,
        tokens=section.tokens,
        doc_tag=found.document.tag,
        score=found.score,
        rank=rank,
        source=source_of(found),
        fusion_method="weighted",
        fused_score=found.score,
        lexical_vec_score=scores.get("lexical"),
        graph_score=round(sum(walked), 6) if found.expanded else 0.0,
        graph_distance=1 if found.expanded else 0,
        connection_count=len(links),
        mention_count=len(reading.mentioned_in(section.id)),
        rrf_field_contributions=values or None,
    )


def _section_text(reading: LibraryReader, id: str, most: int) -> shapes.SectionText | None:
    current = reading.current_id(id)
    section = reading.section(current) if current is not None else None
    document = reading.document(section.document) if section is not None else None
    text = reading.text(section.id) if section is not None else None
    if section is None or document is None or text is None:
        return None
    whole = text.encode("utf-8", "surrogatepass")
    shown = whole[:most].decode("utf-8", "ignore")
    return shapes.SectionText(
        section_id=id,
        title=section.title,
        doc_tag=document.tag,
        text_truncated=shown,
        bytes=len(shown.encode()),
        truncated=len(whole) > most,
        source_blob_id=document.content_hash,
    )


def _evidence(reading: LibraryReader, found: FoundSection, confidence: float, level: str) -> shapes.EvidenceItem:
    section = found.section
    mentioned, linked = [], []
    if level == "graph":
        mentioned = [mention.id for mention in reading.mentioned_in(section.id)][:_MOST_ENTITIES]
        found_edges = DocumentEdges(reading).outgoing((section.id,), (EdgeKind.STRUCTURES, EdgeKind.NEXT))
        linked = [edge.target for edge in found_edges[section.id]]
    above = reading.section_at(section.document, section.parent) if section.parent >= 0 else None
    return shapes.EvidenceItem(
        section_id=section.id,
        node_id=section.id,
        snippet=found.text[:_SNIPPET_CHARACTERS],
        path=(ids.document_id(section.document), *((above.id,) if above is not None else ()), section.id),
        confidence=round(confidence, 4),
        title=section.title,
        full_text=found.text.encode("utf-8", "surrogatepass")[:TEXT_BYTES_PER_SECTION].decode("utf-8", "ignore"),
        metadata={"doc_tag": found.document.tag, "path": section.document, "line": section.line, "score": found.score},
        related_entities=tuple(mentioned),
        related_sections=tuple(linked),
    )


def _texts(value: Any) -> tuple[str, ...]:
    """One text or several; anything else asks for nothing."""
    given = value if isinstance(value, list | tuple) else [value]
    return tuple(each for each in given if isinstance(each, str) and each)
