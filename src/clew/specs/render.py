"""Specs and changes as people read them on a terminal."""

from collections.abc import Iterator, Sequence

from clew.specs.results import (
    ArchiveReport,
    ChangeDetail,
    ChangeList,
    ChangeStatus,
    ChangeSummary,
    ConflictList,
    ConflictReport,
    Dashboard,
    IndexBuilt,
    IssueReport,
    Rebased,
    SpecHits,
    SpecList,
    SpecRequirements,
    SpecSummary,
    Validation,
)
from clew.text.counting import counted
from clew.text.terminal import coloured

_BAR = 10
_SIGNS = (("+", "added"), ("~", "modified"), ("-", "removed"), ("→", "renamed"))


def dashboard(found: Dashboard) -> str:
    if not found.specs and not found.changes:
        return "There are no specs: no folder `openspec` or `specs` holds any. `clew change new add-login` begins one."
    counts = f"{counted(len(found.specs), 'spec')}, {counted(found.requirements, 'requirement')}"
    total = f"{counts}, {counted(found.scenarios, 'scenario')}, {found.tested} of them tested"
    lines = [coloured(total, "bold"), *map(_spec, found.specs)]
    if found.changes:
        lines.append(coloured(f"\n{counted(len(found.changes), 'open change')}", "bold"))
        lines += [_change(each, is_valid=each.id not in found.invalid_changes) for each in found.changes]
    if found.conflicts:
        number = counted(len(found.conflicts), "conflict")
        lines.append(coloured(f"\n{number}; `clew change conflicts` explains", "red"))
    return "\n".join(lines)


def spec_list(found: SpecList) -> str:
    rest = [coloured(f"{found.count} of {found.total}", "dim")] if found.truncated else []
    return "\n".join((*map(_spec, found.specs), *rest))


def _spec(spec: SpecSummary) -> str:
    problems = coloured(f"  {counted(spec.problems, 'problem')}", "yellow") if spec.problems else ""
    counts = f"{counted(spec.requirements, 'requirement')}, {counted(spec.scenarios, 'scenario')}"
    return f"- {coloured(spec.id, 'cyan')}  {coloured(counts, 'dim')}{problems}"


def spec_requirements(found: SpecRequirements, *, with_text: bool) -> str:
    lines = [coloured(f"{found.spec_id}: {found.title}", "bold") + coloured(f"  {found.path}", "dim")]
    if found.purpose:
        lines.append(found.purpose)
    for each in found.requirements:
        lines.append(f"\n{coloured(each.slug, 'cyan')}  {each.name}")
        if with_text:
            lines.append(each.text or "")
            continue
        lines += [f"  #{scenario.slug}  {coloured(scenario.name, 'dim')}" for scenario in each.scenarios or ()]
    lines += [f"\n{coloured(f'line {each.line}', 'dim')}  {each.heading}" for each in found.sections or ()]
    return "\n".join(lines)


def spec_hits(found: SpecHits) -> str:
    lines: list[str] = []
    for hit in found.results:
        names = "  ".join(filter(None, (hit.change_id, hit.requirement, hit.scenario)))
        lines.append(f"{coloured(hit.reference, 'cyan')}  {names}  {coloured(f'{hit.path}:{hit.line}', 'dim')}")
        lines.append(f"  {hit.snippet}")
    if not found.results:
        lines.append("Nothing found.")
    return "\n".join((*lines, *(coloured(note, "dim") for note in found.notes)))


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


def index_built(found: IndexBuilt) -> str:
    return f"{counted(found.specs_indexed, 'spec')} indexed, {counted(found.units_indexed, 'text')}."


def change_list(found: ChangeList) -> str:
    return "\n".join(_change(each) for each in found.changes) or "No open changes."


def _change(change: ChangeSummary, *, is_valid: bool = True) -> str:
    progress = change.task_progress
    done = progress.completed * _BAR // progress.total if progress.total else 0
    bar = f"{'█' * done}{'░' * (_BAR - done)} " if progress.total else ""
    operations = " ".join(f"{sign}{number}" for sign, key in _SIGNS if (number := getattr(change, key)))
    parts = (f"{bar}{progress.completed}/{progress.total} tasks", coloured(operations, "dim"))
    fault = "" if is_valid else coloured("not valid", "red")
    return "  ".join(filter(None, (f"- {coloured(change.id, 'cyan')}", *parts, fault)))


def change_detail(found: ChangeDetail) -> str:
    lines = [coloured(found.change_id, "bold")]
    if found.proposal is not None:
        lines.append("\n\n".join(filter(None, (found.proposal.why, found.proposal.what_changes))))
    if found.tasks is not None:
        lines.append(f"\n{found.tasks.completed}/{counted(found.tasks.total, 'task')}")
    for delta in found.deltas or ():
        lines.append(coloured(f"\n{delta.capability}", "cyan"))
        for item in delta.items:
            lines.append(f"  {item.operation}: {item.name}{f' → {item.new_name}' if item.new_name else ''}")
            lines += [item.text] if item.text else []
    return "\n".join(lines)


def change_status(found: ChangeStatus) -> str:
    lines = [
        coloured(found.change_id, "bold"),
        f"{found.tasks.completed}/{counted(found.tasks.total, 'task')}; {found.validation.summary}",
        conflict_list(found),
    ]
    return "\n".join(lines)


def conflict_list(found: ConflictList | ChangeStatus) -> str:
    lines = list(_conflicts(found.conflicts))
    lines += [
        f"{each.first} must come before {each.then}, which {each.reason}: {each.requirement}"
        for each in found.dependencies
    ]
    if found.circular:
        lines.append(coloured(f"These wait for each other: {', '.join(found.circular)}", "red"))
    return "\n".join((*lines, *(coloured(note, "dim") for note in found.notes)))


def _conflicts(found: Sequence[ConflictReport]) -> Iterator[str]:
    for conflict in found:
        yield f"{coloured(conflict.kind, 'red')}  {conflict.spec_id}: {conflict.requirement}"
        yield f"  {conflict.message}"
        if conflict.scenarios:
            yield f"  scenarios at stake: {', '.join(conflict.scenarios)}"
        sides = (("since then, in the spec", "theirs"), ("in the change", "ours")) if conflict.view else ()
        for heading, key in sides:
            if difference := getattr(conflict.view, key):
                yield coloured(f"  {heading}:", "dim")
                yield "\n".join(f"    {line}" for line in difference.splitlines())
    if not found:
        yield "No conflicts."


def rebased(found: Rebased) -> str:
    moved = f" Moved since it was written: {', '.join(found.moved)}." if found.moved else ""
    first = f"{found.change_id} is compared with the specs as they are now.{moved}"
    errors = (
        f"{issue.file}:{issue.line or 1}: {coloured('error', 'red')} {issue.code}: {issue.description}"
        for issue in found.errors
    )
    return "\n".join((first, *errors))


def archive_report(report: ArchiveReport) -> str:
    shown = f"{report.diff}\n" if report.diff else ""
    ending = ""
    if report.archived_to is not None:
        ending = f"Archived as {report.archived_to}."
    elif report.dry_run:
        ending = "Nothing was written."
    return f"{shown}{report.summary}{ending}"
