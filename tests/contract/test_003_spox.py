"""The fourth source document, scenario by scenario. Each test is named after the scenario that it proves."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server.lowlevel import Server

from clew.project import Project
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server
from clew.surfaces.mcp.tools import TOOLS
from clew.surfaces.mcp.tools import specs as tools
from clew.surfaces.mcp.toolsets import Choice, choose

pytestmark = pytest.mark.anyio

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
def server(opened: Callable[[Path], Project], root: Path) -> Server[Any]:
    listing = choose(TOOLS, Choice(profile="spox"))
    return build_server(Surface(opened(root), listing), instructions(listing))


@pytest.fixture
def ask(server: Server[Any]) -> Ask:
    """Calls a tool as a user of Spec Oxide would, through a client."""

    async def call(name: str, **arguments: Any) -> dict[str, Any]:
        async with Client(server) as client:
            result = await client.call_tool(name, arguments)
            assert result.structured_content is not None
            return {**result.structured_content, "is_error": bool(result.is_error)}

    return call


# Verifies: REQ-d00076-A
async def test_mcp_delegates_to_core(ask: Ask, opened: Callable[[Path], Project], root: Path) -> None:
    """The tools hold no logic: they call the service, and their answer is what the service returns."""
    answer = await ask("get_spec_requirements", spec_id="lamp")
    project = opened(root)
    project.ensure_graph()
    own = project.specs.requirements("lamp")
    assert [each["name"] for each in answer["requirements"]] == [each.name for each in own.requirements]
    branches = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
    tree = ast.parse(Path(tools.__file__ or "").read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, branches)]


# Verifies: REQ-d00076-B
async def test_mcp_handles_errors_from_core(ask: Ask) -> None:
    answer = await ask("get_spec_requirements", spec_id='la"mp\\')
    assert answer["is_error"]
    assert answer["message"]
    assert answer["hint"]


# Verifies: REQ-d00076-A
async def test_server_responds_to_initialize(server: Server[Any]) -> None:
    async with Client(server) as client:
        assert client.server_capabilities is not None
        assert client.server_capabilities.tools is not None
        assert [tool.name for tool in (await client.list_tools()).tools] == NINE


# Verifies: REQ-d00076-A
async def test_server_info(server: Server[Any]) -> None:
    async with Client(server) as client:
        assert client.server_info is not None
        assert client.server_info.name == "spox"
        assert "list_specs" in (client.instructions or "")


# Verifies: REQ-d00076-A
async def test_list_all_specs(ask: Ask) -> None:
    answer = await ask("list_specs")
    assert [(spec["id"], spec["title"]) for spec in answer["specs"]] == [("horn", "Horn"), ("lamp", "Lamp")]
    assert all(spec["purpose"] for spec in answer["specs"])
    assert "SHALL burn" not in str(answer)


# Verifies: REQ-d00076-A
async def test_no_specs_found(opened: Callable[[Path], Project], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "clew.toml").touch()
    listing = choose(TOOLS, Choice(profile="spox"))
    async with Client(build_server(Surface(opened(tmp_path / "empty"), listing), "")) as client:
        result = await client.call_tool("list_specs", {})
    assert not result.is_error
    assert (result.structured_content or {})["specs"] == []


# Verifies: REQ-d00076-A
async def test_get_requirements_for_existing_spec(ask: Ask) -> None:
    answer = await ask("get_spec_requirements", spec_id="lamp")
    (requirement,) = answer["requirements"]
    assert (requirement["name"], requirement["scenario_count"]) == ("Burn at night", 2)
    assert "sun sets" not in str(answer)


# Verifies: REQ-d00076-B
async def test_spec_not_found(ask: Ask) -> None:
    answer = await ask("get_spec_requirements", spec_id="lamb")
    assert (answer["is_error"], answer["code"]) == (True, "not_found")
    assert "lamp" in answer["hint"]


# Verifies: REQ-d00076-A
async def test_get_specific_scenario(ask: Ask) -> None:
    answer = await ask("get_scenario", spec_id="lamp", requirement="Burn at night", scenario="Dusk falls")
    assert answer["requirement_description"] == "The lamp SHALL burn from dusk to dawn."
    assert (answer["name"], answer["when"]) == ("Dusk falls", "the sun sets")
    assert answer["then"] == ["the lamp burns", "the keeper is told"]
    assert (answer["scenario_name"], answer["when_clause"]) == ("Dusk falls", "the sun sets")
    assert answer["then_clauses"] == answer["then"]
    assert answer["scenario"]["given"] == ["a filled tank"]
    assert answer["scenario"]["line"] == 12
    assert answer["reference"] == "lamp/burn-at-night#dusk-falls"


# Verifies: REQ-d00076-A
async def test_get_first_scenario_by_default(ask: Ask) -> None:
    answer = await ask("get_scenario", spec_id="lamp", requirement="Burn at night")
    assert answer["name"] == "Dusk falls"


# Verifies: REQ-d00076-B
async def test_scenario_not_found(ask: Ask) -> None:
    answer = await ask("get_scenario", spec_id="lamp", requirement="Burn at night", scenario="Noon")
    assert (answer["is_error"], answer["code"]) == (True, "not_found")
    assert "Dusk falls" in answer["hint"]


# Verifies: REQ-d00077-A
async def test_search_with_query(ask: Ask) -> None:
    assert (await ask("rebuild_index"))["specs_indexed"] == 2
    answer = await ask("search_specs", query="what happens when the tank has no oil")
    results = answer["results"]
    assert {"spec_id", "requirement", "score", "snippet"} <= results[0].keys()
    assert results[0]["spec_id"] == "lamp"
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)


# Verifies: REQ-d00077-B
async def test_search_with_no_index(ask: Ask) -> None:
    answer = await ask("search_specs", query="oil")
    assert answer["is_error"]
    assert "must be built" in answer["message"]
    assert "rebuild_index" in answer["hint"]


# Verifies: REQ-d00077-A
async def test_search_with_empty_results(ask: Ask) -> None:
    await ask("rebuild_index")
    answer = await ask("search_specs", query="zebra quantum")
    assert (answer["is_error"], answer["results"]) == (False, [])


# Verifies: REQ-d00077-B
async def test_server_without_index(ask: Ask) -> None:
    assert len((await ask("list_specs"))["specs"]) == 2
    assert (await ask("get_spec_requirements", spec_id="lamp"))["total"] == 1
    assert (await ask("get_scenario", spec_id="lamp", requirement="burn-at-night"))["name"] == "Dusk falls"
    assert (await ask("search_specs", query="oil"))["is_error"]
