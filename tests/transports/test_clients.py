"""The SDK's own clients against both transports, in both protocol eras."""

from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import httpx2
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

# Verifies: REQ-o00005-A+B

pytestmark = pytest.mark.anyio

LEGACY, MODERN = "legacy", "2026-07-28"
COMBINATIONS = [("http", LEGACY), ("http", MODERN), ("sse", LEGACY), ("sse", MODERN)]


@asynccontextmanager
async def connected(http, transport, mode):
    """An MCP client on its own connections."""
    base = str(http.base_url).rstrip("/")
    if transport == "sse":
        headers = {name: http.headers[name] for name in ("authorization",) if name in http.headers}
        async with Client(sse_client(f"{base}/sse", headers=headers), mode=mode) as client:
            yield client
        return
    async with (
        httpx2.AsyncClient(headers=http.headers, timeout=120) as own,
        Client(streamable_http_client(f"{base}/mcp", http_client=own), mode=mode) as client,
    ):
        yield client


def text_of(result):
    return result.content[0].text


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_a_client_lists_and_calls_tools(serve, transport, mode):
    async with serve(transport) as http, connected(http, transport, mode) as client:
        listed = await client.list_tools()
        answer = await client.call_tool("echo", {"text": "hello"})
        assert [tool.name for tool in listed.tools] == ["echo", "hold", "steps", "crash"]
        assert text_of(answer) == "hello"
        assert (client.protocol_version == MODERN) == (mode == MODERN)


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_client_that_asks_first_finds_the_current_revision(serve, transport):
    async with serve(transport) as http, connected(http, transport, "auto") as client:
        assert client.protocol_version == MODERN
        assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"


async def test_the_sse_transport_serves_streamable_http_too(serve):
    async with serve("sse") as http, connected(http, "http", LEGACY) as client:
        assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_progress_arrives_in_order(serve, transport, mode):
    seen = []
    last = anyio.Event()

    async def on_progress(progress, total, message):
        seen.append((progress, total, message))
        if progress == total:
            last.set()

    async with serve(transport) as http, connected(http, transport, mode) as client:
        await client.call_tool("steps", {"text": "step", "count": 3}, progress_callback=on_progress)
        await last.wait()
    assert seen == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_a_cancelled_call_stops_on_the_server(serve, workshop, transport, mode):
    async with serve(transport) as http, connected(http, transport, mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "hold", {"text": "unwanted"})
            await workshop.entered["unwanted"].wait()
            tasks.cancel_scope.cancel()
        await workshop.left["unwanted"].wait()
        assert workshop.cancelled == {"unwanted"}
        assert text_of(await client.call_tool("echo", {"text": "next"})) == "next"


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_a_client_that_disconnects_in_mid_call_leaves_a_server_that_answers(serve, workshop, transport, mode):
    async with serve(transport) as http:
        async with anyio.create_task_group() as tasks:

            async def vanish():
                async with connected(http, transport, mode) as client:
                    await client.call_tool("hold", {"text": "orphan"})

            tasks.start_soon(vanish)
            await workshop.entered["orphan"].wait()
            tasks.cancel_scope.cancel()
        async with connected(http, transport, mode) as client:
            assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"
        assert (await http.get("/healthz")).json()["ok"] is True


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_ten_clients_at_once_each_get_their_own_answers(serve, transport, mode):
    heard = {}

    async def work(http, name):
        async with connected(http, transport, mode) as client:
            heard[name] = [text_of(await client.call_tool("echo", {"text": f"{name}:{n}"})) for n in range(5)]

    async with serve(transport) as http, anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(work, http, f"client-{number}")
    assert heard == {f"client-{c}": [f"client-{c}:{n}" for n in range(5)] for c in range(10)}


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_a_slow_call_of_one_client_does_not_hold_up_another(serve, workshop, transport, mode):
    async with (
        serve(transport) as http,
        connected(http, transport, mode) as slow,
        connected(http, transport, mode) as quick,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(slow.call_tool, "hold", {"text": "slow"})
        await workshop.entered["slow"].wait()
        assert text_of(await quick.call_tool("echo", {"text": "quick"})) == "quick"
        assert not workshop.left["slow"].is_set()
        workshop.gate["slow"].set()


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_a_client_with_the_token_is_served(serve, transport, mode):
    async with serve(transport, token="correct-horse-battery") as http, connected(http, transport, mode) as client:
        assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"


@pytest.mark.parametrize(("transport", "mode"), COMBINATIONS)
async def test_an_unknown_method_is_a_protocol_error_and_the_connection_goes_on(serve, transport, mode):
    async with serve(transport) as http, connected(http, transport, mode) as client:
        with pytest.raises(MCPError):
            await client.list_prompts()
        assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"


async def open_streamable_session(http, version="2025-06-18"):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    return await http.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"})


async def test_every_revision_with_initialize_is_spoken_on_both_transports(serve, listen):
    async with serve("sse") as http:
        for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
            opened = await open_streamable_session(http, version)
            assert f'"protocolVersion":"{version}"' in opened.text
            async with listen(http) as listener:
                assert (await listener.initialize(version))["result"]["protocolVersion"] == version


async def test_the_number_of_streamable_sessions_is_bounded(serve):
    async with serve("http", max_sessions=2) as http:
        opened = [(await open_streamable_session(http)).status_code for _ in range(3)]
    assert opened == [200, 200, 503]


async def test_an_idle_streamable_session_makes_room_for_another(serve):
    async with serve("http", max_sessions=1, idle_seconds=0.02, rate=1e6, burst=10**6) as http:
        first = await open_streamable_session(http)
        while (second := await open_streamable_session(http)).status_code == 503:
            await anyio.lowlevel.checkpoint()
        headers = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": first.headers["mcp-session-id"]}
        gone = await http.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=headers)
    assert (second.status_code, gone.status_code) == (200, 404)
