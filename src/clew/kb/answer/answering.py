"""Questions answered by quotes: the few spans of the best sections that say most, each with its place in a file.

What is quoted is data. It is never mixed with Clew's own words, whatever it says.
"""

from collections.abc import Callable

import msgspec

from clew.kb.answer.finding import Finder, FoundSection, Mode, Narrowing
from clew.kb.boundary import Boundary
from clew.search.quote.evidence import Limits, Quote
from clew.search.quote.windows import Passage, window_evidence

SECTIONS_READ = 5
READ_FOR_EACH = 3
READ_PER_DOCUMENT = 4
"""How many sections are read for one that a search would show, and how many of one document."""


class EvidenceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A question, and how much may be read and quoted for it."""

    question: str
    limits: Limits = Limits()
    top_k: int = SECTIONS_READ
    """How many sections a search would show."""
    max_per_document: int = 1
    mode: Mode = Mode.AUTO
    narrowing: Narrowing = Narrowing()


class QuotedSpan(msgspec.Struct, frozen=True):
    quote: str
    section_id: str
    title: str
    path: str
    line: int
    end_line: int
    """Lines of the file; those of the whole section where its text has other lines than the file."""
    confidence: float
    """The share of the question that stands in the span or in the headings above it, from 0 to 1; rare words count
    more."""


class QuotedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    quotes: tuple[QuotedSpan, ...]
    sections: tuple[str, ...]
    """What the answer quotes, best first."""
    has_more: bool
    """Whether there are further quotes, which say less."""
    notes: tuple[str, ...]


class ReadFor(msgspec.Struct, frozen=True):
    """What was read for a question."""

    sections: tuple[FoundSection, ...]
    notes: tuple[str, ...]


def answer(finder: Finder, request: EvidenceRequest) -> QuotedAnswer:
    """The best spans of the best documents."""
    return quoted(finder, request, read_for(finder, request))


def read_for(
    finder: Finder,
    request: EvidenceRequest,
    *,
    boundary: Boundary | None = None,
    check: Callable[[], None] = lambda: None,
) -> ReadFor:
    """Beside the sections that a search would show, at most so many of one document, further sections of the same
    documents are read, because the answer often stands next to what has the words of the question."""
    found = finder.find(
        request.question,
        limit=request.top_k * READ_FOR_EACH,
        mode=request.mode,
        narrowing=request.narrowing,
        max_per_document=max(request.max_per_document, READ_PER_DOCUMENT),
        boundary=boundary,
        check=check,
    )
    reason = (found.reason,) if found.reason and not found.sections else ()
    first = list(dict.fromkeys(each.section.document for each in found.sections))[: request.top_k]
    sections = tuple(each for each in found.sections if each.section.document in first)
    return ReadFor(sections, (*found.notes, *reason))


def quoted(finder: Finder, request: EvidenceRequest, read: ReadFor, offset: int = 0) -> QuotedAnswer:
    """The spans that say most about the question, after the first so many."""
    end = offset + request.limits.max_quotes
    # One more than is shown tells whether there is more.
    up_to = msgspec.structs.replace(request.limits, max_quotes=end + 1)
    best = max((each.score for each in read.sections), default=0.0)
    passages = [
        Passage(each.text, each.section.trail, each.score / best if best > 0 else 0.0) for each in read.sections
    ]
    found = window_evidence(finder.asked(request.question), passages, up_to)
    quotes = found[offset:end]
    return QuotedAnswer(
        quotes=tuple(_quoted(read.sections[quote.passage], quote) for quote in quotes),
        sections=tuple(read.sections[place].section.id for place in sorted({quote.passage for quote in quotes})),
        has_more=len(found) > end,
        notes=read.notes,
    )


def _quoted(found: FoundSection, quote: Quote) -> QuotedSpan:
    section = found.section
    line, end_line = section.lines_of(found.text, quote.start, quote.end)
    return QuotedSpan(
        quote=found.text[quote.start : quote.end],
        section_id=section.id,
        title=section.trail,
        path=section.document,
        line=line,
        end_line=end_line,
        confidence=round(quote.score, 4),
    )
