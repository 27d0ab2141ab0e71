"""Questions answered by quotes: a few spans from the best sections, each with its file and line.

What is quoted is data. It is never mixed with Clew's own words, whatever it says.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from clew.errors import InvalidArgument
from clew.kb.answer import results
from clew.kb.answer.passages import Caller, fitting, flagged, line_of
from clew.kb.answer.requests import EvidenceRequest, Mode, SearchRequest
from clew.kb.answer.scratch import ScratchPassage
from clew.kb.answer.section_search import Finder, FoundSection
from clew.kb.answer.shortlist import KeptPages, chosen_mode, fingerprint
from clew.kb.boundary import Boundary
from clew.operation.paging import Pages
from clew.search.dense.search import TOO_BUSY
from clew.search.quote.certainty import RATES, Certainty, surest
from clew.search.quote.evidence import Quote, evidence
from clew.search.quote.whole import quote_text
from clew.search.quote.windows import Passage, WeightedQuestion, window_evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.kb.service import KnowledgeBase


READ_FOR_EACH = 3
READ_PER_DOCUMENT = 4
"""Sections that are read for one that a search would show, and sections read of one document."""


class QuotedSpan(msgspec.Struct, frozen=True):
    quote: str
    section_id: str
    title: str
    path: str
    line: int
    end_line: int
    """Lines of the file; those of the whole section where its text has other lines than the file."""
    certainty: Certainty
    also: tuple[str, ...] = ()
    """Places of its copies, as FILE:LINE."""


class QuotedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    quotes: tuple[QuotedSpan, ...]
    """If nothing answers the question for sure, the nearest ones, all unsure; none if nothing is near. A note says
    why."""
    is_refused: bool = False
    sections: tuple[str, ...]
    """The quoted sections, best first."""
    has_more: bool
    """True if there are further quotes, which say less."""
    notes: tuple[str, ...]
    nearest: tuple[QuotedSpan, ...] = ()
    """If names of the question stand nowhere: the nearest spans, without their text."""


NEAREST = 3
_MOST_COPIES = 5
LONGEST_ABBREVIATION = 5
_UNMENTIONED = "Nothing in the documents answers this: they do not mention {names}."


class ReadSections(msgspec.Struct, frozen=True, kw_only=True):
    """The sections that were read for a question, and the measures for choosing quotes."""

    asked: WeightedQuestion
    sections: tuple[FoundSection, ...]
    likeness: "Mapping[str, NDArray[np.float32]]"
    """By section, how near in meaning its windows are to the question; of those of which that is known."""
    notes: tuple[str, ...]
    mode: Mode
    """By which they were found, and why, where the documents decided that."""
    choice: str | None
    unmentioned: tuple[str, ...]
    """Names in the question that stand nowhere in the documents."""


def answer(finder: Finder, request: EvidenceRequest) -> QuotedAnswer:
    """The best spans of the best documents."""
    read = read_for(finder, request)
    return quoted(request, read, ranked_quotes(request, read))


def read_for(
    finder: Finder,
    request: EvidenceRequest,
    *,
    boundary: Boundary | None = None,
    check: Callable[[], None] = lambda: None,
) -> ReadSections:
    """Beside the sections that a search would show, at most so many of one document, further sections of the same
    documents are read, because the answer often stands next to what has the words of the question."""
    search = SearchRequest(
        query=request.question,
        top_k=request.top_k * READ_FOR_EACH,
        mode=request.mode,
        narrowing=request.narrowing,
        max_per_document=max(request.max_per_document, READ_PER_DOCUMENT),
    )
    found = finder.find(search, boundary=boundary, check=check)
    reason = (found.reason,) if found.reason and not found.sections else ()
    first = list(dict.fromkeys(each.section.document for each in found.sections))[: request.top_k]
    sections = tuple(each for each in found.sections if each.section.document in first)
    names = finder.unmentioned(request.question, request.narrowing, boundary) if sections else ()
    texts = [each.text for each in sections]
    lacks_word_pairs = finder.lacks_word_pairs(request.question, request.narrowing, boundary) if sections else False
    # An answer waits for the encoder once.
    is_late = TOO_BUSY in found.notes
    return ReadSections(
        asked=msgspec.structs.replace(finder.asked(request.question), lacks_word_pairs=lacks_word_pairs),
        sections=sections,
        likeness={} if is_late else finder.likeness(request.question, [each.section.id for each in sections]),
        notes=(*found.notes, *reason),
        mode=found.mode,
        choice=found.choice,
        unmentioned=tuple(name for name in names if not any(spells_out(text, name) for text in texts)),
    )


def spells_out(text: str, name: str) -> bool:
    """True if a text has the words of an abbreviation: "a network file system" for NFS."""
    if not (name.isupper() and name.isalpha() and 2 < len(name) <= LONGEST_ABBREVIATION):
        return False
    words = r"\W+".join(rf"{letter}[a-z]+" for letter in name)
    return re.search(rf"\b{words}\b", text, re.IGNORECASE) is not None


def ranked_quotes(request: EvidenceRequest, read: ReadSections) -> tuple[Quote, ...]:
    """All possible quotes from the sections that were read, best first; the pages of an answer show them."""
    best = max((each.score for each in read.sections), default=0.0)
    passages = [
        Passage(
            each.text,
            each.section.trail,
            each.score / best if best > 0 else 0.0,
            read.likeness.get(each.section.id),
        )
        for each in read.sections
    ]
    return window_evidence(read.asked, passages, msgspec.structs.replace(request.limits, max_quotes=sys.maxsize))


def quoted(
    request: EvidenceRequest, read: ReadSections, ranked: Sequence[Quote], offset: int = 0, *, is_first: bool = True
) -> QuotedAnswer:
    """The spans that answer the question best, after the first so many. If the first answer was that nothing answers
    the question, a second call gets the nearest spans."""
    end = offset + request.limits.max_quotes
    # One more than is shown tells whether there is more.
    found = ranked[: end + 1]
    reason = _why_not(found, read) if is_first else None
    if reason is not None and read.unmentioned:
        return _absent(read, found, reason)
    if reason is not None and not any(quote.may_answer for quote in found):
        end = min(end, offset + NEAREST)
    quotes = found[offset:end]
    return QuotedAnswer(
        quotes=tuple(_quoted(read.sections, quote) for quote in quotes),
        is_refused=reason is not None,
        sections=tuple(read.sections[place].section.id for place in sorted({quote.passage for quote in quotes})),
        has_more=len(found) > end,
        notes=read.notes if reason is None else (reason, *read.notes),
    )


def _why_not(found: Sequence[Quote], read: ReadSections) -> str | None:
    """The reason why none of the quotes surely answers the question; None if one is likely to."""
    if not found:
        return None
    if read.unmentioned:
        return _UNMENTIONED.format(names=" and ".join(f"'{name}'" for name in read.unmentioned))
    return results.NOT_SURE if surest(quote.certainty for quote in found) is Certainty.UNSURE else None


def _absent(read: ReadSections, found: Sequence[Quote], reason: str) -> QuotedAnswer:
    """The answer that the names of the question stand nowhere, with the nearest spans, one from each section."""
    by_section = {quote.passage: quote for quote in reversed(found)}
    nearest = sorted(by_section.values(), key=lambda quote: -quote.score)[:NEAREST]
    spans = (_quoted(read.sections, quote) for quote in nearest)
    return QuotedAnswer(
        quotes=(),
        is_refused=True,
        sections=(),
        has_more=False,
        notes=(reason, *read.notes),
        nearest=tuple(msgspec.structs.replace(span, quote="") for span in spans),
    )


def _quoted(sections: Sequence[FoundSection], quote: Quote) -> QuotedSpan:
    found = sections[quote.passage]
    section = found.section
    line, end_line = section.lines_of(found.text, quote.start, quote.end)
    return QuotedSpan(
        quote=quote_text(found.text, quote),
        section_id=section.id,
        title=section.trail,
        path=section.document,
        line=line,
        end_line=end_line,
        certainty=quote.certainty,
        also=tuple(_place(sections[passage], start, end) for passage, start, end in quote.also[:_MOST_COPIES]),
    )


def _place(found: FoundSection, start: int, end: int) -> str:
    return f"{found.section.document}:{found.section.lines_of(found.text, start, end)[0]}"


_LONGEST_MISSING = 200
"""An unknown id is shown with so many of its characters."""


class Quoting:
    def __init__(self, kb: "KnowledgeBase", *, graph: bool, idle_seconds: float) -> None:
        self._kb = kb
        self._graph = graph
        self._kept: KeptPages[ReadSections] = KeptPages(idle_seconds)

    def extract(self, request: EvidenceRequest, ids: Iterable[str], caller: Caller) -> results.ExtractedEvidence:
        """The spans of the passages that answer a question best."""
        passages, missing = self._present(dict.fromkeys(ids), caller)
        caller.check.step = "evidence"
        caller.check()
        quotes = evidence(request.question, [passage.text for passage in passages], request.limits)
        kept, reason = fitting([_evidence_quote(passages[quote.passage], quote, caller) for quote in quotes])
        return results.ExtractedEvidence(
            quotes=kept,
            partial=reason != "none",
            limit_reason=reason,
            missing_passage_ids=missing or UNSET,
            notes=self._kb.passages.notes_on(passages) or UNSET,
        )

    def _present(self, ids: Iterable[str], caller: Caller) -> tuple[list[ScratchPassage], tuple[str, ...]]:
        passages, missing = [], []
        for id in ids:
            try:
                passages.append(self._kb.passages.get(id, caller))
            except InvalidArgument:
                missing.append(id[:_LONGEST_MISSING])
        return passages, tuple(missing)

    def retrieve(self, request: EvidenceRequest, caller: Caller, pages: Pages) -> results.RetrievedEvidence:
        """A search and its evidence in one step: the best quotes, or the following ones."""
        mode, note = chosen_mode(request.mode, graph=self._graph)
        caller.check.step = "search"
        request = msgspec.structs.replace(request, mode=mode)
        read = self._kept.before(pages, self._kb.library, caller.boundary)
        if read is None:
            read = read_for(self._kb.finder, request, boundary=caller.boundary, check=caller.check)
        # What was found is returned even if it is late: on a busy machine most of the time went into waiting.
        ranked = ranked_quotes(request, read)
        # Of the same sections, words and meaning quote in different orders.
        state = fingerprint(read.sections, [(quote.passage, quote.start, quote.end) for quote in ranked])
        offset = pages.start(state)
        answered = quoted(request, read, ranked, offset, is_first=pages.is_first)
        passages = list(self._read_for(answered.sections, answered.quotes, caller))
        sources, cut = fitting(
            [
                results.EvidenceSource(
                    passage_id=each.id, section_id=each.section_id, doc_tag=each.doc_tag, title=each.title
                )
                for each in passages
            ],
            share=0.4,
        )
        named = {each.section_id: number for number, each in enumerate(sources, start=1)}
        spoken = takewhile(lambda each: each.section_id in named, answered.quotes)
        kept, reason = fitting([_quote_of(named[each.section_id], each) for each in spoken], share=0.6)
        reason = reason if reason != "none" else cut
        more = answered.has_more or len(kept) < len(answered.quotes)
        cursor = pages.cursor_to(offset + len(kept), state) if more else None
        self._kept.keep(cursor, caller.boundary, read)
        notes = (*note, *answered.notes)
        nearest = tuple(results.Nearest(each.section_id, each.title, each.line) for each in answered.nearest)
        return results.RetrievedEvidence(
            quotes=kept,
            nearest=nearest or UNSET,
            sources=sources,
            diagnostics=msgspec.to_builtins(
                results.Diagnostics(
                    mode=read.mode.value,
                    choice=read.choice or UNSET,
                    candidates=len(passages),
                    deduped=request.max_per_document == 1,
                    reranked=False,
                    elapsed_ms=caller.check.elapsed_ms(),
                )
            ),
            next_cursor=cursor,
            partial=reason != "none",
            limit_reason=reason,
            session_id=caller.session,
            notes=notes or UNSET,
        )

    def _read_for(self, ids: Sequence[str], quotes: Sequence[QuotedSpan], caller: Caller) -> Iterator[ScratchPassage]:
        """The sections that an answer quotes as passages, each anchored at its first quote."""
        with self._kb.library.reading(caller.boundary) as reading:
            for id in ids:
                section, text = reading.section(id), reading.text(id)
                document = reading.document(section.document) if section is not None else None
                if section is None or text is None or document is None:
                    continue
                spoken = next((each.quote for each in quotes if each.section_id == id), "")
                start = max(text.find(spoken), 0)
                anchor = (start, start + len(spoken))
                yield self._kb.passages.keep(section, document, text, anchor, caller)


def _evidence_quote(passage: ScratchPassage, quote: Quote, caller: Caller) -> results.EvidenceQuote:
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


def _quote_of(source: int, spoken: QuotedSpan) -> results.SourcedQuote:
    return results.SourcedQuote(
        quote=spoken.quote,
        source=source,
        line=spoken.line,
        certainty=spoken.certainty,
        confidence=RATES[spoken.certainty],
        also=spoken.also or UNSET,
        flags=flagged(spoken.quote, spoken.title),
    )
