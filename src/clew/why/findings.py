"""All findings of a project: of the graph, the specs and changes, the register, what agents read first, and the memory.

Brief, status, check, page and CI count this one list, so that no two of them disagree.
"""

# Implements: REQ-d00820

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.trace.reports.finding import Finding
from clew.why.stale_notes import stale_notes

if TYPE_CHECKING:
    from clew.operation.call import Call
    from clew.project import Project

_MOST_MEMORIES = 1_000
"""Of one kind."""
_SPEC_HINTS = ("clew specs validate", "clew change validate")


def all_findings(call: "Call") -> tuple[Finding, ...]:
    """Every finding, sorted by place. Those of the memory are notes: they are known in this working copy only, and an
    answer that CI depends on is the same everywhere."""
    project = call.project
    filed = project.graph.derived("findings_of_files", lambda graph: _sorted(_of_files(project)))
    # Neither is part of the graph: they are looked up at each call.
    others = (*stale_notes(project.config.root), *_of_memory(call))
    return _sorted((*filed, *others)) if others else filed


def _sorted(found: "Iterator[Finding] | tuple[Finding, ...]") -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda each: (each.path, each.line, each.code, each.node_id or "")))


def _of_files(project: "Project") -> Iterator[Finding]:
    of_graph = project.trace.findings()
    yield from of_graph
    said = {(each.path, each.line, each.message) for each in of_graph}
    for each in _of_specs(project):
        # What a reader reported is both a finding of the graph and an issue of its spec.
        if (each.path, each.line, each.message) not in said:
            yield each
    yield from _of_register(project)


def _of_specs(project: "Project") -> Iterator[Finding]:
    for problems, command in zip(project.specs.problems(), _SPEC_HINTS, strict=True):
        for path, issue in problems:
            code, hint = f"openspec.{issue.code.removeprefix('openspec.')}", f"`{command}` lists all of them."
            yield Finding(code, issue.level.value, issue.message, path, issue.line, issue.spec_id or None, hint)


def _of_register(project: "Project") -> Iterator[Finding]:
    register = project.register
    if not register.file.exists():
        return
    try:
        violations = register.violations()
    except ClewError:
        return  # A register that cannot be read is a finding of its reader.
    for each in violations:
        node = project.graph.get_node(each.id) if each.id else None
        place = node.source if node is not None else None
        path, line = (place.path, place.line) if place is not None else (register.file.place.name, 0)
        message = f"{each.id}: {each.message}" if each.id else each.message
        yield Finding(
            f"register.{each.rule_code}", each.severity.value, message, path, line, each.id or None, each.hint
        )


def _of_memory(call: "Call") -> Iterator[Finding]:
    try:
        tasks = call.project.memory.curation_tasks(call, _MOST_MEMORIES)
    except ClewError as error:
        call.notes = (*call.notes, f"The memory was not examined: {error.message}")
        return
    for task in tasks:
        hint = f"{task.suggested_tool} settles it; `clew memory keep` says that both hold."
        about = ", ".join(task.target_nodes)
        first = f"memory:{task.target_nodes[0]}"
        yield Finding(f"memory.{task.task_type}", "info", f"Memory {about}: {task.reason}", "", 0, first, hint)
