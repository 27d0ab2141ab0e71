"""The same thread packed for somebody who is about to edit: what must stay true, its users and tests, decisions, then
the text itself, as much as fits. What was not found is one line."""

# Implements: REQ-d00365

from collections.abc import Iterator, Sequence

import msgspec

from clew.operation.call import Call
from clew.text.tokens import estimate_tokens
from clew.why.answer import EXCERPT, TITLES, EvidenceSection, Fact, Thread, as_text
from clew.why.inquiry import Inquiry
from clew.why.thread import thread_of

_ORDER = (
    *("definitions", "asked_for_by", "reason", "used_by", "tested_by", "proved_by", "depends_on_it", "decided"),
    *("open_changes", "what", "made_by"),
)
_SILENT = frozenset({"what", "made_by", "reason"})
"""Sections whose absence tells nothing to somebody who edits."""
_TEXT_SHARE = 0.4
"""Share of the answer that the text may take at least."""
_LONGEST_EXCERPT = 60
_INDENT = 1
"""Tokens that the beginning of a line of an excerpt takes."""


def packed(call: Call, asked_for: str, max_tokens: int) -> Thread:
    """The thread, with a text of at most so many tokens."""
    inquiry = Inquiry(call, asked_for)
    whole = thread_of(inquiry)
    by_name = {each.name: each for each in whole.sections}
    ordered = [by_name[name] for name in _ORDER if name in by_name]
    absent = [TITLES[each.name].lower() for each in ordered if not each.facts and each.name not in _SILENT]
    notes = (*whole.notes, f"Nothing found for: {', '.join(absent)}.") if absent else whole.notes
    empty = msgspec.structs.replace(whole, sections=(), notes=notes)
    left = max_tokens - estimate_tokens(as_text(empty))
    excerpt = list(_excerpt(inquiry))
    reserved = sum(_fitting(each, round(left * _TEXT_SHARE))[1] for each in excerpt)
    left -= reserved
    kept: list[EvidenceSection] = []
    cut = False
    for each in (each for each in ordered if each.facts):
        fitting, cost = _fitting(each, left)
        left -= cost
        cut |= len(fitting.facts) < len(each.facts)
        if fitting.facts:
            kept.append(fitting)
    for each in excerpt:
        fitting, _ = _fitting(each, left + reserved)
        cut |= len(fitting.facts) < len(each.facts)
        if fitting.facts:
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
        Fact(_numbered(inquiry.text.lines, start, stop), "recorded", f"{inquiry.target.path}:{start}")
        for start, stop in pieces
    )
    yield EvidenceSection(EXCERPT, facts)


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    """Lines with their numbers, so that an edit can name them."""
    width = len(str(last))
    return "\n".join(f"{number:>{width}} {lines[number - 1]}".rstrip() for number in range(first, last + 1))
