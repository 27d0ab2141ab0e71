"""The history in the brief: decisions that are some, and a line whose commit says why."""

from pathlib import Path

from tests.why.histories import Repository

from clew.project import Project
from clew.why.overview.commands import next_commands
from clew.why.overview.overview import overview

LOCK = "def open_the_lock(ship):\n    wait_until_the_water_is_level(ship)\n    return ship\n"


def seen(folder: Path) -> tuple[list[str], list[str]]:
    """The subjects of the decisions, and the suggested commands."""
    project = Project.open(folder)
    try:
        project.history.complete()
        found = overview(project)
        assert found.past is not None
        commands = [each.command for each in next_commands(project, found, ())]
        return [each.subject for each in found.past.decisions], commands
    finally:
        project.close()


# Verifies: REQ-d00440-F
def test_a_change_that_decided_nothing_is_no_decision(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    repo.commit("Begin", {"lock.py": LOCK, "README.md": "# Lock\n\nLock is a lock.\n"})
    repo.commit("Update the deprecated docstring", {"a.py": "A = 1\n"})
    repo.commit("Mark rejected ships\n\nUse extend instead of a loop so that it is short.", {"a.py": "A = 2\n"})
    assert seen(tmp_path)[0] == []
    repo.commit("Open at noon\n\nWe decided for noon, because the tide is high then.", {"a.py": "A = 3\n"})
    assert seen(tmp_path)[0] == ["Open at noon"]


# Verifies: REQ-d00440-G
def test_the_suggested_line_has_a_commit_with_a_reason_and_a_number(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    repo.commit(
        "Begin", {"lock.py": LOCK.replace("    wait_until_the_water_is_level(ship)\n", ""), "README.md": "# L\n"}
    )
    repo.commit("Wait for the water (#12)\n\nShips were damaged because the gates opened early.", {"lock.py": LOCK})
    for number in range(3):
        repo.commit(f"Go on {number}", {"lock.py": f"{LOCK}\n\ndef other_{number}():\n    return {number}\n"})
    assert "clew why lock.py:2" in seen(tmp_path)[1]
