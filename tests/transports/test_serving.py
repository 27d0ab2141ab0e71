"""Starting, refusing to start, and stopping with requests still open."""

import signal
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server.lowlevel import Server

from clew.errors import ConfigError
from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.listen import listen as listen_on
from clew.surfaces.mcp.transports.settings import HttpSettings

# Verifies: REQ-d00016-A

pytestmark = pytest.mark.anyio

PROGRAM = Path(__file__).with_name("signalled_server.py")
EVERYWHERE = "0.0.0.0"
TOKEN = "correct-horse-battery"
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}


def modern_call(tool, **arguments):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    headers = {**MCP_HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": tool}
    return {
        "json": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        "headers": headers,
    }


async def legacy_session(http):
    """The headers of a streamable session of the era with initialize."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    accept = {"Accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    opened = await http.post("/mcp", json=message, headers=accept)
    return {"Mcp-Session-Id": opened.headers["mcp-session-id"], **accept}


@asynccontextmanager
async def process(transport, *arguments):
    """The server as a process of its own, with a client for it; whatever happens, the process is gone afterwards."""
    command = [sys.executable, str(PROGRAM), transport, *arguments]
    async with await anyio.open_process(command) as running:
        try:
            with anyio.fail_after(300):
                url = (await BufferedByteReceiveStream(running.stdout).receive_until(b"\n", 200)).decode()
                async with httpx2.AsyncClient(base_url=url.rsplit("/", 1)[0], timeout=120) as http:
                    yield running, http
        finally:
            if running.returncode is None:
                running.kill()


async def output_of(running):
    """What the process still had to say on both channels, once it has ended."""
    said = {}

    async def drain(name, stream):
        said[name] = b"".join([chunk async for chunk in stream]).decode()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drain, "stdout", running.stdout)
        tasks.start_soon(drain, "stderr", running.stderr)
    return await running.wait(), said["stdout"], said["stderr"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_open_streams_and_calls_without_a_stack_trace(sent):
    async with process("sse") as (running, http):
        async with http.sse("/sse") as stream, http.stream("POST", "/mcp", **modern_call("hold")) as call:
            listening, calling = aiter(stream), call.aiter_bytes()
            assert (await anext(listening)).event == "endpoint"
            assert b"notifications/progress" in await anext(calling)
            running.send_signal(sent)
            rest_of_stream = [event.event async for event in listening]
            rest_of_call = [chunk async for chunk in calling]
        status, stdout, stderr = await output_of(running)
    assert rest_of_stream == ["heartbeat"]
    assert rest_of_call == []
    assert (status, stdout) == (0, "ended in order\n")
    assert "Traceback" not in stderr


async def test_a_signal_ends_a_streamable_session_with_its_standing_stream():
    async with process("http") as (running, http):
        session = await legacy_session(http)
        async with http.stream("GET", "/mcp", headers=session) as stream:
            assert stream.status_code == 200
            running.send_signal(signal.SIGTERM)
            rest = [chunk async for chunk in stream.aiter_bytes()]
        status, stdout, stderr = await output_of(running)
    assert rest == []
    assert (status, stdout) == (0, "ended in order\n")
    assert "Traceback" not in stderr


async def test_neither_tokens_nor_bodies_nor_session_ids_are_logged_even_at_debug_level():
    async with process("sse", TOKEN) as (running, http):
        guess = "a-wrong-guess-at-the-token"
        await http.get("/healthz", headers={"Authorization": f"Bearer {guess}"})
        http.headers["Authorization"] = f"Bearer {TOKEN}"
        answer = await http.post("/mcp", **modern_call("echo", text="a private sentence"))
        assert "a private sentence" in answer.text
        legacy = await legacy_session(http)
        answer = await http.post("/mcp", json=modern_call("echo", text="a private sentence")["json"], headers=legacy)
        assert "a private sentence" in answer.text
        async with http.sse("/sse") as stream:
            session_id = (await anext(aiter(stream))).data.partition("=")[2]
            await http.post("/messages", params={"session_id": session_id}, content=b"another private sentence")
        running.send_signal(signal.SIGTERM)
        _, stdout, stderr = await output_of(running)
    assert "DEBUG" in stderr, "the log is really at its most talkative"
    for secret in (TOKEN, guess, "private sentence", session_id, legacy["Mcp-Session-Id"]):
        assert secret not in stdout + stderr


async def test_a_call_in_flight_is_finished_before_the_server_stops(workshop, listen):
    urls, answers, order = [], [], []
    started, stop = anyio.Event(), anyio.CancelScope()

    def ready(url):
        urls.append(url.removesuffix("/sse"))
        started.set()

    async def run():
        with stop:
            await serve_http(workshop.server, HttpSettings(sse=True, drain_seconds=120, heartbeat_events=True), ready)
        order.append("stopped")

    async def call(http):
        answers.append(await http.post("/mcp", **modern_call("hold", text="last")))
        order.append("answered")

    with anyio.fail_after(120):
        async with anyio.create_task_group() as server:
            server.start_soon(run)
            await started.wait()
            async with httpx2.AsyncClient(base_url=urls[0]) as http, anyio.create_task_group() as client:
                client.start_soon(call, http)
                await workshop.entered["last"].wait()
                async with listen(http) as listener:
                    stop.cancel()
                    await listener.at_end()
                workshop.gate["last"].set()
    assert order == ["answered", "stopped"]
    assert (answers[0].status_code, workshop.cancelled) == (200, set())
    assert "last" in answers[0].text


async def test_a_port_in_use_is_named_with_the_next_step(workshop):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError) as refused:
            await serve_http(workshop.server, HttpSettings(port=port), pytest.fail)
    assert str(port) in refused.value.message
    assert "--port" in refused.value.hint


@pytest.mark.parametrize("host", ["203.0.113.7", "x" * 70])
async def test_a_host_that_is_not_this_machine_is_refused(workshop, host):
    with pytest.raises(ConfigError) as refused:
        await serve_http(workshop.server, HttpSettings(host=host, token=TOKEN), pytest.fail)
    assert host in refused.value.message
    assert "127.0.0.1" in refused.value.hint


async def test_answers_are_not_held_back_by_nagles_algorithm():
    with listen_on(HttpSettings()) as listener:
        assert listener.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY on no other sockets"


async def test_unsafe_settings_are_refused_before_anything_listens(workshop):
    with pytest.raises(ConfigError):
        await serve_http(workshop.server, HttpSettings(host=EVERYWHERE), pytest.fail)


async def test_a_server_that_cannot_start_fails_with_its_own_error():
    @asynccontextmanager
    async def broken(_):
        raise ConfigError("clew.toml cannot be read.")
        yield

    with pytest.raises(ConfigError, match=r"clew\.toml"):
        await serve_http(Server("broken", lifespan=broken), HttpSettings(), pytest.fail)
