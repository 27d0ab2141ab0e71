"""The effect of a branch, or of the next commit, on the register and on the code under it."""

from collections.abc import Sequence

import msgspec

from clew.register.reports.changed_files import ReviewCoverage
from clew.register.reports.difference import ChangedRequirementFields, Diff
from clew.register.reports.staleness import EvidenceReport, EvidenceState
from clew.register.reports.validation import ValidationReport
from clew.register.results import AuditedCommit
from clew.text.display import counted


class ReviewStale(msgspec.Struct, frozen=True):
    stale: tuple[str, ...]
    drifted: int


class ReviewAudit(msgspec.Struct, frozen=True):
    commits_in_range: int
    last_status: str | None
    last_signer: str | None
    last_author: str | None

    @classmethod
    def of(cls, commits: int, last: Sequence[AuditedCommit]) -> "ReviewAudit":
        newest = last[0] if last else None
        if newest is None:
            return cls(commits, None, None, None)
        return cls(commits, newest.signature_status, newest.signer, newest.author)


class ChangeReview(msgspec.Struct, frozen=True, kw_only=True):
    base: str
    ok: bool
    """True if a gate would let this pass."""
    gate: bool
    """True if it was asked to be a gate."""
    failures: tuple[str, ...]
    """The reasons why a gate would not let it pass."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedRequirementFields, ...]
    validate: ValidationReport
    coverage: ReviewCoverage
    stale: ReviewStale
    defects: tuple[str, ...]
    audit: ReviewAudit
    truncated: bool = False
    markdown: str | None = None


def compose(
    base: str,
    diff: Diff,
    validate: ValidationReport,
    coverage: ReviewCoverage,
    staleness: EvidenceReport,
    defects: tuple[str, ...],
    audit: ReviewAudit,
    *,
    gate: bool = False,
    no_defects: bool = False,
) -> ChangeReview:
    failures = tuple(_failures(validate, coverage, defects if no_defects else ()))
    return ChangeReview(
        base=base,
        ok=not failures,
        gate=gate,
        failures=failures,
        added=diff.added,
        removed=diff.removed,
        changed=diff.changed,
        validate=validate,
        coverage=coverage,
        stale=ReviewStale(
            tuple(row.id for row in staleness.rows if row.state is EvidenceState.STALE), staleness.summary.drifted
        ),
        defects=defects,
        audit=audit,
    )


def _failures(validate: ValidationReport, coverage: ReviewCoverage, defects: tuple[str, ...]) -> list[str]:
    found = (
        ("validator error", "validator errors", validate.errors),
        ("id that no requirement has", "ids that no requirement has", len(coverage.ghosts)),
        (
            *("changed source file without a marker", "changed source files without a marker"),
            len(coverage.markerless_changed_source),
        ),
        (
            *("file that opts out without a reason", "files that opt out without a reason"),
            len(coverage.optout_missing_reason),
        ),
        (
            *("changed place without a marker near it", "changed places without a marker near them"),
            len(coverage.hunks_without_marker),
        ),
        (
            *("verified requirement whose last evidence failed", "verified requirements whose last evidence failed"),
            len(defects),
        ),
    )
    return [counted(count, one, many) for one, many, count in found if count]


def to_markdown(found: ChangeReview) -> str:
    verdict = "passes" if found.ok else f"does not pass: {', '.join(found.failures)}"
    lines = [f"# Requirements since {found.base}", "", f"The change {verdict}.", ""]
    lines += _list("Added", found.added) + _list("Removed", found.removed)
    changed = tuple(
        f"{each.id}: {'; '.join(each.transitions)}" + (f" ({each.reason})" if each.reason else "")
        for each in found.changed
    )
    lines += _list("Changed", changed)
    findings = tuple(f"{row.id} {row.rule_code} ({row.level}): {row.message}" for row in found.validate.findings)
    lines += _list("Findings", findings)
    coverage = found.coverage
    lines += _list("Ids that no requirement has", coverage.ghosts)
    lines += _list("Changed source without a marker", coverage.markerless_changed_source)
    lines += _list("Changed lines without a marker near them", coverage.hunks_without_marker)
    lines += _list("Opted out without a reason", coverage.optout_missing_reason)
    lines += _list("Opted out", tuple(f"{each.file}: {each.reason}" for each in coverage.opt_outs))
    lines += _list("Stale evidence", found.stale.stale) + _list("Verified, but the last record failed", found.defects)
    audit = found.audit
    commits = counted(audit.commits_in_range, "commit")
    signed = f"{commits} on the register; the last by {audit.last_author} ({audit.last_status})"
    return "\n".join((*lines, signed if audit.commits_in_range else "No commit on the register in this range.", ""))


def _list(heading: str, items: tuple[str, ...]) -> list[str]:
    return [f"## {heading}", "", *(f"- {item}" for item in items), ""] if items else []
