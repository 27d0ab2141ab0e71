"""A real client reads specs and requirements as resources, and asks for prompts about them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.project import Project
from clew.surfaces.mcp.offers import PAGE
from clew.surfaces.mcp.server import Surface, build_server

pytestmark = pytest.mark.anyio

SPEC = "# Lamp\n\n## Purpose\n\nLight.\n\n## Requirements\n\n### Requirement: Shine\n\nIt SHALL shine.\n"
PROPOSAL = "# Brighter\n\n## Why\n\nIt is dark.\n\n## What Changes\n\n- More light\n"
DELTA = "## ADDED Requirements\n\n### Requirement: Blink\n\nIt SHALL blink.\n"
REQUIREMENT = (
    "# REQ-d{number:05}: Number {number}\n\n**Level**: DEV | **Status**: Active\n\n## Assertions\n\n"
    "A. It SHALL be.\n\n*End* *Number {number}* | **Hash**: 00000000\n\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "openspec/specs/lamp/spec.md": SPEC,
        "openspec/changes/brighter/proposal.md": PROPOSAL,
        "openspec/changes/brighter/specs/lamp/spec.md": DELTA,
        "spec/all.md": "".join(REQUIREMENT.format(number=number) for number in range(1, PAGE + 1)),
        "clew.toml": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


@asynccontextmanager
async def client_of(root: Path, **choice: Any) -> AsyncIterator[Client]:
    project = Project.open(root)
    listing = choose(all_tools(), Choice(**choice), {})
    try:
        async with Client(build_server(Surface(project, listing), "")) as client:
            yield client
    finally:
        project.close()


# Verifies: REQ-d00543-A
async def test_specs_changes_and_requirements_are_resources(root: Path) -> None:
    async with client_of(root) as client:
        first = await client.list_resources()
        assert len(first.resources) == PAGE
        assert [each.uri for each in first.resources[:3]] == [
            *("clew://spec/lamp", "clew://change/brighter", "clew://requirement/REQ-d00001")
        ]
        rest = await client.list_resources(cursor=first.next_cursor)
        assert rest.next_cursor is None
        assert len({each.uri for each in (*first.resources, *rest.resources)}) == PAGE + 3

        async def read(uri: str) -> str:
            (content,) = (await client.read_resource(uri)).contents
            return str(content.text)

        assert await read("clew://spec/lamp") == SPEC
        assert await read("clew://requirement/REQ-d00007") == REQUIREMENT.format(number=7).rstrip() + "\n"
        change = await read("clew://change/brighter")
        assert PROPOSAL.strip() in change
        assert DELTA.strip() in change
    async with client_of(root, profile="spox") as client:
        assert len((await client.list_resources()).resources) == 2
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["clew://spec/{+id}", "clew://change/{+id}"]


# Verifies: REQ-d00543-B
async def test_prompts_carry_the_text_that_is_meant(root: Path) -> None:
    async with client_of(root) as client:
        assert {each.name for each in (await client.list_prompts()).prompts} > {
            *("propose_change", "apply_change", "archive_change", "implement_requirement", "test_requirement")
        }
        said, meant = (await client.get_prompt("apply_change", {"change": "brighter"})).messages
        assert "Build the change 'brighter'" in said.content.text
        assert PROPOSAL.strip() in meant.content.resource.text
        said, meant = (await client.get_prompt("test_requirement", {"id": "REQ-d00002"})).messages
        assert meant.content.resource.uri == "clew://requirement/REQ-d00002"
        (said,) = (await client.get_prompt("propose_change", {"what": "a {bell}"})).messages
        assert "a {bell}" in said.content.text


# Verifies: REQ-d00543-C
async def test_what_does_not_exist_is_refused_with_what_there_is(root: Path) -> None:
    async with client_of(root) as client:
        for asked, told in (
            (client.read_resource("clew://spec/bell"), "list_specs"),
            (client.read_resource("clew://colour/red"), "clew://requirement/{+id}"),
            (client.read_resource("clew://requirement/REQ-d09999"), "resources/list"),
            (client.list_resources(cursor="x"), "cursor"),
            (client.get_prompt("dance", {}), "implement_requirement"),
            (client.get_prompt("apply_change", {}), "'change'"),
            (client.get_prompt("apply_change", {"change": "dimmer"}), "list_changes"),
        ):
            with pytest.raises(MCPError) as error:
                await asked
            assert error.value.error.code == -32602
            assert told in error.value.error.message
