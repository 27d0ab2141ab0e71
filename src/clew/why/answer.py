"""An answer to "why": sections in the order of their weight, each line with its place and its basis.

| basis | means |
|---|---|
| stated | somebody wrote it down about this very thing: a citation, a marker, an id in a commit message, a memory |
| recorded | git or a test report holds it |
| inferred | it follows from something else: inheritance from what is around, a mention, an import |
| exact, index, inferred, name | a use in code, with its own basis as `find_uses` gives it |

Inside a section, what is inferred never comes before what is stated.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from clew.operation.budget import Budget, fits
from clew.text.terminal import coloured

Basis = Literal["stated", "exact", "index", "recorded", "inferred", "name"]
_RANKS: dict[str, int] = {"stated": 0, "exact": 0, "index": 0, "recorded": 1, "inferred": 2, "name": 2}


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str
    basis: Basis
    place: str = ""
    """`path:line`, or the id of a commit or memory."""


class EvidenceSection(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    facts: tuple[Fact, ...] = ()
    note: str = ""
    """The limit of the section's facts; the reason if it has none."""
    more: int = 0
    """Facts that were left out."""


class Thread(msgspec.Struct, frozen=True):
    target: str
    kind: str
    title: str
    place: str
    sections: tuple[EvidenceSection, ...]
    notes: tuple[str, ...] = ()
    truncated: bool = False


_MOST_FACTS = 5
EXCERPT = "excerpt"
TITLES = {
    "reason": "Reason",
    "what": "What it is",
    "asked_for_by": "Asked for by",
    "made_by": "Made by",
    "asked_in": "Asked in",
    "versions": "Versions of its text",
    "decided": "Decisions and pitfalls",
    "proved_by": "Proved by",
    "open_changes": "Open changes",
    "authors": "Authors of its lines",
    "depends_on_it": "Depends on it",
    "used_by": "Used by",
    "tested_by": "Tested by",
    "definitions": "Definitions of this name",
    EXCERPT: "Text",
}


def section(name: str, facts: Iterable[Fact], *, absent: str, note: str = "", most: int = 6) -> EvidenceSection:
    """A section with the most important facts first, each once; without facts, it says so."""
    found = list(dict.fromkeys(facts))
    found.sort(key=lambda fact: _RANKS[fact.basis])
    if not found:
        return EvidenceSection(name, note=f"{absent} {note}".strip())
    return EvidenceSection(name, tuple(found[:most]), note, max(len(found) - most, 0))


def thinned(thread: Thread, max_tokens: int) -> Thread:
    """The thread within a budget: every section gives up its least facts, before one gives up all."""
    budget = Budget.of(max_tokens)
    for most in (_MOST_FACTS, 4, 3, 2, 1):
        if fits(msgspec.to_builtins(thread), budget):
            return thread
        thread = msgspec.structs.replace(
            thread, sections=tuple(_with_most(each, most) for each in thread.sections), truncated=True
        )
    return thread


def _with_most(section: EvidenceSection, most: int) -> EvidenceSection:
    left_out = max(len(section.facts) - most, 0)
    return msgspec.structs.replace(section, facts=section.facts[:most], more=section.more + left_out)


def as_text(thread: Thread) -> str:
    """The thread as plain text."""
    return "\n".join(_lines(thread, coloured=False)) + "\n"


def as_terminal(thread: Thread) -> str:
    return "\n".join(_lines(thread, coloured=True))


def _lines(thread: Thread, *, coloured: bool) -> Iterator[str]:
    place = f" ({thread.place})" if thread.place and thread.place != thread.target else ""
    title = f": {thread.title}" if thread.title else ""
    yield _style(f"{thread.target}{title}", "bold", coloured) + _style(f" [{thread.kind}]{place}", "dim", coloured)
    for each in thread.sections:
        heading = TITLES.get(each.name, each.name)
        if not each.facts:
            yield f"{_style(heading, 'cyan', coloured)}: {each.note}"
            continue
        yield f"{_style(heading, 'cyan', coloured)}:"
        for fact in each.facts:
            if each.name == EXCERPT:
                yield _style(f"  {fact.place}", "dim", coloured)
                yield from (f"    {line}" for line in fact.text.split("\n"))
                continue
            at = _style(f"  {fact.place}", "dim", coloured) if fact.place else ""
            yield f"- {fact.text}{at} {_style(f'[{fact.basis}]', 'dim', coloured)}"
        if each.more:
            yield _style(f"- and {each.more} more", "dim", coloured)
        if each.note:
            yield f"  Note: {each.note}"
    for note in thread.notes:
        yield f"Note: {note}"


def _style(text: str, style: str, wanted: bool) -> str:
    return coloured(text, style) if wanted else text
