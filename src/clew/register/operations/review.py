"""Operations that hold requirements against code, tests and git."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.operation.call import Call
from clew.operation.declare import Option
from clew.register.git import audit, doctor, revisions
from clew.register.operations.answers import paged
from clew.register.operations.fields import Cursor, RegisterOperation, Size, register_of, without
from clew.register.reports import difference, lint, review, staleness
from clew.register.reports.summary import summary
from clew.register.requests import AsJson, AuditPolicy, Folder, Limit, ReviewScope, Revision
from clew.text.display import counted
from clew.text.terminal import table


class CheckChange(
    RegisterOperation,
    tool="req_check",
    verb="req check",
    title="Check what changed",
    summary="rules and mentions for what changed since a revision",
    trim=("findings", "coverage", "changed_files", "changed_requirements"),
):
    """Rules and mentions for what changed since a revision only: findings of changed requirements, and the changed
    files with the ids they mention. Cheaper than req_validate on a branch."""

    base: Annotated[Revision, Option(positional=True)]
    path: Folder = "."
    max_tokens: Size = None

    def run(self, call: Call) -> revisions.Check:
        return register_of(call).check(self.base, self.path)

    def render(self, result: revisions.Check) -> str:
        lines = [f"{row.id}  {row.level}  {row.rule_code}  {row.message}" for row in result.findings]
        lines += [f"{each.file}: {' '.join(each.req_ids) or 'no marker'}" for each in result.coverage]
        changed = counted(len(result.changed_requirements), "requirement")
        return "\n".join((*lines, f"{changed} changed, {counted(result.errors, 'error')}"))

    def exit_code(self, result: revisions.Check) -> int:
        return 0 if result.ok else 1


class DiffRegister(
    RegisterOperation,
    tool="req_diff",
    verb="req diff",
    title="Changes between revisions",
    summary="changes between two revisions",
    trim=("changed", "added", "removed"),
):
    """Requirements added, removed and changed between two revisions, field by field, with the last reason."""

    spec: Annotated[
        str, Meta(min_length=1, max_length=400, description="BASE..HEAD, BASE.. or BASE"), Option(positional=True)
    ]
    max_tokens: Size = None

    def run(self, call: Call) -> difference.Diff:
        return register_of(call).diff(self.spec)

    def render(self, result: difference.Diff) -> str:
        lines = [f"+ {id}" for id in result.added] + [f"- {id}" for id in result.removed]
        lines += [f"~ {each.id}: {'; '.join(each.transitions)}" for each in result.changed]
        return "\n".join(lines) or "Nothing changed."


class StalePage(staleness.EvidenceReport, frozen=True):
    truncated: bool = False
    next_cursor: str | None = None


class StaleData(StalePage, frozen=True):
    """The answer for programs: as with req, the exit code then tells only if there is an answer."""


class ShowStaleEvidence(
    RegisterOperation,
    tool="req_stale",
    verb="req stale",
    title="Evidence that is out of date",
    summary="evidence that is out of date; exit code 1 if any is",
):
    """Checks if the last test record of each requirement still holds: fresh, drifted (other files changed), STALE (a
    file that carries the id changed), no-records or unknown."""

    path: Folder = "."
    only_stale: Annotated[bool, Meta(description="Only what is out of date")] = False
    limit: Limit = None
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> StalePage:
        register = register_of(call)
        found = register.stale(self.path, only_stale=self.only_stale, by_commit=call.is_lenient)
        if call.surface == "cli":
            kind = StaleData if call.as_data else StalePage
            return kind(found.summary, found.rows)
        return paged(
            *(call, self, register.snapshot().version, found.rows),
            lambda rows, more, cursor: StalePage(found.summary, tuple(rows), more, cursor),
        )

    def data(self, result: StalePage) -> dict[str, Any]:
        return without(result, "truncated", "next_cursor")

    def render(self, result: StalePage) -> str:
        rows = table((row.id, row.state.value, row.record_commit, " ".join(row.changed_files)) for row in result.rows)
        counts = ", ".join(f"{number} {word}" for word, number in msgspec.to_builtins(result.summary).items())
        return f"{rows}\n{counts}" if rows else counts

    def exit_code(self, result: StalePage) -> int:
        return 1 if result.summary.stale and not isinstance(result, StaleData) else 0


class AuditRegister(
    AuditPolicy,
    RegisterOperation,
    tool="req_audit",
    verb="req audit",
    title="Commits of the register",
    summary="authors and signers of the register's commits",
    trim=("entries", "violations"),
):
    """The commits that changed the register, with author, signer and state of the signature. gate=true with a policy
    lists the commits that break it."""

    max_tokens: Size = None

    def run(self, call: Call) -> audit.Audit:
        return register_of(call).audit(self)

    def data(self, result: audit.Audit) -> Any:
        """Without a policy to check, req prints the commits alone."""
        return without(result, "truncated") if self.gate else result.entries

    def render(self, result: audit.Audit) -> str:
        rows = table(
            (each.commit[:9], each.date[:10], each.signature_status, each.author, each.subject)
            for each in result.entries
        )
        broken = "\n".join(f"violation {each.commit[:9]}: {'; '.join(each.why)}" for each in result.violations)
        return "\n".join(filter(None, (rows, broken))) or "No commit changed the register."

    def exit_code(self, result: audit.Audit) -> int:
        return 0 if result.ok else 1


class ExamineClone(
    RegisterOperation,
    tool="req_doctor",
    verb="req doctor",
    title="Setup of this clone",
    summary="check the setup of this clone",
):
    """Examines the register, the hook, .gitattributes, the merge driver and signing; says what is missing and how to
    mend it. Changes nothing."""

    def run(self, call: Call) -> doctor.Doctor:
        return register_of(call).doctor()

    def render(self, result: doctor.Doctor) -> str:
        verdicts = (("ok" if each.ok else "note" if each.advisory else "FAIL", each) for each in result.checks)
        return table((verdict, each.name, each.detail) for verdict, each in verdicts)

    def exit_code(self, result: doctor.Doctor) -> int:
        return 0 if result.ok else 1


class ReviewChange(
    ReviewScope,
    RegisterOperation,
    tool="req_review",
    title="Review a change",
    trim=(
        *("markdown", "validate.findings", "stale.stale", "coverage.changed_files", "coverage.referenced", "changed"),
        *("coverage.markerless_changed_source", "coverage.ghosts", "coverage.opt_outs", "added", "removed", "defects"),
    ),
):
    """Everything a reviewer of a branch, or of the staged changes, wants to know: changed requirements, findings,
    changed source without a marker, unknown ids, stale evidence, signatures. `ok` and `failures` say whether a gate
    lets it pass; the whole report comes back either way."""

    max_tokens: Size = None

    def run(self, call: Call) -> review.ChangeReview:
        return register_of(call).review(self)

    def text(self, result: review.ChangeReview) -> str:
        return _readable(result)


class ReviewCommand(ReviewChange, verb="req review", summary="a report on a change for reviewers"):
    """Reviews a change, with more options for markers."""

    ext: Annotated[tuple[str, ...], Meta(description="Only files with this ending; may be repeated")] = ()
    summary: Annotated[bool, Meta(description="A line for each requirement, with what comes next")] = False
    marker_near_hunks: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Ask for a marker within N lines of every change"),
        Option(metavar="N"),
    ] = None
    no_defects: Annotated[bool, Meta(description="Fail on verified requirements with failed evidence")] = False
    ignore: Annotated[tuple[str, ...], Meta(description="Files that need no marker"), Option(metavar="GLOB")] = ()

    def run(self, call: Call) -> Any:
        register = register_of(call)
        found = register.review(
            self, ignore=self.ignore, extensions=self.ext, near=self.marker_near_hunks, no_defects=self.no_defects
        )
        if not self.summary or call.as_data or (self.gate and not found.ok):
            return found
        touched = (*found.added, *(each.id for each in found.changed), *found.coverage.referenced)
        return summary(touched, found.removed, register.register)

    def render(self, result: review.ChangeReview | str) -> str:
        return result if isinstance(result, str) else review.to_markdown(result)

    def exit_code(self, result: review.ChangeReview | str) -> int:
        if isinstance(result, str):
            return 0
        return 1 if result.validate.errors or (result.gate and not result.ok) else 0


class LintRegister(
    RegisterOperation,
    tool="req_lint",
    verb="req lint",
    title="Quality beyond the rules",
    summary="quality beyond the rules; exit code 1 on errors of the validator",
    trim=(
        *("markdown", "validator.findings", "quality.markerless_active", "quality.no_test_record"),
        *("quality.short_rationale", "quality.single_acceptance_functional", "quality.verified_but_defective"),
    ),
):
    """Weaknesses that the rules accept: active requirements without a marker or evidence, short rationales, single
    criteria, failed evidence. Blocks nothing."""

    path: Folder = "."
    json: AsJson = True
    max_tokens: Size = None

    def run(self, call: Call) -> lint.Lint:
        return register_of(call).lint(self.path, markdown=not self.json)

    def text(self, result: lint.Lint) -> str:
        return _readable(result)

    def render(self, result: lint.Lint) -> str:
        return lint.to_markdown(result)

    def exit_code(self, result: lint.Lint) -> int:
        return 1 if result.validator.errors else 0


def _readable(found: review.ChangeReview | lint.Lint) -> str:
    return found.markdown or msgspec.json.encode(found).decode()
