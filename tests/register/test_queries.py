"""Lists, progress, what comes next, and the brief."""

from collections.abc import Callable

import msgspec

from clew.formats.register.model import (
    EvidenceKind,
    LinkKind,
    Priority,
    RecordedOutcome,
    Register,
    Requirement,
    RequirementKind,
    RequirementLink,
    Status,
    TestRecord,
)
from clew.register.change.draft import Draft
from clew.register.operations.read import ListRequirements, NextRequirement
from clew.register.reports.queries import brief, listing, next_up, status
from clew.register.reports.validation import validation_report
from clew.register.results import NothingNext
from clew.register.rules.validator import validate_register
from clew.text.tokens import estimate_tokens

Make = Callable[..., Requirement]


def depends(*targets: str) -> tuple[RequirementLink, ...]:
    return tuple(RequirementLink(kind=LinkKind.DEPENDS_ON, target=target) for target in targets)


# Verifies: REQ-d00088-C
def test_all_filters_must_fit(draft: Draft, make: Make) -> None:
    make(tags=("a", "b"), priority=Priority.MUST, title="Open the door")
    make(tags=("a",), kind=RequirementKind.INTERFACE, status=Status.APPROVED)
    make(tags=("b",), status=Status.OBSOLETE, statement="The DOOR shall close after one minute.")
    register = draft.finished()

    def ids(**wanted: object) -> list[str]:
        return [row.id for row in listing(register, ListRequirements(**wanted)).requirements]  # type: ignore[arg-type]

    assert ids() == ["REQ-0001", "REQ-0002", "REQ-0003"]
    assert ids(include_obsolete=False) == ["REQ-0001", "REQ-0002"]
    assert ids(tag=("a", "b")) == ["REQ-0001"]
    assert ids(query="door") == ["REQ-0001", "REQ-0003"]
    assert ids(status="approved", kind="interface") == ["REQ-0002"]
    assert ids(priority="must", query="nothing") == []
    row = msgspec.json.decode(msgspec.json.encode(listing(register, ListRequirements(kind="interface"))))
    assert row == {
        "count": 1,
        "project": "demo",
        "requirements": [
            {
                "id": "REQ-0002",
                "kind": "interface",
                "priority": "should",
                "status": "approved",
                "tags": ["a"],
                "title": "Lock the account",
            }
        ],
    }


# Verifies: REQ-d00088-C
def test_lists_follow_the_numbers(draft: Draft, make: Make) -> None:
    made = make()
    for id in ("REQ-10000", "REQ-9999"):
        draft.put(msgspec.structs.replace(made, id=id))
    rows = listing(draft.finished(), ListRequirements()).requirements
    assert [row.id for row in rows] == ["REQ-0001", "REQ-9999", "REQ-10000"]


def test_progress_counts_what_is_done_of_what_is_live(draft: Draft, make: Make, register: Register) -> None:
    for state in (Status.VERIFIED, Status.IMPLEMENTED, Status.DRAFT, Status.OBSOLETE):
        make(status=state)
    found = status(draft.finished())
    assert (found.total, found.non_obsolete, found.done, found.delivery_progress_pct) == (4, 3, 2, 66.7)
    assert msgspec.to_builtins(found.by_status) == {
        "draft": 1,
        "proposed": 0,
        "approved": 0,
        "implemented": 1,
        "verified": 1,
        "obsolete": 1,
    }
    assert status(register).delivery_progress_pct == 0.0
    assert status(draft.finished(), ("none",)).total == 0


# Verifies: REQ-d00088-A
def test_what_comes_next_is_unfinished_and_not_blocked(draft: Draft, make: Make) -> None:
    make(status=Status.VERIFIED, priority=Priority.MUST)
    make(status=Status.OBSOLETE, priority=Priority.MUST)
    make(priority=Priority.MUST, links=depends("REQ-0005"))
    make(priority=Priority.MUST, links=depends("REQ-0099"))
    make(priority=Priority.SHOULD, status=Status.PROPOSED)
    make(priority=Priority.SHOULD, status=Status.DRAFT, links=depends("REQ-0001"))
    register = draft.finished()

    found = next_up(register)
    assert isinstance(found, Requirement)
    assert found.id == "REQ-0006"

    finished = next_up(register, NextRequirement(status="verified"))
    assert isinstance(finished, Requirement)
    assert finished.status is Status.VERIFIED
    retired = next_up(register, NextRequirement(status="obsolete"))
    assert retired == NothingNext(False, "no unfinished requirement matches the filters")

    blocked = next_up(register, NextRequirement(priority="must"))
    assert isinstance(blocked, NothingNext)
    assert [(each.id, each.waits_for) for each in blocked.blocked] == [
        ("REQ-0003", ("REQ-0005",)),
        ("REQ-0004", ("REQ-0099",)),
    ]


# Verifies: REQ-d00088-B
def test_the_brief_is_short_whatever_the_size(draft: Draft, make: Make) -> None:
    failed = TestRecord(
        at="t", actor="a", commit="c", outcome=RecordedOutcome.FAIL, notes="", kind=EvidenceKind.AUTOMATED
    )
    states = (Status.DRAFT, Status.IMPLEMENTED, Status.VERIFIED)
    for number in range(600):
        state = states[number % 3]
        make(
            title="A title that is quite as long as titles tend to become",
            status=state,
            priority=Priority.MUST,
            tests=(failed,) if state is Status.VERIFIED else None,
        )
    register = msgspec.structs.replace(
        draft.finished(), purpose="Keep every account of everybody safe from guessing. " * 9
    )

    found = brief(register, hook_mode="strict", last_change="2 hours ago")

    assert estimate_tokens(msgspec.json.encode(found).decode()) < 600
    assert (len(found.drafts), found.more["drafts"]) == (10, 190)
    assert [each.id for each in found.spine] == ["REQ-0003", "REQ-0006", "REQ-0009"]
    assert found.next is not None
    assert found.next.id == "REQ-0001"
    assert len(brief(register, full=True).drafts) == 50


def test_a_report_carries_the_keys_of_both_surfaces(draft: Draft, make: Make) -> None:
    make(title="Lock the account.")
    row = msgspec.to_builtins(validation_report(validate_register(draft.finished())))["findings"][0]
    assert row["id"] == row["req_id"] == "REQ-0001"
    assert row["level"] == row["severity"] == "warning"
    assert row["rule_code"] == "REQ-V-0004"


# Verifies: REQ-d00088-B
def test_the_brief_is_short_in_every_script(draft: Draft, make: Make) -> None:
    title = ("登录失败五次后系统锁定账户" * 10)[:118]
    for number in range(40):
        status = (Status.VERIFIED, Status.IMPLEMENTED, Status.DRAFT)[number % 3]
        make(title=f"{title}{number % 10}", status=status, priority=Priority.MUST)
    register = msgspec.structs.replace(draft.finished(), name="项目" * 100, purpose="系统应当锁定账户并通知管理员" * 35)

    found = brief(register, hook_mode="strict", last_change="2 hours ago")

    assert estimate_tokens(msgspec.json.encode(found).decode()) < 600
    assert found.purpose is not None
    assert found.purpose.startswith("系统应当锁定账户")
    assert found.purpose.endswith("…")
