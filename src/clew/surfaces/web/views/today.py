"""Today: what needs attention, how far the project is proved, and what happened last."""

from clew.kb.operations.commands import ShowStatus as DocumentStatus
from clew.memory.operations.commands import ListMemories, ShowMemoryStatus
from clew.specs.operations import ListChanges
from clew.surfaces.web.views.concerns import concerns
from clew.surfaces.web.visit import View, Visit
from clew.trace.operations.check import CheckProject
from clew.trace.operations.read import GetProjectSummary
from clew.why.operations.brief import ShowBrief

RECENT = 6


def show_today(visit: Visit) -> View:
    summary = visit.ask(GetProjectSummary)
    brief = visit.ask(ShowBrief)
    found = visit.ask(CheckProject)
    changes = visit.ask(ListChanges, limit=RECENT)
    documents = visit.tried(DocumentStatus)
    memories = _memories(visit)
    counts = brief.node_counts
    levels = summary.coverage_by_level
    return View(
        template="today.html",
        title="Today",
        section="today",
        data={
            "counts": counts,
            "assertions": sum(each.assertions for each in levels),
            "tested": sum(each.tested_assertions for each in levels),
            "passed": sum(each.validated_assertions or 0 for each in levels),
            "levels": levels,
            "concerns": concerns(found.findings),
            "changes": changes.changes,
            "uncommitted": summary.changes,
            "documents": documents,
            "memories": memories,
            "drafts": visit.project.unsaved(),
            "has_specs": bool(counts.get("requirement")),
            "origin": visit.origin,
            "limits": brief.notes,
        },
    )


def _memories(visit: Visit) -> dict[str, object]:
    """The latest that was remembered; without a memory nothing is made."""
    if not visit.project.memory.exists:
        return {"latest": (), "count": 0, "tasks": ()}
    latest = visit.tried(ListMemories, limit=RECENT)
    status = visit.tried(ShowMemoryStatus)
    return {
        "latest": latest.memories if latest is not None else (),
        "count": status.node_count if status is not None else 0,
        "tasks": status.curation_tasks if status is not None else (),
    }
