"""The default listing, by what the folder holds, through real servers."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import ToolListChangedNotification

from clew.operation.defaults import ALWAYS, KEPT_IN_VIEW, OF_FORMAT
from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.surfaces.mcp.server import listed
from clew.text.tokens import estimate_tokens
from clew.workspace.holding import RequirementFormat, formats_in

REQUIREMENT = """# REQ-d00001: Rings

**Level**: DEV | **Status**: Active

It SHALL ring.

*End* *Rings* | **Hash**: 00000000
"""

HOLDS: dict[RequirementFormat, Callable[[Path], Path]] = {
    RequirementFormat.MARKDOWN: lambda root: root / "spec" / "prd" / "rings.md",
    RequirementFormat.OPENSPEC: lambda root: root / "openspec" / "specs" / "rings" / "spec.md",
    RequirementFormat.REGISTER: lambda root: root / "project.req",
}


def hold(root: Path, format_: RequirementFormat) -> None:
    file = HOLDS[format_](root)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(REQUIREMENT if format_ is RequirementFormat.MARKDOWN else "")


# Verifies: REQ-d00850-A, REQ-o00004-D
@pytest.mark.parametrize(
    "formats", [(), *((each,) for each in RequirementFormat), tuple(RequirementFormat)], ids=lambda each: "+".join(each)
)
def test_the_listing_has_what_the_folder_has_a_use_for_and_is_cheap(
    tmp_path: Path, formats: tuple[RequirementFormat, ...]
) -> None:
    for each in formats:
        hold(tmp_path, each)
    found = formats_in(tmp_path, ("spec",))
    assert found == frozenset(formats)
    tools = listed(choose(all_tools(), Choice(formats=found)))["tools"]
    names = {tool["name"] for tool in tools}
    assert names == {*ALWAYS, *(name for each in formats for name in OF_FORMAT[each])}
    many = len(formats) > 1
    assert len(tools) <= (16 if many else 12)
    assert estimate_tokens(json.dumps(tools, ensure_ascii=False)) <= (5_500 if many else 4_000)


# Verifies: REQ-d00850-B
def test_tests_of_ruby_and_a_readme_are_no_requirements(tmp_path: Path) -> None:
    for name in ("spec_helper.rb", "models/user_spec.rb", "README.md"):
        (tmp_path / "spec" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "spec" / name).touch()
    assert formats_in(tmp_path, ("spec",)) == frozenset()
    (tmp_path / ".elspais.toml").touch()
    assert formats_in(tmp_path, ("spec",)) == {RequirementFormat.MARKDOWN}


# Verifies: REQ-d00850-A
def test_every_tool_of_the_default_listing_exists() -> None:
    wanted = {*ALWAYS, *(name for names in OF_FORMAT.values() for name in names)}
    assert wanted <= {tool.name for tool in all_tools()}
    assert set(KEPT_IN_VIEW) <= set(ALWAYS)


# Verifies: REQ-d00850-D, REQ-d00850-E
def test_only_the_main_tools_of_clew_itself_are_kept_in_view() -> None:
    for choice, kept in ((Choice(), set(KEPT_IN_VIEW)), (Choice(profile="elspais"), set())):
        tools = listed(choose(all_tools(), choice))["tools"]
        assert {tool["name"] for tool in tools if "anthropic/alwaysLoad" in tool.get("_meta", {})} == kept


# Verifies: REQ-d00850-E
@pytest.mark.parametrize("choice", [{"profile": "req"}, {"toolsets": ("register",)}, {"tools": ("req_show",)}])
def test_what_was_chosen_is_listed_whatever_the_folder_holds(choice: dict[str, Any]) -> None:
    assert (
        choose(all_tools(), Choice(formats=(), **choice)).shown
        == choose(all_tools(), Choice(formats=tuple(RequirementFormat), **choice)).shown
    )


@pytest.fixture
def wire(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    (tmp_path / "clew.toml").touch()
    command = [sys.executable, "-m", "clew", "serve", str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    yield process
    process.kill()
    process.communicate()


def frames(process: "subprocess.Popen[bytes]", **sent: Any) -> dict[str, Any]:
    """Send a frame, if any, and read the next one."""
    assert process.stdin is not None
    assert process.stdout is not None
    if sent:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **sent}).encode() + b"\n")
        process.stdin.flush()
    return json.loads(process.stdout.readline()) if "id" in sent or not sent else {}


# Verifies: REQ-d00850-C
def test_a_client_is_told_when_a_format_comes_and_when_it_goes(wire: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    answer = frames(wire, id=1, method="initialize", params=client)
    assert answer["result"]["capabilities"]["tools"]["listChanged"] is True
    frames(wire, method="notifications/initialized")

    def names(id: int) -> set[str]:
        return {tool["name"] for tool in frames(wire, id=id, method="tools/list", params={})["result"]["tools"]}

    assert names(2) == set(ALWAYS)
    hold(tmp_path, RequirementFormat.REGISTER)
    assert frames(wire)["method"] == "notifications/tools/list_changed"
    assert names(3) == {*ALWAYS, "req_add", "req_next"}
    (tmp_path / "project.req").unlink()
    assert frames(wire)["method"] == "notifications/tools/list_changed"
    assert names(4) == set(ALWAYS)


# Verifies: REQ-d00850-C
@pytest.mark.anyio
async def test_a_client_of_the_current_revision_subscribes(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").touch()
    server = StdioServerParameters(command=sys.executable, args=["-m", "clew", "serve", str(tmp_path)])
    async with Client(stdio_client(server), mode="2026-07-28") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == set(ALWAYS)
        async with client.listen(tools_list_changed=True) as events:
            hold(tmp_path, RequirementFormat.OPENSPEC)
            async for event in events:
                assert type(event).__name__ in ("ToolsListChanged", ToolListChangedNotification.__name__)
                break
        assert "list_changes" in {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}
