"""Answers on folders that have a register, specs, documents, code or history alone."""

import subprocess
from pathlib import Path

import pytest
from tests.in_process import Done, run

SPEC = """# tide Specification

## Purpose
Tables of the tides are read and shown to whoever asks for them.

## Requirements

### Requirement: Tables
The program SHALL read tables.

#### Scenario: Read
- **WHEN** a table is there
- **THEN** it is read
"""
CODE = "def burn(hours):\n    return hours * 2\n"
ADD = (
    *("req", "add", "-t", "Lock the account", "-s", "The system shall lock the account after five failed logins."),
    *("-r", "Guessing has to stop.", "-a", "The sixth login is refused"),
)
LACKED = ("Asked for by", "Open changes", "Decisions and pitfalls", "Tested by", "Proved by")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, files: dict[str, str], message: str = "Burn longer because winter is dark") -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if files:
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", message)
    return folder


def told(done: Done) -> str:
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


# Verifies: REQ-d00826-A
def test_a_register_alone(tmp_path: Path) -> None:
    root = repository(tmp_path / "register", {})
    assert run(root, "req", "init", "-n", "keys").returncode == 0
    assert run(root, *ADD).returncode == 0
    assert "The system shall lock the account" in told(run(root, "why", "REQ-0001"))
    assert "lock the account" in told(run(root, "ask", "when is the account locked?"))
    assert "REQ-0001" in told(run(root, "search", "account"))


# Verifies: REQ-d00826-A
@pytest.mark.parametrize(
    ("files", "target", "question", "words", "answer"),
    [
        ({"openspec/specs/tide/spec.md": SPEC}, "tide/tables", "what does the program read?", "tables", "read tables"),
        ({"docs/guide.md": "# Guide\n\nThe lamp burns at night.\n"}, "docs/guide.md:3", "when does the lamp burn?",
         "lamp", "The lamp burns at night"),
        ({"lamp.py": CODE}, "lamp.py:1", "what does burn do?", "burn", "burn"),
    ],
)  # fmt: skip
def test_one_kind_of_source_alone(
    tmp_path: Path, files: dict[str, str], target: str, question: str, words: str, answer: str
) -> None:
    root = repository(tmp_path / "alone", files)
    assert "Burn longer because winter is dark" in told(run(root, "why", target))
    assert answer in told(run(root, "ask", question))
    assert answer in told(run(root, "search", words))


# Verifies: REQ-d00826-B
def test_what_the_project_lacks_is_not_mentioned(tmp_path: Path) -> None:
    root = repository(tmp_path / "code", {"lamp.py": CODE})
    shown = told(run(root, "why", "lamp.py:1"))
    assert "Made by" in shown
    assert not [heading for heading in LACKED if heading in shown]
    # Where the project has tests and requirements, it says that none was found.
    whole = repository(
        tmp_path / "whole",
        {
            "lamp.py": CODE,
            "tests/test_bell.py": "def test_bell():\n    assert True\n",
            "spec/bell.md": "## REQ-p00001: Bell\n\n**Level**: PRD | **Status**: Active\n\n## Assertions\n\n"
            "A. It SHALL ring.\n\n*End* *Bell* | **Hash**: 00000000\n",
        },
    )
    shown = told(run(whole, "why", "lamp.py:1"))
    assert "Asked for by: Not known" in shown
    assert "Tested by: Not known" in shown


# Verifies: REQ-d00826-A
def test_an_empty_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "empty", {})
    for command in (("why", "README.md"), ("why", "HEAD"), ("ask", "what is this?"), ("search", "lamp")):
        done = run(root, *command)
        assert "Traceback" not in done.stderr
        assert done.stdout or done.stderr
        assert "requirement" not in done.stdout


# Verifies: REQ-d00826-A, REQ-d00826-C
def test_a_work_tree_of_a_bare_repository_and_a_submodule(tmp_path: Path) -> None:
    single = repository(tmp_path / "single", {"lamp.py": CODE})
    git(tmp_path, "clone", "-q", "--bare", str(single), "bare")
    git(tmp_path / "bare", "worktree", "add", "-q", str(tmp_path / "tree"))
    around = repository(tmp_path / "around", {"README.md": "# Around\n"})
    git(around, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(single), "sub")
    git(around, "commit", "-qm", "Add it")
    for folder in (tmp_path / "tree", around / "sub"):
        assert "Burn longer because winter is dark" in told(run(folder, "why", "lamp.py:1"))
        assert "burn" in told(run(folder, "ask", "what does burn do?"))
        assert "lamp.py" in told(run(folder, "search", "burn"))
    refused = run(around, "why", "sub/lamp.py:1")
    assert refused.returncode != 0
    assert "'sub' is a submodule" in refused.stderr
    assert "-C sub" in refused.stderr
