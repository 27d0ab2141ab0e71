"""Questions answered by quotes: the few spans of the best sections that say most, each with its place in a file.

What is quoted is data. It is never mixed with Clew's own words, whatever it says.
"""

import msgspec

from clew.kb.finding import Finder, FoundSection, Mode, Narrowing
from clew.search.evidence import Limits, Quote, evidence

SECTIONS_READ = 5


class QuotedSpan(msgspec.Struct, frozen=True):
    quote: str
    section_id: str
    title: str
    path: str
    line: int
    end_line: int
    """Lines of the file; those of the whole section where its text has other lines than the file."""
    confidence: float
    """The share of the question's words that the span has, from 0 to 1."""


class QuotedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    quotes: tuple[QuotedSpan, ...]
    sections: tuple[str, ...]
    """What was read for the answer, best first."""
    notes: tuple[str, ...]


def answer(
    finder: Finder,
    question: str,
    *,
    limits: Limits | None = None,
    mode: Mode = Mode.AUTO,
    narrowing: Narrowing | None = None,
) -> QuotedAnswer:
    """The best spans of the best sections, one section of each document."""
    found = finder.find(question, limit=SECTIONS_READ, mode=mode, narrowing=narrowing)
    quotes = evidence(question, [each.text for each in found.sections], limits)
    return QuotedAnswer(
        quotes=tuple(_quoted(found.sections[quote.passage], quote) for quote in quotes),
        sections=tuple(each.section.id for each in found.sections),
        notes=found.notes,
    )


def _quoted(found: FoundSection, quote: Quote) -> QuotedSpan:
    section = found.section
    line, end_line = section.line, section.end_line
    if found.text.count("\n") == end_line - line:
        line += found.text.count("\n", 0, quote.start)
        end_line = line + found.text.count("\n", quote.start, quote.end)
    return QuotedSpan(
        quote=found.text[quote.start : quote.end],
        section_id=section.id,
        title=section.trail,
        path=section.document,
        line=line,
        end_line=end_line,
        confidence=round(quote.score, 4),
    )
