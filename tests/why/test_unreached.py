"""Tests that verify a requirement and cannot reach the code that implements it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.why.asking import Servers
from tests.why.histories import Repository

SPEC = "# Bells\n\n## REQ-d00001: Ring\n\n**Level**: DEV | **Status**: Active\n\n## Assertions\n\n"
SPEC += "A. A bell SHALL ring.\nB. A bell SHALL stop.\n\n*End* *Ring*\n"
CODE = """class Bell:
    # Implements: REQ-d00001-A
    def ring(self):
        return 1

    # Implements: REQ-d00001-B
    def stop(self):
        return 0


class Loud(Bell):
    def ring(self):
        return super().ring() + 1


def chime(bell):
    return bell.ring()


def paint():
    return 'red'
"""
TESTS = """import subprocess

import pytest

from bells import Bell, Loud, chime, paint


@pytest.fixture
def bell():
    return Loud()


# Verifies: REQ-d00001-A
def test_direct():
    assert Bell().ring() == 1


# Verifies: REQ-d00001-A
def test_through_a_fixture_and_a_function(bell):
    assert chime(bell) == 2


# Verifies: REQ-d00001-A
def test_of_something_else():
    assert paint() == 'red'


# Verifies: REQ-d00001-A
def test_by_a_program():
    assert subprocess.run(['true']).returncode == 0


# Verifies: REQ-d00001-A
def test_of_what_nobody_knows(thing):
    assert thing.ring()


# Verifies: REQ-d00001-B
def test_of_the_other_assertion():
    assert Bell().stop() == 0
"""


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bells")
    files = {"spec/bells.md": SPEC, "bells.py": CODE, "tests/test_bells.py": TESTS, "clew.toml": ""}
    Repository(folder).commit("Ring", files)
    return folder


def note(servers: Servers, project: Path, target: str) -> str:
    data, text, is_error = servers.why(project, target)
    assert not is_error, text
    section: dict[str, Any] = next(each for each in data["sections"] if each["name"] == "proved_by")
    return str(section["note"])


# Verifies: REQ-d00787-A, REQ-d00787-B
@pytest.mark.parametrize("target", ["REQ-d00001", "REQ-d00001-A"])
def test_a_test_that_cannot_reach_the_code_is_named_and_no_other(servers: Servers, project: Path, target: str) -> None:
    said = note(servers, project, target)
    assert "test_of_something_else (tests/test_bells.py:24) never reaches bells.py::Bell.ring" in said
    for other in ("test_direct", "test_through", "test_by_a_program", "test_of_what_nobody_knows", "test_of_the_other"):
        assert other not in said


# Verifies: REQ-d00787-A
def test_an_assertion_whose_tests_reach_its_code_has_no_such_note(servers: Servers, project: Path) -> None:
    assert "never reaches" not in note(servers, project, "REQ-d00001-B")


# Verifies: REQ-d00787-C
def test_no_figure_depends_on_it(servers: Servers, project: Path) -> None:
    client = servers.client(project)
    before = client("get_project_summary")
    note(servers, project, "REQ-d00001")
    assert client("get_project_summary") == before
