"""A question answered by quotes from all parts of a project, or by the answer that nothing here answers it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.errors import ClewError
from clew.kb.answer.answering import spells_out
from clew.search.dense.search import TOO_BUSY
from clew.search.quote.certainty import Certainty, surest
from clew.search.quote.definitions import phrases_of
from clew.search.quote.evidence import Quote, QuoteLimits
from clew.search.quote.whole import quote_text
from clew.search.quote.windows import Passage, WeightedQuestion, window_evidence
from clew.search.units import Unit
from clew.text.display import one_line
from clew.text.terminal import coloured
from clew.why import commit_units
from clew.why.asking.code import CodeQuote, definitions, holding, variables
from clew.why.asking.intent import Intent, intent_of, is_of_the_past, saying_words
from clew.why.asking.manifests import ManifestFact, manifest_facts
from clew.why.inquiry import day
from clew.why.search import ProjectSearch, varied
from clew.why.story.ties import release_of

if TYPE_CHECKING:
    from clew.operation.call import Call
    from clew.search.question import RankedUnit

_READ = 12
_MOST_READ = 4
_COMMIT_LIMITS = QuoteLimits(max_quotes=2, max_quote_tokens=90)
_WHOLE = QuoteLimits(max_quotes=16, max_quote_tokens=400, max_quote_chars=8_000)
_NUMBER = re.compile(r"\d+(?:\.\d+)+|#\d+")
_LARGE = re.compile(r"(?<![\w.])\d{4,}(?![\w.])")
"""Numbers that a question names; code says what they are for."""
_RELEASE_SECONDS = 2
_MOST_LINES = 14
"""Of a quote, on a terminal."""
_LIMITS = QuoteLimits(max_quotes=5, max_quote_tokens=90)
_NEAREST = 3
_MOST_QUOTES, _MOST_OF_KIND = 7, 4
_UNSURE = Certainty.UNSURE
_OF_FOLDER = 0.05
"""The share of its worth that code and a manifest lose for each folder above."""
_ORDER = tuple(Certainty)
_FIRST = {
    Intent.PLACE: ("code", "variable", "manifest", "requirement", "spec", "document", "memory", "test"),
    Intent.TIME: ("changelog", "commit", "document", "memory", "requirement"),
    Intent.REASON: ("memory", "requirement", "code", "commit", "document", "changelog"),
    Intent.FACT: ("variable", "manifest", "requirement", "spec", "document", "memory", "code", "test", "changelog"),
}
"""By what a question is after, the kinds that answer it best."""
NOTHING = "Nothing in this project answers that."
NOT_SURE = "Nothing in this project answers that for sure. The nearest:"
UNMENTIONED = "It does not mention"


class AnswerQuote(msgspec.Struct, frozen=True):
    quote: str
    kind: str
    """requirement, spec, document, changelog, memory, commit, manifest, code, variable (that code reads) or test."""
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


class _Told(NamedTuple):
    """A quote with what it is ranked by."""

    quote: AnswerQuote
    at: int
    """Its place among the quotes of its source."""
    likely: float
    may_answer: bool
    is_related: bool


def ask(call: "Call", question: str) -> Answered:
    """Hold the graph's lock."""
    everything = ProjectSearch(call, ("requirement", "spec", "document", "memory"))
    in_order = everything.ranked(question)
    if in_order is None:
        return Answered((), (), (NOTHING, *everything.notes))
    asked = call.project.kb.finder.asked(question)
    asked = msgspec.structs.replace(asked, lacks_word_pairs=everything.lacks_word_pairs(question))
    with suppress(ClewError):
        # What keeps the source files away is said by the search in code.
        everything.notes += call.project.code.ensure()
    units = _units(everything, in_order, asked)
    commits = _commits(call, question)
    facts = manifest_facts(call.project)
    texts = [*(unit.body for unit, _ in units), *(unit.body for unit, _ in commits)]
    stated = "\n".join(f"{each.text} {each.about}" for each in facts).casefold()
    names = [name for name in everything.unmentioned(question) if name.casefold() not in stated]
    lines = holding(call, [*names, *_LARGE.findall(question)])
    missing = [name for name in names if name not in lines and not any(spells_out(text, name) for text in texts)]
    notes = tuple(dict.fromkeys(everything.notes))
    nowhere = (f"{UNMENTIONED} {' and '.join(f'{name!r}' for name in missing)}.",) if missing else ()
    told = [*_of_units(call, everything, asked, units), *_of_commits(call, asked, commits)]
    told += _of_project(call, asked, [*lines.values(), *variables(call, question)], facts)
    if nowhere:
        nearest = tuple(dict.fromkeys(f"{each.quote.title} ({each.quote.place})" for each in told))[:_NEAREST]
        return Answered((), nearest, (NOTHING, *nowhere, *notes))
    told = [each for each in told if each.is_related]
    if not told:
        return Answered((), (), (NOTHING, *notes))
    ranked = _ranked(told, intent_of(question))
    if not any(each.may_answer for each in told):
        return Answered(tuple(each.quote for each in ranked[:_NEAREST]), (), (NOT_SURE, *notes))
    chosen = _chosen(ranked)
    unsure = () if surest(each.certainty for each in chosen) is not _UNSURE else (NOT_SURE,)
    return Answered(tuple(chosen), (), (*unsure, *notes))


def _units(
    everything: ProjectSearch, in_order: "Sequence[RankedUnit]", asked: WeightedQuestion
) -> list[tuple[Unit, float]]:
    """The texts that are read, each with its share of the best score. What defines the subject is found as well as
    anything."""
    ranked = varied(in_order)
    best = ranked[0].score if ranked else 1.0
    shares = {each.id: each.score / best if best > 0 else 0.0 for each in ranked[:_READ]}
    units = list(everything.units(shares).values())
    units += [unit for unit in _defining(everything, asked) if unit.id not in shares]
    return [(unit, shares.get(unit.id, 1.0)) for unit in units]


def _of_units(
    call: "Call", everything: ProjectSearch, asked: WeightedQuestion, units: Sequence[tuple[Unit, float]]
) -> Iterator[_Told]:
    # An answer waits for the encoder once.
    near = [] if TOO_BUSY in everything.notes else [unit.id for unit, _ in units]
    likeness = (everything.answered(lambda engine: engine.window_likeness(asked.text, near)) if near else None) or {}
    passages = [Passage(unit.body, unit.title, share, likeness.get(unit.id)) for unit, share in units]
    for at, quote in enumerate(window_evidence(asked, passages, _LIMITS)):
        yield _Told(_quote(call, units[quote.passage][0], quote), at, quote.score, quote.may_answer, quote.is_related)


def _of_commits(call: "Call", asked: WeightedQuestion, commits: Sequence[tuple[Unit, float]]) -> Iterator[_Told]:
    """Documents say what holds, and commits since when: neither takes the room of the other."""
    passages = [Passage(unit.body, unit.title, share) for unit, share in commits]
    for at, quote in enumerate(window_evidence(asked, passages, _COMMIT_LIMITS)):
        yield _Told(_quote(call, commits[quote.passage][0], quote), at, quote.score, quote.may_answer, quote.is_related)


def _of_project(
    call: "Call", asked: WeightedQuestion, found: Sequence[CodeQuote], facts: Sequence[ManifestFact]
) -> Iterator[_Told]:
    """Quotes from code and manifests: each is a unit by itself, with its names and the words for it above."""
    saying = saying_words(asked.text)
    code = [*found, *definitions(call, asked.text, asked.rarities)]
    said = [
        AnswerQuote(each.text, each.kind, each.name, each.name, f"{each.path}:{each.line}", _UNSURE) for each in code
    ]
    about = [(f"{each.about} {saying}", 1.0) for each in code]
    for fact in facts:
        place = f"{fact.path}:{fact.line}"
        said.append(AnswerQuote(fact.text, "manifest", place, fact.path.rpartition("/")[2], place, _UNSURE))
        about.append((fact.about, fact.weight))
    # A fence keeps each whole: lines of code are no paragraphs.
    passages = [
        Passage(f"```\n{each.quote}\n```", words, weight - _OF_FOLDER * each.place.count("/"))
        for each, (words, weight) in zip(said, about, strict=True)
    ]
    for at, quote in enumerate(window_evidence(asked, passages, _WHOLE)):
        own = msgspec.structs.replace(said[quote.passage], certainty=quote.certainty)
        yield _Told(own, at, quote.score, quote.may_answer, quote.is_related)


def _ranked(told: Iterable[_Told], intent: Intent) -> list[_Told]:
    """One ranking: the surer first, and of these the kind that the question is after."""
    first = _FIRST[intent]

    def order(each: _Told) -> tuple[int, int, bool, int]:
        kind = each.quote.kind
        preferred = first.index(kind) if kind in first else len(first)
        return _ORDER.index(each.quote.certainty), preferred, not each.may_answer, each.at

    return sorted(told, key=order)


def _chosen(ranked: Sequence[_Told]) -> list[AnswerQuote]:
    """The quotes that are shown: none that is half as likely as one of its class, and at most so many of a kind."""
    kept: list[AnswerQuote] = []
    by_kind: Counter[str] = Counter()
    best = max(each.likely for each in ranked)
    for each in ranked:
        quote = each.quote
        if any(other.kind == quote.kind == commit_units.PART and other.id == quote.id for other in kept):
            continue
        is_weak = quote.certainty is Certainty.UNSURE and (each.likely < best / 2 or not each.may_answer)
        if is_weak or by_kind[quote.kind] >= _MOST_OF_KIND or len(kept) >= _MOST_QUOTES:
            continue
        by_kind[quote.kind] += 1
        kept.append(quote)
    return in_reading_order(kept)


def in_reading_order(quotes: Sequence[AnswerQuote]) -> list[AnswerQuote]:
    """Quotes of one file that are equally sure together and from top to bottom, where the best of them stands."""
    first: dict[tuple[Certainty, str], int] = {}
    for at, each in enumerate(quotes):
        first.setdefault((each.certainty, each.place.rpartition(":")[0] or each.place), at)

    def order(each: AnswerQuote) -> tuple[int, int]:
        path, _, line = each.place.rpartition(":")
        return first[each.certainty, path or each.place], int(line) if line.isdecimal() else 0

    return sorted(quotes, key=order)


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


def _quote(call: "Call", unit: Unit, found: Quote) -> AnswerQuote:
    place = unit.path or (unit.links[0][:12] if unit.part == commit_units.PART else unit.id[:15])
    line = _line(call, unit, found.start)
    return AnswerQuote(
        quote=quote_text(unit.body, found).strip(),
        kind=_kind(unit),
        id=unit.links[0] if unit.links and unit.part != "memory" else unit.id,
        # A memory may have no title of its own: what it says is its name, as in the search.
        title=one_line(unit.title or unit.body, 120) + (_made(call, unit) if unit.part == commit_units.PART else ""),
        place=f"{place}:{line}" if line else place,
        certainty=found.certainty,
    )


def _kind(unit: Unit) -> str:
    if unit.part != "section":
        return unit.part
    return "changelog" if is_of_the_past(unit.path or "") else "document"


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
