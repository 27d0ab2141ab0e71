"""Clients that connect and say nothing, or say it too slowly, do not keep others from being served."""

from contextlib import AsyncExitStack

import anyio
import pytest

pytestmark = pytest.mark.anyio

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le"
HALF_BODY = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
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
    async with serve("sse", max_connections=2, header_seconds=600) as http, AsyncExitStack() as stack:
        one = await stack.enter_async_context(listen(http))
        await connected(http, stack, 1)
        two = await stack.enter_async_context(listen(http))
        (stream,) = await connected(http, stack, 1, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await at_end(stream)).startswith(b"HTTP/1.1 503")
        assert one.connection_id != two.connection_id


# Verifies: REQ-d00016-E
async def test_bodies_of_all_requests_together_are_bounded(serve):
    async with serve(max_bodies=5_000, max_body=4_000, body_seconds=600) as http, AsyncExitStack() as stack:
        (slow,) = await connected(http, stack, 1, HALF_BODY.replace(b"1000", b"4000") + b" " * 3_900)
        statuses = set()
        while 503 not in statuses:
            statuses.add((await http.post("/mcp", content=b" " * 3_000)).status_code)
        await slow.aclose()
        while (await http.post("/mcp", content=b" " * 3_000)).status_code == 503:
            pass


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
