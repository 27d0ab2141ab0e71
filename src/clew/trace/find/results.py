"""Answers that list nodes, assertions, gaps, and sets of requirements."""

from collections.abc import Mapping

import msgspec

from clew.trace.read.results import RequirementSummary, ScoredSummary


class NodeSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    kind: str
    title: str
    level: str | None = None
    status: str | None = None
    source: str | None = None
    """Path and line."""
    actor: str | None = None
    """Of a journey, likewise its goal."""
    goal: str | None = None


class NodePage(msgspec.Struct, frozen=True):
    results: tuple[NodeSummary, ...]
    count: int
    """Results found for this page, before any was left out for size."""
    total: int
    success: bool = True
    truncated: bool = False
    next_cursor: str | None = None


class AssertionText(msgspec.Struct, frozen=True):
    id: str
    label: str
    text: str


class AssertionInContext(AssertionText, frozen=True):
    parent_id: str
    parent_title: str


class AssertionPage(msgspec.Struct, frozen=True):
    assertions: tuple[AssertionInContext, ...]
    count: int
    total: int
    success: bool = True
    truncated: bool = False
    next_cursor: str | None = None


class RequirementGap(msgspec.Struct, frozen=True):
    """A requirement with assertions that no test names."""

    req_id: str
    title: str
    total_assertions: int
    uncovered_count: int
    uncovered_labels: tuple[str, ...]
    status: str = ""


class UncoveredPage(msgspec.Struct, frozen=True):
    assertions: tuple[AssertionInContext, ...]
    requirements: tuple[RequirementGap, ...]
    """The requirements of these assertions, with all their gaps."""
    count: int
    total: int
    req_id: str | None = None
    """The requirement that was asked for; null when all were."""
    success: bool = True
    title: str | msgspec.UnsetType = msgspec.UNSET
    """Of the requirement that was asked for, likewise below: assertions in all, and those that no test names."""
    total_assertions: int | msgspec.UnsetType = msgspec.UNSET
    uncovered_count: int | msgspec.UnsetType = msgspec.UNSET
    uncovered_labels: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    truncated: bool = False
    next_cursor: str | None = None


class ResultOfTest(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    status: str
    test_id: str | None = None
    message: str | None = None
    source: str | None = None


class CitingTest(msgspec.Struct, frozen=True):
    id: str
    label: str
    name: str
    file: str | None
    line: int | None
    assertion_targets: tuple[str, ...]
    """The assertions that the test names; empty where it cites the requirement as a whole."""
    verdict: str | None
    """The joint verdict of its results: the worst of them; null if there are none."""
    results: tuple[ResultOfTest, ...]


class JourneyOfRequirement(msgspec.Struct, frozen=True):
    id: str
    title: str
    file: str | None
    verdict: str
    """The joint verdict of its results; unverified if there are none."""


class Acceptance(msgspec.Struct, frozen=True):
    """Acceptance of a requirement by user journeys."""

    jny_nodes: tuple[JourneyOfRequirement, ...]
    covered_assertions: tuple[str, ...]
    """The assertions that a journey names."""
    covered_count: int
    referenced_pct: float
    validated_pct: float
    """The share of assertions of which a journey passed and none failed, in percent."""
    validated_assertions: tuple[str, ...] = ()
    failed_assertions: tuple[str, ...] = ()


class CoverageByTests(msgspec.Struct, frozen=True):
    success: bool
    req_id: str
    title: str
    test_nodes: tuple[CitingTest, ...]
    result_nodes: tuple[ResultOfTest, ...]
    """The results of these tests."""
    covered_assertions: tuple[str, ...]
    uncovered_assertions: tuple[str, ...]
    uncovered_detail: tuple[AssertionText, ...]
    total_assertions: int
    covered_count: int
    coverage_pct: float
    referenced_pct: float
    """The same under its later name."""
    tested_breakdown: Mapping[str, int]
    """Assertions that tests name, by what those tests last gave: passed, failed, awaiting_result."""
    tests_total: int
    uat: Acceptance | None = None
    """Its acceptance by user journeys."""
    truncated: bool = False
    next_cursor: str | None = None
    """Leads to further tests."""


class BrokenItem(msgspec.Struct, frozen=True):
    source_id: str
    target_id: str
    """As written."""
    edge_kind: str
    fault: str
    """malformed, unknown_requirement, unknown_assertion or forbidden."""
    path: str
    line: int


class BrokenPage(msgspec.Struct, frozen=True):
    broken_references: tuple[BrokenItem, ...]
    count: int
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class Orphan(msgspec.Struct, frozen=True):
    id: str
    kind: str
    label: str
    source: str | None


class OrphanPage(msgspec.Struct, frozen=True):
    orphans: tuple[Orphan, ...]
    count: int
    total: int
    by_kind: Mapping[str, int]
    """The number of nodes of each kind, on all pages."""
    truncated: bool = False
    next_cursor: str | None = None


class PrunedSummary(RequirementSummary, frozen=True):
    superseded_by: tuple[str, ...]
    """Members of the set that are below it, nearest first, ten at most."""


class MinimalSet(msgspec.Struct, frozen=True):
    minimal_set: tuple[RequirementSummary, ...]
    pruned: tuple[PrunedSummary, ...]
    """On the first page."""
    not_found: tuple[str, ...]
    stats: Mapping[str, int]
    """input_count, minimal_count and pruned_count."""
    total: int
    """Members of the minimal set."""
    truncated: bool = False
    next_cursor: str | None = None


class ScopedSummary(ScoredSummary, frozen=True, omit_defaults=True):
    matched_assertions: tuple[AssertionText, ...] = ()
    """The assertions that match by themselves; only where they were asked for."""


class ScopedPage(msgspec.Struct, frozen=True):
    results: tuple[ScopedSummary, ...]
    scope_id: str
    direction: str
    count: int
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class Discovered(msgspec.Struct, frozen=True):
    results: tuple[ScopedSummary, ...]
    pruned: tuple[PrunedSummary, ...]
    """The matches left out because a more specific one is among the matches; on the first page."""
    scope_id: str
    direction: str
    stats: Mapping[str, int]
    """candidate_count, minimal_count and pruned_count."""
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class DiscoveredAssertion(msgspec.Struct, frozen=True):
    id: str
    label: str
    text: str
    requirement_id: str
    requirement_title: str
    level: str
    score: float
    direct_match: bool
    """It matches by itself, and not only by its requirement."""


class DiscoveredAssertions(msgspec.Struct, frozen=True):
    assertions: tuple[DiscoveredAssertion, ...]
    stats: Mapping[str, int]
    """requirements_matched and assertions_returned."""
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class UnresolvedItem(BrokenItem, frozen=True, kw_only=True):
    """A broken reference with the keys that later versions of elspais give it."""

    message: str
    file_path: str
    node_id: str
    check: str
    severity: str
    remedy: str
    repo: str
    codes: tuple[str, ...] = ()
    related: tuple[str, ...] = ()


class CheckSummary(msgspec.Struct, frozen=True):
    name: str
    passed: bool
    message: str
    severity: str
    remedy: str
    count: int
    category: str = ""
    skipped: bool = False


class CheckFinding(msgspec.Struct, frozen=True):
    severity: str
    message: str
    path: str
    line: int
    node_id: str | None
    hint: str
    file_path: str = ""
    """The same as path, under the name that elspais gives it."""
    codes: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    repo: str = ""


class CheckFindings(msgspec.Struct, frozen=True):
    check: str
    healthy: bool
    findings: tuple[CheckFinding, ...]
    count: int
    total: int
    known_checks: tuple[str, ...]
    """The checks that found something."""
    checks: tuple[CheckSummary, ...] = ()
    """The check that was asked for; its findings are in `findings`, in pages."""
    summary: Mapping[str, int] = {}
    """Findings of the project by severity."""
    truncated: bool = False
    next_cursor: str | None = None


class UnresolvedPage(msgspec.Struct, frozen=True):
    unresolved_references: tuple[UnresolvedItem, ...]
    count: int
    total: int
    checks: tuple[CheckSummary, ...] = ()
    """The checks that such references fail or pass."""
    truncated: bool = False
    next_cursor: str | None = None
