"""Sessions belong to who opened them, and nothing outlives the token that it was opened with."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from tests.transports.test_slow_clients import hold

from clew.setup import tokens
from clew.surfaces.mcp.transports.access.token_watch import LOOK_SECONDS

pytestmark = pytest.mark.anyio

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    },
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(autouse=True)
def own_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


@pytest.fixture
def now(clock):
    return datetime.fromtimestamp(clock.time(), UTC)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


async def opened(http, **headers):
    answer = await http.post("/mcp", json=INITIALIZE, headers={**ACCEPT, **headers})
    assert answer.status_code == 200
    return {**ACCEPT, "Mcp-Session-Id": answer.headers["mcp-session-id"]}


async def statuses(http, session, token):
    """What POST, GET and DELETE with a session's id are answered to the owner of a token."""
    headers = {**session, **bearer(token)}
    posted = (await http.post("/mcp", json=PING, headers=headers)).status_code
    return [
        posted,
        *[(await http.request(method, "/mcp", headers=headers)).status_code for method in ("GET", "DELETE")],
    ]


# Verifies: REQ-d00661-A
async def test_a_streamable_session_is_there_for_its_principal_alone_and_lives_on(serve, clock, now):
    alice, carol = tokens.add("alice", now=now), tokens.add("carol", now=now)
    async with serve(team=True, clock=clock) as http:
        session = await opened(http, **bearer(alice))
        assert await statuses(http, session, carol) == [404] * 3
        assert (await http.post("/mcp", json=PING, headers={**session, **bearer(alice)})).status_code == 200
        unknown = {**session, "Mcp-Session-Id": "0" * 32}
        for headers in (session, unknown):
            answer = await http.post("/mcp", json=PING, headers={**headers, **bearer(carol)})
            assert answer.json()["error"]["message"] == "Session not found"
        assert (await http.request("DELETE", "/mcp", headers={**session, **bearer(alice)})).status_code == 200
        assert (await http.post("/mcp", json=PING, headers={**session, **bearer(alice)})).status_code == 404


# Verifies: REQ-d00661-A
async def test_without_principals_a_session_is_bound_to_the_token_that_opened_it(serve):
    async with serve(write_token="the-token-that-writes") as http:
        session = await opened(http, **bearer("the-token-that-writes"))
        assert await statuses(http, session, "another-token-entirely") == [404] * 3
        assert (await http.post("/mcp", json=PING, headers=session)).status_code == 404
        mine = {**session, **bearer("the-token-that-writes")}
        assert (await http.post("/mcp", json=PING, headers=mine)).status_code == 200


# Verifies: REQ-d00661-A
async def test_an_sse_session_is_there_for_its_principal_whatever_token_it_has_now(serve, listen, clock, now):
    alice, carol = tokens.add("alice", now=now), tokens.add("carol", now=now)
    async with serve("sse", team=True, clock=clock) as http:
        async with listen(http, **bearer(alice)) as listener:
            assert (await http.post(listener.endpoint, json=PING, headers=bearer(carol))).status_code == 404
            assert (await http.post(listener.endpoint, json=PING, headers=bearer(alice))).status_code == 202
        tokens.revoke("alice")
        again = tokens.add("alice", now=now)
        assert (await http.post(listener.endpoint, json=PING, headers=bearer(again))).status_code == 202


async def ended(http, clock, path, headers, until):
    """Open a stream, let `until` happen, and read to its end."""
    async with http.stream("GET", path, headers=headers) as stream:
        assert stream.status_code == 200
        await until()
        # One look that finds the token good may be under way.
        await clock.asleep(LOOK_SECONDS)
        clock.advance(LOOK_SECONDS)
        async for _ in stream.aiter_bytes():
            pass


# Verifies: REQ-d00661-B
@pytest.mark.parametrize("transport", ["sse", "http"])
async def test_a_token_that_another_process_revokes_ends_its_streams(serve, clock, now, transport):
    assert LOOK_SECONDS * 2 < 5
    alice = tokens.add("alice", now=now)
    command = [sys.executable, "-m", "clew", "token", "revoke", "alice"]

    async def revoke():
        await anyio.run_process(command, stdout=subprocess.DEVNULL)

    async with serve(transport, team=True, clock=clock) as http:
        headers = bearer(alice)
        if transport == "http":
            headers = {**await opened(http, **headers), **headers, "Accept": "text/event-stream"}
        await ended(http, clock, "/sse" if transport == "sse" else "/mcp", headers, revoke)
        assert (await http.get("/nowhere", headers=bearer(alice))).status_code == 401


# Verifies: REQ-d00661-B
async def test_a_token_that_expires_ends_its_streams_and_no_others(serve, listen, clock, now):
    alice, bob = tokens.add("alice", days=1, now=now), tokens.add("bob", days=2, now=now)

    async def expire():
        await clock.asleep(LOOK_SECONDS)
        clock.advance(timedelta(days=1).total_seconds())

    async with serve("sse", team=True, clock=clock) as http, listen(http, **bearer(bob)) as listener:
        await ended(http, clock, "/sse", bearer(alice), expire)
        assert (await http.post(listener.endpoint, json=PING, headers=bearer(bob))).status_code == 202
        while (await listener.event()).event != "message":
            pass


# Verifies: REQ-d00661-B
async def test_a_call_that_is_under_way_is_refused_when_its_token_is_revoked(serve, workshop, clock, now):
    alice = tokens.add("alice", now=now)
    answers = []
    async with serve(team=True, clock=clock) as http:
        http.headers.update(bearer(alice))

        async def call():
            answers.append(await hold(http, "long"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await workshop.entered["long"].wait()
            tokens.revoke("alice")
            await clock.asleep(LOOK_SECONDS)
            clock.advance(LOOK_SECONDS)
    assert [answer.status_code for answer in answers] == [401]


# Verifies: REQ-d00661-B
async def test_nobody_looks_at_tokens_while_nothing_is_open(serve, clock, now):
    alice = tokens.add("alice", now=now)
    async with serve(team=True, clock=clock) as http:
        assert (await http.get("/nowhere", headers=bearer(alice))).status_code == 404
        await clock.asleep(LOOK_SECONDS)
        clock.advance(LOOK_SECONDS)
        await clock.nobody_asleep(LOOK_SECONDS)
