"""Quotes: the sentences that answer a question, each with its source."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from clew.errors import InvalidArgument
from clew.kb.answer import results
from clew.kb.answer.answering import EvidenceRequest, QuotedSpan, quoted, read_for
from clew.kb.answer.finding import Mode
from clew.kb.answer.passages import Caller, fitting, flagged, line_of
from clew.kb.answer.scratch import Passage
from clew.kb.answer.shortlist import chosen_mode, fingerprint
from clew.operation.paging import Pages
from clew.search.quote.evidence import Quote, evidence

if TYPE_CHECKING:
    from clew.kb.service import KnowledgeBase


_LONGEST_MISSING = 200
"""Of an id that nothing has so many characters are told back."""


class Quoting:
    def __init__(self, kb: "KnowledgeBase", *, graph: bool) -> None:
        self._kb = kb
        self._graph = graph

    def extract(self, request: EvidenceRequest, ids: Iterable[str], caller: Caller) -> results.Evidence:
        """The spans of the passages that say most about a question."""
        passages, missing = self._present(dict.fromkeys(ids), caller)
        caller.check.step = "evidence"
        caller.check()
        quotes = evidence(request.question, [passage.text for passage in passages], request.limits)
        kept, reason = fitting([_quoted(passages[quote.passage], quote, caller) for quote in quotes])
        return results.Evidence(
            quotes=kept,
            partial=reason != "none",
            limit_reason=reason,
            missing_passage_ids=missing or UNSET,
            notes=self._kb.passages.notes_on(passages) or UNSET,
        )

    def _present(self, ids: Iterable[str], caller: Caller) -> tuple[list[Passage], tuple[str, ...]]:
        passages, missing = [], []
        for id in ids:
            try:
                passages.append(self._kb.passages.get(id, caller))
            except InvalidArgument:
                missing.append(id[:_LONGEST_MISSING])
        return passages, tuple(missing)

    def retrieve(self, request: EvidenceRequest, caller: Caller, pages: Pages) -> results.RetrievedEvidence:
        """A search and its evidence in one step: the best quotes, or those after them."""
        mode, note = chosen_mode(request.mode, graph=self._graph)
        caller.check.step = "search"
        finder = self._kb.finder
        request = msgspec.structs.replace(request, mode=mode)
        read = read_for(finder, request, boundary=caller.boundary, check=caller.check)
        caller.check.step = "evidence"
        state = fingerprint(read.sections)
        offset = pages.start(state)
        answered = quoted(finder, request, read, offset)
        passages = list(self._read_for(answered.sections, answered.quotes, caller))
        sources, cut = fitting(
            [
                results.EvidenceSource(
                    passage_id=each.id,
                    section_id=each.section_id,
                    doc_tag=each.doc_tag,
                    title=each.title,
                    rank=rank,
                    uri=caller.uri(each),
                )
                for rank, each in enumerate(passages, start=1)
            ],
            share=0.4,
        )
        named = {each.section_id: each for each in passages[: len(sources)]}
        spoken = takewhile(lambda each: each.section_id in named, answered.quotes)
        kept, reason = fitting([_quote_of(named[each.section_id], each, caller) for each in spoken], share=0.6)
        reason = reason if reason != "none" else cut
        more = answered.has_more or len(kept) < len(answered.quotes)
        notes = (*note, *answered.notes)
        return results.RetrievedEvidence(
            quotes=kept,
            sources=sources,
            diagnostics=msgspec.to_builtins(
                results.Diagnostics(
                    mode=(Mode.HYBRID_LOCAL if mode is Mode.AUTO else mode).value,
                    candidates=len(passages),
                    deduped=request.max_per_document == 1,
                    reranked=False,
                    elapsed_ms=caller.check.elapsed_ms(),
                )
            ),
            next_cursor=pages.cursor_to(offset + len(kept), state) if more else None,
            partial=reason != "none",
            limit_reason=reason,
            session_id=caller.session,
            notes=notes or UNSET,
        )

    def _read_for(self, ids: Sequence[str], quotes: Sequence[QuotedSpan], caller: Caller) -> Iterator[Passage]:
        """The sections that an answer quotes as passages, each anchored at its first quote."""
        with self._kb.library.reading(caller.boundary) as reading:
            for id in ids:
                caller.check()
                section, text = reading.section(id), reading.text(id)
                document = reading.document(section.document) if section is not None else None
                if section is None or text is None or document is None:
                    continue
                spoken = next((each.quote for each in quotes if each.section_id == id), "")
                start = max(text.find(spoken), 0)
                anchor = (start, start + len(spoken))
                yield self._kb.passages.keep(section, document, text, anchor, caller)


def _quoted(passage: Passage, quote: Quote, caller: Caller) -> results.EvidenceQuote:
    text = passage.text
    shown = text[quote.start : quote.end]
    return results.EvidenceQuote(
        quote=shown,
        passage_id=passage.id,
        section_id=passage.section_id,
        title=passage.title,
        uri=caller.uri(passage),
        confidence=round(quote.score, 4),
        line=line_of(passage, quote.start),
        context_before=text[quote.context_start : quote.start].strip() or UNSET,
        context_after=text[quote.end : quote.context_end].strip() or UNSET,
        flags=flagged(text[quote.context_start : quote.context_end], passage.title),
    )


def _quote_of(passage: Passage, spoken: QuotedSpan, caller: Caller) -> results.EvidenceQuote:
    return results.EvidenceQuote(
        quote=spoken.quote,
        passage_id=passage.id,
        section_id=passage.section_id,
        title=passage.title,
        uri=caller.uri(passage),
        confidence=spoken.confidence,
        line=spoken.line,
        flags=flagged(spoken.quote, passage.title),
    )
