"""A question answered by quotes from everything a project holds, or by saying that nothing here answers it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from clew.search.quote.evidence import Limits
from clew.search.quote.windows import Passage, window_evidence
from clew.search.units import Unit
from clew.text.shortening import one_line
from clew.why.search import Everything, varied

if TYPE_CHECKING:
    from clew.operation.call import Call

_READ = 12
_LIMITS = Limits(max_quotes=5, max_quote_tokens=90)
_LEAST = 0.1
"""A quote that is less likely to answer than this is no answer."""
_NOTHING = "Nothing in this project answers that."


class Said(msgspec.Struct, frozen=True):
    quote: str
    kind: str
    id: str
    title: str
    place: str
    confidence: float
    """How likely the quote is to answer, from 0 to 1."""


class Answered(msgspec.Struct, frozen=True):
    quotes: tuple[Said, ...]
    nearest: tuple[str, ...] = ()
    """What came nearest, where nothing answers."""
    notes: tuple[str, ...] = ()


def ask(call: "Call", question: str) -> Answered:
    """Hold the graph's lock."""
    everything = Everything(call, ("requirement", "spec", "document", "memory"))
    engine, in_order = everything.ranked(question)
    ranked = varied(in_order)
    units = [unit for each in ranked[:_READ] if engine is not None and (unit := engine.units.get(each.id)) is not None]
    best = ranked[0].score if ranked else 1.0
    shares = {each.id: each.score / best if best > 0 else 0.0 for each in ranked[:_READ]}
    if engine is None or not units:
        return Answered((), (), (_NOTHING, *everything.notes))
    likeness = engine.window_likeness(question, [unit.id for unit in units])
    passages = [Passage(unit.body, unit.title, shares[unit.id], likeness.get(unit.id)) for unit in units]
    found = window_evidence(call.project.kb.finder.asked(question), passages, _LIMITS)
    said = [_said(call, units[quote.passage], quote.start, quote.end, quote.score) for quote in found]
    if not any(quote.may_answer and quote.score >= _LEAST for quote in found):
        nearest = tuple(dict.fromkeys(f"{each.title} ({each.place})" for each in said))[:3]
        return Answered((), nearest, (_NOTHING, *everything.notes))
    # What is half as likely is not quoted beside a better one.
    least = max(each.confidence for each in said) / 2
    return Answered(tuple(each for each in said if each.confidence >= least), (), tuple(everything.notes))


def _said(call: "Call", unit: Unit, start: int, end: int, score: float) -> Said:
    place = unit.path or unit.id[:15]
    line = _line(call, unit, start)
    return Said(
        quote=unit.body[start:end].strip(),
        kind="document" if unit.part == "section" else unit.part,
        id=unit.links[0] if unit.links and unit.part != "memory" else unit.id,
        title=one_line(unit.title, 120),
        place=f"{place}:{line}" if line else place,
        confidence=round(score, 2),
    )


def _line(call: "Call", unit: Unit, start: int) -> int:
    """The line of a quote in its file, as near as the text of the unit tells."""
    node = call.project.graph.get_node(unit.links[0]) if unit.links and unit.part != "memory" else None
    if node is None or node.source is None:
        return 0
    return node.source.line if unit.part != "section" else node.source.line + unit.body.count("\n", 0, start)


def as_lines(found: Answered) -> Iterator[str]:
    if not found.quotes:
        yield _NOTHING
        if found.nearest:
            yield "Nearest, and not enough: " + "; ".join(found.nearest)
        return
    for each in found.quotes:
        yield f"{each.place}  {each.title} ({each.kind}, confidence {each.confidence:g})"
        yield from (f"  {line}" for line in each.quote.splitlines())
