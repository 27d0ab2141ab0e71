"""Today: what needs attention, how far the project is proved, and what happened last."""

from clew.kb.operations.commands import ShowStatus as DocumentStatus
from clew.memory.operations.commands import ListMemories, ShowMemoryStatus
from clew.specs.operations import ListChanges
from clew.surfaces.web.views.concerns import concern
from clew.surfaces.web.visit import View, Visit
from clew.trace.operations.read import GetProjectSummary
from clew.trace.reports.groups import grouped
from clew.why.operations.brief import ShowBrief

RECENT = 6


def show_today(visit: Visit) -> View:
    summary = visit.ask(GetProjectSummary)
    brief = visit.ask(ShowBrief)
    with visit.reading() as project:
        groups = grouped(project.trace.findings(), project.graph)
    changes = visit.ask(ListChanges, limit=RECENT)
    documents = visit.tried(DocumentStatus)
    memories = _memories(visit)
    counts, drafts = brief.node_counts, visit.project.unsaved()
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
            "concerns": tuple(map(concern, groups)),
            "decided": brief.decided[:RECENT],
            "about": brief.overview.about.summary if brief.overview is not None else "",
            "changes": changes.changes,
            "uncommitted": summary.changes,
            "documents": documents,
            "memories": memories,
            "drafts": drafts,
            "drafted": tuple(dict.fromkeys(id.partition(":section:")[0] for id in drafts.target_ids))[:RECENT],
            "has_specs": bool(counts.get("requirement")),
            "origin": visit.origin,
            # Drafts are a matter of their own here, with a button.
            "limits": [note for note in brief.notes if note != drafts.note],
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
