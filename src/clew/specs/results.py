"""Answers of the specs service. Field names are those that users of Spec Oxide know, and a few more."""

from collections.abc import Mapping
from typing import Any

import msgspec


class SpecSummary(msgspec.Struct, frozen=True):
    id: str
    title: str
    purpose: str
    requirements: int
    scenarios: int
    problems: int
    """Rules it breaks; validate_spec lists them."""


class SpecList(msgspec.Struct, frozen=True):
    specs: tuple[SpecSummary, ...]
    count: int
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class Dashboard(msgspec.Struct, frozen=True):
    """Everything at a glance."""

    specs: tuple[SpecSummary, ...]
    changes: tuple["ChangeSummary", ...]
    conflicts: tuple["ConflictReport", ...]
    invalid_changes: tuple[str, ...]
    """Changes that break a rule."""
    requirements: int
    scenarios: int
    tested: int
    """Scenarios that a test verifies."""


class Catalogue(msgspec.Struct, frozen=True):
    lines: tuple[str, ...]
    """`id requirements/scenarios purpose`, one line for each spec."""
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class ScenarioEntry(msgspec.Struct, frozen=True):
    name: str
    slug: str
    line: int


class RequirementEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    scenario_count: int
    slug: str
    line: int
    text: str | None = None
    """The description, or with its scenarios, where they were asked for."""
    scenarios: tuple[ScenarioEntry, ...] | None = None


class SectionOutline(msgspec.Struct, frozen=True):
    heading: str
    line: int
    end_line: int


class SpecRequirements(msgspec.Struct, frozen=True):
    spec_id: str
    title: str
    path: str
    purpose: str | None
    """Null where only names were asked for; so are the sections."""
    sections: tuple[SectionOutline, ...] | None
    """The other sections of the file, besides title, purpose and requirements."""
    requirements: tuple[RequirementEntry, ...]
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class ScenarioDetail(msgspec.Struct, frozen=True):
    name: str
    slug: str
    given: tuple[str, ...]
    when: tuple[str, ...]
    then: tuple[str, ...]
    raw: str
    line: int
    end_line: int


class ScenarioAnswer(msgspec.Struct, frozen=True):
    spec_id: str
    requirement: str
    requirement_description: str
    name: str
    when: str
    then: tuple[str, ...]
    scenario_name: str
    when_clause: str
    then_clauses: tuple[str, ...]
    scenario: ScenarioDetail
    reference: str
    """The id under which a test cites it."""
    path: str
    tested: bool
    truncated: bool = False


class SpecHit(msgspec.Struct, frozen=True):
    spec_id: str
    requirement: str | None
    """Null where the purpose of the spec was found."""
    scenario: str | None
    score: float
    snippet: str
    path: str
    line: int
    reference: str
    change_id: str | None = None


class SpecHits(msgspec.Struct, frozen=True):
    results: tuple[SpecHit, ...]
    count: int
    threshold: str
    """The condition for a relevant result."""
    index_built: bool
    """True if the index had to be built for this answer."""
    stale_specs: tuple[str, ...]
    """Specs that changed since they were indexed and could not be indexed again."""
    indexed: str
    notes: tuple[str, ...] = ()
    truncated: bool = False


class TaskProgress(msgspec.Struct, frozen=True):
    completed: int
    total: int


class ChangeSummary(msgspec.Struct, frozen=True):
    id: str
    title: str
    task_progress: TaskProgress
    status: str
    """no-tasks, in-progress or complete."""
    added: int
    modified: int
    removed: int
    renamed: int
    specs: tuple[str, ...]
    problem: str | None = None
    """The file that the change lacks, such as its proposal."""


class ChangeList(msgspec.Struct, frozen=True):
    changes: tuple[ChangeSummary, ...]
    count: int
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class ProposalPart(msgspec.Struct, frozen=True):
    why: str
    what_changes: str


class TasksPart(msgspec.Struct, frozen=True):
    content: str
    completed: int
    total: int


class DeltaItem(msgspec.Struct, frozen=True, omit_defaults=True):
    operation: str
    name: str
    scenarios: tuple[str, ...] = ()
    new_name: str | None = None
    text: str | None = None
    """All of it, where it was asked for."""
    line: int = 0


class DeltaPart(msgspec.Struct, frozen=True):
    capability: str
    items: tuple[DeltaItem, ...]


class ChangeDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    change_id: str
    proposal: ProposalPart | None = None
    tasks: TasksPart | None = None
    design: str | None = None
    deltas: tuple[DeltaPart, ...] | None = None
    truncated: bool = False


class IssueReport(msgspec.Struct, frozen=True, omit_defaults=True):
    file: str
    description: str
    code: str
    line: int | None = None
    section: str | None = None


class Validation(msgspec.Struct, frozen=True):
    valid: bool
    errors: tuple[IssueReport, ...]
    warnings: tuple[IssueReport, ...]
    infos: tuple[IssueReport, ...]
    summary: str
    """Counts all of them, whatever the page holds."""
    truncated: bool = False
    next_cursor: str | None = None

    @property
    def total(self) -> int:
        return len(self.errors) + len(self.warnings) + len(self.infos)

    def page(self, offset: int, limit: int) -> "Validation":
        """Some of them, errors before warnings before notes."""
        end, parts = offset + limit, []
        for part in (self.errors, self.warnings, self.infos):
            parts.append(part[max(offset, 0) : max(end, 0)])
            offset, end = offset - len(part), end - len(part)
        errors, warnings, infos = parts
        return Validation(self.valid, errors, warnings, infos, self.summary)


class IndexBuilt(msgspec.Struct, frozen=True):
    specs_indexed: int
    units_indexed: int
    """Purposes, requirements, scenarios and what open changes say."""
    indexed: str
    semantic: bool = False
    """True once searches go by meaning as well as by words."""
    note: str = ""


class ThreeWayView(msgspec.Struct, frozen=True):
    then: str | None
    now: str | None
    wanted: str | None
    theirs: str
    ours: str


class ConflictReport(msgspec.Struct, frozen=True, omit_defaults=True):
    kind: str
    spec_id: str
    requirement: str
    changes: tuple[str, ...]
    message: str
    scenarios: tuple[str, ...] = ()
    view: ThreeWayView | None = None


class DependencyReport(msgspec.Struct, frozen=True):
    first: str
    then: str
    spec_id: str
    requirement: str
    reason: str


class ConflictList(msgspec.Struct, frozen=True):
    conflicts: tuple[ConflictReport, ...]
    total: int
    dependencies: tuple[DependencyReport, ...]
    order: tuple[str, ...]
    """The open changes in an order in which they can be archived."""
    circular: tuple[str, ...]
    notes: tuple[str, ...] = ()
    truncated: bool = False
    next_cursor: str | None = None


class ChangeProgress(msgspec.Struct, frozen=True, omit_defaults=True):
    """The progress of a change, and the reasons why it cannot be archived."""

    change_id: str
    tasks: TaskProgress
    validation: Validation
    conflicts: tuple[ConflictReport, ...]
    dependencies: tuple[DependencyReport, ...]
    circular: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ChangeBegun(msgspec.Struct, frozen=True):
    change_id: str
    files: tuple[str, ...]


class Rebased(msgspec.Struct, frozen=True):
    change_id: str
    moved: tuple[str, ...]
    """The requirements that had changed since the change was written."""
    valid: bool
    errors: tuple[IssueReport, ...]
    truncated: bool = False


class ArchiveReport(msgspec.Struct, frozen=True):
    change_id: str
    dry_run: bool
    applied: bool
    archived_to: str | None
    """The folder in the archive; null where the change was not moved."""
    files: tuple[str, ...]
    summary: str
    diff: str
    warnings: tuple[str, ...] = ()
    truncated: bool = False


class MeaningChange(msgspec.Struct, frozen=True):
    """A statement or step that came, went or reads differently."""

    change: str
    """added, removed or changed."""
    text: str
    before: str | None = None


class ScenarioChange(msgspec.Struct, frozen=True):
    name: str
    change: str
    steps: tuple[MeaningChange, ...] = ()


class RequirementChange(msgspec.Struct, frozen=True):
    name: str
    change: str
    """added, removed, renamed, changed, or same where it says what is in force already."""
    before: str | None = None
    """Its former name."""
    statement: tuple[MeaningChange, ...] = ()
    scenarios: tuple[ScenarioChange, ...] = ()
    note: str = ""


class SpecChange(msgspec.Struct, frozen=True):
    spec_id: str
    is_new: bool
    requirements: tuple[RequirementChange, ...]


class ChangeMeaning(msgspec.Struct, frozen=True):
    change_id: str
    specs: tuple[SpecChange, ...]


class Unarchived(msgspec.Struct, frozen=True):
    change_id: str
    folder: str
    """The folder of the restored change."""
    files: tuple[str, ...]
    """Specs that are as they were before."""
    diff: str
    dry_run: bool


class Formatted(msgspec.Struct, frozen=True):
    files: tuple[str, ...]
    """The files that are, or would be, written."""
    looked_at: int
    diff: str
    written: bool
    skipped: tuple[str, ...] = ()
    """Files that would not say the same, or are not UTF-8; they are left as they are."""


class PlanningHome(msgspec.Struct, frozen=True, rename="camel"):
    """The folders of a project's changes, as absolute paths, in the form of OpenSpec."""

    kind: str
    root: str
    changes_dir: str
    default_schema: str


class OutputPaths(msgspec.Struct, frozen=True, rename="camel"):
    """The paths of an artefact; the last two are absolute."""

    output_path: str
    resolved_output_path: str
    existing_output_paths: tuple[str, ...]


class ArtefactStatus(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    output_path: str
    status: str
    """done, ready, or blocked by what it requires."""
    requires: tuple[str, ...]
    missing_deps: tuple[str, ...] = ()


class Artefacts(msgspec.Struct, frozen=True, rename="camel"):
    """The artefacts of a change, in the words of OpenSpec."""

    change_name: str
    schema_name: str
    planning_home: PlanningHome
    change_root: str
    is_complete: bool
    is_planning_complete: bool
    """The same again, under its later name."""
    artifacts: tuple[ArtefactStatus, ...]
    artifact_paths: Mapping[str, OutputPaths]
    action_context: Mapping[str, Any]
    """The folders that the implementer of the change may write to."""
    next_steps: tuple[str, ...]
    apply_requires: tuple[str, ...] = ()
    """The artefacts that must exist before the change is carried out."""


class Instructions(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Instructions for an artefact, in the form of OpenSpec."""

    change_name: str
    artifact_id: str
    schema_name: str
    change_dir: str
    planning_home: PlanningHome
    output_path: str
    resolved_output_path: str
    existing_output_paths: tuple[str, ...]
    description: str
    instruction: str
    template: str
    dependencies: tuple[dict[str, str | bool], ...]
    unlocks: tuple[str, ...]
    context: str = ""
    """The project's context for the author of an artefact, from the settings."""
    rules: tuple[str, ...] = ()
    """The settings' rules for this artefact."""
    notes: tuple[str, ...] = ()
    """Settings that were not understood."""


class ApplyInstructions(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Instructions for carrying out a change, in the form of OpenSpec."""

    change_name: str
    change_dir: str
    schema_name: str
    context_files: Mapping[str, tuple[str, ...]]
    """The files to read first, by artefact."""
    progress: Mapping[str, int]
    tasks: tuple[dict[str, str | bool], ...]
    task_tracking_configured: bool
    state: str
    """blocked, ready or all_done."""
    missing_artifacts: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    missing_prerequisites: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    instruction: str
    context: str | msgspec.UnsetType = msgspec.UNSET
    """The project's context, from the settings."""
