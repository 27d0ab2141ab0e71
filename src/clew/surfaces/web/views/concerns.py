"""What needs attention, in groups for people: each kind of finding with a heading, a reason and one action."""

from collections.abc import Mapping, Sequence

import msgspec

from clew.surfaces.web import addresses
from clew.trace.reports.finding import Finding

SHOWN = 5


class Item(msgspec.Struct, frozen=True):
    text: str
    place: str
    to: str


class Concern(msgspec.Struct, frozen=True):
    heading: str
    reason: str
    severity: str
    count: int
    items: tuple[Item, ...]
    action: str
    """What to do, as the text of a link."""
    to: str


_WORDS: Mapping[str, tuple[str, str, str]] = {
    "trace.broken_reference": ("Broken references", "Something is cited that does not exist.", "Mend the first"),
    "trace.circle": ("Circles", "A requirement stands below itself.", "Look at the first"),
    "trace.duplicate_id": ("Ids that are used twice", "One of the two has to be renamed.", "Look at the first"),
    "trace.stale_hash": ("Changed since their hash", "See what cites them, then accept.", "Review the first"),
    "trace.missing_hash": ("Without a hash", "A later change of their text would go unnoticed.", "Review the first"),
    "trace.uncovered_assertion": ("Assertions without a test", "Nothing proves that they hold.", "See the first"),
    "trace.wrong_level": ("Wrong level", "It implements what its level may not implement.", "See the first"),
    "trace.retired_reference": ("Retired, and still cited", "What they cite is no longer demanded.", "See the first"),
    "trace.unmatched_result": ("Results without a test", "A report names a test that is not here.", "See the first"),
    "trace.suspect_link": ("Suspect links", "What they cite changed since they were reviewed.", "Review them"),
    "trace.unread_associate": ("Repositories that are not read", "Something cites them.", "See the first"),
}  # fmt: skip
_RANKS = {"error": 0, "warning": 1}


def concerns(found: Sequence[Finding]) -> tuple[Concern, ...]:
    """Findings by their code, the most severe and most frequent first."""
    by_code: dict[str, list[Finding]] = {}
    for finding in found:
        by_code.setdefault(finding.code, []).append(finding)
    groups = [_concern(code, items) for code, items in by_code.items()]
    return tuple(sorted(groups, key=lambda each: (_RANKS.get(each.severity, 2), -each.count, each.heading)))


def _concern(code: str, items: Sequence[Finding]) -> Concern:
    heading, reason, action = _WORDS.get(code, (code, "", "See the first"))
    shown = tuple(Item(each.message, f"{each.path}:{each.line}", _address(each)) for each in items[:SHOWN])
    to = "/activity/review" if code == "trace.suspect_link" else shown[0].to
    return Concern(heading, reason, items[0].severity, len(items), shown, action, to)


def _address(finding: Finding) -> str:
    if finding.node_id is not None and ":" not in finding.node_id:
        return addresses.with_query("/go", {"to": finding.node_id})
    return addresses.of_place(f"{finding.path}:{finding.line}")
