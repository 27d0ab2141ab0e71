"""The rules for changes, by themselves and against the specs in force."""

from collections.abc import Callable, Mapping

import msgspec
import pytest

from clew.formats.openspec.change import ChangeProposal, read_proposal
from clew.formats.openspec.metadata import read_metadata
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.rules.change import validate_change
from clew.formats.openspec.rules.delta import OtherChanges
from clew.formats.openspec.rules.rules import Dialect, Issue
from clew.formats.openspec.tasks import read_tasks

Make = Callable[..., ChangeProposal]

SCENARIO = "#### Scenario: S\n- **WHEN** x\n- **THEN** y\n"
WHY = "Because ships come too near to the rock and the lamp is too dark."
GOOD = f"## ADDED Requirements\n### Requirement: Ring\nThe bell SHALL ring.\n{SCENARIO}"


def issues_of(
    change: ChangeProposal,
    lamp: bytes,
    dialect: Dialect = Dialect.ALL,
    elsewhere: Mapping[str, OtherChanges] | None = None,
) -> list[Issue]:
    specs = {"lamp": read_spec(lamp, "lamp")}
    return list(validate_change(change, specs, dialect, elsewhere=elsewhere or {}))


def deltas_only(issues: list[Issue]) -> list[Issue]:
    return [issue for issue in issues if issue.section == "deltas"]


def complete(change: ChangeProposal, proposal: str = f"## Why\n{WHY}\n## What Changes\nA bell.\n") -> ChangeProposal:
    tasks = read_tasks(b"- [ ] 1.1 Hang the bell\n")
    return msgspec.structs.replace(change, proposal=read_proposal(proposal.encode()), tasks=tasks)


# Verifies: REQ-d00073-B
def test_a_good_change_breaks_no_rule(change: Make, lamp: bytes) -> None:
    for dialect in Dialect:
        assert issues_of(complete(change("ring", lamp=GOOD, bell=GOOD)), lamp, dialect) == []


# Verifies: REQ-d00073-B
@pytest.mark.parametrize(
    ("proposal", "code"),
    [
        ("## What Changes\nA bell.\n", "why_missing"),
        ("## Why\n## What Changes\nA bell.\n", "why_missing"),
        ("## Why\nToo dark.\n## What Changes\nA bell.\n", "why_short"),
        (f"## Why\n{WHY * 20}\n## What Changes\nA bell.\n", "why_long"),
        (f"## Why\n{WHY}\n", "what_changes_missing"),
        (f"## Why\n{WHY}\n## What Changes\n- **lamp:** more\n", "description_short"),
    ],
)
def test_a_proposal_must_say_why_and_what(change: Make, lamp: bytes, proposal: str, code: str) -> None:
    assert [each.code for each in issues_of(complete(change("ring", lamp=GOOD), proposal), lamp)] == [code]


# Verifies: REQ-d00073-B
def test_a_change_needs_proposal_tasks_and_deltas(lamp: bytes) -> None:
    found = issues_of(ChangeProposal("empty"), lamp)
    assert {each.code for each in found} == {"proposal_missing", "tasks_missing", "no_deltas"}
    assert {each.section for each in found} == {"proposal", "tasks", "deltas"}


# Verifies: REQ-d00073-B
def test_tasks_need_boxes_and_numbers_of_their_own(change: Make, lamp: bytes) -> None:
    good = complete(change("ring", lamp=GOOD))
    for text, code in (("none\n", "tasks_without_box"), ("- [ ] Ring\n", "task_without_number")):
        tasks = read_tasks(text.encode())
        assert [each.code for each in issues_of(msgspec.structs.replace(good, tasks=tasks), lamp)] == [code]
    tasks = read_tasks(b"- [ ] 1.1 A\n- [ ] 1.1 B\n")
    (issue,) = issues_of(msgspec.structs.replace(good, tasks=tasks), lamp)
    assert (issue.code, issue.line) == ("task_number_repeated", 2)


# Verifies: REQ-d00073-B
def test_a_change_may_skip_specs_but_not_by_halves(change: Make, lamp: bytes) -> None:
    skipping = read_metadata(b"schema: s\nskip_specs: true\n")
    none = msgspec.structs.replace(complete(ChangeProposal("x")), metadata=skipping)
    assert issues_of(none, lamp) == []
    some = msgspec.structs.replace(complete(change("x", lamp=GOOD)), metadata=skipping)
    assert [each.code for each in issues_of(some, lamp)] == ["specs_not_skipped"]
    wrong = msgspec.structs.replace(complete(change("x", lamp=GOOD)), metadata=read_metadata(b"skip_specs: 7\n"))
    assert [each.code for each in issues_of(wrong, lamp)] == ["metadata_flag"]
    stray = msgspec.structs.replace(complete(change("x", lamp=GOOD)), misplaced=True)
    assert [each.code for each in issues_of(stray, lamp)] == ["spec_at_root"]
    misnamed = msgspec.structs.replace(complete(change("x")), misnamed=("specs/lamp.md",))
    assert [each.code for each in issues_of(misnamed, lamp)] == ["delta_misnamed"]
    listed = msgspec.structs.replace(complete(change("x", lamp=GOOD)), tasks=read_tasks(b"```\n- a\n```\n\n1. Ring\n"))
    (issue,) = issues_of(listed, lamp, Dialect.OPENSPEC)
    assert (issue.code, issue.level.value, issue.line) == ("tasks_as_plain_list", "warning", 5)


# Verifies: REQ-d00073-B
@pytest.mark.parametrize(
    ("delta", "code"),
    [
        ("## Requirements\n### Requirement: A\nMUST\n", "no_delta_header"),
        ("## ADDED Requirements\nNothing.\n", "delta_section_empty"),
        (f"{GOOD}### Requirement: Ring\nMUST\n{SCENARIO}", "duplicate_in_section"),
        (f"{GOOD}## REMOVED Requirements\n- `### Requirement: Ring`\n", "conflicting_operations"),
        (f"{GOOD}## MODIFIED Requirements\n### Requirement: Ring\nMUST\n{SCENARIO}", "conflicting_operations"),
        (
            "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest by day\n## MODIFIED Requirements\n"
            f"### Requirement: Stop at dawn\nMUST\n{SCENARIO}",
            "modified_by_old_name",
        ),
        (f"{GOOD}## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Ring\n", "renamed_onto_added"),
        (
            "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest\n"
            "## REMOVED Requirements\n- `### Requirement: stop  at dawn`\n",
            "renamed_and_removed",
        ),
        (
            "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest\n"
            "## REMOVED Requirements\n- `### Requirement: Rest`\n",
            "renamed_to_removed",
        ),
        (f"## ADDED Requirements\n### Requirement: A\n{SCENARIO}", "added_without_text"),
        ("## ADDED Requirements\n### Requirement: A\nMUST\n", "added_without_scenario"),
        (f"## ADDED Requirements\n### Requirement: A\nMay\n{SCENARIO}", "delta_not_normative"),
        ("## MODIFIED Requirements\n### Requirement: Stop at dawn\n#### Scenario: Dawn\nx\n", "modified_without_text"),
        ("## MODIFIED Requirements\n### Requirement: Stop at dawn\nMUST\n", "modified_without_scenario"),
        ("## RENAMED Requirements\n- FROM: Stop at dawn\n", "unpaired_rename"),
        ("## ADDED Requirements\n### Requirement: A\nMUST\n#### Scenario: S\n", "added_without_scenario"),
        (f"{GOOD}## REMOVED Requirements\n", "delta_section_unused"),
        (f"## Notes\n### Requirement: A\nMUST\n{SCENARIO}\n{GOOD}", "requirement_ignored"),
    ],
)
def test_a_delta_must_make_sense_by_itself(change: Make, lamp: bytes, delta: str, code: str) -> None:
    assert code in {each.code for each in deltas_only(issues_of(change("x", lamp=delta), lamp))}


# Verifies: REQ-d00073-C
@pytest.mark.parametrize(
    ("delta", "code", "says"),
    [
        (
            f"## MODIFIED Requirements\n### Requirement: Burn at Night\nMUST\n{SCENARIO}",
            "requirement_unknown",
            "'Burn at night'",
        ),
        ("## REMOVED Requirements\n- `### Requirement: Sound in the fog`\n", "requirement_unknown", "'Sound in fog'"),
        ("## RENAMED Requirements\n- FROM: Stop dawn\n- TO: Rest\n", "requirement_unknown", "'Stop at dawn'"),
        ("## RENAMED Requirements\n- FROM: Rest\n- TO: Stop at dawn\n", "already_renamed", "done already"),
        ("## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Sound in fog\n", "rename_target_exists", "taken"),
        (f"## ADDED Requirements\n### Requirement: Stop at dawn\nMUST\n{SCENARIO}", "added_exists", "MODIFIED"),
        (f"## MODIFIED Requirements\n### Requirement: Stop at dawn\nMUST\n{SCENARIO}", "scenario_dropped", "'Dawn'"),
        (f"## Purpose\nAnother.\n{GOOD}", "purpose_ignored", "ignored"),
    ],
)
def test_names_are_held_against_the_spec_and_near_misses_are_named(
    change: Make, lamp: bytes, delta: str, code: str, says: str
) -> None:
    (issue,) = (each for each in issues_of(change("x", lamp=delta), lamp) if each.code == code)
    assert says in issue.message
    assert (issue.file, issue.spec_id) == ("specs/lamp/spec.md", "lamp")
    assert issue.line


# Verifies: REQ-d00073-C
def test_a_modified_requirement_is_found_by_the_name_it_is_renamed_to(change: Make, lamp: bytes) -> None:
    delta = (
        "## RENAMED Requirements\n- FROM: Stop at dawn\n- TO: Rest by day\n## MODIFIED Requirements\n"
        f"### Requirement: Rest by day\nMUST\n{SCENARIO}"
    )
    assert [each.code for each in deltas_only(issues_of(change("x", lamp=delta), lamp))] == ["scenario_dropped"]


# Verifies: REQ-d00073-C
def test_a_spec_that_does_not_exist_can_only_be_added(change: Make, lamp: bytes) -> None:
    delta = f"## MODIFIED Requirements\n### Requirement: A\nMUST\n{SCENARIO}"
    (issue,) = deltas_only(issues_of(change("x", lamb=delta), lamp))
    assert issue.code == "spec_unknown"
    assert "'lamp'" in issue.message


# Verifies: REQ-d00073-C
def test_what_another_open_change_brings_is_only_a_warning(change: Make, lamp: bytes) -> None:
    delta = f"## MODIFIED Requirements\n### Requirement: Ring\nMUST\n{SCENARIO}"
    brings = OtherChanges(brought=frozenset({"Ring"}))
    for spec in ("lamp", "bell"):
        (issue,) = deltas_only(issues_of(change("x", **{spec: delta}), lamp, elsewhere={spec: brings}))
        assert (issue.code, issue.level.value) == ("requirement_promised", "warning")


# Verifies: REQ-d00073-C
def test_a_name_that_another_open_change_frees_is_only_a_warning(change: Make, lamp: bytes) -> None:
    adding = GOOD.replace("Ring", "Stop at dawn")
    renaming = "## RENAMED Requirements\n- FROM: Sound in fog\n- TO: Stop at dawn\n"
    frees = {"lamp": OtherChanges(freed=frozenset({"Stop at dawn"}))}
    for delta, taken in ((adding, "added_exists"), (renaming, "rename_target_exists")):
        (issue,) = deltas_only(issues_of(change("x", lamp=delta), lamp))
        assert (issue.code, issue.level.value) == (taken, "error")
        (issue,) = deltas_only(issues_of(change("x", lamp=delta), lamp, elsewhere=frees))
        assert (issue.code, issue.level.value) == ("name_not_free", "warning")


# Verifies: REQ-d00073-B
def test_a_dialect_holds_only_the_rules_of_its_tool(change: Make, lamp: bytes) -> None:
    delta = f"## MODIFIED Requirements\n### Requirement: Nowhere\nMUST\n{SCENARIO}"
    made = complete(change("x", lamp=delta))
    assert [each.code for each in issues_of(made, lamp)] == ["requirement_unknown"]
    assert issues_of(made, lamp, Dialect.OPENSPEC) == []
    assert issues_of(made, lamp, Dialect.SPOX) == []
