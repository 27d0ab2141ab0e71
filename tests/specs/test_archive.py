"""Applying and archiving on disk: all or nothing, and conflicts decided by somebody, never by chance."""

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from clew.errors import ConfigError, Conflict, InvalidArgument, OutsideProject, Refused
from clew.project import Project
from clew.specs.operations.commands import ArchiveNow

Tool = Callable[..., dict[str, Any]]


def today() -> str:
    return date.today().isoformat()


def spec_text(folder: Any, id: str = "lamp") -> str:
    return str((folder.specs / id / "spec.md").read_text(encoding="utf-8"))


def grown(folder: Any) -> str:
    """Somebody else adds a scenario to the spec."""
    text = spec_text(folder) + "\n#### Scenario: Cloudy dawn\n- **WHEN** x\n- **THEN** y\n"
    folder.spec("lamp", text)
    return text


# Verifies: REQ-d00078-A
def test_archiving_applies_the_change_and_moves_its_folder(folder: Any, project: Project, brighter: str) -> None:
    source = folder.change("brighter", lamp=brighter, bell=brighter[brighter.index("## ADDED") :])
    report = project.specs.archive(ArchiveNow(change_id="brighter"))
    assert report.files == ("openspec/specs/bell/spec.md", "openspec/specs/lamp/spec.md")
    assert report.archived_to == f"openspec/changes/archive/{today()}-brighter"
    assert not source.exists()
    assert (folder.root / report.archived_to / "proposal.md").exists()
    assert "MUST rest by day" in spec_text(folder)
    assert "Ring at noon" in spec_text(folder, "bell")
    assert list(project.specs.library.changes) == []
    assert list(project.specs.library.specs) == ["bell", "lamp"]


# Verifies: REQ-d00078-A
def test_a_dry_run_shows_the_difference_and_writes_nothing(folder: Any, call: Tool, brighter: str) -> None:
    folder.change("brighter", lamp=brighter)
    before = spec_text(folder)
    for arguments in ({}, {"confirm": True}):
        report = call("archive_change", change_id="brighter", **arguments)
        assert (report["dry_run"], report["applied"], report["archived_to"]) == (True, False, None)
        assert "+The lamp MUST rest by day." in report["diff"]
    with pytest.raises(Refused) as caught:
        call("archive_change", change_id="brighter", dry_run=False)
    assert "confirm=true" in caught.value.hint
    assert spec_text(folder) == before
    report = call("archive_change", change_id="brighter", dry_run=False, confirm=True, move=False)
    assert (report["applied"], report["archived_to"]) == (True, None)
    assert (folder.changes / "brighter").exists()


# Verifies: REQ-d00078-B
def test_one_refusal_keeps_every_file_as_it_was(folder: Any, project: Project, brighter: str) -> None:
    folder.change(
        "half",
        bell=brighter[brighter.index("## ADDED") :],
        lamp="## REMOVED Requirements\n### Requirement: rest By day\n",
    )
    before = spec_text(folder)
    with pytest.raises(Refused) as caught:
        project.specs.archive(ArchiveNow(change_id="half"))
    assert "'Rest by day'" in caught.value.message
    assert spec_text(folder) == before
    assert not (folder.specs / "bell").exists()
    assert (folder.changes / "half").exists()


# Verifies: REQ-d00078-B
def test_a_folder_that_cannot_be_moved_takes_everything_back(folder: Any, project: Project, brighter: str) -> None:
    folder.change("brighter", lamp=brighter)
    before = spec_text(folder)
    (folder.changes / "archive").write_text("in the way", encoding="utf-8")
    with pytest.raises(ConfigError):
        project.specs.archive(ArchiveNow(change_id="brighter"))
    assert spec_text(folder) == before
    assert (folder.changes / "brighter").exists()
    assert project.store is not None
    assert project.store.count("file_edits") == 0


# Verifies: REQ-d00078-C
def test_unfinished_tasks_and_a_taken_name_in_the_archive_stand_against_it(
    folder: Any, project: Project, brighter: str
) -> None:
    folder.change("brighter", tasks="- [ ] 1.1 A\n", lamp=brighter)
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="brighter"))
    preview = project.specs.archive(ArchiveNow(change_id="brighter", dry_run=True))
    assert ("MUST rest by day" in preview.diff, "1 of 1 tasks" in preview.warnings[0]) == (True, True)
    folder.change(f"archive/{today()}-brighter", lamp=brighter)
    with pytest.raises(Conflict):
        project.specs.archive(ArchiveNow(change_id="brighter", unfinished=True))


# Verifies: REQ-d00078-D
def test_a_conflict_is_refused_until_somebody_says_which_side_to_take(
    folder: Any, project: Project, call: Tool, brighter: str
) -> None:
    folder.change("brighter", lamp=brighter)
    assert call("change_conflicts")["conflicts"] == []
    theirs = grown(folder)
    kinds = [each["kind"] for each in call("change_conflicts", change_id="brighter")["conflicts"]]
    assert kinds == ["base_moved", "scenario_lost"]
    with pytest.raises(Refused) as caught:
        project.specs.archive(ArchiveNow(change_id="brighter"))
    assert "Cloudy dawn" in caught.value.message
    assert spec_text(folder) == theirs
    preview = call("archive_change", change_id="brighter", take="spec")
    assert "stays as the spec has it" in preview["warnings"][0]
    project.specs.archive(ArchiveNow(change_id="brighter", take="change", move=False))
    assert "Cloudy dawn" not in spec_text(folder)
    folder.spec("lamp", theirs)
    project.specs.archive(ArchiveNow(change_id="brighter", take="spec"))
    assert "Cloudy dawn" in spec_text(folder)
    assert "MUST rest by day" not in spec_text(folder)
    assert "Ring at noon" in spec_text(folder)


# Verifies: REQ-d00078-D
def test_two_open_changes_of_one_requirement_are_seen_before_either_is_archived(
    folder: Any, project: Project, call: Tool, brighter: str
) -> None:
    folder.change("brighter", lamp=brighter)
    folder.change("darker", lamp="## REMOVED Requirements\n### Requirement: Rest by day\n")
    (conflict,) = call("change_conflicts")["conflicts"]
    assert (conflict["kind"], conflict["changes"]) == ("same_requirement", ["brighter", "darker"])
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="darker"))


# Verifies: REQ-d00078-D
def test_what_a_change_touched_is_remembered_across_processes(
    folder: Any, project: Project, call: Tool, brighter: str, opened: Callable[[Path], Project]
) -> None:
    folder.change("brighter", lamp=brighter)
    call("list_changes")
    grown(folder)
    other = opened(folder.root)
    other.ensure_graph()
    found = other.specs.conflicts("brighter")
    assert [each.kind for each in found.conflicts] == ["base_moved", "scenario_lost"]
    view = found.conflicts[0].view
    assert view is not None
    assert "+#### Scenario: Cloudy dawn" in view.theirs


# Verifies: REQ-d00078-C
def test_a_new_change_is_begun_and_not_over_another(folder: Any, project: Project, call: Tool) -> None:
    files = project.specs.new_change("ring-louder", "Ring louder")
    assert files[0] == "openspec/changes/ring-louder/proposal.md"
    assert call("list_changes")["changes"][0]["title"] == "Ring louder"
    with pytest.raises(Conflict):
        project.specs.new_change("ring-louder")
    for bad in ("Ring louder", "ring--louder", "a/b", "archive", "x" * 201):
        with pytest.raises(InvalidArgument):
            project.specs.new_change(bad)


# Verifies: REQ-d00078-D
def test_taking_the_change_drops_only_what_somebody_else_added(
    folder: Any, project: Project, call: Tool, brighter: str
) -> None:
    folder.change("brighter", lamp=brighter.replace("#### Scenario: Dawn\n- **WHEN** x\n- **THEN** y\n", ""))
    call("list_changes")
    grown(folder)
    with pytest.raises(Refused) as caught:
        project.specs.archive(ArchiveNow(change_id="brighter", take="change"))
    assert "would drop 'Dawn'" in caught.value.message
    assert "Cloudy dawn" not in caught.value.message


# Verifies: REQ-d00078-D
def test_taking_the_change_wins_over_what_was_added_or_removed_meanwhile(
    folder: Any, project: Project, call: Tool, brighter: str
) -> None:
    folder.change("brighter", lamp=brighter)
    call("list_changes")
    text = spec_text(folder)
    without = text[: text.index("### Requirement: Rest by day")]
    other = "### Requirement: Ring at noon\nThe bell MAY ring.\n\n#### Scenario: Noon\n- **WHEN** a\n- **THEN** b\n"
    folder.spec("lamp", without + other)
    kinds = {(each["requirement"], each["kind"]) for each in call("change_conflicts")["conflicts"]}
    assert kinds == {("Rest by day", "base_moved"), ("Ring at noon", "base_moved")}
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="brighter"))
    project.specs.archive(ArchiveNow(change_id="brighter", take="change"))
    assert "The lamp MUST rest by day." in spec_text(folder)
    assert "The bell SHALL ring." in spec_text(folder)
    assert "MAY ring" not in spec_text(folder)


# Verifies: REQ-d00075-F
def test_a_change_that_was_brought_up_to_date_has_no_conflict_any_more(
    folder: Any, project: Project, call: Tool, brighter: str
) -> None:
    folder.change("brighter", lamp=brighter)
    call("list_changes")
    grown(folder)
    assert len(call("change_conflicts")["conflicts"]) == 2
    folder.change("brighter", lamp=brighter)
    still = call("rebase_change", change_id="brighter")
    assert (still["moved"], still["valid"]) == (["Rest by day"], False)
    assert "Cloudy dawn" in still["errors"][0]["description"]
    cloudy = "#### Scenario: Cloudy dawn\n- **WHEN** x\n- **THEN** y\n"
    folder.change("brighter", lamp=brighter.replace("#### Scenario: Eclipse", f"{cloudy}\n#### Scenario: Eclipse"))
    assert call("rebase_change", change_id="brighter")["valid"]
    assert call("change_conflicts")["conflicts"] == []
    project.specs.archive(ArchiveNow(change_id="brighter"))
    assert "Cloudy dawn" in spec_text(folder)


# Verifies: REQ-d00078-C
def test_a_spec_in_the_wrong_place_or_in_spite_of_skip_specs_stands_against_it(
    folder: Any, project: Project, brighter: str
) -> None:
    change = folder.change("brighter", lamp=brighter)
    (change / "specs" / "spec.md").write_text(brighter, encoding="utf-8")
    with pytest.raises(Refused) as caught:
        project.specs.archive(ArchiveNow(change_id="brighter"))
    assert "specs/<spec>/spec.md" in caught.value.message
    (change / "specs" / "spec.md").unlink()
    (change / ".openspec.yaml").write_text("schema: spec-driven\nskip_specs: true\n", encoding="utf-8")
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="brighter"))


# Verifies: REQ-d00078-A
def test_a_spec_that_is_retired_goes_with_its_empty_folders(folder: Any, project: Project) -> None:
    folder.spec("tower/horn", spec_text(folder))
    removed = "".join(f"### Requirement: {name}\n" for name in ("Burn at night", "Rest by day"))
    change = folder.change("silence")
    delta = change / "specs" / "tower" / "horn" / "spec.md"
    delta.parent.mkdir(parents=True)
    delta.write_text(f"## REMOVED Requirements\n{removed}", encoding="utf-8")
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="silence"))
    (change / ".openspec.yaml").write_text("schema: spec-driven\nretire_capabilities: true\n", encoding="utf-8")
    project.specs.archive(ArchiveNow(change_id="silence"))
    assert not (folder.specs / "tower").exists()
    assert spec_text(folder)


# Verifies: REQ-d00076-B
def test_no_link_leads_an_archive_out_of_the_project(folder: Any, project: Project, brighter: str) -> None:
    outside = folder.root.parent / f"{folder.root.name}-outside"
    outside.mkdir()
    added = brighter[brighter.index("## ADDED") :]
    folder.change("inside-out", linked=added)
    (folder.specs / "linked").symlink_to(outside)
    with pytest.raises(OutsideProject):
        project.specs.archive(ArchiveNow(change_id="inside-out"))
    (folder.specs / "linked").unlink()
    (folder.changes / "archive").symlink_to(outside)
    with pytest.raises(OutsideProject):
        project.specs.archive(ArchiveNow(change_id="inside-out"))
    assert list(outside.iterdir()) == []
    assert (folder.changes / "inside-out").exists()


# Verifies: REQ-d00075-G
@pytest.mark.parametrize(
    ("first", "then", "reason"),
    [
        ("## ADDED Requirements\n{ring}", "## MODIFIED Requirements\n{ring}Loud.\n", "modified what the other brings"),
        ("## REMOVED Requirements\n### Requirement: Rest by day\n", "## ADDED Requirements\n{rest}", "takes a name"),
        (
            "## RENAMED Requirements\n- FROM: Rest by day\n- TO: Ring\n",
            "## MODIFIED Requirements\n{ring}\n#### Scenario: Dawn\n- **WHEN** x\n- **THEN** y\n",
            "modified what the other brings",
        ),
    ],
)
def test_changes_are_archived_in_their_order_without_a_conflict_and_in_no_other(
    folder: Any, project: Project, call: Tool, first: str, then: str, reason: str
) -> None:
    scenario = "\n#### Scenario: Noon\n- **WHEN** x\n- **THEN** y\n"
    texts = {
        "ring": f"### Requirement: Ring\nThe bell SHALL ring.\n{scenario}",
        "rest": f"### Requirement: Rest by day\nThe bell SHALL rest.\n{scenario}",
    }
    folder.change("b-first", lamp=first.format(**texts))
    folder.change("a-then", lamp=then.format(**texts))
    assert call("change_conflicts")["order"] == ["b-first", "a-then"]
    before = spec_text(folder)
    with pytest.raises(Refused) as caught:
        project.specs.archive(ArchiveNow(change_id="a-then"))
    assert (reason in caught.value.message, "Archive 'b-first' first" in caught.value.hint) == (True, True)
    assert spec_text(folder) == before
    project.specs.archive(ArchiveNow(change_id="b-first"))
    assert call("change_conflicts")["conflicts"] == []
    project.specs.archive(ArchiveNow(change_id="a-then"))


# Verifies: REQ-d00075-G
def test_changes_that_wait_for_each_other_are_refused_with_the_way_out(folder: Any, project: Project) -> None:
    folder.change("a", lamp="## RENAMED Requirements\n- FROM: Rest by day\n- TO: Burn at night\n")
    folder.change("b", lamp="## RENAMED Requirements\n- FROM: Burn at night\n- TO: Rest by day\n")
    with pytest.raises(Refused) as caught:
        project.specs.archive(ArchiveNow(change_id="a"))
    assert "wait for each other" in caught.value.hint


# Verifies: REQ-d00075-H
@pytest.mark.parametrize("name", ["brighter", "2026-01-31-brighter"])
def test_a_change_archived_by_hand_leaves_no_baseline_to_a_later_one(
    folder: Any, call: Tool, brighter: str, name: str
) -> None:
    made = folder.change("brighter", lamp=brighter)
    call("list_changes")
    (folder.changes / "archive").mkdir()
    made.rename(folder.changes / "archive" / name)
    call("list_changes")
    grown(folder)
    folder.change("brighter", lamp=brighter)
    assert "base_moved" not in [each["kind"] for each in call("change_conflicts")["conflicts"]]


# Verifies: REQ-d00075-A
def test_a_change_that_is_away_for_a_while_keeps_its_baseline(
    folder: Any, call: Tool, brighter: str, tmp_path: Path
) -> None:
    """As on another branch."""
    made = folder.change("brighter", lamp=brighter)
    call("list_changes")
    made.rename(tmp_path / "away")
    call("list_changes")
    grown(folder)
    (tmp_path / "away").rename(made)
    assert "base_moved" in [each["kind"] for each in call("change_conflicts")["conflicts"]]


# Verifies: REQ-d00075-H
def test_a_change_begun_under_the_name_of_a_deleted_one_begins_anew(
    folder: Any, project: Project, call: Tool, brighter: str
) -> None:
    made = folder.change("brighter", lamp=brighter)
    call("list_changes")
    shutil.rmtree(made)
    project.specs.new_change("brighter")
    grown(folder)
    folder.change("brighter", lamp=brighter)
    assert "base_moved" not in [each["kind"] for each in call("change_conflicts")["conflicts"]]


# Verifies: REQ-d00075-A
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_specs", {}),
        ("spec_catalogue", {}),
        ("get_scenario", {"spec_id": "lamp", "requirement": "rest-by-day"}),
        ("search_specs", {"query": "dawn", "auto_build": True}),
    ],
)
def test_a_change_is_first_seen_by_whoever_looks_at_specs(
    folder: Any, call: Tool, brighter: str, tool: str, arguments: dict[str, Any]
) -> None:
    folder.change("brighter", lamp=brighter)
    call(tool, **arguments)
    grown(folder)
    assert [each["kind"] for each in call("change_conflicts")["conflicts"]] == ["base_moved", "scenario_lost"]
