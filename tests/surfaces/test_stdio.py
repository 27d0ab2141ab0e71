"""`clew serve` over stdio, as a host starts it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from tests import forked
from tests.attack.client import run as attack

CLEW = [sys.executable, "-m", "clew"]


class Wire:
    """A server process, spoken to in raw frames."""

    def __init__(self, root: Path, *options: str) -> None:
        self.process = forked.Process(
            [*CLEW, "serve", str(root), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, frame: bytes | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        data = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next frame. Anything on standard output that is no frame fails here."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def answer_to(self, id: int) -> dict[str, Any]:
        while True:
            frame = self.receive()
            if frame.get("id") == id:
                return frame

    def request(self, id: int, method: str, **params: Any) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return self.answer_to(id)

    def initialize(self, version: str) -> dict[str, Any]:
        client = {"name": "test", "version": "1"}
        answer = self.request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, id: int, name: str, **arguments: Any) -> dict[str, Any]:
        return self.request(id, "tools/call", name=name, arguments=arguments)

    def close(self) -> bytes:
        """End the session; returns what was logged."""
        _, errors = self.process.communicate(timeout=120)
        return errors


@pytest.fixture
def wire(small: Path) -> Iterator[Wire]:
    started = Wire(small)
    yield started
    started.process.kill()
    started.process.communicate()


# Verifies: REQ-o00005-A+B
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_revision_with_a_handshake_is_spoken(wire: Wire, version: str) -> None:
    answer = wire.initialize(version)
    assert answer["result"]["protocolVersion"] == version
    assert answer["result"]["serverInfo"]["name"] == "clew"
    assert "Before an edit call context" in answer["result"]["instructions"]
    names = [tool["name"] for tool in wire.request(1, "tools/list")["result"]["tools"]]
    assert "get_requirement" in names
    result = wire.call(2, "get_requirement", req_id="d1")["result"]
    assert json.loads(result["content"][0]["text"])["id"] == "REQ-d00001"


# Verifies: REQ-o00005-A
@pytest.mark.anyio
async def test_the_stateless_revision_is_spoken(small: Path) -> None:
    server = StdioServerParameters(command=CLEW[0], args=[*CLEW[1:], "serve", str(small)])
    async with Client(server, mode="2026-07-28") as client:
        result = await client.call_tool("get_graph_status", {})
        assert result.structured_content is not None
        assert result.structured_content["node_counts"]["requirement"] == 2


MALFORMED = [
    (b"not json at all", None, -32700),
    (b"{", None, -32700),
    (b"\xff\xfe\x00garbage", None, -32700),
    (b"{" + b'"a":' * 100_000, None, -32700),
    (b'{"a":' * 100_000, None, -32700),
    (b"x" * 1_000_000, None, -32700),
    (b"[]", None, -32600),
    (b'[{"jsonrpc": "2.0", "id": 5, "method": "ping"}]', None, -32600),
    (b"null", None, -32600),
    (b'{"jsonrpc": "1.0", "id": 5, "method": "tools/list"}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": 5}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "tools/list"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 99999999999999999999, "method": "tools/list"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": "' + b"5" * 2_000 + b'", "method": "tools/list"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": 7}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": "text"}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}', 5, -32602),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"a": "\\ud800"}}', 5, -32602),
    (b'{"jsonrpc": "2.0", "id": "\\udfff", "method": "ping"}', None, -32602),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "no/such/method"}', 5, -32601),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"arguments": {}}}', 5, -32602),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "search", "arguments": [1]}}', 5, -32602),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": 7}}', 5, -32602),
]


# Verifies: REQ-d00015-F
def test_every_malformed_frame_is_answered_with_the_right_code(wire: Wire) -> None:
    wire.initialize("2025-11-25")
    for frame, id, code in MALFORMED:
        wire.send(frame)
        answer = wire.receive()
        assert (answer["id"], answer["error"]["code"]) == (id, code), frame[:100]
        assert answer["error"]["message"]
    result = wire.call(9, "get_graph_status")["result"]
    assert result["structuredContent"]["node_counts"]["requirement"] == 2


# Verifies: REQ-d00015-F
def test_what_needs_no_answer_gets_none(wire: Wire) -> None:
    wire.initialize("2025-11-25")
    for frame in (
        b"",
        b"  ",
        b'{"jsonrpc": "2.0", "method": "no/such/notification"}',
        b'{"jsonrpc": "2.0", "id": 77, "result": {}}',
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "that was no message"}}',
        b'{"jsonrpc": "2.0", "id": {}, "result": {}}',
    ):
        wire.send(frame)
    wire.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
    assert wire.receive()["id"] == 9


# Verifies: REQ-d00015-F
def test_a_careless_client_gets_one_answer_to_everything_over_stdio_and_http() -> None:
    outcome = attack(rounds=150)
    assert outcome.faults == ()
    assert outcome.tried == 300


# Verifies: REQ-d00015-E
def test_nothing_but_protocol_reaches_standard_output_and_logs_hold_no_text_of_documents(small: Path) -> None:
    wire = Wire(small, "--verbose")
    wire.initialize("2025-11-25")
    (small / "spec" / "odd.md").write_bytes(b"## REQ-d00044: Secret heading\n\n\xff\xfe secret prose\n")
    for number, (name, arguments) in enumerate(
        [("refresh_graph", {"full": True}), ("search", {"query": "secret"}), ("search", {"query": 3}), ("nothing", {})],
        1,
    ):
        frame = wire.request(number, "tools/call", name=name, arguments=arguments)
        assert frame["jsonrpc"] == "2.0"
    assert b"ecret" not in wire.close()


# Verifies: REQ-d00015-D
def test_a_client_that_disconnects_in_the_middle_of_a_call_ends_the_server_cleanly(small: Path) -> None:
    wire = Wire(small)
    wire.initialize("2025-11-25")
    wire.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "refresh_graph", "arguments": {"full": True}},
        }
    )
    errors = wire.close()
    assert b"Traceback" not in errors
    assert wire.process.returncode == 0


# Verifies: REQ-p00001-C
def test_two_servers_share_one_project(small: Path) -> None:
    first, second = Wire(small), Wire(small)
    for wire in (first, second):
        wire.initialize("2025-11-25")
    spec = small / "spec" / "small.md"
    for number, title in enumerate(("Keep tide", "Keep calm"), 1):
        spec.write_text(spec.read_text(encoding="utf-8").replace("Keep time", title), encoding="utf-8")
        for wire in (first, second):
            result = wire.call(number, "refresh_graph", full=True)["result"]
            assert result["structuredContent"]["success"] is True
            shown = wire.call(10 + number, "get_requirement", req_id="REQ-p00001")["result"]["structuredContent"]
            assert shown["title"] == title
        spec.write_text(spec.read_text(encoding="utf-8").replace(title, "Keep time"), encoding="utf-8")
    for wire in (first, second):
        assert b"Traceback" not in wire.close()


def test_a_folder_that_does_not_exist_gives_one_clear_line(tmp_path: Path) -> None:
    done = forked.run([*CLEW, "serve", str(tmp_path / "nowhere")], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
