"""Adding, changing, retiring, linking and splitting."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.register.edits import delete, link, split, update

from clew.errors import AlreadyExists, BadInput, InvalidArgument, NotFound, Refused, Rejected, WouldCycle
from clew.formats.register.model import LinkKind, Priority, Register, Requirement, RequirementKind, Status
from clew.register.change.changes import add
from clew.register.change.draft import Author, Draft, current_author, timestamp
from clew.register.operations.edit import AddToRegister
from clew.register.rules.lifecycle import next_moves

New = Callable[..., AddToRegister]
Make = Callable[..., Requirement]


# Verifies: REQ-d00085-F, REQ-d00083-C
def test_adding_gives_the_next_id_and_begins_a_history(draft: Draft, new: New) -> None:
    first = add(draft, new(kind=RequirementKind.BUSINESS, priority=Priority.MUST, tags=("auth", "auth"), acceptance=()))
    second = add(draft, new(parent="req-1"))

    made = draft.requirements["REQ-0002"]
    assert (first.id, second.id, made.status) == ("REQ-0001", "REQ-0002", Status.DRAFT)
    assert draft.requirements["REQ-0001"].tags == ("auth",)
    assert made.targets(LinkKind.PARENT) == ("REQ-0001",)
    assert [(each.actor, each.action, each.at) for each in made.history] == [("ann", "created", draft.author.at)]
    assert draft.finished().next_id == 3


def test_warnings_are_told_and_do_not_block(draft: Draft, new: New) -> None:
    added = add(draft, new(title="Lock the account."))
    assert added.warnings == ("[title] The title ends with a full stop.",)


# Verifies: REQ-d00085-A, REQ-d00083-C
def test_what_the_validator_rejects_costs_no_id_and_names_every_error(draft: Draft, new: New) -> None:
    with pytest.raises(Rejected) as caught:
        add(draft, new(title="", statement="It locks things up.", rationale=" "))

    assert caught.value.message.startswith("rejected: [title]")
    assert [each["rule_code"] for each in caught.value.data["findings"]] == [
        "REQ-V-0001",
        "REQ-V-0006",
        "REQ-V-0008",
        "REQ-V-0012",
    ]
    assert draft.finished() is draft.register


# Verifies: REQ-d00083-B
def test_an_id_that_does_not_exist_is_answered_with_the_nearest(draft: Draft, new: New, make: Make) -> None:
    make()
    with pytest.raises(NotFound) as caught:
        update(draft, "REQ-0003", "why", title="Another title")
    assert "Did you mean REQ-0001 ('Lock the account')?" in caught.value.hint
    with pytest.raises(NotFound, match="There is no parent 'REQ-0009'"):
        add(draft, new(parent="REQ-0009"))


# Verifies: REQ-d00083-C
def test_a_counter_that_was_turned_back_by_hand_gives_no_id_twice(
    register: Register, make: Make, draft: Draft, new: New
) -> None:
    make()
    make()
    spoiled = Draft(msgspec.structs.replace(draft.finished(), next_id=1), draft.author)
    assert add(spoiled, new()).id == "REQ-0003"


# Verifies: REQ-d00083-A
def test_after_9999_ids_grow_longer(register: Register, new: New, draft: Draft) -> None:
    full = Draft(msgspec.structs.replace(register, next_id=9999), draft.author)
    assert [add(full, new()).id, add(full, new()).id] == ["REQ-9999", "REQ-10000"]
    assert full.find("10000").id == "REQ-10000"


# Verifies: REQ-d00085-F
def test_an_update_tells_every_change_in_order(draft: Draft, make: Make) -> None:
    make(tags=("old",), acceptance=("The first is met", "The second is met"))
    done = update(
        draft,
        "1",
        "review",
        title="Lock accounts",
        rationale="Guessing must stop.",
        add_acceptance=("The third is met",),
        remove_acceptance=(1, 1),
        kind="constraint",
        priority="could",
        status="proposed",
        add_tag=("new", "old"),
        remove_tag=("old", "none"),
    )
    changed = draft.requirements["REQ-0001"]
    assert done.changes == (
        *("title", "rationale", '+acceptance: "The third is met"', '-acceptance #1: "The first is met"'),
        *("kind→constraint", "priority→could", "status→proposed", "+tag new", "-tag old"),
    )
    assert (changed.acceptance, changed.tags) == (("The second is met", "The third is met"), ("new",))
    assert (changed.history[-1].action, changed.history[-1].reason) == ("; ".join(done.changes), "review")


def test_an_update_that_changes_nothing_writes_nothing(draft: Draft, make: Make) -> None:
    made = make()
    before = Draft(draft.finished(), draft.author)
    done = update(before, made.id, "why", title=made.title, acceptance=made.acceptance)
    assert done.changes == ()
    assert before.finished() is before.register


# Verifies: REQ-d00085-A
def test_a_bad_update_is_refused(draft: Draft, make: Make) -> None:
    make()
    for fields, fault in (
        ({"statement": "Nothing is required of anybody here."}, Rejected),
        ({"acceptance": ()}, Rejected),
        ({"remove_acceptance": (2,)}, InvalidArgument),
        ({"remove_acceptance": (0,)}, InvalidArgument),
    ):
        with pytest.raises(fault):
            update(draft, "1", "why", **fields)


# Verifies: REQ-d00085-B
@pytest.mark.parametrize("start", list(Status), ids=lambda status: status.word)
def test_a_status_changes_only_along_the_life_of_a_requirement(start: Status, draft: Draft, make: Make) -> None:
    made = make(status=start)
    for end in Status:
        trial = Draft(draft.finished(), draft.author)
        if end is start or end in next_moves(start):
            update(trial, made.id, "why", status=end)
            assert trial.requirements[made.id].status is end
        else:
            with pytest.raises(Refused, match=f"is {start.word} and cannot become {end.word}"):
                update(trial, made.id, "why", status=end)
            update(trial, made.id, "why", status=end, force=True)
            assert trial.requirements[made.id].status is end


# Verifies: REQ-d00085-B
def test_the_natural_moves_are_those_of_req() -> None:
    moves = {status.word: [end.word for end in next_moves(status)] for status in Status}
    assert moves == {
        "draft": ["proposed", "approved", "obsolete"],
        "proposed": ["approved", "obsolete"],
        "approved": ["implemented", "obsolete"],
        "implemented": ["verified", "obsolete"],
        "verified": ["obsolete"],
        "obsolete": [],
    }


# Verifies: REQ-d00085-D
def test_retiring_keeps_links_and_removing_is_refused_while_there_are_any(draft: Draft, make: Make) -> None:
    make()
    make(parent="1")
    with pytest.raises(Refused) as caught:
        delete(draft, "1", "why", hard=True)
    assert caught.value.data["inbound"] == ["REQ-0002"]

    assert delete(draft, "1", "gone").deleted == "soft"
    assert draft.requirements["REQ-0001"].status is Status.OBSOLETE
    assert draft.requirements["REQ-0001"].history[-1].reason == "gone"
    with pytest.raises(Refused, match="obsolete already"):
        delete(draft, "1", "again")

    delete(draft, "2", "why", hard=True)
    assert delete(draft, "1", "why", hard=True).deleted == "hard"
    assert draft.requirements == {}


# Verifies: REQ-d00083-C
def test_the_id_of_a_removed_requirement_is_not_given_again(draft: Draft, make: Make, new: New) -> None:
    make()
    delete(draft, "1", "why", hard=True)
    assert add(draft, new()).id == "REQ-0002"
    assert add(Draft(draft.finished(), draft.author), new()).id == "REQ-0003"


# Verifies: REQ-d00085-C
@pytest.mark.parametrize("kind", [LinkKind.PARENT, LinkKind.DEPENDS_ON, LinkKind.REFINES, LinkKind.VERIFIES])
def test_no_link_closes_a_circle(kind: LinkKind, draft: Draft, make: Make) -> None:
    for _ in range(4):
        make()
    link(draft, "1", "4", kind)
    link(draft, "1", "2", kind)
    link(draft, "2", "3", kind)
    with pytest.raises(WouldCycle, match="REQ-0003 -> REQ-0001 -> REQ-0002 -> REQ-0003"):
        link(draft, "3", "1", kind)


# Verifies: REQ-d00085-C
def test_links_to_itself_to_nothing_and_twice_are_refused(draft: Draft, make: Make) -> None:
    make()
    make()
    made = link(draft, "1", "req-2", LinkKind.DEPENDS_ON)
    assert (made.from_, made.to, made.kind, made.removed) == ("REQ-0001", "REQ-0002", "depends-on", False)
    for ends, fault in ((("1", "REQ-0001"), InvalidArgument), (("1", "7"), NotFound), (("7", "1"), NotFound)):
        with pytest.raises(fault):
            link(draft, *ends, LinkKind.PARENT)
    with pytest.raises(AlreadyExists):
        link(draft, "1", "2", LinkKind.DEPENDS_ON)
    with pytest.raises(NotFound, match="no parent link"):
        link(draft, "1", "2", LinkKind.PARENT, remove=True)
    assert link(draft, "1", "2", LinkKind.DEPENDS_ON, remove=True).removed
    assert draft.requirements["REQ-0001"].links == ()
    assert [each.action for each in draft.requirements["REQ-0001"].history][1:] == [
        "added depends-on link to REQ-0002",
        "removed depends-on link to REQ-0002",
    ]


def test_conflicts_may_be_stated_on_both_sides(draft: Draft, make: Make) -> None:
    make()
    make()
    link(draft, "1", "2", LinkKind.CONFLICTS)
    link(draft, "2", "1", LinkKind.CONFLICTS)
    links = {one.id: [(each.kind, each.target) for each in one.links] for one in draft.requirements.values()}
    assert links == {
        "REQ-0001": [(LinkKind.CONFLICTS, "REQ-0002")],
        "REQ-0002": [(LinkKind.CONFLICTS, "REQ-0001")],
    }


PARTS = ("The system shall lock the account at once.", "The system shall tell the owner by mail.")


# Verifies: REQ-d00085-E
def test_the_parts_of_a_split_inherit_and_refine(draft: Draft, make: Make) -> None:
    original = make(title="T" * 118, kind=RequirementKind.CONSTRAINT, priority=Priority.MUST, tags=("auth",))
    done = split(draft, "1", PARTS, "too much")

    assert (done.original, done.parts, done.retired) == ("REQ-0001", ("REQ-0002", "REQ-0003"), True)
    part = draft.requirements["REQ-0002"]
    assert (part.kind, part.priority, part.tags, part.acceptance) == (
        *(original.kind, original.priority, original.tags),
        original.acceptance,
    )
    assert part.title.endswith("T — part 1 of 2")
    assert len(part.title) <= 120
    assert part.targets(LinkKind.REFINES) == ("REQ-0001",)
    assert draft.requirements["REQ-0001"].status is Status.OBSOLETE
    assert draft.requirements["REQ-0001"].history[-1].action == "split into REQ-0002, REQ-0003"


# Verifies: REQ-d00085-A
def test_a_split_with_a_bad_part_changes_nothing(draft: Draft, make: Make) -> None:
    make()
    before = Draft(draft.finished(), draft.author)
    for into, fault in ((PARTS[:1], InvalidArgument), ((*PARTS, "No."), Rejected)):
        with pytest.raises(fault):
            split(before, "1", into)
    assert before.finished() is before.register
    assert not split(draft, "1", PARTS, keep_original=True).retired
    delete(draft, "1", "why")
    with pytest.raises(Refused, match="obsolete"):
        split(draft, "1", PARTS)


# Verifies: REQ-d00085-F
def test_who_acts_is_read_from_the_environment() -> None:
    found = current_author("MCP", {"REQ_ACTOR": "bot", "REQ_ACTOR_KIND": "Agent", "USER": "ann"})
    assert (found.actor, found.actor_kind.word, found.with_channel("created")) == ("bot", "agent", "created via MCP")
    assert current_author(environment={"USER": "ann"}).actor == "ann"
    assert current_author(environment={}).actor == "unknown"


@pytest.mark.parametrize(
    ("nanoseconds", "fraction"), [(0, ""), (120_000_000, ".120"), (123_456_000, ".123456"), (7, ".000000007")]
)
def test_a_time_has_as_few_digits_as_are_exact(nanoseconds: int, fraction: str) -> None:
    assert timestamp(1_747_464_240_000_000_000 + nanoseconds) == f"2025-05-17T06:44:00{fraction}Z"


def test_every_fault_of_a_caller_has_a_hint(draft: Draft, make: Make) -> None:
    make()
    calls: list[Callable[[], Any]] = [
        lambda: update(draft, "x", ""),
        lambda: link(draft, "1", "1", LinkKind.PARENT),
        lambda: split(draft, "1", ()),
    ]
    for call in calls:
        with pytest.raises((BadInput, NotFound)) as caught:
            call()
        assert caught.value.hint


def test_a_draft_that_nobody_touched_is_the_register_itself(register: Register) -> None:
    assert Draft(register, Author("t", "a")).finished() is register
