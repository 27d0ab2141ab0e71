"""Questions to the whole project: code, manifests, variables and history answer as documents do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options
from tests.why.histories import Repository

from clew.project import Project
from clew.why.asking.intent import Intent, intent_of, is_of_the_past
from clew.why.asking.manifests import facts_in

PYPROJECT = """[project]
name = "harbour"
requires-python = ">=3.10"
license = "MIT"
dependencies = [
    "tidetable>=2.1",
    "lamps",
]

[project.scripts]
harbour = "harbour.main:run"

[build-system]
build-backend = "hatchling.build"

[tool.linter]
python-version = "3.12"
"""
TIDES = '''"""Tides of a harbour."""

import os

LONGEST_WAIT = 180
# Waves beyond this number overflow the counter of the gauge: 65535.
LIMIT = 65535


def water_level(hours: float) -> float:
    """The level of the water, some hours after low water."""
    return 3.0 * hours / 6


def wait_for_flood(ship: str) -> int:
    return int(os.environ.get("HARBOUR_WAIT", "30"))


def keel(ship: str) -> str:
    return os.environ["HARBOUR_KEEL"]
'''
TEST = (
    "from tides import water_level\n\n\ndef test_water_level_at_high_water() -> None:\n    assert water_level(6) == 3\n"
)
CHANGES = "# Changelog\n\n## 2.0\n\n- Removed the fog horn.\n- The minimum Python version was 3.6 then.\n"
GUIDE = "# Guide\n\n## Bells\n\nThe fog bell rings every thirty seconds.\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[McpClient]:
    repository = Repository(tmp_path / "harbour")
    files = {
        "pyproject.toml": PYPROJECT,
        "src/tides.py": TIDES,
        "tests/test_tides.py": TEST,
        "CHANGELOG.md": CHANGES,
        "docs/guide.md": GUIDE,
        "Dockerfile": "FROM python:3.12\nEXPOSE 8035\n",
    }
    repository.commit("Begin the harbour", files)
    opened = Project.open(tmp_path / "harbour")
    with McpClient(opened, Options(toolsets=("all",))) as client:
        yield client
    opened.close()


def asked(client: McpClient, question: str) -> list[dict[str, Any]]:
    quotes: list[dict[str, Any]] = client("ask", question=question)["quotes"]
    return quotes


# Verifies: REQ-d00870-B+D
@pytest.mark.parametrize(
    ("question", "kind", "said"),
    [
        ("What is the minimum Python version?", "manifest", 'requires-python = ">=3.10"'),
        ("Minimum Python version?", "manifest", 'requires-python = ">=3.10"'),
        ("Which version of tidetable is needed?", "manifest", "tidetable>=2.1"),
        ("What is the entry point of the command?", "manifest", "harbour.main:run"),
        ("Which build backend is used?", "manifest", "hatchling.build"),
        ("Which license does it have?", "manifest", "MIT"),
        ("Which port is exposed by docker?", "manifest", "EXPOSE 8035"),
        ("How is the water level computed?", "code", "def water_level"),
        ("Where is the water level computed?", "code", "def water_level"),
        ("When was the fog horn removed?", "changelog", "Removed the fog horn."),
        ("How often does the fog bell ring?", "document", "every thirty seconds"),
    ],
)
def test_the_kind_that_a_question_is_after_comes_first(client: McpClient, question: str, kind: str, said: str) -> None:
    first = asked(client, question)[0]
    assert (first["kind"], said in first["quote"]) == (kind, True)
    assert first["certainty"] in ("sure", "likely")
    assert ":" in first["place"]


# Verifies: REQ-d00870-A
def test_code_is_quoted_with_its_place_and_tests_come_after_it(client: McpClient) -> None:
    quotes = asked(client, "Where is the water level computed?")
    assert quotes[0]["place"] == "src/tides.py:10"
    assert "some hours after low water" in quotes[0]["quote"]
    kinds = [quote["kind"] for quote in quotes]
    assert "test" not in kinds or kinds.index("test") > kinds.index("code")


# Verifies: REQ-d00870-C
def test_variables_that_code_reads_are_listed_and_quoted(client: McpClient) -> None:
    listed = asked(client, "Which environment variables does the code read?")[0]
    assert listed["kind"] == "variable"
    assert "HARBOUR_WAIT (src/tides.py:16)" in listed["quote"]
    assert "HARBOUR_KEEL (src/tides.py:20)" in listed["quote"]
    (wait, *_) = asked(client, "Which environment variable sets how long to wait?")
    assert 'os.environ.get("HARBOUR_WAIT"' in wait["quote"] or "HARBOUR_WAIT" in wait["quote"]


# Verifies: REQ-d00870-C
def test_a_name_that_only_source_code_holds_is_found_there(client: McpClient) -> None:
    quotes = asked(client, "What is 65535 for?")
    assert any("overflow the counter" in quote["quote"] for quote in quotes)
    assert {quote["certainty"] for quote in asked(client, "What is 65534 for?")} <= {"unsure"}


# Verifies: REQ-d00402-N
def test_what_has_no_word_of_a_question_is_not_its_nearest(client: McpClient) -> None:
    assert asked(client, "Do penguins sing?") == []


# Verifies: REQ-d00870-D
def test_a_changelog_comes_after_what_holds_now(client: McpClient) -> None:
    kinds = [quote["kind"] for quote in asked(client, "What is the minimum Python version?")]
    assert kinds[0] == "manifest"
    assert "changelog" not in kinds or kinds.index("changelog") > kinds.index("manifest")


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Why is the limit 65535?", Intent.REASON),
        ("When was the horn removed?", Intent.TIME),
        ("Since which version is there a bell?", Intent.TIME),
        ("Where is the level computed?", Intent.PLACE),
        ("How is the level computed?", Intent.PLACE),
        ("Which function parses options?", Intent.PLACE),
        ("How often does the bell ring?", Intent.FACT),
        ("Which version is needed?", Intent.FACT),
    ],
)
def test_what_a_question_is_after_is_told_by_its_words(question: str, intent: Intent) -> None:
    assert intent_of(question) is intent


def test_files_that_list_changes_are_told_by_their_names() -> None:
    paths = ("CHANGELOG.md", "docs/news.rst", "HISTORY.txt", "docs/release-notes.md")
    assert all(is_of_the_past(path) for path in paths)
    assert not is_of_the_past("docs/newest/guide.md")


# Verifies: REQ-d00870-B
def test_manifests_of_other_languages_are_read() -> None:
    package = '{\n  "name": "harbour",\n  "scripts": {\n    "test": "borp"\n  },\n  "engines": {"node": ">=20"}\n}'
    assert [(each.line, each.text) for each in facts_in("package.json", package)][:2] == [
        (2, '"name": "harbour"'),
        (4, '"test": "borp"'),
    ]
    assert facts_in("go.mod", "module harbour\n\ngo 1.22\n\nrequire example.org/tides v1.2.0\n")[0].text == "go 1.22"
    cargo = facts_in("Cargo.toml", '[package]\nrust-version = "1.75"\n\n[dependencies]\ntides = "2"\n')
    assert [each.line for each in cargo] == [2, 5]
    compose = facts_in("compose.yaml", "services:\n  web:\n    ports:\n      - 80:8035\n")
    assert compose[0].text == "- 80:8035"
    assert facts_in("Makefile", "tides:\n\tpython -m tides\n")[0].text == "tides:\n\tpython -m tides"
    assert facts_in("package.json", "not json") == []
    assert facts_in("package.json", "[" * 200_000) == []
    # Work that grows with the square of a line or file would take minutes here.
    assert len(facts_in("pyproject.toml", f"[project]\nname = a{' ' * 100_000}b,\n")) == 1
    many = ",\n".join(f'"key{number}": "1"' for number in range(20_000))
    assert len(facts_in("package.json", f'{{"dependencies": {{\n{many}\n}}}}')) == 20_000
    assert facts_in("docs/guide.md", "# Guide") == []
