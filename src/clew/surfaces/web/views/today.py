"""Today: what needs attention, how far the project is proved, and what happened last."""

from collections.abc import Mapping

import msgspec

from clew.kb.operations.commands import ShowKbStatus
from clew.memory.operations.commands import ListMemories, ShowMemoryStatus
from clew.specs.operations.tools import ListChanges
from clew.surfaces.web import addresses
from clew.surfaces.web.page_request import PageRequest, TemplateView
from clew.trace.operations.check import CheckProject
from clew.trace.operations.read import GetProjectSummary
from clew.trace.reports.finding import Finding
from clew.trace.reports.groups import Group, grouped
from clew.why.operations.brief import ShowBrief

RECENT = 6

SHOWN = 5
_SHOWN_AS_TASKS = "memory."
"""Findings of the memory have buttons of their own."""


def show_today(request: PageRequest) -> TemplateView:
    summary = request.ask(GetProjectSummary)
    brief = request.ask(ShowBrief)
    found = request.ask(CheckProject, all=True).findings
    with request.reading() as project:
        groups = [each for each in grouped(found, project.graph) if not each.code.startswith(_SHOWN_AS_TASKS)]
    changes = request.ask(ListChanges, limit=RECENT)
    documents = request.tried(ShowKbStatus)
    memories = _memories(request)
    counts, drafts = brief.node_counts, request.project.unsaved()
    levels = summary.coverage_by_level
    return TemplateView(
        template="today.html",
        title="Today",
        section="today",
        data={
            "counts": counts,
            "assertions": sum(each.assertions for each in levels),
            "tested": sum(each.tested_assertions for each in levels),
            "passed": sum(each.validated_assertions or 0 for each in levels),
            "levels": levels,
            "of_assertions": summary.assertions.describe(),
            "in_levels": sum(each.requirements for each in levels),
            "found": summary.findings.describe() if summary.findings is not None and summary.findings.total else "",
            "concerns": tuple(map(finding_group, groups)),
            "decided": brief.decided[:RECENT],
            "about": brief.overview.about.summary if brief.overview is not None else "",
            "changes": changes.changes,
            "uncommitted": summary.changes,
            "documents": documents,
            "memories": memories,
            "drafts": drafts,
            "drafted": tuple(dict.fromkeys(id.partition(":section:")[0] for id in drafts.target_ids))[:RECENT],
            "has_specs": bool(counts.get("requirement")),
            "origin": request.origin,
            # Drafts are a matter of their own here, with a button.
            "limits": [note for note in brief.notes if note != drafts.note],
        },
    )


def _memories(request: PageRequest) -> dict[str, object]:
    """The latest memories; a project without a memory gets none."""
    if not request.project.memory.exists:
        return {"latest": (), "count": 0, "tasks": ()}
    latest = request.tried(ListMemories, limit=RECENT)
    status = request.tried(ShowMemoryStatus)
    return {
        "latest": latest.memories if latest is not None else (),
        "count": status.node_count if status is not None else 0,
        "tasks": status.curation_tasks if status is not None else (),
    }


class FindingLink(msgspec.Struct, frozen=True):
    text: str
    place: str
    to: str


class FindingGroup(msgspec.Struct, frozen=True):
    heading: str
    """The number of findings, and their kind."""
    reason: str
    severity: str
    items: tuple[FindingLink, ...]
    action: str
    """The text of the link to the remedy."""
    to: str


_WORDS: Mapping[str, tuple[str, str]] = {
    "trace.broken_reference": ("A citation names something that does not exist.", "Open the first"),
    "trace.circle": ("A requirement is its own ancestor.", "Open the first"),
    "trace.duplicate_id": ("One of the two has to be renamed.", "Open the first"),
    "trace.stale_hash": ("See what cites them, then accept.", "Review the first"),
    "trace.missing_hash": ("A later change of their text would go unnoticed.", "Review the first"),
    "trace.uncovered_assertion": ("Nothing proves that they hold.", "See the first"),
    "trace.wrong_level": ("It implements what its level may not implement.", "See the first"),
    "trace.retired_reference": ("What they cite is no longer demanded.", "See the first"),
    "trace.unmatched_result": ("A report names a test that is not here.", "See the first"),
    "trace.suspect_link": ("What they cite changed since they were reviewed.", "Review them"),
    "trace.unread_associate": ("Something cites a repository that is not read.", "See the first"),
}
"""The meaning of each kind of finding, and the label of the link to its remedy."""


def finding_group(group: Group) -> FindingGroup:
    reason, action = _WORDS.get(group.code, ("", "See the first"))
    shown = tuple(
        FindingLink(each.message, f"{each.path}:{each.line}", _address(each)) for each in group.findings[:SHOWN]
    )
    to = "/activity/review" if group.code == "trace.suspect_link" else shown[0].to
    return FindingGroup(group.title, reason, group.severity, shown, action, to)


def _address(finding: Finding) -> str:
    if finding.node_id is not None and ":" not in finding.node_id:
        return addresses.with_query("/go", {"to": finding.node_id})
    return addresses.of_place(f"{finding.path}:{finding.line}")
