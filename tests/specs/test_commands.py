"""`clew specs` and `clew change`."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.stderr import without_progress

from clew.surfaces.cli.main import main


def run(capsys: pytest.CaptureFixture[str], root: Path, *arguments: str) -> tuple[int, str]:
    code = main([*arguments, "-C", str(root)])
    captured = capsys.readouterr()
    return code, captured.out + without_progress(captured.err)


# Verifies: REQ-d00076-D
def test_people_list_show_search_and_validate_specs(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (("specs",), "1 spec, 2 requirements, 2 scenarios, 0 of them tested"),
        (("specs", "list"), "- lamp"),
        (("specs", "show", "lamp"), "#dusk-falls"),
        (("specs", "show", "lamp", "Rest", "by", "day"), "SHALL be out by day"),
        (("specs", "search", "sun", "sets"), "lamp/burn-at-night#dusk-falls"),
        (("specs", "validate"), "valid"),
        (("specs", "index"), "1 spec indexed, 5 texts."),
    ):
        code, output = run(capsys, folder.root, *arguments)
        assert (code, expected in output) == (0, True), output
    code, output = run(capsys, folder.root, "specs", "list", "--json")
    assert json.loads(output)["specs"][0]["id"] == "lamp"
    assert run(capsys, folder.root, "specs", "show", "lamb")[0] == 1


# Verifies: REQ-d00076-D
def test_people_work_with_changes(folder: Any, brighter: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder.change("brighter", lamp=brighter)
    for arguments, code, expected in (
        (("change",), 0, "- brighter  ██████████ 1/1 tasks  +1 ~1"),
        (("change", "show", "brighter", "--full"), 0, "MUST rest by day"),
        (("change", "status", "brighter"), 0, "No conflicts."),
        (("change", "validate", "brighter", "--strict"), 0, "valid"),
        (("change", "conflicts"), 0, "No conflicts."),
        (("change", "archive"), 2, "needs the id"),
        (("change", "archive", "brighter", "--dry-run"), 0, "+### Requirement: Ring at noon"),
        (("change", "apply", "brighter"), 0, "~ Rest by day"),
        (("change", "archive", "brighter"), 0, "Archived as"),
        (("change", "list"), 0, "No open changes."),
        (("change", "rebase", "brighter"), 1, "was not found"),
        (("change", "new", "louder"), 0, "openspec/changes/louder/proposal.md"),
        (("change", "archive", "louder", "--dry-run"), 0, "1 of 1 tasks of 'louder' are not done"),
    ):
        result, output = run(capsys, folder.root, *arguments)
        assert (result, expected in output) == (code, True), output


# Verifies: REQ-d00076-D
def test_people_see_everything_however_much_there_is(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    purpose = "It says what it is for, at great length and with many words. " * 40
    for number in range(60):
        folder.spec(f"part-{number:02}", f"# P\n\n## Purpose\n{purpose}\n\n## Requirements\n")
    _, output = run(capsys, folder.root, "specs")
    assert output.startswith("61 specs, 2 requirements, 2 scenarios")
    assert output.count("- part-") == 60
    _, output = run(capsys, folder.root, "specs", "list", "--limit", "5")
    assert output.splitlines()[-1] == "5 of 61"
    _, output = run(capsys, folder.root, "specs", "validate", "--json")
    assert len(json.loads(output)["errors"]) == 60


# Verifies: REQ-d00076-D
def test_people_see_all_of_many_changes_and_of_a_long_one(
    folder: Any, brighter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(55):
        folder.change(f"dim-{number:02}", lamp=brighter.replace("by day.", f"by day {number}."))
    _, output = run(capsys, folder.root, "change")
    assert output.count("- dim-") == 55
    data = json.loads(run(capsys, folder.root, "change", "list", "--json")[1])
    assert (data["count"], data["total"]) == (55, 55)
    # Each conflicts with each other one: more than a page of conflicts, and more than an agent's budget.
    assert len(json.loads(run(capsys, folder.root, "change", "conflicts", "--json")[1])["conflicts"]) > 50
    # The texts of the deltas of one change, together longer than any answer of a tool may be.
    words = "The bell SHALL ring, as it did when the harbour was young. " * 60
    bells = "".join(
        f"### Requirement: Bell {number}\n{words}\n\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n\n"
        for number in range(40)
    )
    folder.change("bells", bell=f"## ADDED Requirements\n\n{bells}")
    shown = run(capsys, folder.root, "change", "show", "bells", "--full")[1]
    assert shown.count(words.strip()) == 40


# Verifies: REQ-d00076-D, REQ-d00075-F
def test_people_see_both_sides_of_a_conflict_and_say_when_it_is_settled(
    folder: Any, brighter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.change("brighter", lamp=brighter)
    folder.change("darker", bell=brighter[: brighter.index("## ADDED")].replace("Rest by day", "Ring at noon"))
    folder.change("louder", bell=brighter[brighter.index("## ADDED") :])
    assert run(capsys, folder.root, "change", "conflicts")[0] == 0
    text = (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8")
    folder.spec("lamp", text.replace("out by day", "dark by day"))
    code, output = run(capsys, folder.root, "change", "conflicts")
    assert code == 1
    assert "    +The lamp SHALL be dark by day." in output
    assert "    +The lamp MUST rest by day." in output
    assert "louder must come before darker, which modified what the other brings: Ring at noon" in output
    assert "1 conflict; `clew change conflicts` explains" in run(capsys, folder.root, "specs")[1]
    assert run(capsys, folder.root, "change", "status", "brighter")[0] == 1
    code, output = run(capsys, folder.root, "change", "rebase", "brighter")
    assert (code, "Moved since it was written: Rest by day." in output) == (0, True)
    assert run(capsys, folder.root, "change", "status", "brighter")[0] == 0


# Verifies: REQ-d00076-D
def test_a_call_without_what_it_needs_says_so(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("specs", "show"), ("specs", "search"), ("specs", "list", "--limit", "-1"), ("change", "show")):
        code, output = run(capsys, folder.root, *arguments)
        assert (code, "clew:" in output) == (2, True)
    (folder.specs / "lamp" / "spec.md").unlink()
    assert "There are no specs" in run(capsys, folder.root, "specs")[1]
