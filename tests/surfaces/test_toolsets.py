"""What is listed, under which names."""

import json
from pathlib import Path

import pytest
from tests.contract.memory_client import remembering, write_project

from clew.errors import ConfigError
from clew.operation.declare import Toolset
from clew.operation.listing import ListedOperation, all_tools
from clew.operation.names import NameStyle
from clew.operation.toolsets import PROFILES, Choice, check_toolsets, choose


def tool(name: str, toolset: Toolset, *, read_only: bool = True) -> ListedOperation:
    return ListedOperation(module="", declared="", tool=name, toolset=toolset, title=name, read_only=read_only)


TOOLS = (
    tool("tools_call", Toolset.CORE, read_only=False),
    tool("clew_brief", Toolset.CORE),
    tool("get_requirement", Toolset.TRACE),
    tool("mutate_title", Toolset.TRACE, read_only=False),
    tool("kb.search", Toolset.KB),
    tool("gwt/compute", Toolset.COGNITION),
)


def shown(**choice: object) -> list[str]:
    return [item.name for item in choose(TOOLS, Choice(names=NameStyle.DOTTED, **choice)).shown]  # type: ignore[arg-type]


# Verifies: REQ-o00004-B
def test_toolsets_and_single_tools_add_to_the_core() -> None:
    assert shown() == ["tools_call", "get_requirement"]
    assert shown(toolsets=("default",)) == ["tools_call", "get_requirement"]
    assert shown(toolsets=("kb",)) == ["tools_call", "clew_brief", "kb.search"]
    assert shown(toolsets=("all",)) == [item.name for item in TOOLS]
    assert shown(tools=("kb_search",)) == ["tools_call", "clew_brief", "kb.search"]
    assert shown(toolsets=("default", "kb"), tools=("gwt/compute",)) == [
        "tools_call",
        "clew_brief",
        "get_requirement",
        "kb.search",
        "gwt/compute",
    ]


# Verifies: REQ-o00004-B
def test_exclusion_and_read_only_win_over_everything_that_asks_for_a_tool() -> None:
    assert shown(toolsets=("all",), exclude=("get_requirement",), read_only=True) == [
        "clew_brief",
        "kb.search",
        "gwt/compute",
    ]
    assert shown(tools=("mutate_title",), read_only=True) == ["clew_brief"]
    listing = choose(all_tools(), Choice(read_only=True))
    assert {"tools_search", "tools_call"} <= {item.name for item in listing.shown}
    assert all(item.read_only and not item.destructive for item in listing.callable)
    listing = choose(TOOLS, Choice(exclude=("mutate_title",)))
    assert "mutate_title" not in [item.name for item in listing.callable]


# Verifies: REQ-p00003-A
@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_lists_exactly_the_tools_of_its_system_under_its_server_name(profile: str) -> None:
    listing = choose(TOOLS, Choice(profile=profile, names=NameStyle.DOTTED))
    own = PROFILES[profile]
    assert [item.name for item in listing.shown] == [item.name for item in TOOLS if item.toolset in own.toolsets]
    assert listing.server_name == own.server_name
    assert listing.callable == listing.shown


def test_unknown_names_are_refused_with_what_there_is() -> None:
    with pytest.raises(ConfigError) as unknown_tool:
        choose(TOOLS, Choice(tools=("kb_serch",)))
    assert "kb_search" in unknown_tool.value.hint
    with pytest.raises(ConfigError) as unknown_set:
        check_toolsets(["trcae"])
    assert "trace" in unknown_set.value.hint
    with pytest.raises(ConfigError):
        choose(TOOLS, Choice(profile="nobody"))


# Verifies: REQ-o00004-F
def test_the_profile_of_context_graph_costs_at_most_18000_tokens_with_the_bounds_of_its_arguments(
    tmp_path: Path,
) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        listed = memory.tools
    told = [tool.model_dump(exclude_none=True, by_alias=True, mode="json") for tool in listed.values()]
    # Four characters are a token, as the source of the figure counted.
    assert sum(len(json.dumps(tool, separators=(",", ":"))) for tool in told) / 4 <= 18_000
    arguments = listed["search_graph"].input_schema["properties"]
    assert (arguments["top_k"]["minimum"], arguments["top_k"]["maximum"], arguments["top_k"]["default"]) == (1, 100, 10)
    assert (arguments["query"]["minLength"], arguments["query"]["maxLength"]) == (1, 4_096)
