"""A question answered by quotes from all parts of a project, or by the answer that nothing here answers it."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.kb.answer.answering import spells_out
from clew.search.dense.search import TOO_BUSY
from clew.search.quote.certainty import Certainty
from clew.search.quote.definitions import phrases_of
from clew.search.quote.evidence import Quote, QuoteLimits
from clew.search.quote.whole import quote_text
from clew.search.quote.windows import Passage, WeightedQuestion, window_evidence
from clew.search.units import Unit
from clew.text.display import one_line
from clew.text.terminal import coloured
from clew.why import commit_units
from clew.why.inquiry import day
from clew.why.search import ProjectSearch, varied
from clew.why.story.ties import release_of

if TYPE_CHECKING:
    from clew.operation.call import Call

_READ = 12
_MOST_READ = 4
_OF_COMMITS = QuoteLimits(max_quotes=2, max_quote_tokens=90)
_NUMBER = re.compile(r"\d+(?:\.\d+)+|#\d+")
_RELEASE_SECONDS = 2
_MOST_LINES = 14
"""Of a quote, on a terminal."""
_LIMITS = QuoteLimits(max_quotes=5, max_quote_tokens=90)
_NEAREST = 3
_ORDER = tuple(Certainty)
NOTHING = "Nothing in this project answers that."
NOT_SURE = "Nothing in this project answers that for sure. The nearest:"
UNMENTIONED = "It does not mention"


class AnswerQuote(msgspec.Struct, frozen=True):
    quote: str
    kind: str
    id: str
    title: str
    place: str
    certainty: Certainty


class Answered(msgspec.Struct, frozen=True):
    quotes: tuple[AnswerQuote, ...]
    nearest: tuple[str, ...] = ()
    """The closest texts, if names of the question stand nowhere."""
    notes: tuple[str, ...] = ()
    truncated: bool = False


def ask(call: "Call", question: str) -> Answered:
    """Hold the graph's lock."""
    everything = ProjectSearch(call, ("requirement", "spec", "document", "memory"))
    in_order = everything.ranked(question)
    ranked, notes = varied(in_order or ()), tuple(everything.notes)
    best = ranked[0].score if ranked else 1.0
    shares = {each.id: each.score / best if best > 0 else 0.0 for each in ranked[:_READ]}
    if in_order is None:
        return Answered((), (), (NOTHING, *notes))
    asked = call.project.kb.finder.asked(question)
    units = list(everything.units(shares).values())
    units += [unit for unit in _defining(everything, asked) if unit.id not in shares]
    told = _commits(call, question)
    names = everything.unmentioned(question)
    texts = [*(unit.body for unit in units), *(unit.body for unit, _ in told)]
    missing = [name for name in names if not any(spells_out(text, name) for text in texts)]
    nowhere = (f"{UNMENTIONED} {' and '.join(f'{name!r}' for name in missing)}.",) if missing else ()
    if not units and not told:
        return Answered((), (), (NOTHING, *nowhere, *notes))
    # An answer waits for the encoder once.
    near = [] if TOO_BUSY in notes else [unit.id for unit in units]
    likeness = (everything.answered(lambda engine: engine.window_likeness(question, near)) if near else None) or {}
    # What says what is asked for is found as well as anything.
    passages = [Passage(unit.body, unit.title, shares.get(unit.id, 1.0), likeness.get(unit.id)) for unit in units]
    asked = msgspec.structs.replace(asked, lacks_word_pairs=everything.lacks_word_pairs(question))
    found = window_evidence(asked, passages, _LIMITS)
    said = [_quote(call, units[quote.passage], quote) for quote in found]
    # Documents say what holds, and commits since when: neither takes the room of the other.
    from_commits = window_evidence(asked, [Passage(each.body, each.title, share) for each, share in told], _OF_COMMITS)
    said += [_quote(call, told[quote.passage][0], quote) for quote in from_commits]
    found = (*found, *from_commits)
    if nowhere:
        nearest = tuple(dict.fromkeys(f"{each.title} ({each.place})" for each in said))[:_NEAREST]
        return Answered((), nearest, (NOTHING, *nowhere, *notes))
    if not any(quote.may_answer for quote in found):
        return Answered(tuple(said[:_NEAREST]), (), (NOT_SURE, *notes))
    # What is half as likely is not quoted beside a better one.
    least = max(quote.score for quote in found) / 2
    kept = in_reading_order([each for each, quote in zip(said, found, strict=True) if quote.score >= least])
    return Answered(tuple(kept), (), notes)


def _commits(call: "Call", question: str) -> list[tuple[Unit, float]]:
    """The commits whose messages are nearest to a question, each with its share of the best score. Most commits about
    versions are alike, so one about another number than the question's is left out."""
    search = ProjectSearch(call, (commit_units.PART,))
    ranked = (search.ranked(question) or [])[:_READ]
    scores = {each.id: each.score for each in ranked}
    best = max(scores.values(), default=0.0)
    numbers = _NUMBER.findall(question)
    found = [unit for unit in search.units(scores).values() if all(number in unit.body for number in numbers)]
    return [(unit, scores[unit.id] / best if best > 0 else 0.0) for unit in found[:_MOST_READ]]


def _defining(everything: ProjectSearch, asked: WeightedQuestion) -> Iterator[Unit]:
    """Texts that define the subject of a question. They are searched for separately, because its name alone is in too
    many texts."""
    if asked.definition is None:
        return
    seen: set[str] = set()
    for phrase in phrases_of(asked.text):
        ranked = everything.ranked(phrase) or ()
        new = [each.id for each in ranked[:_READ] if each.id not in seen]
        seen.update(new)
        for unit in everything.units(new).values():
            if asked.definition.search(unit.body) is not None:
                yield unit


def in_reading_order(quotes: Sequence[AnswerQuote]) -> list[AnswerQuote]:
    """The quotes of one file together and from top to bottom; the file with the best quote comes first."""
    first: dict[str, tuple[int, int]] = {}
    for at, each in enumerate(quotes):
        path = each.place.rpartition(":")[0] or each.place
        first[path] = min(first.get(path, (_ORDER.index(each.certainty), at)), (_ORDER.index(each.certainty), at))

    def order(each: AnswerQuote) -> tuple[tuple[int, int], int]:
        path, _, line = each.place.rpartition(":")
        return first[path or each.place], int(line) if line.isdecimal() else 0

    return sorted(quotes, key=order)


def _quote(call: "Call", unit: Unit, found: Quote) -> AnswerQuote:
    place = unit.path or (unit.links[0][:12] if unit.part == commit_units.PART else unit.id[:15])
    line = _line(call, unit, found.start)
    return AnswerQuote(
        quote=quote_text(unit.body, found).strip(),
        kind="document" if unit.part == "section" else unit.part,
        id=unit.links[0] if unit.links and unit.part != "memory" else unit.id,
        # A memory may have no title of its own: what it says is its name, as in the search.
        title=one_line(unit.title or unit.body, 120) + (_made(call, unit) if unit.part == commit_units.PART else ""),
        place=f"{place}:{line}" if line else place,
        certainty=found.certainty,
    )


def _made(call: "Call", unit: Unit) -> str:
    """The author and the day of a commit, and the first release with it."""
    id = unit.links[0]
    commit = call.project.history.history.commits([id]).get(id)
    release = ""
    with suppress(ClewError):
        release = release_of(call.root, id, _RELEASE_SECONDS)
    made = f", {one_line(commit.author, 40)}, {day(commit.time)}" if commit is not None else ""
    return f"{made}{f', first in {release}' if release else ''}"


def _line(call: "Call", unit: Unit, start: int) -> int:
    """The line of a quote in its file, as near as the text of the unit tells."""
    node = call.project.graph.get_node(unit.links[0]) if unit.links and unit.part != "memory" else None
    if node is None or node.source is None:
        return 0
    return node.source.line if unit.part != "section" else node.source.line + unit.body.count("\n", 0, start)


def as_lines(found: Answered) -> Iterator[str]:
    if not found.quotes:
        yield NOTHING
        yield from (note for note in found.notes if note.startswith(UNMENTIONED))
        if found.nearest:
            yield "Nearest, and not enough: " + "; ".join(found.nearest)
        yield "`clew search` lists everything that has the words; `clew kb` says which documents are read."
        return
    if NOT_SURE in found.notes:
        yield NOT_SURE
    for number, each in enumerate(found.quotes):
        if number:
            yield ""
        about = coloured(f"({each.kind}, {each.certainty.value})", "dim")
        yield f"{coloured(each.place, 'cyan')}  {each.title}  {about}"
        yield from (f"  {line}".rstrip() for line in _tidy(each))


def _tidy(said: AnswerQuote) -> list[str]:
    """The lines of a quote without its heading, which is above it, and without gaps of several lines."""
    lines = re.sub(r"\n\s*\n\s*\n+", "\n\n", said.quote).splitlines()
    if len(lines) > 1 and said.title.endswith(lines[0].strip("# ").strip()):
        lines = lines[1:]
    while lines and not lines[0].strip():
        lines = lines[1:]
    return [*lines[:_MOST_LINES], "…"] if len(lines) > _MOST_LINES else lines
