"""The fourth source document, scenario by scenario. Each test is named after the scenario that it proves."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import forked
from tests.contract.elspais import asking
from tests.mcp_client import McpClient

Ask = Callable[..., Any]
NINE = [
    "list_specs",
    "get_spec_requirements",
    "get_scenario",
    "search_specs",
    "list_changes",
    "get_change",
    "validate_spec",
    "validate_change",
    "rebuild_index",
]

LAMP = """# Lamp

## Purpose

The lamp shows ships where the rock is, in every night and in every weather.

## Requirements

### Requirement: Burn at night
The lamp SHALL burn from dusk to dawn.

#### Scenario: Dusk falls
- **GIVEN** a filled tank
- **WHEN** the sun sets
- **THEN** the lamp burns
- **AND** the keeper is told

#### Scenario: The tank is empty
- **WHEN** the sun sets
- **THEN** the keeper fetches oil
"""
HORN = """# Horn

## Purpose

The horn warns ships in fog, when nobody can see the lamp from the sea any more.

## Requirements

### Requirement: Sound in fog
The horn MUST sound in fog.

#### Scenario: Fog comes
- **WHEN** sight is under a mile
- **THEN** the horn sounds
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project as Spec Oxide lays it out."""
    (tmp_path / ".spox").mkdir()
    (tmp_path / ".spox" / "config.toml").write_text('[paths]\nspec_folder = "specs"\n', encoding="utf-8")
    for name, text in (("lamp", LAMP), ("horn", HORN)):
        (tmp_path / "specs" / name).mkdir(parents=True)
        (tmp_path / "specs" / name / "spec.md").write_text(text, encoding="utf-8")
    (tmp_path / "clew.toml").write_text("[search]\nbackground = false\n[embedder]\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def client(serve: Callable[..., McpClient], root: Path) -> McpClient:
    return serve(root, profile="spox")


@pytest.fixture
def ask(client: McpClient) -> Ask:
    """Calls a tool as a user of Spec Oxide would."""
    return asking(client)


# Verifies: REQ-d00076-A
def test_mcp_delegates_to_core(client: McpClient, root: Path) -> None:
    """The command line and the protocol give the same answer: neither has a logic of its own."""
    command = [sys.executable, "-m", "clew", "call", "get_spec_requirements", '{"spec_id": "lamp"}', "-C", str(root)]
    printed = forked.run(command, capture_output=True, check=True).stdout
    assert client("get_spec_requirements", spec_id="lamp") == json.loads(printed)


# Verifies: REQ-d00076-B
def test_mcp_handles_errors_from_core(ask: Ask) -> None:
    answer = ask("get_spec_requirements", spec_id='la"mp\\')
    assert answer["is_error"]
    assert answer["message"]
    assert answer["hint"]


# Verifies: REQ-d00076-A
def test_server_responds_to_initialize(client: McpClient) -> None:
    assert client.has_tools
    assert list(client.tools) == NINE


# Verifies: REQ-d00076-A
def test_server_info(client: McpClient) -> None:
    assert client.server_name == "spox"
    assert "list_specs" in client.instructions


# Verifies: REQ-d00076-A
def test_list_all_specs(ask: Ask) -> None:
    answer = ask("list_specs")
    assert [(spec["id"], spec["title"]) for spec in answer["specs"]] == [("horn", "Horn"), ("lamp", "Lamp")]
    assert all(spec["purpose"] for spec in answer["specs"])
    assert "SHALL burn" not in str(answer)


# Verifies: REQ-d00076-A
def test_no_specs_found(serve: Callable[..., McpClient], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "clew.toml").touch()
    assert serve(tmp_path / "empty", profile="spox")("list_specs")["specs"] == []


# Verifies: REQ-d00076-A
def test_get_requirements_for_existing_spec(ask: Ask) -> None:
    answer = ask("get_spec_requirements", spec_id="lamp")
    (requirement,) = answer["requirements"]
    assert (requirement["name"], requirement["scenario_count"]) == ("Burn at night", 2)
    assert "sun sets" not in str(answer)


# Verifies: REQ-d00076-B
def test_spec_not_found(ask: Ask) -> None:
    answer = ask("get_spec_requirements", spec_id="lamb")
    assert (answer["is_error"], answer["code"]) == (True, "not_found")
    assert "lamp" in answer["hint"]


# Verifies: REQ-d00076-A
def test_get_specific_scenario(ask: Ask) -> None:
    answer = ask("get_scenario", spec_id="lamp", requirement="Burn at night", scenario="Dusk falls")
    assert answer["requirement_description"] == "The lamp SHALL burn from dusk to dawn."
    assert (answer["name"], answer["when"]) == ("Dusk falls", "the sun sets")
    assert answer["then"] == ["the lamp burns", "the keeper is told"]
    assert (answer["scenario_name"], answer["when_clause"]) == ("Dusk falls", "the sun sets")
    assert answer["then_clauses"] == answer["then"]
    assert answer["scenario"]["given"] == ["a filled tank"]
    assert answer["scenario"]["line"] == 12
    assert answer["reference"] == "lamp/burn-at-night#dusk-falls"


# Verifies: REQ-d00076-A
def test_get_first_scenario_by_default(ask: Ask) -> None:
    answer = ask("get_scenario", spec_id="lamp", requirement="Burn at night")
    assert answer["name"] == "Dusk falls"


# Verifies: REQ-d00076-B
def test_scenario_not_found(ask: Ask) -> None:
    answer = ask("get_scenario", spec_id="lamp", requirement="Burn at night", scenario="Noon")
    assert (answer["is_error"], answer["code"]) == (True, "not_found")
    assert "Dusk falls" in answer["hint"]


# Verifies: REQ-d00077-A
def test_search_with_query(ask: Ask) -> None:
    assert ask("rebuild_index")["specs_indexed"] == 2
    answer = ask("search_specs", query="what happens when the tank has no oil")
    results = answer["results"]
    assert {"spec_id", "requirement", "score", "snippet"} <= results[0].keys()
    assert results[0]["spec_id"] == "lamp"
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)


# Verifies: REQ-d00077-B
def test_search_with_no_index(ask: Ask) -> None:
    answer = ask("search_specs", query="oil")
    assert answer["is_error"]
    assert "must be built" in answer["message"]
    assert "rebuild_index" in answer["hint"]


# Verifies: REQ-d00077-A
def test_search_with_empty_results(ask: Ask) -> None:
    ask("rebuild_index")
    answer = ask("search_specs", query="zebra quantum")
    assert (answer["is_error"], answer["results"]) == (False, [])


# Verifies: REQ-d00077-B
def test_server_without_index(ask: Ask) -> None:
    assert len(ask("list_specs")["specs"]) == 2
    assert ask("get_spec_requirements", spec_id="lamp")["total"] == 1
    assert ask("get_scenario", spec_id="lamp", requirement="burn-at-night")["name"] == "Dusk falls"
    assert ask("search_specs", query="oil")["is_error"]
