"""Toolset register: requirements against code, tests and git."""

from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.operation.call import Call
from clew.operation.registry import Freshness, MaxTokens, NoArguments, PageCursor, Request, Tool, Toolset
from clew.register.git import audit, doctor, revisions
from clew.register.operations.coverage import REQ_COVERAGE
from clew.register.operations.read import Folder, Limit, register_of
from clew.register.operations.views import paged
from clew.register.reports import review, staleness
from clew.register.rules import lint

Revision = Annotated[str, Meta(min_length=1, max_length=400, description="A branch, tag or commit")]
AsJson = Annotated[bool, Meta(description="false: markdown to read")]


class StalePage(staleness.Report, frozen=True):
    truncated: bool = False
    next_cursor: str | None = None


class StaleRequest(Request, frozen=True, kw_only=True):
    path: Folder = "."
    only_stale: Annotated[bool, Meta(description="Only what is out of date")] = False
    limit: Limit = None
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class CheckRequest(Request, frozen=True, kw_only=True):
    base: Revision
    path: Folder = "."
    max_tokens: MaxTokens = None


class DiffRequest(Request, frozen=True, kw_only=True):
    spec: Annotated[str, Meta(min_length=1, max_length=400, description="BASE..HEAD, BASE.. or BASE")]
    max_tokens: MaxTokens = None


class AuditRequest(Request, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=10_000, description="Commits at most")] = 50
    gate: Annotated[bool, Meta(description="Report commits that break the policy")] = False
    require_good_signature: Annotated[bool, Meta(description="Every commit must be signed well")] = False
    required_signers: Annotated[tuple[str, ...], Meta(description="Parts of the signer's name, in any case")] = ()
    max_tokens: MaxTokens = None


class ReviewRequest(Request, frozen=True, kw_only=True):
    base: Revision = "origin/main"
    path: Folder = "."
    gate: Annotated[bool, Meta(description="Fail closed: a missing base is an error")] = False
    staged: Annotated[bool, Meta(description="What the next commit would hold")] = False
    new: Annotated[bool, Meta(description="Findings of added and changed requirements only")] = False
    all: Annotated[bool, Meta(description="All findings, even with staged")] = False
    json: AsJson = True
    max_tokens: MaxTokens = None


class LintRequest(Request, frozen=True, kw_only=True):
    path: Folder = "."
    json: AsJson = True
    max_tokens: MaxTokens = None


def run_stale(call: Call, request: StaleRequest) -> StalePage:
    service = register_of(call)
    found = service.stale(request.path, only_stale=request.only_stale)
    return paged(
        *(call, request, service.snapshot().version, found.rows),
        lambda rows, more, cursor: StalePage(found.summary, tuple(rows), more, cursor),
    )


def run_audit(call: Call, request: AuditRequest) -> audit.Audit:
    return register_of(call).audit(
        limit=request.limit,
        gate=request.gate,
        require_good_signature=request.require_good_signature,
        required_signers=request.required_signers,
    )


def run_review(call: Call, request: ReviewRequest) -> review.Review:
    return register_of(call).review(
        *(request.base, request.path),
        gate=request.gate,
        staged=request.staged,
        only_new=request.new,
        everything=request.all,
        markdown=not request.json,
    )


def _readable(found: Any) -> str:
    return found.markdown or msgspec.json.encode(found).decode()


_tool = partial(Tool, toolset=Toolset.REGISTER, needs=Freshness.NONE)
"""Neither reads nor needs the graph: the register is a file of its own."""

REQ_CHECK = _tool(
    name="req_check",
    title="Check what changed",
    description=(
        "Rules and mentions for what changed since a revision only: findings of changed requirements, and the "
        "changed files with the ids they mention. Cheaper than req_validate on a branch."
    ),
    request=CheckRequest,
    result=revisions.Check,
    run=lambda call, request: register_of(call).check(request.base, request.path),
    trim=("findings", "coverage", "changed_files", "changed_requirements"),
)
REQ_DIFF = _tool(
    name="req_diff",
    title="What changed between revisions",
    description=(
        "Requirements added, removed and changed between two revisions, field by field, with the last reason."
    ),
    request=DiffRequest,
    result=revisions.Diff,
    run=lambda call, request: register_of(call).diff(request.spec),
    trim=("changed", "added", "removed"),
)
REQ_STALE = _tool(
    name="req_stale",
    title="Evidence that is out of date",
    description=(
        "Whether the last test record of each requirement still holds: fresh, drifted (other files changed), STALE "
        "(a file that carries the id changed), no-records or unknown."
    ),
    request=StaleRequest,
    result=StalePage,
    run=run_stale,
)
REQ_AUDIT = _tool(
    name="req_audit",
    title="Who changed the register",
    description=(
        "The commits that changed the register, with author, signer and state of the signature. gate=true with a "
        "policy lists the commits that break it."
    ),
    request=AuditRequest,
    result=audit.Audit,
    run=run_audit,
    trim=("entries", "violations"),
)
REQ_DOCTOR = _tool(
    name="req_doctor",
    title="Is this clone set up?",
    description=(
        "Examines the register, the hook, .gitattributes, the merge driver and signing; says what is missing and how "
        "to mend it. Changes nothing."
    ),
    request=NoArguments,
    result=doctor.Doctor,
    run=lambda call, request: register_of(call).doctor(),
)
REQ_REVIEW = _tool(
    name="req_review",
    title="Review a change",
    description=(
        "Everything a reviewer of a branch, or of the staged changes, wants to know: changed requirements, findings, "
        "changed source without a marker, unknown ids, stale evidence, signatures. `ok` and `failures` say whether a "
        "gate lets it pass; the whole report comes back either way."
    ),
    request=ReviewRequest,
    result=review.Review,
    run=run_review,
    text=_readable,
    trim=(
        *("markdown", "validate.findings", "stale.stale", "coverage.changed_files", "coverage.referenced", "changed"),
        *("coverage.markerless_changed_source", "coverage.ghosts", "coverage.opt_outs", "added", "removed", "defects"),
    ),
)
REQ_LINT = _tool(
    name="req_lint",
    title="Quality beyond the rules",
    description=(
        "What the rules let pass: active requirements without a marker or evidence, short rationales, single "
        "criteria, failed evidence. Blocks nothing."
    ),
    request=LintRequest,
    result=lint.Lint,
    run=lambda call, request: register_of(call).lint(request.path, markdown=not request.json),
    text=_readable,
    trim=(
        *("markdown", "validator.findings", "quality.markerless_active", "quality.no_test_record"),
        *("quality.short_rationale", "quality.single_acceptance_functional", "quality.verified_but_defective"),
    ),
)

TOOLS = (REQ_COVERAGE, REQ_CHECK, REQ_DIFF, REQ_STALE, REQ_AUDIT, REQ_DOCTOR, REQ_REVIEW, REQ_LINT)
