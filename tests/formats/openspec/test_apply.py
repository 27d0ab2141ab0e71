"""Applying deltas: order, idempotence, refusals, and every other byte untouched."""

import pytest

from clew.errors import Conflict
from clew.formats.openspec.apply.conflicts import difference, summary
from clew.formats.openspec.apply.delta import Applied, DeltaKind, apply_change, apply_delta
from clew.formats.openspec.apply.plan import edited
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.metadata import read_metadata
from clew.formats.openspec.reader import read_delta, read_spec

RING = "### Requirement: Ring\nThe bell SHALL ring.\n\n#### Scenario: Noon\n- **WHEN** noon\n- **THEN** it rings"
DAWN = "### Requirement: Stop at dawn\nThe lamp MUST rest.\n\n#### Scenario: Dawn\n- **WHEN** dawn\n- **THEN** out"


def applied(data: bytes | None, delta: str, **options: bool) -> Applied:
    return apply_delta(data, read_delta(delta.encode(), "lamp"), change_id="brighter", **options)


def done(data: bytes | None, delta: str, **options: bool) -> bytes:
    """The spec after a delta that must not be refused; applying it again must change nothing."""
    outcome = applied(data, delta, **options)
    assert outcome.refusals == ()
    assert outcome.after is not None
    again = applied(outcome.after, delta, **options)
    assert (again.refusals, again.after, again.edits) == ((), outcome.after, ())
    assert all(each.already for each in again.done)
    if data is not None:
        assert edited(data, outcome.edits) == outcome.after
    return outcome.after


def refused(data: bytes | None, delta: str, **options: bool) -> str:
    outcome = applied(data, delta, **options)
    assert outcome.after == data
    assert (outcome.edits, outcome.done) == ((), ())
    assert outcome.refusals
    return " ".join(outcome.refusals)


def names(data: bytes) -> list[str]:
    return [requirement.name for requirement in read_spec(data, "lamp").requirements]


# Verifies: REQ-d00074-A
def test_added_requirements_come_last_with_one_blank_line_between(lamp: bytes) -> None:
    assert done(lamp, f"## ADDED Requirements\n{RING}\n\n\n\n") == lamp + f"\n{RING}\n".encode()
    assert done(lamp.rstrip(), f"## ADDED Requirements\n{RING}") == lamp + f"\n{RING}\n".encode()
    more = lamp + b"\n## Notes\nOil.\n"
    assert done(more, f"## ADDED Requirements\n{RING}") == lamp + f"\n{RING}\n\n## Notes\nOil.\n".encode()


# Verifies: REQ-d00074-A
def test_a_modified_requirement_is_replaced_and_its_neighbours_keep_every_byte(lamp: bytes) -> None:
    odd = lamp.replace(b"tank\n", b"tank  \n").replace(b"MUST sound", b"MUST\tsound")
    before, after = read_spec(odd, "lamp"), read_spec(done(odd, f"## MODIFIED Requirements\n{DAWN}\n"), "lamp")
    assert [each.raw for each in after.requirements][::2] == [each.raw for each in before.requirements][::2]
    assert after.requirements[1].raw.rstrip() == DAWN


# Verifies: REQ-d00074-A
def test_removed_requirements_leave_no_trace(lamp: bytes) -> None:
    for name in ("Burn at night", "Stop at dawn", "Sound in fog"):
        after = done(lamp, f"## REMOVED Requirements\n- `### Requirement: {name}`\n")
        assert names(after) == [each for each in names(lamp) if each != name]
        assert b"\n\n\n" not in after
        assert after.endswith(b"\n")
        assert not after.endswith(b"\n\n")


# Verifies: REQ-d00074-A
def test_a_renamed_requirement_keeps_its_place_and_its_text(lamp: bytes) -> None:
    after = done(lamp, "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest by day\n")
    assert after == lamp.replace(b"Requirement: Stop at dawn", b"Requirement: Rest by day")


# Verifies: REQ-d00074-A
def test_renames_come_first_then_removals_modifications_and_additions(lamp: bytes) -> None:
    rest = DAWN.replace("Stop at dawn", "Rest by day")
    delta = (
        f"## ADDED Requirements\n{RING}\n## MODIFIED Requirements\n{rest}\n## REMOVED Requirements\n"
        "### Requirement: Sound in fog\n## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest by day\n"
    )
    after = done(lamp, delta)
    assert names(after) == ["Burn at night", "Rest by day", "Ring"]
    assert rest.encode() in after
    assert [each.operation for each in applied(lamp, delta).done] == [
        DeltaKind.RENAMED,
        DeltaKind.REMOVED,
        DeltaKind.MODIFIED,
        DeltaKind.ADDED,
    ]


# Verifies: REQ-d00074-A
def test_what_is_written_takes_the_line_ends_of_the_file(lamp: bytes) -> None:
    windows = lamp.replace(b"\n", b"\r\n")
    after = done(windows, f"## ADDED Requirements\n{RING}\n## MODIFIED Requirements\n{DAWN}\n")
    assert after.count(b"\n") == after.count(b"\r\n")


# Verifies: REQ-d00074-A
def test_a_requirement_is_added_to_an_empty_list_and_replaces_all_others() -> None:
    empty = b"# Lamp\n\n## Purpose\nIt burns.\n\n## Requirements\n"
    assert done(empty, f"## ADDED Requirements\n{RING}\n") == empty + f"\n{RING}\n".encode()
    only = empty + f"\n{DAWN}\n\n## Notes\n".encode()
    after = done(only, f"## ADDED Requirements\n{RING}\n## REMOVED Requirements\n### Requirement: Stop at dawn\n")
    assert after == empty + f"\n{RING}\n\n## Notes\n".encode()


# Verifies: REQ-d00074-B
def test_renaming_in_a_chain_and_reusing_a_name_can_be_repeated(lamp: bytes) -> None:
    chain = "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest\n- FROM: Sound in fog\n- TO: Stop at dawn\n"
    assert names(done(lamp, chain)) == ["Burn at night", "Rest", "Stop at dawn"]
    reuse = f"## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest\n## ADDED Requirements\n{DAWN}\n"
    assert names(done(lamp, reuse)) == ["Burn at night", "Rest", "Sound in fog", "Stop at dawn"]
    swap = (
        "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Sound in fog\n- FROM: Sound in fog\n- TO: Stop at dawn\n"
    )
    assert "taken" in refused(lamp, swap)


# Verifies: REQ-d00074-C
@pytest.mark.parametrize(
    ("delta", "reason"),
    [
        ("## RENAMED Requirements\n- FROM: Nothing\n- TO: Something\n", "neither it nor"),
        ("## RENAMED Requirements\n- FROM: stop at  dawn\n- TO: Rest\n", "'Stop at dawn'"),
        ("## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Sound in fog\n", "taken"),
        ("## RENAMED Requirements\n- FROM: Stop at dawn\n", "no TO"),
        ("## REMOVED Requirements\n### Requirement: STOP AT DAWN\n", "'Stop at dawn'"),
        (f"## MODIFIED Requirements\n{RING}\n", "not in the spec"),
        (f"## MODIFIED Requirements\n{DAWN.replace('Scenario: Dawn', 'Scenario: Noon')}\n", "would drop 'Dawn'"),
        (f"## ADDED Requirements\n{DAWN}\n", "another text"),
        (f"## ADDED Requirements\n{RING}\n{RING}\n", "2 times"),
        (f"## ADDED Requirements\n{RING}\n```\n", "never closed"),
        ("## ADDED Requirements\n", "names no requirement"),
        ("## Notes\n", "no section of a delta"),
        (
            "## REMOVED Requirements\n"
            + "".join(f"- `### Requirement: {name}`\n" for name in ("Burn at night", "Stop at dawn", "Sound in fog")),
            "retire_capabilities",
        ),
    ],
)
def test_what_is_not_certain_is_refused_and_changes_nothing(lamp: bytes, delta: str, reason: str) -> None:
    assert reason in refused(lamp, delta)


# Verifies: REQ-d00074-C
@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (b"# Lamp\n", "no section `## Requirements`"),
        (b"## Requirements\n### Requirement: A\nMUST\n### Requirement: A\nMUST\n", "there already"),
        (b"## Requirements\n## Notes\n### Requirement: A\nMUST\n", "outside"),
        (b"## Requirements\n## ADDED Requirements\n", "belongs in a change"),
        (b"## Requirements\n## Requirements\n", "already"),
        (b"## Requirements\n```\n", "never closed"),
        (b"## Requirements\n", "The result: "),
    ],
)
def test_a_spec_that_is_not_in_order_is_not_touched(spec: bytes, reason: str) -> None:
    assert reason in refused(spec, f"## ADDED Requirements\n{RING}\n")


# Verifies: REQ-d00074-C
def test_what_is_removed_already_is_a_word_of_warning(lamp: bytes) -> None:
    outcome = applied(lamp, "## REMOVED Requirements\n### Requirement: Whistle\n")
    assert (outcome.after, outcome.refusals) == (lamp, ())
    assert "already removed" in outcome.warnings[0]


# Verifies: REQ-d00074-D
def test_a_new_spec_gets_title_purpose_and_the_added_requirements() -> None:
    stated = "## Purpose\n\nThe lamp shows ships where the rock is, night after night.\n\n"
    after = done(None, f"{stated}## ADDED Requirements\n{RING}\n")
    assert after.decode() == f"# lamp Specification\n\n{stated}## Requirements\n\n{RING}\n"
    unstated = done(None, f"## ADDED Requirements\n{RING}\n")
    assert b"TBD" in unstated
    assert b"the change brighter" in unstated


# Verifies: REQ-d00074-D
def test_a_new_spec_can_only_be_added_to() -> None:
    assert "does not exist" in refused(None, f"## MODIFIED Requirements\n{DAWN}\n")
    assert "does not exist" in refused(None, "## RENAMED Requirements\n- FROM: A\n- TO: B\n")
    outcome = applied(None, f"## ADDED Requirements\n{RING}\n## REMOVED Requirements\n### Requirement: A\n")
    assert outcome.refusals == ()
    assert "not removed" in outcome.warnings[0]


# Verifies: REQ-d00074-D
def test_the_last_requirement_goes_with_its_spec_only_on_demand() -> None:
    spec = f"# Lamp\n\n## Purpose\nIt burns.\n\n## Requirements\n\n{DAWN}\n".encode()
    gone = "## REMOVED Requirements\n### Requirement: Stop at dawn\n"
    outcome = applied(spec, gone, retire=True)
    assert (outcome.after, outcome.refusals) == (None, ())
    assert applied(None, gone, retire=True).after is None
    assert "'Notes'" in refused(spec + b"\n## Notes\nOil.\n", gone, retire=True)
    assert "'A word.'" in refused(spec.replace(b"## Purpose", b"A word.\n\n## Purpose"), gone, retire=True)


# Verifies: REQ-d00074-C
def test_text_under_foreign_headings_that_goes_is_reported(lamp: bytes) -> None:
    spec = lamp.replace(b"- **THEN** the lamp is out\n", b"- **THEN** the lamp is out\n\n### History\nOld.\n")
    outcome = applied(spec, f"## MODIFIED Requirements\n{DAWN}\n")
    assert outcome.refusals == ()
    assert "'History'" in outcome.warnings[0]


# Verifies: REQ-d00074-E
def test_a_change_is_shown_before_it_is_made(lamp: bytes) -> None:
    delta = (
        f"## ADDED Requirements\n{RING}\n## REMOVED Requirements\n### Requirement: Sound in fog\n"
        "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest\n"
    )
    outcome = applied(lamp, delta)
    assert summary([outcome]).splitlines() == [
        "lamp:",
        "  → Stop at dawn → Rest",
        "  - Sound in fog",
        "  + Ring",
        "Totals: + 1, ~ 0, - 1, → 1",
    ]
    shown = difference(outcome, "specs/lamp/spec.md").splitlines()
    assert shown[:2] == ["--- specs/lamp/spec.md", "+++ specs/lamp/spec.md"]
    assert "-### Requirement: Stop at dawn" in shown
    assert "+### Requirement: Ring" in shown
    assert difference(applied(outcome.after, delta)) == ""
    assert "(already done)" in summary([applied(outcome.after, delta)])
    assert summary([applied(lamp, "## Notes\n")]).splitlines()[1].startswith("  ! ")


# Verifies: REQ-d00074-B
def test_edits_are_refused_by_a_file_that_changed_since(lamp: bytes) -> None:
    outcome = applied(lamp, f"## MODIFIED Requirements\n{DAWN}\n")
    with pytest.raises(Conflict):
        edited(lamp.replace(b"dawn", b"dusk"), outcome.edits)


# Verifies: REQ-d00074-C
def test_all_deltas_of_a_change_are_applied_together(lamp: bytes) -> None:
    deltas = (
        read_delta(f"## ADDED Requirements\n{RING}\n".encode(), "bell"),
        read_delta(b"## REMOVED Requirements\n### Requirement: Sound in fog\n", "lamp"),
    )
    bell, changed = apply_change(ChangeProposal("x", deltas=deltas), {"lamp": lamp})
    assert bell.before is None
    assert bell.changes_file
    assert changed.after is not None
    assert names(changed.after) == ["Burn at night", "Stop at dawn"]
    retiring = ChangeProposal("x", deltas=deltas[1:], metadata=read_metadata(b"schema: s\nretire_capabilities: true\n"))
    (gone,) = apply_change(retiring, {"lamp": f"## Requirements\n{RING.replace('Ring', 'Sound in fog')}\n".encode()})
    assert gone.after is None
