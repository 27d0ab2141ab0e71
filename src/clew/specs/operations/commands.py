"""The commands `clew specs` and `clew change`. Their output is not cut to a tool's budget."""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from clew.operation.budget import EVERYTHING
from clew.operation.call import Call
from clew.operation.declare import Freshness, HelpHeading, Operation, Option, Toolset
from clew.specs import results
from clew.specs.operations import as_openspec, tools
from clew.specs.operations.tools import SomeChange
from clew.specs.requests import ChangeId
from clew.specs.results import (
    ChangeList,
    ChangeProgress,
    ChangeSummary,
    ConflictList,
    ConflictReport,
    IssueReport,
    SpecSummary,
    Validation,
)
from clew.specs.tasks import MarkedTask
from clew.text.controls import pretty_json
from clew.text.display import counted
from clew.text.terminal import coloured

_PAGE = ("limit", "cursor")

Shape = Annotated[
    Literal["all", "openspec"], Meta(description="openspec: print JSON in the shape that OpenSpec prints")
]


class ShowDashboard(
    Operation,
    verb="specs overview",
    aliases=("",),
    toolset=Toolset.SPECS,
    summary="the dashboard: specs, open changes and problems",
    epilog="clew specs",
):
    """The dashboard: specs, open changes, and problems that need attention."""

    def run(self, call: Call) -> results.Dashboard:
        return call.project.specs.dashboard()

    def render(self, result: results.Dashboard) -> str:
        if not result.specs and not result.changes:
            return "There are no specs in a folder `openspec` or `specs`. `clew change new add-login` creates one."
        counts = f"{counted(len(result.specs), 'spec')}, {counted(result.requirements, 'requirement')}"
        total = f"{counts}, {counted(result.scenarios, 'scenario')}, {result.tested} of them tested"
        lines = [coloured(total, "bold"), *map(_spec, result.specs)]
        if result.changes:
            lines.append(coloured(f"\n{counted(len(result.changes), 'open change')}", "bold"))
            lines += [_change(each, is_valid=each.id not in result.invalid_changes) for each in result.changes]
        if result.conflicts:
            number = counted(len(result.conflicts), "conflict")
            lines.append(coloured(f"\n{number}; `clew change conflicts` explains", "red"))
        return "\n".join(lines)


class ListAllSpecs(
    tools.ListSpecs,
    verb="specs list",
    toolset=Toolset.SPECS,
    summary="all specs, with how many requirements and scenarios each has",
    epilog="clew specs list --limit 10",
    hidden=("cursor",),
):
    limit: Annotated[int, Meta(ge=0), Option(metavar="N", about="specs at most (default: all)")] = EVERYTHING
    rules: Shape = "all"

    def run(self, call: Call) -> Any:
        if self.rules == "openspec":
            return as_openspec.spec_list(call.project.specs.library, call.root)
        return super().run(call)

    def render(self, result: Any) -> str:
        if isinstance(result, dict):
            return pretty_json(result)
        rest = [coloured(f"{result.count} of {result.total}", "dim")] if result.truncated else []
        return "\n".join((*map(_spec, result.specs), *rest))


class ShowSpec(
    tools.GetSpecRequirements,
    verb="specs show",
    toolset=Toolset.SPECS,
    summary="a spec in outline, or one of its requirements in full",
    epilog="clew specs show passage-windows\nclew specs show passage-windows Margin under the keel",
    hidden=("detail", *_PAGE),
):
    rules: Shape = "all"

    @classmethod
    def completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {**given, "detail": "full" if given.get("requirement") else "outline"}

    def run(self, call: Call) -> Any:
        if self.rules == "openspec":
            return as_openspec.spec(call.project.specs.library.spec(self.spec_id), call.root)
        return super().run(call)

    def render(self, result: Any) -> str:
        if isinstance(result, dict):
            return pretty_json(result)
        lines = [coloured(f"{result.spec_id}: {result.title}", "bold") + coloured(f"  {result.path}", "dim")]
        if result.purpose:
            lines.append(result.purpose)
        for each in result.requirements:
            lines.append(f"\n{coloured(each.slug, 'cyan')}  {each.name}")
            if self.requirement is not None:
                lines.append(each.text or "")
                continue
            lines += [f"  #{scenario.slug}  {coloured(scenario.name, 'dim')}" for scenario in each.scenarios or ()]
        lines += [f"\n{coloured(f'line {each.line}', 'dim')}  {each.heading}" for each in result.sections or ()]
        return "\n".join(lines)


class FindInSpecs(
    tools.SearchSpecs,
    verb="specs search",
    toolset=Toolset.SPECS,
    summary="find purposes, requirements and scenarios",
    epilog='clew specs search "not enough water"',
    hidden=("spec_prefix", "auto_build"),
):
    top_k: Annotated[
        int, Meta(ge=0), Option("--limit", metavar="N", about="results at most, up to 500 (default: 10)")
    ] = 10
    auto_build: bool = True

    def render(self, result: results.SpecHits) -> str:
        lines: list[str] = []
        for hit in result.results:
            names = "  ".join(filter(None, (hit.change_id, hit.requirement, hit.scenario)))
            lines.append(f"{coloured(hit.reference, 'cyan')}  {names}  {coloured(f'{hit.path}:{hit.line}', 'dim')}")
            lines.append(f"  {hit.snippet}")
        if not result.results:
            lines.append("Nothing found in the specs. `clew search` looks everywhere.")
        return "\n".join((*lines, *(coloured(note, "dim") for note in result.notes)))

    def exit_code(self, result: results.SpecHits) -> int:
        return 0 if result.results else 1


class CheckSpecs(
    tools.ValidateSpec,
    verb="specs validate",
    toolset=Toolset.SPECS,
    summary="check specs against the rules",
    epilog="clew specs validate --strict",
    hidden=_PAGE,
):
    def render(self, result: results.Validation) -> str:
        return validation(result)

    def exit_code(self, result: results.Validation) -> int:
        return 0 if result.valid else 1


class ListAllChanges(
    tools.ListChanges,
    verb="change list",
    aliases=("",),
    toolset=Toolset.SPECS,
    summary="the open changes with their progress",
    epilog="clew change",
    hidden=_PAGE,
):
    rules: Shape = "all"

    def run(self, call: Call) -> Any:
        if self.rules == "openspec":
            return as_openspec.change_list(call.project.specs.library, call.root)
        return super().run(call)

    def render(self, result: Any) -> str:
        return pretty_json(result) if isinstance(result, dict) else change_list(result)


class ShowChangeStatus(
    Operation,
    verb="change status",
    toolset=Toolset.SPECS,
    summary="progress, validity and conflicts of a change",
    epilog="clew change status add-neap-warning",
):
    """The status of one change; without an id the list of all."""

    change_id: SomeChange = None

    def run(self, call: Call) -> results.ChangeProgress | results.ChangeList:
        specs = call.project.specs
        if self.change_id is None:
            return specs.list_changes(limit=EVERYTHING)
        return specs.change_status(self.change_id)

    def render(self, result: results.ChangeProgress | results.ChangeList) -> str:
        return change_list(result) if isinstance(result, results.ChangeList) else change_status(result)

    def exit_code(self, result: results.ChangeProgress | results.ChangeList) -> int:
        if isinstance(result, results.ChangeList):
            return 0
        return 0 if result.validation.valid and not result.conflicts else 1


class ShowChange(
    tools.GetChange,
    verb="change show",
    toolset=Toolset.SPECS,
    summary="proposal, tasks and deltas of a change",
    epilog="clew change show add-neap-warning --full",
    hidden=("section", "spec_id", "requirement"),
):
    rules: Shape = "all"

    def run(self, call: Call) -> Any:
        if self.rules == "openspec":
            return as_openspec.change(call.project.specs.library.change(self.change_id), call.root)
        return super().run(call)

    def render(self, result: Any) -> str:
        if isinstance(result, dict):
            return pretty_json(result)
        lines = [coloured(result.change_id, "bold")]
        if result.proposal is not None:
            lines.append("\n\n".join(filter(None, (result.proposal.why, result.proposal.what_changes))))
        if result.tasks is not None:
            lines.append(f"\n{result.tasks.completed}/{counted(result.tasks.total, 'task')}")
        for delta in result.deltas or ():
            lines.append(coloured(f"\n{delta.capability}", "cyan"))
            for item in delta.items:
                lines.append(f"  {item.operation}: {item.name}{f' → {item.new_name}' if item.new_name else ''}")
                lines += [item.text] if item.text else []
        return "\n".join(lines)


class CheckChanges(
    tools.ValidateChange,
    verb="change validate",
    toolset=Toolset.SPECS,
    summary="check changes against the rules and the specs",
    epilog="clew change validate add-neap-warning --strict",
    hidden=_PAGE,
):
    def render(self, result: results.Validation) -> str:
        return validation(result)

    def exit_code(self, result: results.Validation) -> int:
        return 0 if result.valid else 1


class ShowConflicts(
    tools.ChangeConflicts,
    verb="change conflicts",
    toolset=Toolset.SPECS,
    summary="conflicts of open changes with each other and with the specs",
    epilog="clew change conflicts",
    hidden=_PAGE,
):
    def render(self, result: results.ConflictList) -> str:
        return conflict_list(result)

    def exit_code(self, result: results.ConflictList) -> int:
        return 1 if result.conflicts or result.circular else 0


class BeginChange(
    Operation,
    tool="new_change",
    verb="change new",
    toolset=Toolset.ADDED,
    heading=HelpHeading.WORK,
    title="Begin a change",
    summary="begin a change: a proposal and tasks to fill in",
    epilog="clew change new add-login --title 'Log in'",
    needs=Freshness.NONE,
    writes=True,
    idempotent=False,
    outlined=True,
    example={"change_id": "warn-of-fog", "title": "Warn of fog"},
):
    """Begins a change to the specs: writes its proposal and tasks to fill in. A change of that name is refused. Returns
    the files; next, write the deltas and call validate_change."""

    change_id: ChangeId
    title: Annotated[str, Meta(description="The title of the proposal")] = ""

    def run(self, call: Call) -> results.ChangeBegun:
        return results.ChangeBegun(self.change_id, call.project.specs.new_change(self.change_id, self.title))

    def render(self, result: results.ChangeBegun) -> str:
        return "\n".join(result.files)


class MarkTask(
    Operation,
    verb="change task",
    toolset=Toolset.SPECS,
    summary="mark a task of a change as done, or open again",
    epilog="clew change task add-neap-warning 1.2\nclew change task add-neap-warning 1.2 --open",
    needs=Freshness.NONE,
    writes=True,
):
    """Ticks a box of tasks.md; no other byte changes."""

    change_id: ChangeId
    task: Annotated[
        str, Meta(min_length=1, max_length=2_000, description="Its number, or its text"), Option(positional=True)
    ]
    open: Annotated[bool, Meta(description="Open it again")] = False
    dry_run: Annotated[bool, Meta(description="Print the difference, write nothing")] = False

    def run(self, call: Call) -> MarkedTask:
        call.project.ensure_graph(call.progress)
        with call.project.context.lock.reading():
            return call.project.specs.mark_task(self.change_id, self.task, done=not self.open, dry_run=self.dry_run)

    def render(self, result: MarkedTask) -> str:
        state = f"{result.task}: {'done' if result.done else 'open'}, {result.completed} of {result.total}"
        if not result.diff:
            return f"{state} (as before)"
        return f"{result.diff}{state}{', nothing was written' if result.dry_run else ''}"


class ArchiveNow(
    tools.ArchiveChange,
    verb="change archive",
    toolset=Toolset.SPECS,
    summary="apply a change to the specs and move it into the archive",
    epilog="clew change archive add-neap-warning --dry-run",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    hidden=("confirm", "move"),
):
    """Typing the command is the confirmation."""

    dry_run: Annotated[bool, Meta(description="Print the difference, write nothing")] = False
    confirm: bool = True
    skip_specs: Annotated[bool, Meta(description="Only move the folder")] = False

    def run(self, call: Call) -> results.ArchiveReport:
        return call.project.specs.archive(self, actor="command line", skip_specs=self.skip_specs)

    def render(self, result: results.ArchiveReport) -> str:
        # A person saw the difference in the preview, or asks git for it afterwards.
        shown = f"{_differences(result.diff)}\n" if result.diff and result.dry_run else ""
        ending = ""
        if result.archived_to is not None:
            ending = f"Archived as {result.archived_to}."
        elif result.dry_run:
            ending = "Nothing was written."
        return f"{shown}{result.summary}{ending}"


class ApplyNow(
    ArchiveNow,
    verb="change apply",
    toolset=Toolset.SPECS,
    summary="apply a change to the specs and leave its folder in place",
    epilog="clew change apply add-neap-warning --dry-run",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    hidden=("confirm", "move"),
):
    """The same without moving the folder."""

    move: bool = False


_BAR = 10
_SIGNS = (("+", "added"), ("~", "modified"), ("-", "removed"), ("→", "renamed"))


def _spec(spec: SpecSummary) -> str:
    problems = coloured(f"  {counted(spec.problems, 'problem')}", "yellow") if spec.problems else ""
    counts = f"{counted(spec.requirements, 'requirement')}, {counted(spec.scenarios, 'scenario')}"
    return f"- {coloured(spec.id, 'cyan')}  {coloured(counts, 'dim')}{problems}"


def validation(found: Validation) -> str:
    return "\n".join(
        (
            *_issues(found.errors, "error", "red"),
            *_issues(found.warnings, "warning", "yellow"),
            *_issues(found.infos, "info", "dim"),
            found.summary,
        )
    )


def _issues(issues: Sequence[IssueReport], word: str, style: str) -> Iterator[str]:
    for issue in issues:
        place = f"{issue.file}:{issue.line}" if issue.line else issue.file
        yield f"{place}: {coloured(word, style)} {issue.code}: {issue.description}"


def change_list(found: ChangeList) -> str:
    return "\n".join(_change(each) for each in found.changes) or "No open changes. `clew change new NAME` creates one."


def _change(change: ChangeSummary, *, is_valid: bool = True) -> str:
    progress = change.task_progress
    done = progress.completed * _BAR // progress.total if progress.total else 0
    bar = f"{'█' * done}{'░' * (_BAR - done)} " if progress.total else ""
    operations = " ".join(f"{sign}{number}" for sign, key in _SIGNS if (number := getattr(change, key)))
    parts = (f"{bar}{progress.completed}/{progress.total} tasks", coloured(operations, "dim"))
    problem = change.problem or ("" if is_valid else "not valid")
    fault = coloured(problem, "red") if problem else ""
    return "  ".join(filter(None, (f"- {coloured(change.id, 'cyan')}", *parts, fault)))


_NEW_FILE = re.compile(r"^--- \(new\)$", re.MULTILINE)


def _differences(text: str) -> str:
    """The difference of each file; of a new one, the beginning."""
    files = re.split(r"(?m)^(?=--- )", text)
    shown = (
        _shortened(each, "the file is new") if _NEW_FILE.match(each) else each.rstrip("\n") for each in files if each
    )
    return "\n".join(shown)


def change_status(found: ChangeProgress) -> str:
    lines = [
        coloured(found.change_id, "bold"),
        f"{found.tasks.completed}/{counted(found.tasks.total, 'task')}; {found.validation.summary}",
        conflict_list(found),
    ]
    return "\n".join(lines)


def conflict_list(found: ConflictList | ChangeProgress) -> str:
    # What could not be compared comes first: without conflicts it is the answer.
    lines = [coloured(note, "yellow") for note in found.notes]
    lines += _conflicts(found.conflicts, compared=not found.notes)
    lines += [
        f"{each.first} must come before {each.then}, which {each.reason}: {each.requirement}"
        for each in found.dependencies
    ]
    if found.circular:
        lines.append(coloured(f"These wait for each other: {', '.join(found.circular)}", "red"))
    if isinstance(found, ConflictList) and len(found.order) > 1 and (found.conflicts or found.dependencies):
        lines.append(f"Archive them in this order: {', '.join(found.order)}")
    return "\n".join(lines)


MOST_LINES = 20
"""Lines of one difference that a list of conflicts and an archive print."""


def _shortened(difference: str, rest: str) -> str:
    lines = difference.splitlines()
    if len(lines) <= MOST_LINES:
        return "\n".join(lines)
    return "\n".join(
        (*lines[:MOST_LINES], coloured(f"... {counted(len(lines) - MOST_LINES, 'more line')}; {rest}", "dim"))
    )


def _conflicts(found: Sequence[ConflictReport], *, compared: bool) -> Iterator[str]:
    for conflict in found:
        yield f"{coloured(conflict.kind, 'red')}  {conflict.spec_id}: {conflict.requirement}"
        yield f"  {conflict.message}"
        if conflict.scenarios:
            yield f"  scenarios at stake: {', '.join(conflict.scenarios)}"
        sides = (("since then, in the spec", "theirs"), ("in the change", "ours")) if conflict.view else ()
        for heading, key in sides:
            if difference := getattr(conflict.view, key):
                yield coloured(f"  {heading}:", "dim")
                shown = _shortened(difference, f"`clew change diff {conflict.changes[0]}` shows all")
                yield "\n".join(f"    {line}" for line in shown.splitlines())
    if not found:
        yield "No conflicts." if compared else "No conflicts in what could be compared."
