"""Changed code, its users and the tests to run: `clew changed` and `clew impact`, in real repositories."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.why.histories import Repository

from clew.project import Project
from clew.why.changes.changed_code import symbol_changes
from clew.why.changes.test_commands import NamedTest, commands_for

Clew = Callable[..., Any]

FILES = {
    "pyproject.toml": '[project]\nname = "bells"\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "bells/__init__.py": "",
    "bells/ring.py": "LIMIT = 3\n\n\ndef ring(times):\n    return _clapper(times)\n\n\ndef _clapper(times):\n"
    "    return min(times, LIMIT)\n\n\ndef mute():\n    return None\n",
    "bells/tower.py": "from bells.ring import mute, ring\n\n\ndef chime():\n    mute()\n    return ring(2)\n",
    "tests/test_ring.py": "from bells.ring import ring\n\n\nclass TestRing:\n    def test_rings(self):\n"
    "        assert ring(1) == 1\n\n\ndef test_nothing():\n    assert True\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    Repository(tmp_path).commit("Ring", FILES)
    return tmp_path


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def changed(clew: Clew, root: Path, *words: str) -> dict[str, Any]:
    done = clew(root, "changed", "--json", *words)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def names(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["change"], each["name"]) for each in data["symbols"]]


# Verifies: REQ-d00782-A, REQ-d00782-C, REQ-d00782-D
def test_changed_code_is_listed_with_its_users_and_the_tests_to_run(clew: Clew, project: Path) -> None:
    assert names(changed(clew, project)) == []
    edit(project, "bells/ring.py", "LIMIT = 3", "# More than before.\n\n\nLIMIT = 4")
    edit(project, "bells/ring.py", "return _clapper(times)", "return _clapper(times + 1)")
    data = changed(clew, project)
    assert names(data) == [("changed", "bells/ring.py::LIMIT"), ("changed", "bells/ring.py::ring")]
    assert data["symbols"][1]["used_by"] == ["bells/tower.py:6", "tests/test_ring.py:6"]
    assert data["symbols"][1]["uses"] == 2
    (test,) = data["tests"]["tests"]
    assert (test["name"], test["line"], test["reason"], test["of"]) == ("TestRing.test_rings", 5, "uses it", "ring")
    command = "python -m pytest tests/test_ring.py::TestRing::test_rings"
    assert data["tests"]["commands"] == [command]
    shown = clew(project, "changed").stdout
    assert "changed  function     bells/ring.py::ring  bells/ring.py:7" in shown
    assert f"  $ {command}\n" in shown
    assert f"```sh\n{command}\n```" in clew(project, "changed", "--format", "markdown").stdout
    # The command is one that a shell takes.
    done = subprocess.run(command.replace("python", f"{_python()}", 1), shell=True, cwd=project, capture_output=True)
    assert b"1 failed" in done.stdout


def _python() -> str:
    import shlex
    import sys

    return shlex.quote(sys.executable)


# Verifies: REQ-d00782-A
def test_what_was_removed_is_told_with_those_that_still_import_it(clew: Clew, project: Path) -> None:
    edit(project, "bells/ring.py", "def mute():\n    return None\n", "")
    (symbol,) = changed(clew, project)["symbols"]
    assert (symbol["change"], symbol["name"], symbol["used_by"]) == (
        "removed",
        "bells/ring.py::mute",
        ["bells/tower.py:1"],
    )
    assert "still imported by bells/tower.py:1" in clew(project, "changed").stdout


# Verifies: REQ-d00782-A
def test_what_only_moved_did_not_change_and_a_branch_is_compared_with_its_beginning(clew: Clew, project: Path) -> None:
    repo = Repository(project)
    text = (project / "bells/ring.py").read_text()
    repo.commit("Move", {"bells/deep.py": text, "bells/ring.py": "NEW = 1\n"})
    assert names(changed(clew, project)) == []
    assert names(changed(clew, project, "--base", "HEAD~1")) == [("added", "bells/ring.py::NEW")]


# Verifies: REQ-d00782-C
def test_a_changed_test_is_to_be_run(clew: Clew, project: Path) -> None:
    edit(project, "tests/test_ring.py", "assert True", "assert 1")
    (test,) = changed(clew, project)["tests"]["tests"]
    assert (test["name"], test["reason"]) == ("test_nothing", "changed")


# Verifies: REQ-d00782-B, REQ-d00782-C
@pytest.mark.parametrize("target", ["ring", "bells.ring.ring", "bells/ring.py::ring", "bells/ring.py:4", "ring()"])
def test_impact_takes_a_symbol_in_every_way(clew: Clew, project: Path, target: str) -> None:
    data = json.loads(clew(project, "impact", target, "--json").stdout)
    assert data["subject"] == "bells/ring.py::ring"
    assert [(use["path"], use["line"], use["kind"], use["inside"], use["basis"]) for use in data["uses"]] == [
        ("bells/tower.py", 6, "call", "chime", "exact")
    ]
    assert [test["name"] for test in data["tests"]["tests"]] == ["TestRing.test_rings"]
    shown = clew(project, "impact", target, "--tests").stdout
    assert "$ python -m pytest tests/test_ring.py::TestRing::test_rings" in shown
    assert "tower" not in shown


# Verifies: REQ-d00782-B, REQ-d00782-C
def test_impact_of_a_file_has_its_users_and_tests_and_a_callee_those_of_its_callers(clew: Clew, project: Path) -> None:
    data = json.loads(clew(project, "impact", "bells/ring.py", "--json").stdout)
    assert [(use["path"], use["line"]) for use in data["uses"]] == [("bells/tower.py", 5)]
    assert {test["name"] for test in data["tests"]["tests"]} == {"TestRing.test_rings"}
    (test,) = json.loads(clew(project, "impact", "_clapper", "--json").stdout)["tests"]["tests"]
    assert (test["name"], test["reason"], test["distance"]) == ("TestRing.test_rings", "calls what calls it", 1)


# Verifies: REQ-d00782-D
@pytest.mark.parametrize(
    ("files", "tests", "commands"),
    [
        ({}, [("t/test_a.py", "Case.test_x")], ["python -m unittest t.test_a.Case.test_x"]),
        ({"conftest.py": ""}, [("t/test a.py", "test_x")], ["python -m pytest 't/test a.py::test_x'"]),
        (
            {"web/package.json": '{"devDependencies": {"vitest": "1"}}'},
            [("web/src/a.test.ts", ""), ("web/src/b.test.ts", "")],
            ["(cd web && npx vitest run src/a.test.ts src/b.test.ts)"],
        ),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, [("a.test.js", "")], ["node --test a.test.js"]),
        ({}, [("in/a_test.go", "TestA"), ("in/b_test.go", "TestB")], ["go test ./in -run '^(TestA|TestB)$'"]),
        ({}, [("src/lib.rs", "tests.rings")], ["cargo test rings"]),
        ({"pom.xml": ""}, [("src/test/java/BellTest.java", "BellTest.rings")], ["mvn test -Dtest=BellTest"]),
        ({}, [("spec/bell_spec.rb", "")], ["bundle exec rspec spec/bell_spec.rb"]),
        ({}, [("t/a.t", "")], []),
        (
            {"tools/go.mod": "module m"},
            [("tools/in/a_test.go", "TestA"), ("tools/b_test.go", "")],
            ["(cd tools && go test ./in -run '^(TestA)$')", "(cd tools && go test .)"],
        ),
        (
            {"go.mod": "module m"},
            [("a_test.go", "TestA"), ("a_test.go", "BenchmarkA"), ("in/b_test.go", "BenchmarkB")],
            [
                "go test . -run '^(TestA)$' -bench '^(BenchmarkA)$' -benchtime 1x",
                "go test ./in -run '^$' -bench '^(BenchmarkB)$' -benchtime 1x",
            ],
        ),
        (
            {"Cargo.toml": "[workspace]", "crates/b/Cargo.toml": "[package]"},
            [("crates/b/src/lib.rs", "tests.rings"), ("src/lib.rs", "tests.tolls")],
            ["(cd crates/b && cargo test rings)", "cargo test tolls"],
        ),
        (
            {"pom.xml": "", "core/pom.xml": ""},
            [("core/src/test/java/BellTest.java", "")],
            ["mvn -pl core -am test -Dtest=BellTest -Dsurefire.failIfNoSpecifiedTests=false"],
        ),
        ({"a/pom.xml": ""}, [("a/src/test/java/BellTest.java", "")], ["(cd a && mvn test -Dtest=BellTest)"]),
        (
            {"settings.gradle": "", "core/build.gradle": "", "gradlew": "#!/bin/sh"},
            [("core/src/test/java/BellTest.java", "")],
            ["./gradlew :core:test --tests=BellTest"],
        ),
        ({}, [("BellTest.java", "")], []),
        ({"package.json": "{}"}, [("a.test.js", "")], []),
    ],
)
def test_commands_are_those_of_the_test_runner_of_the_project(
    files: dict[str, str], tests: list[tuple[str, str]], commands: list[str]
) -> None:
    found = commands_for([NamedTest(*test) for test in tests], files.get)
    assert list(found.commands) == commands
    assert list(found.without) == ([] if commands else [path for path, _ in tests])


# Verifies: REQ-d00782-D
def test_tests_without_a_known_runner_are_named_beside_the_commands_of_others(clew: Clew, tmp_path: Path) -> None:
    files = {
        "bells.js": "export function ring() { return 1; }\n",
        "bells.test.js": 'import { ring } from "./bells.js";\ntest("x", () => { ring(); });\n',
        "web/package.json": '{"devDependencies": {"vitest": "1"}}',
        "web/tower.test.js": 'import { ring } from "../bells.js";\ntest("x", () => { ring(); });\n',
    }
    Repository(tmp_path).commit("Ring", {"clew.toml": "", **files})
    found = json.loads(clew(tmp_path, "impact", "bells.js::ring", "--json").stdout)["tests"]
    assert found["commands"] == ["(cd web && npx vitest run tower.test.js)"]
    assert "No command is known that runs bells.test.js." in found["notes"]


# Verifies: REQ-d00782-D
def test_many_tests_are_run_by_their_files() -> None:
    tests = [NamedTest("tests/test_a.py", f"test_{number}") for number in range(40)]
    assert commands_for(tests, {"conftest.py": ""}.get).commands == ("python -m pytest tests/test_a.py",)


# Verifies: REQ-d00782-A
def test_many_definitions_are_compared_in_one_pass_that_can_be_stopped(tmp_path: Path) -> None:
    bells = "".join(
        f"class Bell{number}:\n    def __init__(self):\n        self.tone = 1\n\n    def ring(self):\n"
        f"        def inner():\n            return {number}\n        return inner\n\n\n"
        for number in range(300)
    )
    Repository(tmp_path).commit("Ring", {"bells.py": "", "clew.toml": ""})
    (tmp_path / "bells.py").write_text(bells)
    project = Project.open(tmp_path)
    try:
        asked = 0

        def check() -> None:
            nonlocal asked
            asked += 1
            if asked == stop:
                raise InterruptedError

        stop = -1
        found, _ = symbol_changes(project, "HEAD", check)
        names = [each.symbol.qualname for each in found]
        assert names[:3] == ["Bell0", "Bell0.__init__", "Bell0.ring"]
        assert len(names) == 900
        assert len(names) <= asked <= 5000
        asked, stop = 0, 500
        with pytest.raises(InterruptedError):
            symbol_changes(project, "HEAD", check)
    finally:
        project.close()


# Verifies: REQ-d00782-C
def test_tests_that_changed_in_the_same_commits_are_run_where_few_are_known(clew: Clew, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit("Start", {"clew.toml": "", "conftest.py": "", "other.py": "", "tests/test_wide.py": ""})
    for number in range(2):
        code = f"def ring():\n    return {number}\n"
        repository.commit(
            f"Ring {number}", {"bells.py": code, "tests/test_shell.py": f"def test_x():\n    assert {number}\n"}
        )
        wide = {f"part{each}.py": f"x = {number}\n" for each in range(20)}
        repository.commit(
            f"Wide {number}", {"bells.py": f"{code}# {number}\n", "tests/test_wide.py": f"# {number}\n", **wide}
        )
    repository.commit("Once", {"bells.py": "def ring():\n    return 3\n", "tests/test_once.py": "def test_y(): ...\n"})
    found = json.loads(clew(tmp_path, "impact", "bells.py::ring", "--json").stdout)["tests"]
    assert [(test["path"], test["reason"], test["basis"]) for test in found["tests"]] == [
        ("tests/test_shell.py", "changed together", "recorded")
    ]
    assert found["commands"] == ["python -m pytest tests/test_shell.py"]
    assert "tests/test_shell.py changed in 2 commits with bells.py" in clew(tmp_path, "why", "bells.py::ring").stdout
