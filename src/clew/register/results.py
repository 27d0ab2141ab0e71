"""Answers of the register. Field names are the keys that users of req know."""

from typing import Any

import msgspec

NO_MATCH = "no test names matched the req_NNNN_* convention"


class RequirementRow(msgspec.Struct, frozen=True):
    id: str
    kind: str
    priority: str
    status: str
    tags: tuple[str, ...]
    title: str


class RequirementList(msgspec.Struct, frozen=True):
    count: int
    project: str
    requirements: tuple[RequirementRow, ...]


class Added(msgspec.Struct, frozen=True):
    id: str
    warnings: tuple[str, ...]
    """Each `[field] message`."""


class Updated(msgspec.Struct, frozen=True):
    changes: tuple[str, ...]
    """Empty where everything was so already; then nothing is written."""
    id: str
    warnings: tuple[str, ...] = ()


class Deleted(msgspec.Struct, frozen=True):
    deleted: str
    """soft or hard."""
    id: str


class Linked(msgspec.Struct, frozen=True):
    from_: str = msgspec.field(name="from")
    kind: str
    removed: bool
    to: str


class Split(msgspec.Struct, frozen=True):
    original: str
    parts: tuple[str, ...]
    retired: bool


class Recorded(msgspec.Struct, frozen=True):
    commit: str
    id: str
    outcome: str


class Verified(msgspec.Struct, frozen=True):
    commit: str
    id: str
    kind: str
    promoted: bool


class RunRow(msgspec.Struct, frozen=True):
    req_id: str
    exists: bool
    outcome: str
    """pass, fail, or none where every test was ignored: that proves nothing."""
    passed: int
    failed: int
    ignored: int


class RunReport(msgspec.Struct, frozen=True):
    ok: bool
    dry_run: bool
    matched_requirements: int
    promoted: tuple[str, ...]
    results: tuple[RunRow, ...]
    not_promoted: tuple[str, ...] = ()
    """The requirements whose tests passed but which may not be promoted from their state, each with the reason."""


class StatusCounts(msgspec.Struct, frozen=True):
    draft: int
    proposed: int
    approved: int
    implemented: int
    verified: int
    obsolete: int


class StatusReport(msgspec.Struct, frozen=True):
    project: str
    total: int
    by_status: StatusCounts
    delivery_progress_pct: float
    non_obsolete: int
    done: int
    verified_but_defective: tuple[str, ...] = ()
    filter: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    truncated: bool = False


class Blocked(msgspec.Struct, frozen=True):
    id: str
    waits_for: tuple[str, ...]


class NothingNext(msgspec.Struct, frozen=True):
    found: bool
    message: str
    blocked: tuple[Blocked, ...] = ()
    """The first few requirements that would qualify if their dependencies were done."""


class Named(msgspec.Struct, frozen=True):
    id: str
    title: str


class NextUp(msgspec.Struct, frozen=True):
    id: str
    title: str
    status: str
    priority: str


class Brief(msgspec.Struct, frozen=True):
    project: str
    purpose: str | None
    spine: tuple[Named, ...]
    """The first verified must-haves: the foundation of the project."""
    total: int
    by_status: StatusCounts
    delivery_pct: float
    next: NextUp | None
    implemented_unverified: tuple[str, ...]
    drafts: tuple[str, ...]
    verified_but_defective: tuple[str, ...]
    hook_mode: str | None
    last_spec_change: str | None
    more: dict[str, int] = msgspec.field(default_factory=dict)
    """The number of ids that each list leaves out."""


class Accepted(msgspec.Struct, frozen=True, omit_defaults=True):
    title: str
    id: str | None = None
    would_allocate: str | None = None
    """`next`, where nothing is written."""
    warnings: tuple[str, ...] = ()


class Declined(msgspec.Struct, frozen=True):
    title: str
    errors: tuple[str, ...]


class RegisterImport(msgspec.Struct, frozen=True):
    ok: bool
    dry_run: bool
    accepted: tuple[Accepted, ...]
    rejected: tuple[Declined, ...]
    truncated: bool = False


class BatchReport(msgspec.Struct, frozen=True):
    ok: bool
    applied: int
    results: tuple[dict[str, Any], ...]
    """One for each mutation: `op`, and what the single operation returns."""
    truncated: bool = False


class AuditedCommit(msgspec.Struct, frozen=True):
    """A commit that changed the register."""

    commit: str
    date: str
    author: str
    signature_status: str
    signer: str
    subject: str
