"""Answers of the trace service. Field names are the keys that users of elspais know, of either generation."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.text.display import counted
from clew.trace.coverage import AssertionCounts, CoverageCounts, LevelCounts, LevelCoverage
from clew.trace.totals import FindingCounts


class Unsaved(msgspec.Struct, frozen=True):
    """Drafts that wait to be saved."""

    count: int
    conflicts: int
    """The number of those that no longer apply to the files, as far as this process knows."""
    target_ids: tuple[str, ...]
    """The ids that they change, each once."""

    @property
    def note(self) -> str | None:
        """A sentence for a person or an agent; None where there are none."""
        if not self.count:
            return None
        shown = ", ".join(self.target_ids[:5]) + (", ..." if len(self.target_ids) > 5 else "")
        stuck = f", of which {self.conflicts} no longer apply" if self.conflicts else ""
        return (
            f"{counted(self.count, 'draft')} of {shown} not saved{stuck}: get_mutation_log lists them, save_mutations "
            "writes them, undo_last_mutation takes them back."
        )


class RequirementSummary(msgspec.Struct, frozen=True):
    id: str
    title: str
    level: str
    status: str


class ScoredSummary(RequirementSummary, frozen=True):
    score: float


class Location(msgspec.Struct, frozen=True):
    path: str
    line: int
    end_line: int


class AssertionDetail(msgspec.Struct, frozen=True):
    id: str
    label: str
    text: str
    line: int
    tested: bool
    retired: bool = False
    """It no longer holds: nothing has to implement or test it."""


class Neighbour(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str
    edge_kind: str
    assertion_targets: tuple[str, ...] = ()
    """The assertions of the cited requirement that are meant; empty means all of it."""
    level: str | msgspec.UnsetType = msgspec.UNSET
    """Of a requirement."""


class RequirementDetail(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str
    level: str
    status: str
    hash: str | None
    """As written in the file."""
    hash_state: str
    """current, stale, missing or none."""
    body: str
    source: Location | None
    assertions: tuple[AssertionDetail, ...]
    sections: tuple[str, ...]
    """Headings besides the assertions."""
    parents: tuple[Neighbour, ...]
    """The requirements that it cites."""
    children: tuple[Neighbour, ...]
    """The nodes that cite it: requirements and journeys first, then code, then tests."""
    coverage: Mapping[str, Any]
    """Assertions in all, tested and implemented, and the labels that no test names."""
    metrics: Mapping[str, Any]
    broken_references: tuple[str, ...]
    """The targets that it cites and that do not exist, as written."""
    keywords: tuple[str, ...]
    properties: Mapping[str, str | None]
    """Level, status, hash and body_text, where the elspais of February 2026 had them. body_text, which is `body` again,
    is null where the answer would get too large."""
    version: str
    """Changes with the requirement's text and with what it cites."""
    children_total: int
    file_version: str | None = None
    """Changes with the path and the nodes of its file."""
    associate: str | None = None
    """The repository it is in, where that is not the project itself; it cannot be changed from here."""
    links: tuple[str, ...] = ()
    """Other nodes it is tied to; requirements of markdown files have none."""
    truncated: bool = False
    next_cursor: str | None = None
    """Leads to further children."""


class Hierarchy(msgspec.Struct, frozen=True):
    id: str
    title: str
    level: str
    status: str
    ancestors: tuple[RequirementSummary, ...]
    """Nearest first."""
    children: tuple[RequirementSummary, ...]
    children_total: int
    siblings: tuple[RequirementSummary, ...]
    """Other children of its parents; all of them are the children of those."""
    siblings_total: int
    truncated: bool = False
    next_cursor: str | None = None
    """Leads to further children."""


class RequirementPage(msgspec.Struct, frozen=True):
    results: tuple[ScoredSummary, ...]
    """The requirements with all words."""
    count: int
    """Results found for this page, before any was left out for size."""
    total: int
    related: tuple[ScoredSummary, ...] = ()
    """A few that do not hold all words but are near in meaning, or hold most of them; on the first page only."""
    truncated: bool = False
    next_cursor: str | None = None
    notes: tuple[str, ...] = ()
    indexed: str | None = None
    """The share of the project that is indexed; null if only the text itself was searched."""


class GraphStatus(msgspec.Struct, frozen=True):
    is_stale: bool
    """A file changed since the graph was read."""
    last_refresh: str | None
    node_counts: Mapping[str, int]
    total_nodes: int
    root_count: int
    has_orphans: bool
    has_broken_references: bool
    broken_reference_count: int
    has_unresolved_references: bool = False
    """Citations by the grammar of ids that name nothing."""
    has_malformed_references: bool = False
    terms_dirty: bool = False
    """Never: Clew keeps no glossary that could need writing."""
    drafts: Unsaved | None = None
    """Mutations that wait to be saved; null where there are none."""


class ChangeCounts(msgspec.Struct, frozen=True):
    """Requirements that differ, counted by the lines that git reports; null without a commit to compare with."""

    uncommitted: int | None
    branch_changed: int | None
    base: str | None
    note: str | None = None


class ProjectSummary(msgspec.Struct, frozen=True):
    requirements_by_level: LevelCounts
    coverage: CoverageCounts
    coverage_by_level: tuple[LevelCoverage, ...]
    changes: ChangeCounts
    total_nodes: int
    orphan_count: int
    broken_reference_count: int
    stale_hash_count: int
    unresolved_reference_count: int
    malformed_reference_count: int
    """Both are part of broken_reference_count."""
    uncovered_assertion_count: int
    """As get_uncovered_assertions lists them: `untested` and `drafts_untested` of `assertions`."""
    duplicate_ids: tuple[str, ...]
    assertions: AssertionCounts
    findings: FindingCounts | None = None
    """Everything that `clew check` finds."""
    drafts: Unsaved | None = None
    """Mutations that wait to be saved; null where there are none."""
    truncated: bool = False


class RefreshReport(msgspec.Struct, frozen=True):
    success: bool
    message: str
    node_count: int
    files: int
    files_parsed: int
    files_from_cache: int
    files_removed: int
    seconds: float
    last_refresh: str | None
    working_dir: str
    config: "ConfigSummary"


class ConfigSummary(msgspec.Struct, frozen=True):
    prefix: str
    spec_directories: tuple[str, ...]
    testing_enabled: bool
    local_config: bool
    project_type: str | None = None
    """Null: Clew reads one repository at a time and knows no types of projects."""


class Workspace(msgspec.Struct, frozen=True):
    repo_path: str
    project_name: str
    clew_version: str
    config_file: str | None
    config_summary: ConfigSummary
    levels: tuple[str, ...]
    code_directories: tuple[str, ...]
    test_directories: tuple[str, ...]
    branch: str | None
    notes: tuple[str, ...]
    """Limits of the answers, such as a store that could not be opened."""
    detail: str = "default"
    available_details: Mapping[str, str] = {}
    """The profiles of `detail`, with what each adds."""
    id_patterns: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    assertion_format: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    testing: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    code_references: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    hierarchy_rules: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    associates: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    coverage_stats: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    health: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    change_metrics: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
