"""Clients that connect and say nothing, or say it too slowly, do not keep others from being served."""

import json
import sys
from contextlib import AsyncExitStack

import anyio
import httpx2
import pytest

pytestmark = pytest.mark.anyio

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le"
HALF_BODY = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
NO_BODY = HALF_BODY[:-1]
TOKEN = "correct-horse-battery"


async def connected(http, stack, count, said=b""):
    streams = []
    for _ in range(count):
        stream = await stack.enter_async_context(await anyio.connect_tcp(http.base_url.host, http.base_url.port))
        if said:
            await stream.send(said)
        streams.append(stream)
    return streams


async def at_end(stream):
    """Read until the server closes; returns what it said before."""
    said = b""
    try:
        while True:
            said += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return said


# Verifies: REQ-d00016-E
@pytest.mark.parametrize("said", [b"", b"G", HALF])
async def test_a_connection_that_does_not_finish_its_headers_is_closed(serve, said):
    async with serve(header_seconds=0.05, token=TOKEN) as http, AsyncExitStack() as stack:
        (stream,) = await connected(http, stack, 1, said)
        assert await at_end(stream) == b""


# Verifies: REQ-d00016-E
async def test_the_second_request_of_a_connection_has_to_be_complete_in_time_too(serve):
    async with serve(header_seconds=0.05) as http, AsyncExitStack() as stack:
        (stream,) = await connected(http, stack, 1, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HALF)
        assert (await at_end(stream)).count(b"HTTP/1.1 200") == 1


# Verifies: REQ-d00016-E
async def test_a_body_that_does_not_arrive_in_time_is_refused(serve):
    async with serve(body_seconds=0.05, header_seconds=0.05) as http, AsyncExitStack() as stack:
        (stream,) = await connected(http, stack, 1, HALF_BODY)
        assert (await at_end(stream)).startswith(b"HTTP/1.1 408")


# Verifies: REQ-d00016-E
async def test_the_connection_that_has_waited_longest_makes_room(serve):
    async with serve(max_connections=4, header_seconds=600) as http, AsyncExitStack() as stack:
        first, *_ = await connected(http, stack, 12, HALF)
        assert await at_end(first) == b""
        for _ in range(3):
            assert (await http.get("/healthz")).status_code == 200


# Verifies: REQ-d00016-E
async def test_no_connection_that_is_being_answered_makes_room(serve, workshop, listen):
    async with serve("sse", max_connections=4, header_seconds=600) as http, AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(listen(http))
        async with anyio.create_task_group() as tasks:
            for name in ("one", "two"):
                tasks.start_soon(hold, http, name)
                await workshop.entered[name].wait()
            (stream,) = await connected(http, stack, 1, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await at_end(stream)).startswith(b"HTTP/1.1 503")
            for name in ("one", "two"):
                workshop.gate[name].set()


async def hold(http, name):
    """A call that takes until the gate of its name opens."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "hold", "arguments": {"text": name}, "_meta": meta}
    return await http.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        headers={
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "hold",
        },
    )


# Verifies: REQ-d00016-E, REQ-d00660-B
async def test_the_body_that_makes_no_progress_gives_way_to_one_that_does(serve):
    async with serve(max_bodies=5_000, max_body=4_000, body_seconds=600) as http, AsyncExitStack() as stack:
        (slow,) = await connected(http, stack, 1, HALF_BODY.replace(b"1000", b"4000") + b" " * 3_900)
        statuses = []

        async def ask():
            while True:
                statuses.append((await http.post("/mcp", content=b" " * 3_000)).status_code)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            assert (await slow.receive()).startswith(b"HTTP/1.1 503")
            tasks.cancel_scope.cancel()
        assert set(statuses) <= {400, 429}
        assert (await http.get("/healthz")).status_code in (200, 429)


# Verifies: REQ-d00016-E, REQ-d00660-B
async def test_bodies_that_are_being_answered_give_way_to_none(serve, workshop):
    size = len(json.dumps("x" * 3_000))
    async with serve(max_bodies=5_000, max_body=4_000) as http, anyio.create_task_group() as tasks:
        tasks.start_soon(hold, http, "x" * 3_000)
        await workshop.entered["x" * 3_000].wait()
        refused = await http.post("/mcp", content=b" " * size)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "busy")
        workshop.gate["x" * 3_000].set()


# Verifies: REQ-d00660-B
async def test_connections_without_a_body_are_as_many_as_fit_and_everybody_else_is_served(serve):
    async with serve(max_connections=16, body_seconds=600) as http, AsyncExitStack() as stack:
        assert (await http.get("/healthz")).status_code == 200
        for _ in range(6):
            await connected(http, stack, 16, NO_BODY)
            # The connection that is there already, which was answered before, and a new one.
            assert (await http.get("/healthz")).status_code == 200
            async with httpx2.AsyncClient(base_url=http.base_url) as another:
                assert (await another.post("/mcp", content=b" " * 3_000)).status_code < 500


# Verifies: REQ-d00660-B
async def test_requests_without_their_body_use_up_nothing_of_what_others_may_ask(serve, clock):
    async with serve(clock=clock, rate=1, burst=4, max_connections=16) as http, AsyncExitStack() as stack:
        await connected(http, stack, 12, NO_BODY)
        statuses = [(await http.post("/mcp", content=b" ")).status_code for _ in range(6)]
        assert statuses == [400] * 4 + [429] * 2


# Verifies: REQ-d00660-B
@pytest.mark.skipif(sys.platform != "linux", reason="only here are all of 127.0.0.0/8 addresses of this machine")
async def test_an_address_with_many_connections_gives_way_to_others_before_they_give_way_to_it(serve):
    async with serve(max_connections=8, header_seconds=600, body_seconds=600) as http, AsyncExitStack() as stack:
        (waiting,) = await connected(http, stack, 1, NO_BODY)
        for _ in range(24):
            stream = await anyio.connect_tcp(http.base_url.host, http.base_url.port, local_host="127.0.0.2")
            await stack.enter_async_context(stream)
            await stream.send(NO_BODY)
        await waiting.send(b" " * 1_000)
        assert (await waiting.receive()).startswith(b"HTTP/1.1 4")


# Verifies: REQ-d00660-C
async def test_streams_get_half_of_the_connections(serve, listen):
    async with serve("sse", max_connections=8) as http, AsyncExitStack() as stack:
        for _ in range(4):
            await stack.enter_async_context(listen(http))
        refused = await http.get("/sse")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "too_many_streams")
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.post("/mcp", content=b"{}")).status_code < 500


# Verifies: REQ-d00016-E
async def test_sixty_four_clients_are_served_beside_three_hundred_slow_ones(serve):
    async with serve() as http, AsyncExitStack() as stack:
        await connected(http, stack, 150, HALF)
        await connected(http, stack, 150, HALF_BODY)
        statuses = []

        async def ask():
            statuses.append((await http.get("/healthz")).status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(64):
                tasks.start_soon(ask)
        assert statuses == [200] * 64
