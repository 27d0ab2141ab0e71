"""Over HTTP, tools that write need the token, whatever a request says about where it comes from."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from clew.surfaces.mcp.transports.access.guard import Guard
from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings

pytestmark = pytest.mark.anyio

Serve = Callable[..., Server[Any]]

TOKEN = "correct-horse-battery"
WRITE = ("mutate_update_title", {"node_id": "REQ-p00001", "new_title": "Another title"})


@asynccontextmanager
async def listening(server: Server[Any], **settings: Any) -> AsyncIterator[str]:
    address: list[str] = []
    ready = anyio.Event()

    def announce(url: str) -> None:
        address.append(url)
        ready.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_http, server, HttpSettings(drain_seconds=0.0, **settings), announce)
        with anyio.fail_after(120):
            await ready.wait()
        yield address[0]
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def client_at(url: str, era: str, **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


async def reason(client: Client, tool: str, arguments: dict[str, Any]) -> str | None:
    """Why a call was refused; None where it was answered."""
    result = await client.call_tool(tool, arguments)
    assert result.structured_content is not None
    return result.structured_content["data"]["reason"] if result.is_error else None


# Verifies: REQ-d00016-F
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_without_the_token_nothing_is_written(serve: Serve, small: Path, era: str) -> None:
    before = {path: path.read_bytes() for path in small.rglob("*.md")}
    page = {"Origin": "http://localhost:3000"}
    async with listening(serve(small, toolsets=("all",)), write_token=TOKEN) as url:
        for headers in ({}, page, {"Authorization": "Bearer another-token-than-that"}):
            async with client_at(url, era, **headers) as client:
                assert await reason(client, *WRITE) == "token_needed"
                through = {"name": WRITE[0], "arguments": WRITE[1]}
                assert await reason(client, "tools_call", through) == "token_needed"
                assert await reason(client, "get_requirement", {"req_id": "REQ-p00001"}) is None
        async with client_at(url, era, Authorization=f"Bearer {TOKEN}") as client:
            assert await reason(client, *WRITE) is None
    assert {path: path.read_bytes() for path in small.rglob("*.md")} == before


# Verifies: REQ-d00016-F
async def test_a_server_without_a_token_writes_nothing_and_one_that_needs_it_for_all_writes(
    serve: Serve, small: Path
) -> None:
    server = serve(small, toolsets=("all",))
    async with listening(server) as url, client_at(url, "legacy") as client:
        assert await reason(client, *WRITE) == "token_needed"
    async with (
        listening(server, token=TOKEN) as url,
        client_at(url, "legacy", Authorization=f"Bearer {TOKEN}") as client,
    ):
        assert await reason(client, *WRITE) is None


# Verifies: REQ-d00266-A
@pytest.mark.parametrize("shown", ["Bearer", "Bearer ", "Bearer \t", "bearer \xa0", "Basic "])
async def test_an_empty_token_is_none_even_where_the_server_has_an_empty_one(shown: str) -> None:
    states: list[bool] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        states.append(scope["state"]["may_write"])
        await Response()(scope, receive, send)

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=Guard(app, HttpSettings(write_token=""))), base_url="http://localhost"
    ) as client:
        await client.post("/mcp", headers=[(b"authorization", shown.encode("latin-1"))])
        # No other white space is a part of the separator: this is another token than the one without it.
        await client.post("/mcp", headers=[(b"authorization", b"Bearer \x85" + TOKEN.encode())])
    assert states == [False, False]


# Verifies: REQ-d00266-C
async def test_passages_of_a_client_without_a_session_are_bound_to_its_token(serve: Serve, demo: Path) -> None:
    own = {"Authorization": f"Bearer {TOKEN}"}
    async with listening(serve(demo, toolsets=("all",)), write_token=TOKEN) as url:
        async with client_at(url, "2026-07-28", **own) as client:
            found = (await client.call_tool("kb_search", {"query": "tide table"})).structured_content
            assert found is not None
            uri, named = found["results"][0]["scratch_uri"], {"passage_id": found["results"][0]["passage_id"]}
        for headers in ({}, {"Authorization": "Bearer another-token-than-that"}):
            async with client_at(url, "2026-07-28", **headers) as stranger:
                refused = (await stranger.call_tool("kb_read_excerpt", named)).structured_content
                assert refused is not None
                assert refused["error"]["details"]["reason"] == "passage_not_found"
                with pytest.raises(MCPError, match="passage"):
                    await stranger.read_resource(uri)
        async with client_at(url, "2026-07-28", **own) as again:
            assert not (await again.call_tool("kb_read_excerpt", named)).is_error
            assert (await again.read_resource(uri)).contents


# Verifies: REQ-d00063-D
async def test_a_cursor_of_a_client_without_a_session_is_bound_to_its_token(serve: Serve, demo: Path) -> None:
    query = {"query": "subtree", "params": {"root_id": "REQ-p00001"}}
    async with listening(serve(demo, toolsets=("all",)), write_token=TOKEN) as url:
        async with client_at(url, "2026-07-28", Authorization=f"Bearer {TOKEN}") as client:
            opened = (await client.call_tool("open_cursor", query)).structured_content
            assert opened is not None
            named = {"cursor_id": opened["cursor_id"]}
            assert not (await client.call_tool("cursor_info", named)).is_error
        async with client_at(url, "2026-07-28") as stranger:
            assert (await stranger.call_tool("cursor_info", named)).is_error
