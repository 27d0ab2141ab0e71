"""What needs attention, for people: each kind of finding with a heading, what it means, and one action."""

from collections.abc import Mapping

import msgspec

from clew.surfaces.web import addresses
from clew.trace.reports.finding import Finding
from clew.trace.reports.groups import Group

SHOWN = 5


class Item(msgspec.Struct, frozen=True):
    text: str
    place: str
    to: str


class Concern(msgspec.Struct, frozen=True):
    heading: str
    """How many of what."""
    reason: str
    severity: str
    items: tuple[Item, ...]
    action: str
    """What to do, as the text of a link."""
    to: str


_WORDS: Mapping[str, tuple[str, str]] = {
    "trace.broken_reference": ("Something is cited that does not exist.", "Mend the first"),
    "trace.circle": ("A requirement stands below itself.", "Look at the first"),
    "trace.duplicate_id": ("One of the two has to be renamed.", "Look at the first"),
    "trace.stale_hash": ("See what cites them, then accept.", "Review the first"),
    "trace.missing_hash": ("A later change of their text would go unnoticed.", "Review the first"),
    "trace.uncovered_assertion": ("Nothing proves that they hold.", "See the first"),
    "trace.wrong_level": ("It implements what its level may not implement.", "See the first"),
    "trace.retired_reference": ("What they cite is no longer demanded.", "See the first"),
    "trace.unmatched_result": ("A report names a test that is not here.", "See the first"),
    "trace.suspect_link": ("What they cite changed since they were reviewed.", "Review them"),
    "trace.unread_associate": ("Something cites a repository that is not read.", "See the first"),
}
"""What a kind of finding means, and what to do about it."""


def concern(group: Group) -> Concern:
    reason, action = _WORDS.get(group.code, ("", "See the first"))
    shown = tuple(Item(each.message, f"{each.path}:{each.line}", _address(each)) for each in group.findings[:SHOWN])
    to = "/activity/review" if group.code == "trace.suspect_link" else shown[0].to
    return Concern(group.title, reason, group.severity, shown, action, to)


def _address(finding: Finding) -> str:
    if finding.node_id is not None and ":" not in finding.node_id:
        return addresses.with_query("/go", {"to": finding.node_id})
    return addresses.of_place(f"{finding.path}:{finding.line}")
