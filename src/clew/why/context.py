"""The same thread packed for somebody who is about to edit: obligations first, then decisions, proofs and dependants,
then the text itself, as much as fits."""

# Implements: REQ-d00365

from collections.abc import Iterator

import msgspec

from clew.operation.call import Call
from clew.text.tokens import estimate_tokens
from clew.why.answer import EXCERPT, TITLES, EvidenceSection, Fact, Thread, as_text
from clew.why.inquiry import Inquiry
from clew.why.thread import thread_of

_ORDER = (
    *("definitions", "asked_for_by", "decided", "open_changes", "used_by", "tested_by", "proved_by", "depends_on_it"),
    *("what", "made_by"),
)
_LONGEST_EXCERPT = 60
_INDENT = 1
"""Tokens that the beginning of a line of an excerpt takes."""


def packed(call: Call, asked_for: str, max_tokens: int) -> Thread:
    """The thread, with a text of at most so many tokens."""
    inquiry = Inquiry(call, asked_for)
    whole = thread_of(inquiry)
    by_name = {each.name: each for each in whole.sections}
    ordered = [by_name[name] for name in _ORDER if name in by_name]
    empty = msgspec.structs.replace(whole, sections=())
    left = max_tokens - estimate_tokens(as_text(empty))
    kept: list[EvidenceSection] = []
    cut = False
    for each in [*ordered, *_excerpt(inquiry)]:
        fitting, cost = _fitting(each, left)
        left -= cost
        cut |= len(fitting.facts) < len(each.facts)
        if fitting.facts or (fitting.note and cost):
            kept.append(fitting)
    return msgspec.structs.replace(empty, sections=tuple(kept), truncated=cut)


def _fitting(section: EvidenceSection, room: int) -> tuple[EvidenceSection, int]:
    """As many facts of a section as fit, and their tokens."""
    cost = estimate_tokens(f"{TITLES[section.name]}:\n  Note: {section.note}\n- and 100 more\n")
    if cost > room:
        return EvidenceSection(section.name), 0
    facts: list[Fact] = []
    for fact in section.facts:
        own = estimate_tokens(f"- {fact.text}  {fact.place} [{fact.basis}]\n") + fact.text.count("\n") * _INDENT
        if cost + own > room:
            break
        facts.append(fact)
        cost += own
    more = section.more + len(section.facts) - len(facts)
    return EvidenceSection(section.name, tuple(facts), section.note, more), cost


def _excerpt(inquiry: Inquiry) -> Iterator[EvidenceSection]:
    """The target's own lines, the first of them where they are many."""
    if inquiry.text is None or inquiry.target.path is None:
        return
    first, last = inquiry.span
    if inquiry.target.kind == "lines" and inquiry.target.symbol is not None:
        first, last = max(first - 5, inquiry.target.symbol.line), min(last + 5, inquiry.target.symbol.end_line)
    end = min(last, first + _LONGEST_EXCERPT - 1)
    pieces = [(start, min(start + 9, end)) for start in range(first, end + 1, 10)]
    facts = tuple(
        Fact("\n".join(inquiry.text.lines[start - 1 : stop]), "recorded", f"{inquiry.target.path}:{start}")
        for start, stop in pieces
    )
    yield EvidenceSection(EXCERPT, facts)
