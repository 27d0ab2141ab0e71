"""Section "definitions": all that a name may mean, where several definitions are meant as much.

Each is told with the commit that made it; where one commit made them all, so are its reason and what belongs to it.
"""

import time
from collections.abc import Iterator

from clew.derived.code_file import FiledSymbol
from clew.derived.history import Commit
from clew.text.display import counted, one_line
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry, commit_line
from clew.why.sections.made import around, commits_of, reason_of
from clew.why.story.line_story import StoryTeller
from clew.why.story.ties import release_of
from clew.why.target import read_text

MOST = 12
_MOST_TOLD = 4
"""Definitions whose commits are looked for."""


def definitions(inquiry: Inquiry) -> tuple[EvidenceSection, ...]:
    target = inquiry.target
    first = target.definitions[0]
    hint = f"Name the one that is meant, such as `clew why {first.path}::{first.qualname}`."
    until = time.monotonic() + inquiry.left
    makers = {each: maker for each in target.definitions[:_MOST_TOLD] if (maker := _maker(inquiry, each)) is not None}
    facts = [
        Fact(
            f"{_named(each)}{_made_by(inquiry, makers.get(each))}{_uses(inquiry, each, until)}",
            "recorded",
            f"{each.path}:{each.at}",
        )
        for each in target.definitions
    ]
    listed = section("definitions", facts, absent="Not known.", note=hint, most=MOST)
    same = {each.id: each for each in makers.values()}
    if len(makers) < len(target.definitions) or len(same) != 1:
        return (listed,)
    (commit,) = same.values()
    made = section("made_by", _story(inquiry, commit), absent="Not known.")
    return reason_of(inquiry, commit), listed, made


def _story(inquiry: Inquiry, commit: Commit) -> Iterator[Fact]:
    yield Fact(f"all of them: {commit_line(commit, body=400)}", "recorded", commit.id[:12])
    yield from around(inquiry, commit)


def _maker(inquiry: Inquiry, symbol: FiledSymbol) -> Commit | None:
    """The commit that decided most lines of a definition; None where git does not tell in time."""
    head, text = inquiry.readiness.head, read_text(inquiry.project, symbol.path)
    if head is None or text is None or not inquiry.questions.may_go_on():
        return None
    teller = StoryTeller(inquiry.root, inquiry.history, head)
    seconds = inquiry.questions.seconds
    story = teller.of(symbol.path, text.data, symbol.line, symbol.end_line, seconds, follows=True)
    id = next(iter(story.chain.decided), None) if story is not None else None
    return commits_of(inquiry, [id]).get(id) if id is not None else None


def _made_by(inquiry: Inquiry, commit: Commit | None) -> str:
    if commit is None:
        return ""
    release = inquiry.questions.ask(lambda left: release_of(inquiry.root, commit.id, left), "")
    return f", made by {commit_line(commit)[:-1]}{f', first in {release}' if release else ''} ({commit.id[:12]})"


def _named(symbol: FiledSymbol) -> str:
    return f"{symbol.path}::{symbol.qualname}, {symbol.kind}: {one_line(symbol.head, 100)}"


def _uses(inquiry: Inquiry, symbol: FiledSymbol, until: float) -> str:
    """The number of uses, as far as there is time to look for them."""
    if time.monotonic() > until:
        return ""
    uses = inquiry.project.uses.uses_of(symbol, inquiry.call.check)
    return f" ({counted(len(uses.uses), 'use')})"
