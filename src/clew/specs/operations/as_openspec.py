"""Specs and changes in the shapes in which OpenSpec prints them as JSON."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clew.formats.openspec.records import Delta, Requirement
from clew.specs.library import ChangeEntry, SpecEntry, SpecLibrary
from clew.specs.views import change_summary
from clew.workspace.find import files_below
from clew.workspace.paths import raw

METADATA = {"version": "1.0.0", "format": "openspec"}


def root_of(project: Path) -> dict[str, str]:
    return {"path": str(project), "source": "nearest"}


def spec_list(known: SpecLibrary, project: Path) -> dict[str, Any]:
    specs = [{"id": id, "requirementCount": len(each.outline.requirements)} for id, each in known.specs.items()]
    return {"specs": specs, "root": root_of(project)}


def change_list(known: SpecLibrary, project: Path) -> dict[str, Any]:
    """The open changes, the one that was touched last first."""
    found = []
    for entry in known.changes.values():
        summary = change_summary(entry)
        found.append(
            {
                "name": summary.id,
                "completedTasks": summary.task_progress.completed,
                "totalTasks": summary.task_progress.total,
                "lastModified": _last_modified(project, entry),
                "status": summary.status,
            }
        )
    return {
        "changes": sorted(found, key=lambda each: str(each["lastModified"]), reverse=True),
        "root": root_of(project),
    }


def _last_modified(project: Path, entry: ChangeEntry) -> str:
    times = [each.stat().st_mtime for each in files_below(Path(project, raw(entry.folder)))]
    at = datetime.fromtimestamp(max(times, default=0), UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def spec(entry: SpecEntry, project: Path) -> dict[str, Any]:
    outline = entry.outline
    return {
        "id": outline.id,
        "title": outline.id,
        "overview": entry.spec.purpose.text.strip() if entry.spec.purpose is not None else "",
        "requirementCount": len(outline.requirements),
        "requirements": [_requirement(each) for each in entry.spec.requirements],
        "metadata": METADATA,
        "root": root_of(project),
    }


def change(entry: ChangeEntry, project: Path) -> dict[str, Any]:
    deltas = [item for delta in entry.change.deltas for item in _deltas(delta)]
    id = entry.change.id
    return {"id": id, "title": id, "deltaCount": len(deltas), "deltas": deltas, "root": root_of(project)}


def _deltas(delta: Delta) -> Iterator[dict[str, Any]]:
    for operation, verb, requirements in (("ADDED", "Add", delta.added), ("MODIFIED", "Modify", delta.modified)):
        for each in requirements:
            shown = _requirement(each)
            about = f"{verb} requirement: {shown['text']}"
            yield _item(delta, operation, about, requirement=shown, requirements=[shown])
    for removed in delta.removed:
        shown = {"text": removed.name, "scenarios": []}
        yield _item(delta, "REMOVED", f"Remove requirement: {removed.name}", requirement=shown, requirements=[shown])
    for each_rename in delta.renamed:
        about = f'Rename requirement from "{each_rename.old}" to "{each_rename.new}"'
        yield _item(delta, "RENAMED", about, rename={"from": each_rename.old, "to": each_rename.new})


def _item(delta: Delta, operation: str, description: str, **parts: Any) -> dict[str, Any]:
    return {"spec": delta.spec_id, "operation": operation, "description": description, **parts}


def _requirement(requirement: Requirement) -> dict[str, Any]:
    scenarios = [{"rawText": _below_heading(each.raw)} for each in requirement.scenarios]
    return {"text": requirement.statement, "scenarios": scenarios}


def _below_heading(text: str) -> str:
    return text.partition("\n")[2].strip()
