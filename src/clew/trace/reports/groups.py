"""Findings of one kind taken together: how many there are, in words, and the command that helps with all of them."""

# Implements: REQ-d00441

from collections.abc import Collection, Iterable, Sequence

import msgspec

from clew.graph.graph import Graph
from clew.trace.links.results import Suggestion
from clew.trace.reports.finding import Finding

FLOOD = 10
"""More findings of one kind than this are shown as a group."""
SHOWN = 3
"""Of these, so many are shown."""

UNCOVERED = "trace.uncovered_assertion"
_WORDS = {
    UNCOVERED: ("assertion without a test", "assertions without a test"),
    "trace.broken_reference": ("broken reference", "broken references"),
    "trace.stale_hash": (
        "requirement changed since its hash was written",
        "requirements changed since their hashes were written",
    ),
    "trace.missing_hash": ("requirement without a hash", "requirements without a hash"),
    "trace.suspect_link": ("link to something that changed", "links to something that changed"),
    "trace.duplicate_id": ("id that is defined twice", "ids that are defined twice"),
    "trace.circle": ("requirement below itself", "requirements below themselves"),
    "trace.wrong_level": ("requirement on the wrong level", "requirements on the wrong level"),
    "trace.retired_reference": ("reference to something retired", "references to something retired"),
    "trace.state_in_git": ("folder of Clew's own in git", "folders of Clew's own in git"),
    "trace.unmatched_result": ("test result without a test", "test results without a test"),
    "trace.coverage_rule": ("requirement below a rule of coverage", "requirements below a rule of coverage"),
    "trace.uncredited_evidence": ("test of something that nothing implements", "tests of what nothing implements"),
    "notes.gone": ("reference of agents' notes to what is gone", "references of agents' notes to what is gone"),
    "terms.unmarked": ("use of a term without a mark", "uses of terms without a mark"),
    "memory.conflict": ("contradiction between memories", "contradictions between memories"),
    "memory.duplicate": ("pair of memories that say the same", "pairs of memories that say the same"),
    "memory.flagged": ("memory that reads like an instruction", "memories that read like instructions"),
    "memory.orphan": ("memory that nothing is linked to", "memories that nothing is linked to"),
    "file.binary": ("binary file that was not read", "binary files that were not read"),
    "markers.binary": ("source file with NUL bytes, not read", "source files with NUL bytes, not read"),
    "markers.undeclared": ("id in a comment without a keyword", "ids in comments without a keyword"),
}
_ROOMS = {
    "openspec": ("issue of specs or changes", "issues of specs or changes"),
    "register": ("violation in the register", "violations in the register"),
}
_HELP = {
    "trace.stale_hash": "`clew changed` shows what changed, and `clew fix` writes the hashes.",
    "trace.missing_hash": "`clew fix` writes them.",
    "trace.suspect_link": "`clew review --list` shows what changed, and `clew review ID` records that a link holds.",
}
"""Advice for all findings of a kind."""
_RANK = {"error": 0, "warning": 1}


class Group(msgspec.Struct, frozen=True):
    """All findings of one code and severity."""

    code: str
    severity: str
    title: str
    """The number and the kind, such as `187 scenarios without a test`."""
    findings: tuple[Finding, ...]

    @property
    def help(self) -> str:
        """The next step for all of them; empty if each needs its own answer."""
        return _HELP.get(self.code, "")


def grouped(found: Iterable[Finding], graph: Graph) -> tuple[Group, ...]:
    """The findings by kind: the most severe first, and of these the most frequent."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        kinds.setdefault((finding.code, finding.severity), []).append(finding)
    groups = [
        Group(code, severity, f"{len(items):,} {_named(code, items, graph)}", tuple(items))
        for (code, severity), items in kinds.items()
    ]
    return tuple(sorted(groups, key=lambda each: (_RANK.get(each.severity, 2), -len(each.findings), each.code)))


def _named(code: str, found: Sequence[Finding], graph: Graph) -> str:
    one, many = _WORDS.get(code) or _by_room(code)
    if code == UNCOVERED and _are_scenarios(found, graph):
        one, many = one.replace("assertion", "scenario"), many.replace("assertion", "scenario")
    return one if len(found) == 1 else many


def _by_room(code: str) -> tuple[str, str]:
    room, _, kind = code.partition(".")
    if room not in _ROOMS:
        return f"finding of kind {code}", f"findings of kind {code}"
    one, many = _ROOMS[room]
    told = kind.replace("_", " ")
    return f"{one} ({told})", f"{many} ({told})"


def _are_scenarios(found: Sequence[Finding], graph: Graph) -> bool:
    """True if all of these are scenarios of specs."""
    owners = {finding.node_id.partition("#")[0] for finding in found if finding.node_id}
    nodes = (graph.get_node(owner) for owner in owners)
    return bool(owners) and all(node is not None and node.get_field("level") == "spec" for node in nodes)


def proposed_for(uncovered: Collection[Finding], suggestions: Iterable[Suggestion]) -> int:
    """For how many of the assertions without a test one is suggested."""
    asked = {finding.node_id for finding in uncovered}
    return len({each.assertion_id for each in suggestions if each.source_kind == "test"} & asked)
