"""`clew serve` over HTTP and SSE, as a user starts it."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.sse import sse_client
from tests import forked

Start = Callable[..., str]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a server and returns its address; on the way out every server has to end cleanly."""
    processes: list[subprocess.Popen[str]] = []

    def run(root: Path, transport: str, *options: str) -> str:
        process = forked.Process(
            [sys.executable, "-m", "clew", "serve", str(root), "--transport", transport, "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout is not None
        url = process.stdout.readline().rpartition(" ")[2].strip()
        assert url.startswith("http://127.0.0.1:"), process.stderr
        pasted = process.stdout.readline() + process.stdout.readline()
        assert pasted.count(url) == 2
        return url

    yield run
    for process in processes:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        assert "Traceback" not in errors
        assert process.returncode in (0, 130)


# Verifies: REQ-o00005-B
@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_streamable_http_serves_the_demo(start: Start, demo: Path, era: str) -> None:
    async with Client(start(demo, "http"), mode=era) as client:
        result = await client.call_tool("search", {"query": "REQ-d00006"})
        assert result.structured_content is not None
        assert result.structured_content["results"][0]["id"] == "REQ-d00006"


# Verifies: REQ-o00005-B
@pytest.mark.anyio
async def test_sse_serves_the_demo(start: Start, demo: Path) -> None:
    async with Client(sse_client(start(demo, "sse")), mode="legacy") as client:
        result = await client.call_tool("get_requirement", {"req_id": "REQ-d00006"})
        assert result.structured_content is not None
        assert result.structured_content["metrics"]["untested_labels"] == ["C"]


# Verifies: REQ-p00001-B
@pytest.mark.anyio
async def test_every_transport_gives_the_same_data(start: Start, demo: Path) -> None:
    answers = []
    for client in (Client(start(demo, "http")), Client(sse_client(start(demo, "sse")), mode="legacy")):
        async with client:
            answers.append((await client.call_tool("get_requirement", {"req_id": "REQ-o00003"})).structured_content)
    printed = forked.run(
        [sys.executable, "-m", "clew", "call", "get_requirement", '{"req_id": "REQ-o00003"}', "-C", str(demo)],
        capture_output=True,
        check=True,
    ).stdout
    assert answers == [json.loads(printed)] * 2
