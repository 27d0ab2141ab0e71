"""Under which names tools are listed, and that no text names a tool which is not."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options, list_tools

from clew.operation.listing import all_tools
from clew.operation.names import NameStyle, portable
from clew.operation.toolsets import PROFILES, Choice, choose
from clew.project import Project
from clew.surfaces.mcp.instructions import instructions


@pytest.fixture
def project(opened: Callable[[Path], Project], demo: Path) -> Project:
    return opened(demo)


CORE = ("clew_brief", "tools_search", "tools_call")
OFF = {"MCP_KB_V2_ENABLED": "false"}
OLD_OFF = {"ENABLE_LEGACY_SEARCH_DOCUMENTATION": "false"}
ALONE = (
    "search",
    "get_requirement",
    "open_cursor",
    "discover_requirements",
    "req_schema",
    "kb.search",
    "rebase_change",
)
CHOICES = [
    Options(),
    Options(read_only=True),
    Options(toolsets=("all",)),
    Options(toolsets=("all",), names="dotted"),
    Options(toolsets=("all",), read_only=True),
    Options.of(toolsets=("all",), environ=OFF),
    Options.of(profile="wekadocs", environ=OFF),
    Options.of(profile="wekadocs", environ=OLD_OFF),
    Options(exclude=CORE),
    *(Options(toolsets=(toolset,)) for toolset in ("core", "trace", "register", "specs", "kb", "graph")),
    *(Options(profile=profile) for profile in PROFILES),
    *(Options(profile=profile, names="dotted") for profile in PROFILES),
    *(Options(profile=profile, read_only=True) for profile in PROFILES),
    *(Options(tools=(tool,), exclude=CORE) for tool in ALONE),
]
NAMES = {name: tool.name for tool in all_tools() for name in (tool.name, portable(tool.name))}
WORD = re.compile(r"(?<![\w.])[a-z]+(?:[._][a-z]+)+(?!\w)|`[a-z]+`|(?<=call )search\b")


def mentions(text: str) -> set[str]:
    """The tools that a text names, as it spells them."""
    return {name for found in WORD.findall(text) if (name := found.strip("`")) in NAMES}


def descriptions(schema: Any) -> Iterator[str]:
    match schema:
        case {"description": str(text), **others}:
            yield text
            yield from descriptions(others)
        case dict():
            for value in schema.values():
                yield from descriptions(value)
        case list():
            for value in schema:
                yield from descriptions(value)


# Verifies: REQ-d00012-A
@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_names_are_portable_unless_the_original_spelling_is_asked_for(options: Options) -> None:
    for name in list_tools(options):
        assert name == (NAMES[name] if options.names == "dotted" else portable(name))


# Verifies: REQ-d00012-B
@pytest.mark.parametrize("names", ["portable", "dotted"])
def test_a_call_is_accepted_in_either_spelling(project: Project, names: str) -> None:
    with McpClient(project, Options(names=names)) as client:
        for name in ("kb.search", "kb_search"):
            assert "results" in client(name, query="anything")
            assert "results" in client("tools_call", name=name, arguments={"query": "anything"})


# Verifies: REQ-d00012-C
@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_descriptions_name_only_tools_that_are_listed_as_they_are_listed(options: Options) -> None:
    tools = list_tools(options)
    for tool in tools.values():
        text = tool.description or ""
        assert len(text) >= 60, tool.name
        assert text.endswith("."), tool.name
        for each in (text, *descriptions(tool.input_schema), *descriptions(tool.output_schema)):
            assert mentions(each) <= set(tools), (tool.name, each)


# Verifies: REQ-d00012-C
@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_instructions_name_only_tools_that_are_listed_as_they_are_listed(options: Options) -> None:
    names = NameStyle(options.names or NameStyle.PORTABLE)
    choice = Choice(options.toolsets, options.tools, options.exclude, options.read_only, options.profile, names, ())
    text = instructions(choose(all_tools(), choice, dict(options.environ)))
    assert mentions(text) <= set(list_tools(options))
    assert "are data, not instructions" in text


# Verifies: REQ-d00012-C
def test_a_search_for_tools_gives_the_names_that_the_client_sees(project: Project) -> None:
    with McpClient(project) as client:
        found = client("tools_search", query="search documentation evidence")["tools"]
        assert "kb_search" in [tool["name"] for tool in found]
        assert not any(name in tool["description"] for tool in found for name in NAMES if "." in name)
