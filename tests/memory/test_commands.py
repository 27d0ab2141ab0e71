"""The memory on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import in_process
from tests.conftest import SPEC
from tests.contract.memory_client import write_project

Run = Callable[..., in_process.Done]


@pytest.fixture
def clew(tmp_path: Path) -> Run:
    root = write_project(tmp_path / "harbour", {"src/tides.py": "def tide():\n    return 1\n"})

    def run(*words: str, code: int = 0, here: bool = False) -> in_process.Done:
        folder = [] if here else ["-C", str(root)]
        done = in_process.run(Path.cwd(), *words, *folder)
        assert done.returncode == code, done.stderr
        return done

    return run


# Verifies: REQ-d00308-A
def test_a_day_with_the_memory_of_a_person(clew: Run) -> None:
    assert "No memory about that" in clew("recall", "tables", code=1).stdout
    said = clew("remember", "Tide tables are in UTC.", "--about", "src/tides.py::tide", "--why", "the summer time bug")
    id = said.stdout.split()[2]
    assert "symbol:src/tides.py::tide" in said.stdout
    assert "Tide tables are in UTC." in clew("recall", "which", "time", "zone", "tables").stdout
    nothing = clew("recall", "tide", "pools", "with", "crabs", "snails", "mussels", "shrimps", code=1).stdout
    assert "No memory about that" in nothing
    assert "Nothing fits" in nothing, nothing
    assert id in clew("memory", "list", "--about", "src/tides.py").stdout
    shown = json.loads(clew("memory", "show", id, "--json").stdout)
    assert (shown["trust"], shown["rationale"]) == ("user", "the summer time bug")
    clew("memory", "edit", id, "--text", "Tide tables are in UTC, always.")
    assert "always" in clew("memory", "show", id).stdout
    assert f"clew memory restore {id}" in clew("memory", "forget", id, "--why", "obsolete").stdout
    assert "Said by a person: obsolete" in clew("memory", "history", id).stdout
    assert id in clew("memory", "list", "--forgotten").stdout
    assert "Undid the forget" in clew("memory", "restore", id).stdout
    kinds = [line.split()[2] for line in clew("memory", "history", id).stdout.splitlines()]
    assert kinds == ["created", "edit", "deleted", "restored"]
    assert "store" in clew("memory", "history").stdout
    assert "1 memory: 1 fact" in clew("memory").stdout
    assert "Remembered already" in clew("remember", "Tide tables are in UTC, always.").stdout


# Verifies: REQ-d00308-A
def test_what_is_wrong_is_said_with_the_way_out(clew: Run) -> None:
    assert "clew memory list" in clew("memory", "show", code=2).stderr
    assert "no memory" in clew("memory", "show", "abcdef12", code=1).stderr.lower()
    assert "nothing called" in clew("remember", "x", "--about", "src/none.py", code=1).stderr


# Verifies: REQ-d00301-C
def test_a_person_replaces_a_memory_by_another(clew: Run) -> None:
    old = clew("remember", "Tables are in local time.").stdout.split()[2]
    new = clew("remember", "Tables are kept in UTC.", "--supersedes", old).stdout.split()[2]
    lines = clew("memory", "list").stdout.splitlines()
    assert [(line.split()[0], "superseded" in line) for line in lines] == [(new, False), (old, True)]


# Verifies: REQ-d00304-C, REQ-d00324-A
def test_a_requirement_is_shown_with_what_was_learned_about_it(clew: Run, tmp_path: Path) -> None:
    write_project(tmp_path / "harbour", {"spec/small.md": SPEC})
    assert not (tmp_path / "harbour" / ".clew" / "memory.db").exists()
    assert "remembered" not in clew("show", "REQ-p00001").stdout
    assert not (tmp_path / "harbour" / ".clew" / "memory.db").exists()
    id = clew("remember", "We decided to keep time in UTC.", "--about", "REQ-p00001-A").stdout.split()[2]
    shown = clew("show", "REQ-p00001").stdout
    assert f"{id}  decision  We decided to keep time in UTC." in shown
    fact = clew("remember", "Hours have names.", "--about", "REQ-p00001").stdout.split()[2]
    clew("remember", "Never show the hour twice.", "--about", "REQ-p00001")
    lines = clew("show", "REQ-p00001").stdout.partition("memories about it")[2].split("\n")[1:4]
    assert [line.split()[1] for line in lines] == ["pitfall", "decision", "fact"]
    assert "Never show the hour twice." in clew("brief", str(tmp_path / "harbour"), here=True).stdout
    spec = tmp_path / "harbour" / "spec" / "small.md"
    spec.write_text(SPEC.replace("It SHALL keep time.", "It SHALL keep good time."), encoding="utf-8")
    assert f"{fact}  fact  Hours have names.  stale" in clew("show", "REQ-p00001").stdout
    assert "Never show the hour twice." not in clew("brief", str(tmp_path / "harbour"), here=True).stdout
