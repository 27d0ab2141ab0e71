"""The cursor protocol through real clients: over every transport a session keeps its own cursor."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.server.lowlevel import Server

from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings

pytestmark = pytest.mark.anyio

Serve = Callable[..., Server[Any]]

SUBTREE = {"query": "subtree", "params": {"root_id": "REQ-p00001"}, "batch_size": -1}
OTHER = {"query": "uncovered_assertions", "params": {}, "batch_size": 0}


async def call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refused(client: Client, tool: str, /, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["code"] == "invalid_cursor"
    return str(result.structured_content["message"])


@asynccontextmanager
async def listening(server: Server[Any], *, sse: bool) -> AsyncIterator[str]:
    """The server's address, while it listens on a port of its own."""
    address: list[str] = []
    ready = anyio.Event()

    def announce(url: str) -> None:
        address.append(url)
        ready.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_http, server, HttpSettings(port=0, sse=sse), announce)
        with anyio.fail_after(120):
            await ready.wait()
        yield address[0]
        tasks.cancel_scope.cancel()


async def walk(client: Client, **handle: str) -> list[str]:
    """All ids of the open cursor after the first, three by three."""
    found: list[str] = []
    while items := (await call(client, "cursor_next", count=3, **handle))["items"]:
        found += [item["id"] for item in items]
    return found


# Verifies: REQ-d00063-A+D
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_over_a_pipe_the_client_needs_no_handle(serve: Serve, demo: Path, era: str) -> None:
    async with Client(serve(demo, profile="elspais"), mode=era) as client:
        message = await refused(client, "cursor_next")
        assert message == "No cursor is open in this session."
        opened = await call(client, "open_cursor", **SUBTREE)
        assert (opened["total"], opened["position"], opened["remaining"]) == (27, 1, 26)
        ids = [opened["current"]["id"], *await walk(client)]
        assert ids[:3] == ["REQ-p00001", "REQ-p00001-A", "REQ-p00001-B"]
        assert len(ids) == len(set(ids)) == 27
        info = await call(client, "cursor_info")
        assert (info["position"], info["remaining"], info["is_stale"]) == (27, 0, False)
        again = await call(client, "open_cursor", **OTHER)
        assert again["current"]["id"] == "REQ-d00006"
        assert (await call(client, "cursor_info"))["query"] == "uncovered_assertions"


# Verifies: REQ-d00063-D
@pytest.mark.parametrize("sse", [False, True], ids=["streamable", "sse"])
async def test_clients_with_sessions_have_a_cursor_each(serve: Serve, demo: Path, sse: bool) -> None:
    async with listening(serve(demo, toolsets=("all",)), sse=sse) as url:
        places = [sse_client(url) if sse else url for _ in range(2)]
        async with Client(places[0], mode="legacy") as one, Client(places[1], mode="legacy") as two:
            opened = await call(one, "open_cursor", **SUBTREE)
            await refused(two, "cursor_info")
            await call(two, "open_cursor", **OTHER)
            assert (await call(one, "cursor_next", count=2))["position"] == 3
            assert (await call(two, "cursor_info"))["position"] == 1
            assert len(await walk(one)) == opened["total"] - 3


# Verifies: REQ-d00063-D
async def test_a_client_without_a_session_passes_the_id_of_its_cursor(serve: Serve, demo: Path) -> None:
    async with (
        listening(serve(demo, toolsets=("all",)), sse=False) as url,
        Client(url, mode="2026-07-28") as one,
        Client(url, mode="2026-07-28") as two,
    ):
        first = await call(one, "open_cursor", **SUBTREE)
        second = await call(two, "open_cursor", **OTHER)
        assert "no session" in await refused(one, "cursor_next")
        assert len(await walk(one, cursor_id=first["cursor_id"])) == first["total"] - 1
        assert (await call(two, "cursor_info", cursor_id=second["cursor_id"]))["total"] == second["total"]
        await refused(two, "cursor_info", cursor_id="x" * 24)
