"""Rules for a change: its proposal, its tasks, and its deltas."""

from collections.abc import Mapping
from typing import Final

from clew.formats.openspec.change import ChangeProposal, Proposal
from clew.formats.openspec.metadata import FLAG
from clew.formats.openspec.records import Spec
from clew.formats.openspec.rules.delta import NO_OTHER_CHANGES, OtherChanges, check_against, check_delta
from clew.formats.openspec.rules.rules import Dialect, Issue, Issues
from clew.formats.openspec.tasks import Tasks
from clew.text.display import shortened

SHORTEST_WHY, LONGEST_WHY = 50, 1_000
SHORTEST_DESCRIPTION = 10
MOST_OPERATIONS = 10
_NOTHING: Final[Mapping[str, OtherChanges]] = {}


def validate_change(
    change: ChangeProposal,
    specs: Mapping[str, Spec],
    dialect: Dialect = Dialect.ALL,
    *,
    elsewhere: Mapping[str, OtherChanges] = _NOTHING,
) -> tuple[Issue, ...]:
    """Everything a change breaks.

    `specs` are the specs in force by id; `elsewhere` says what other open changes do to names, by spec.
    """
    issues = Issues(dialect)
    issues.enter("proposal.md", "proposal")
    if change.proposal is None:
        issues.add("proposal_missing", "The change has no proposal.md. Write one with `## Why` and `## What Changes`.")
    else:
        _check_proposal(change.proposal, issues)
    issues.enter("tasks.md", "tasks")
    _check_tasks(change.tasks, issues)
    _check_metadata(change, issues)
    _check_extent(change, issues)
    for delta in change.deltas:
        issues.enter(f"specs/{delta.spec_id}/spec.md", "deltas", delta.spec_id)
        check_delta(delta, issues)
        check_against(delta, specs.get(delta.spec_id), issues, elsewhere.get(delta.spec_id, NO_OTHER_CHANGES), specs)
    return issues.found()


def check_whole(change: ChangeProposal) -> tuple[Issue, ...]:
    """Issues in the metadata and folders of a change, without its texts."""
    issues = Issues(Dialect.ALL)
    _check_metadata(change, issues)
    _check_extent(change, issues)
    return issues.found()


def _check_proposal(proposal: Proposal, issues: Issues) -> None:
    why, what = proposal.document.titled("Why"), proposal.what_changes
    if why is None or not why.text:
        issues.add(
            "why_missing", "The proposal does not say why. Write it below `## Why`.", why.span.line if why else 1
        )
    elif len(why.text) < SHORTEST_WHY:
        message = f"The Why has {len(why.text)} characters, fewer than {SHORTEST_WHY}. Say more."
        issues.add("why_short", message, why.span.line)
    elif len(why.text) > LONGEST_WHY:
        message = f"The Why has {len(why.text)} characters, more than {LONGEST_WHY}. Move details into design.md."
        issues.add("why_long", message, why.span.line)
    if not what:
        issues.add("what_changes_missing", "The proposal does not say what changes. Write `## What Changes`.", 1)
    for described in proposal.described:
        if len(described.description) < SHORTEST_DESCRIPTION:
            message = f"What is said about {described.spec_id!r} has fewer than {SHORTEST_DESCRIPTION} characters."
            issues.add("description_short", f"{message} Say more.", described.line)


def _check_tasks(tasks: Tasks | None, issues: Issues) -> None:
    if tasks is None:
        issues.add("tasks_missing", "The change has no tasks.md. Write one with items `- [ ] 1.1 text`.")
        return
    if not tasks.items:
        issues.add("tasks_without_box", "tasks.md has no box. Write tasks as `- [ ] 1.1 text`.", 1)
        if tasks.listed:
            message = "The tasks are a plain list, so it is not known which are done. Write them as `- [ ] 1.1 text`."
            issues.add("tasks_as_plain_list", message, tasks.listed)
    first: dict[str, int] = {}
    for task in tasks.items:
        if not task.number:
            message = f"Task {shortened(task.text)!r} has no number. Begin it with one, such as 1.1."
            issues.add("task_without_number", message, task.line)
        elif (line := first.setdefault(task.number, task.line)) != task.line:
            message = f"Task number {task.number} is used in line {line} already. Give each its own."
            issues.add("task_number_repeated", message, task.line)


def _check_metadata(change: ChangeProposal, issues: Issues) -> None:
    issues.enter(".openspec.yaml")
    metadata = change.metadata
    for problem in metadata.problems if metadata is not None else ():
        if problem.severity == "error":
            code = "metadata_flag" if problem.code == FLAG else "metadata_invalid"
            issues.add(code, problem.message, problem.line)


def _check_extent(change: ChangeProposal, issues: Issues) -> None:
    """Check that the change does something, and not too much."""
    issues.enter("specs", "deltas")
    operations = sum(delta.count for delta in change.deltas)
    if change.misplaced:
        issues.add("spec_at_root", "specs/spec.md belongs to no spec. Move it to specs/<spec>/spec.md.")
    for path in change.misnamed:
        message = f"{path} holds sections of a delta, but only files called spec.md are applied. Move it to a folder"
        issues.add("delta_misnamed", f"{message} of its spec, as spec.md.")
    if change.skips_specs and (change.deltas or change.misplaced or change.misnamed):
        message = "The change says skip_specs, but has files below specs/. Remove the files or the mark."
        issues.add("specs_not_skipped", message)
    elif not (change.skips_specs or operations or change.misplaced or change.misnamed):
        message = "The change does nothing to any spec. Write specs/<spec>/spec.md, or skip_specs: true."
        issues.add("no_deltas", message)
    if operations > MOST_OPERATIONS:
        message = f"The change has {operations} operations, more than {MOST_OPERATIONS}. Consider to split it."
        issues.add("too_many_deltas", message)
