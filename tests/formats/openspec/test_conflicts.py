"""What open changes do to each other, and what a spec that moved on does to them."""

from collections.abc import Callable

from clew.formats.openspec.apply.conflicts import ConflictFound, ConflictKind, conflicts
from clew.formats.openspec.apply.dependencies import dependencies, order
from clew.formats.openspec.apply.touches import places, promises, record
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.records import Spec

Make = Callable[..., ChangeProposal]


def dawn(
    section: str = "MODIFIED", *, text: str = "The lamp MUST rest.", scenarios: tuple[str, ...] = ("Dawn",)
) -> str:
    parts = "".join(f"\n#### Scenario: {name}\n- **WHEN** x\n- **THEN** y\n" for name in scenarios)
    return f"## {section} Requirements\n### Requirement: Stop at dawn\n{text}\n{parts}"


def added(name: str) -> str:
    return dawn("ADDED").replace("Stop at dawn", name)


def removed(name: str = "Stop at dawn") -> str:
    return f"## REMOVED Requirements\n### Requirement: {name}\n"


def renamed(old: str, new: str) -> str:
    return f"## RENAMED Requirements\n- FROM: {old}\n- TO: {new}\n"


def specs_of(data: bytes) -> dict[str, Spec]:
    return {"lamp": read_spec(data, "lamp")}


def found(changes: list[ChangeProposal], before: bytes, after: bytes | None = None) -> list[ConflictFound]:
    """The conflicts of changes that were written when the spec was `before`, now that it is `after`."""
    promised = promises(changes, specs_of(before))
    recorded = {change.id: record(change, specs_of(before), promised) for change in changes}
    return list(conflicts(changes, specs_of(after if after is not None else before), recorded))


# Verifies: REQ-d00075-A
def test_the_requirements_that_a_change_touches_are_recorded_with_a_hash(change: Make, lamp: bytes) -> None:
    made = change("a", lamp=dawn() + added("Ring") + renamed("Sound in fog", "Blow in fog"))
    recorded = {each.name: each for each in record(made, specs_of(lamp))}
    assert set(recorded) == {"Stop at dawn", "Ring", "Sound in fog"}
    assert places(made) == {each.place for each in recorded.values()}
    assert recorded["Ring"].hash == ""
    assert len(recorded["Stop at dawn"].hash) == 16
    assert recorded["Stop at dawn"].scenarios == ("Dawn",)
    elsewhere = lamp.replace(b"dusk to dawn", b"dusk till dawn").replace(b"\n", b"\r\n")
    assert record(made, specs_of(elsewhere)) == record(made, specs_of(lamp))
    assert record(made, specs_of(lamp.replace(b"out by day", b"dark by day"))) != record(made, specs_of(lamp))


# Verifies: REQ-d00075-B
def test_two_changes_of_one_requirement_are_a_conflict_that_names_what_would_be_lost(change: Make, lamp: bytes) -> None:
    mine = change("a", lamp=dawn(scenarios=("Dawn", "Cloudy dawn")))
    theirs = change("b", lamp=dawn(text="The lamp SHALL stop."))
    (conflict,) = found([mine, theirs], lamp)
    assert conflict.kind is ConflictKind.SAME_REQUIREMENT
    assert (conflict.spec_id, conflict.requirement, conflict.changes) == ("lamp", "Stop at dawn", ("a", "b"))
    assert conflict.scenarios == ("Cloudy dawn",)
    for other in (removed(), renamed("Stop at dawn", "Rest")):
        (conflict,) = found([mine, change("b", lamp=other)], lamp)
        assert conflict.kind is ConflictKind.SAME_REQUIREMENT


# Verifies: REQ-d00075-B
def test_changes_that_agree_or_touch_different_requirements_do_not_conflict(change: Make, lamp: bytes) -> None:
    same = [change("a", lamp=dawn()), change("b", lamp=dawn())]
    assert found(same, lamp) == []
    apart = [change("a", lamp=dawn()), change("b", lamp=removed("Sound in fog")), change("c", bell=dawn("ADDED"))]
    assert found(apart, lamp) == []


# Verifies: REQ-d00075-C
def test_a_spec_that_moved_on_is_shown_from_three_sides(change: Make, lamp: bytes) -> None:
    mine = change("a", lamp=dawn())
    moved = lamp.replace(b"out by day", b"dark by day")
    (conflict,) = found([mine], lamp, moved)
    assert (conflict.kind, conflict.changes) == (ConflictKind.BASE_MOVED, ("a",))
    view = conflict.view
    assert view is not None
    assert view.then is not None
    assert view.now is not None
    assert view.wanted is not None
    assert ("out by day" in view.then, "dark by day" in view.now, "MUST rest" in view.wanted) == (True, True, True)
    assert "+The lamp SHALL be dark by day." in view.theirs
    assert "+The lamp MUST rest." in view.ours


# Verifies: REQ-d00075-C
def test_a_requirement_that_went_or_came_meanwhile_is_a_conflict(change: Make, lamp: bytes) -> None:
    gone = lamp.replace(b"Requirement: Stop at dawn", b"Requirement: Rest")
    (conflict,) = found([change("a", lamp=dawn())], lamp, gone)
    assert conflict.view is not None
    assert conflict.view.now is None
    (conflict,) = found([change("a", lamp=added("Rest"))], lamp, gone)
    assert "was added" in conflict.message
    assert conflict.view is not None
    assert conflict.view.then is None


# Verifies: REQ-d00075-C
def test_a_spec_that_is_as_the_change_wants_it_is_no_conflict(change: Make, lamp: bytes) -> None:
    gone = lamp.replace(b"Requirement: Stop at dawn", b"Requirement: Rest")
    assert found([change("a", lamp=renamed("Stop at dawn", "Rest"))], lamp, gone) == []
    assert found([change("a", lamp=removed())], lamp, gone) == []
    text = dawn().partition("\n")[2]
    start, end = lamp.index(b"### Requirement: Stop"), lamp.index(b"### Requirement: Sound")
    assert found([change("a", lamp=dawn())], lamp, lamp[:start] + text.encode() + lamp[end:]) == []


# Verifies: REQ-d00075-D
def test_a_scenario_that_somebody_added_is_not_lost_unseen(change: Make, lamp: bytes) -> None:
    grown = lamp.replace(b"lamp is out\n", b"lamp is out\n\n#### Scenario: Eclipse\n- **WHEN** x\n- **THEN** y\n")
    for delta in (dawn(), removed()):
        lost = [
            each for each in found([change("a", lamp=delta)], lamp, grown) if each.kind is ConflictKind.SCENARIO_LOST
        ]
        assert [each.scenarios for each in lost] == [("Eclipse",)]
    kept = change("a", lamp=dawn(scenarios=("Dawn", "Eclipse")))
    assert [each.kind for each in found([kept], lamp, grown)] == [ConflictKind.BASE_MOVED]


# Verifies: REQ-d00075-E
def test_what_one_change_brings_and_another_needs_is_an_order_and_no_conflict(change: Make, lamp: bytes) -> None:
    ring = change("b-ring", lamp=added("Ring"))
    louder = change("a-louder", lamp=dawn().replace("Stop at dawn", "Ring"))
    changes = [louder, ring]
    (needed,) = dependencies(changes, specs_of(lamp))
    assert (needed.first, needed.then, needed.requirement) == ("b-ring", "a-louder", "Ring")
    assert found(changes, lamp) == []
    assert order(changes, [needed]) == (("b-ring", "a-louder"), ())


# Verifies: REQ-d00075-E
def test_a_freed_name_is_taken_after_it_is_freed(change: Make, lamp: bytes) -> None:
    for freeing in (removed(), renamed("Stop at dawn", "Rest")):
        for taking in (dawn("ADDED"), renamed("Sound in fog", "Stop at dawn")):
            changes = [change("a-taking", lamp=taking), change("b-freeing", lamp=freeing)]
            needed = dependencies(changes, specs_of(lamp))
            assert [(each.first, each.then) for each in needed] == [("b-freeing", "a-taking")]


# Verifies: REQ-d00075-G
def test_a_change_that_was_applied_waits_for_nobody_who_frees_its_names(change: Make, lamp: bytes) -> None:
    for applied in (dawn("ADDED"), renamed("Burn at noon", "Stop at dawn")):
        start, end = lamp.index(b"### Requirement: Stop"), lamp.index(b"### Requirement: Sound")
        there = lamp[:start] + dawn().partition("\n")[2].encode() + lamp[end:]
        changes = [change("a", lamp=applied), change("b", lamp=removed())]
        assert dependencies(changes, specs_of(there)) == ()
        assert [each.kind for each in found(changes, there)] == [ConflictKind.SAME_REQUIREMENT]


# Verifies: REQ-d00075-G
def test_what_another_change_brought_in_between_is_no_conflict_unless_it_is_something_else(
    change: Make, lamp: bytes
) -> None:
    ring, louder = change("a", lamp=added("Ring")), change("b", lamp=dawn(text="L").replace("Stop at dawn", "Ring"))
    both = [ring, louder]
    recorded = {each.id: record(each, specs_of(lamp), promises(both, specs_of(lamp))) for each in both}

    def after(changes: list[ChangeProposal], spec: bytes) -> list[ConflictKind]:
        return [each.kind for each in conflicts(changes, specs_of(spec), recorded)]

    archived = lamp + b"\n" + added("Ring").partition("\n")[2].encode()
    assert after(both, lamp) == after([louder], archived) == []
    assert after([louder], archived.replace(b"MUST rest", b"SHALL rest")) == [ConflictKind.BASE_MOVED]
    other = change("a", lamp=added("Ring").replace("MUST rest", "SHALL rest"))
    assert after([other, louder], lamp) == [ConflictKind.BASE_MOVED]
    assert after([louder], lamp) == [ConflictKind.BASE_MOVED]


# Verifies: REQ-d00075-G
def test_a_base_that_no_spec_and_no_change_has_yet_is_recorded_when_it_comes(change: Make, lamp: bytes) -> None:
    louder = change("b", lamp=dawn().replace("Stop at dawn", "Ring"))
    assert record(louder, specs_of(lamp)) == ()
    arrived = lamp.replace(b"Stop at dawn", b"Ring")
    assert [each.name for each in record(louder, specs_of(arrived))] == ["Ring"]


# Verifies: REQ-d00075-G
def test_room_that_somebody_made_for_what_is_added_is_no_conflict(change: Make, lamp: bytes) -> None:
    gone = lamp.replace(b"Requirement: Stop at dawn", b"Requirement: Rest")
    assert found([change("a", lamp=dawn("ADDED"))], lamp, gone) == []
    start, end = lamp.index(b"### Requirement: Stop"), lamp.index(b"### Requirement: Sound")
    same = change("a", lamp="## ADDED Requirements\n" + lamp[start:end].decode())
    assert [each.kind for each in found([same], lamp, gone)] == [ConflictKind.BASE_MOVED]


# Verifies: REQ-d00075-E
def test_changes_that_wait_for_each_other_are_named(change: Make, lamp: bytes) -> None:
    one = change("a", lamp=added("Ring") + dawn().replace("Stop at dawn", "Whistle"))
    two = change("b", lamp=added("Whistle") + dawn().replace("Stop at dawn", "Ring"))
    free = change("c", lamp=removed())
    changes = [one, two, free]
    assert order(changes, dependencies(changes, specs_of(lamp))) == (("c",), ("a", "b"))
