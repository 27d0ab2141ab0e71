"""Specs and open changes: the specs in force, the deltas of changes, their progress and their obstacles."""

from clew.formats.openspec.tasks import Task, read_tasks
from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.specs.operations.commands import ShowChangeStatus
from clew.specs.operations.tools import (
    ArchiveChange,
    ChangeConflicts,
    GetChange,
    GetSpecRequirements,
    ListChanges,
    ListSpecs,
)
from clew.surfaces.web.page_request import PageRequest, TemplateView
from clew.surfaces.web.pictures.difference import as_files

MOST = 500


def show_specs(request: PageRequest) -> TemplateView:
    specs = request.ask(ListSpecs, limit=MOST)
    changes = request.ask(ListChanges, limit=MOST)
    conflicts = request.ask(ChangeConflicts)
    with request.reading() as project:
        figures = {each.id: _figures(project.graph, each.id) for each in specs.specs}
    return TemplateView(
        template="specs.html",
        title="Specs and changes",
        section="specs",
        data={"specs": specs, "changes": changes, "conflicts": conflicts, "figures": figures},
    )


def _figures(graph: Graph, spec_id: str) -> tuple[int, int]:
    """Scenarios of a spec that are tested, and all of them."""
    metrics = [graph.metrics(id) for id in graph.derived("spec_requirements", _by_spec).get(spec_id, ())]
    return sum(each["tested"] for each in metrics), sum(each["total_assertions"] for each in metrics)


def _by_spec(graph: Graph) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        if (spec := node.get_field("spec_id")) is not None:
            found.setdefault(spec, []).append(node.id)
    return found


def show_spec(request: PageRequest) -> TemplateView:
    spec = request.ask(GetSpecRequirements, spec_id=request.name, detail="outline", limit=MOST)
    changes = request.ask(ListChanges, limit=MOST).changes
    with request.reading() as project:
        figures = {each.slug: dict(project.graph.metrics(f"{spec.spec_id}/{each.slug}")) for each in spec.requirements}
    touching = [each for each in changes if spec.spec_id in each.specs]
    return TemplateView(
        template="spec.html",
        title=spec.title,
        section="specs",
        data={"spec": spec, "figures": figures, "changes": touching},
    )


def show_change(request: PageRequest) -> TemplateView:
    change = request.ask(GetChange, change_id=request.name, full=True, max_tokens=20_000)
    status = request.ask(ShowChangeStatus, change_id=request.name)
    preview = request.tried(ArchiveChange, change_id=request.name, dry_run=True)
    tasks = read_tasks(change.tasks.content.encode()).items if change.tasks is not None else ()
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(task)
    return TemplateView(
        template="change.html",
        title=request.name,
        section="specs",
        data={
            "change": change,
            "status": status,
            "groups": groups,
            "preview": preview,
            "files": as_files(preview.diff) if preview is not None else (),
        },
    )
