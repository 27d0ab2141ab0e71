"""The history in the brief: decisions that are some, and a line whose commit says why."""

import subprocess
import sys
from pathlib import Path

import pytest
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


def described(folder: Path, **files: str) -> tuple[str, str]:
    """The description of a project, and the question that is suggested about it."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    project = Project.open(folder)
    try:
        found = overview(project)
        commands = [each.command for each in next_commands(project, found, ())]
        return found.about.summary, next((each for each in commands if each.startswith("clew ask")), "")
    finally:
        project.close()


# Verifies: REQ-d00440-H
@pytest.mark.parametrize(
    ("readme", "summary", "question"),
    [
        ("# Lock Kit\n\n## News!\n\nLock 2 was released last week, with many new gates.\n\n"
         "Lock Kit is a [library](https://lock.example) for locks.\n",
         "Lock Kit is a library for locks.", 'clew ask "what is Lock Kit?"'),
        ("|build-status| |coverage| |license| |wheel| |python| |more|\n\nGates\n=====\n\nGates open when the "
         "`water <https://w.example>`_ is level on both sides.\n",
         "Gates open when the water is level on both sides.", ""),
        ('<h2 align="center">\n  Locks that open by themselves in the end.\n</h2>\n\n## Features\n\n- many\n\n'
         "## Plans\n\nWe will add all of these features as plugins in the future.\n\n## Installation\n\n"
         "Fetch the package from the shelf of the harbour master, and unpack it next to the old one.\n",
         "Locks that open by themselves in the end.", 'clew ask "how is lock-kit installed?"'),
    ],
)  # fmt: skip
def test_the_description_is_what_introduces_the_project(
    tmp_path: Path, readme: str, summary: str, question: str
) -> None:
    manifest = '{"name": "lock-kit-monorepo", "workspaces": ["packages/*"]}'
    name = "README__rst" if readme.startswith("|") else "README__md"
    files = {name: readme, "package__json": manifest if "h2" in readme else '{"name": "lock-kit"}'}
    assert described(tmp_path, **files) == (summary, question)


# Verifies: REQ-d00440-H
def test_a_package_that_a_program_describes_is_told_by_its_docstring(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    (tmp_path / "lock" / "__init__.py").write_text('"""Locks for ships.\n\nAnd more.\n"""\n')
    setup = "NAME = 'lock'\nsetup(name=NAME, description=meta['doc'])\n"
    files = {"setup__py": setup, "README__rst": "|badge| |badge|\n"}
    assert described(tmp_path, **files)[0] == "Locks for ships."


# Verifies: REQ-d00440-G
def test_no_test_is_suggested_as_what_to_learn_first(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    repo.commit("Begin", {"lock.py": LOCK, "test_lock.py": "class test_Lock:\n    def test_it(self):\n        pass\n"})
    for number in range(3):
        repo.commit(f"Go on {number}", {"test_lock.py": f"class test_Lock:\n    def test_{number}(self): pass\n"})
    commands = seen(tmp_path)[1]
    assert "clew search open_the_lock" in commands
    assert not [each for each in commands if "test_lock" in each.lower()]


# Verifies: REQ-d00440-H
def test_status_without_requirements_counts_no_coverage(tmp_path: Path) -> None:
    Repository(tmp_path).commit("Begin", {"test_lock.py": "class test_Lock:\n    def test_it_opens(self): pass\n"})
    command = [sys.executable, "-m", "clew", "status"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0
    assert "graph: 1 test, 1 file\nrequirements: none" in said.stdout
    assert "coverage: " not in said.stdout
    assert "0 of 0" not in said.stdout
