"""Symbols as targets of `why`: one way to name them, who uses them, which tests reach them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from tests.why.asking import Servers
from tests.why.histories import Repository

from clew.formats.code.outline import reading_of
from clew.surfaces.cli.main import main

FILES = {
    "bells/__init__.py": "from .ring import Bell, LIMIT\n",
    "bells/ring.py": '''LIMIT = 3


class Bell:
    """A bell.

    More about it.
    """

    tone = 1

    def ring(self, times):
        return _clapper(times)

    def mute(self):
        return None


class Gong:
    def mute(self):
        return None


def _clapper(times):
    return min(times, LIMIT)


def quiet():
    return 'nothing'
''',
    "bells/tower.py": "from external.parts import wind\nfrom bells import Bell\n\n\ndef chime():\n    bell = Bell()\n"
    "    return bell.ring(2)\n\n\ndef outer():\n    def wind():\n        return 1\n    return wind\n",
    "tests/test_ring.py": "from bells import Bell\n\n\ndef test_rings():\n    assert Bell().ring(1) == 1\n",
    "tests/test_other.py": "def test_text():\n    assert 'quiet' in 'all is quiet here'\n",
}


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bells")
    Repository(folder).commit("Ring", FILES)
    return folder


def answer(servers: Servers, folder: Path, target: str, tool: str = "why") -> dict[str, Any]:
    data, text, is_error = servers.why(folder, target, tool)
    assert not is_error, text
    return data


def section(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in data["sections"] if each["name"] == name)


def facts(data: dict[str, Any], name: str) -> list[tuple[str, str, str]]:
    return [(each["text"], each["place"], each["basis"]) for each in section(data, name).get("facts", ())]


# Verifies: REQ-d00780-A
@pytest.mark.parametrize("tool", ["why", "context"])
@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("LIMIT", "bells/ring.py::LIMIT"),
        ("bells.LIMIT", "bells/ring.py::LIMIT"),
        ("bells/__init__.py::LIMIT", "bells/ring.py::LIMIT"),
        ("bells/ring.py::LIMIT", "bells/ring.py::LIMIT"),
        ("Bell.tone", "bells/ring.py::Bell.tone"),
        ("bells.Bell.ring", "bells/ring.py::Bell.ring"),
        ("bells.ring.Bell", "bells/ring.py::Bell"),
        ("symbol:Bell.ring", "bells/ring.py::Bell.ring"),
        ("ring()", "bells/ring.py::Bell.ring"),
    ],
)
def test_a_symbol_is_named_in_every_way(servers: Servers, project: Path, tool: str, target: str, name: str) -> None:
    data = answer(servers, project, target, tool)
    assert (data["kind"], data["target"]) == ("symbol", name)


# Verifies: REQ-d00780-A
def test_a_line_means_what_it_defines(servers: Servers, project: Path) -> None:
    data = answer(servers, project, "bells/ring.py:1")
    assert "constant LIMIT" in facts(data, "what")[0][0]
    assert ("read in _clapper: return min(times, LIMIT)", "bells/ring.py:25", "exact") in facts(data, "used_by")


# Verifies: REQ-d00780-B
def test_several_definitions_are_listed_and_none_is_answered_for(servers: Servers, project: Path) -> None:
    data = answer(servers, project, "mute")
    # One commit made them both; what is of one of them alone is not told.
    assert (data["kind"], [each["name"] for each in data["sections"]]) == ("name", ["reason", "definitions", "made_by"])
    lines = facts(data, "definitions")
    assert [(line.partition(",")[0], line.rpartition(" (")[2], place) for line, place, _ in lines] == [
        ("bells/ring.py::Bell.mute", "0 uses)", "bells/ring.py:15"),
        ("bells/ring.py::Gong.mute", "0 uses)", "bells/ring.py:20"),
    ]


# Verifies: REQ-d00780-C
def test_a_local_definition_is_not_meant_where_the_name_comes_from_elsewhere(servers: Servers, project: Path) -> None:
    data = answer(servers, project, "wind")
    assert data["kind"] == "name"
    assert "imported from external.parts" in data["title"]
    assert answer(servers, project, "bells/tower.py::outer.wind")["kind"] == "symbol"


# Verifies: REQ-d00781-A, REQ-d00781-B
def test_uses_and_tests_are_shown_with_their_lines(servers: Servers, project: Path) -> None:
    data = answer(servers, project, "Bell.ring")
    assert facts(data, "used_by") == [("call in chime: return bell.ring(2)", "bells/tower.py:7", "exact")]
    assert "1 in tests" in section(data, "used_by")["note"]
    assert facts(data, "tested_by") == [("test_rings uses it on line 5", "tests/test_ring.py:4", "exact")]


# Verifies: REQ-d00781-B
def test_a_symbol_that_no_test_reaches_has_the_tests_of_its_callers(servers: Servers, project: Path) -> None:
    data = answer(servers, project, "_clapper")
    assert facts(data, "tested_by") == [
        ("test_rings reaches it through Bell.ring on line 5", "tests/test_ring.py:4", "exact")
    ]
    assert "No test uses it itself" in section(data, "tested_by")["note"]


# Verifies: REQ-d00781-C, REQ-o00083-D
def test_a_word_in_a_text_is_no_test_and_no_use(servers: Servers, project: Path) -> None:
    data = answer(servers, project, "quiet")
    assert "tests/test_other.py" not in str(data["sections"])
    assert facts(data, "used_by") == facts(data, "tested_by") == []
    assert "no use was found outside of tests, in 1 file with the name 'quiet'" in section(data, "used_by")["note"]


# Verifies: REQ-d00780-A
@pytest.mark.parametrize("target", ["ring.py::Bell.ring", "ring.py:12", "bells/ring.py::Bell.ring"])
def test_uses_take_a_file_from_where_one_is(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    monkeypatch.chdir(project / "bells")
    assert main(["uses", target]) == 0
    assert "bells/tower.py:7  call in chime  return bell.ring(2)" in capsys.readouterr().out


# Verifies: REQ-d00780-A, REQ-d00780-B
def test_a_memory_is_about_a_symbol_by_any_of_its_names(servers: Servers, project: Path) -> None:
    client = servers.client(project)
    client("store_memory", content="Three at most.", rationale="the neighbours", about=["bells.LIMIT"])
    assert "Three at most." in facts(answer(servers, project, "bells/ring.py::LIMIT"), "decided")[0][0]
    with pytest.raises(MCPError, match=r"ring\.py::Bell\.mute, bells/ring\.py::Gong\.mute"):
        client("store_memory", content="Quiet.", rationale="the neighbours", about=["mute"])


# Verifies: REQ-d00783-A, REQ-d00783-B
def test_search_finds_constants_and_members_with_what_they_say(servers: Servers, project: Path) -> None:
    def found(query: str) -> list[dict[str, Any]]:
        return [*servers.client(project)("search_everything", query=query, kind=["code"])["results"]]

    first = found("bells.Bell")[0]
    assert (first["id"], first["title"], first["preview"]) == ("bells/ring.py::Bell", "class Bell:", "A bell.")
    for query in ("LIMIT", "bells.ring.LIMIT", "LIMIT ="):
        assert found(query)[0]["id"] == "bells/ring.py::LIMIT", query
    assert found("Bell.tone")[0]["id"] == "bells/ring.py::Bell.tone"
    # Tests have the words more often, and come after what they test.
    paths = [each["id"].partition("::")[0] for each in found("rings Bell")]
    assert "tests/test_ring.py" in paths
    assert paths.index("bells/ring.py") < paths.index("tests/test_ring.py")


# Verifies: REQ-d00783-A
def test_a_signature_of_several_lines_is_shown_as_one(tmp_path: Path) -> None:
    text = "def ring(\n    times,  # how often\n    *,\n    tone=(1,\n          2),\n):\n    return times\n"
    (symbol,) = reading_of(text, "ring.py").outline.symbols
    assert symbol.head == "def ring(times, *, tone=(1, 2)):"
