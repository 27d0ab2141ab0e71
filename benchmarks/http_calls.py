"""What a call over HTTP costs the server's processor, against a bare server on the same SDK, in turns; and its memory.

Processor time, not the time on the clock: another program that works meanwhile changes the latter only. The calls are
those of a client of the current revision, each by itself, and of one that keeps a session.
"""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.figures import Figure, Result, milliseconds, paired
from benchmarks.raw_client import CLIENT, INITIALIZE
from benchmarks.workspace import CLEW, REPOSITORY, BenchmarkFailed, Workspace

TRIVIAL_LIMIT = 1.2
MIXED_LIMIT = 2.0
GROWTH_LIMIT = 1.1
"""Memory at the end of the load against memory at half of it."""
CALLS = 120
"""In one round; under the number that a server takes from one address at once."""
BARE = (sys.executable, REPOSITORY / "benchmarks" / "bare_server.py", "http")
ECHO: tuple[tuple[str, dict[str, Any]], ...] = (("echo", {"text": "tide"}),)
TRIVIAL: tuple[tuple[str, dict[str, Any]], ...] = (("req_version", {}),)
MIXED = (
    ("get_graph_status", {}),
    ("get_requirement", {"req_id": "REQ-d00006"}),
    ("search", {"query": "REQ-d00006"}),
    ("get_hierarchy", {"req_id": "REQ-d00006"}),
    ("get_uncovered_assertions", {}),
    ("list_specs", {}),
)


class Caller:
    """A client on one connection."""

    def __init__(self, url: str, *, stateless: bool) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
        self._stateless = stateless
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if stateless:
            self._headers["MCP-Protocol-Version"] = "2026-07-28"
        else:
            self._headers["Mcp-Session-Id"] = self._post(INITIALIZE).getheader("mcp-session-id", "")

    def call(self, name: str, arguments: dict[str, Any]) -> None:
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        if self._stateless:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": CLIENT,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self._post(message, **{"Mcp-Method": "tools/call", "Mcp-Name": name} if self._stateless else {})

    def _post(self, message: dict[str, Any], **headers: str) -> http.client.HTTPResponse:
        while True:
            self._connection.request("POST", "/mcp", json.dumps(message), {**self._headers, **headers})
            answer = self._connection.getresponse()
            body = answer.read()
            if answer.status == 429:
                time.sleep(1)
                continue
            if answer.status != 200 or b'"result"' not in body or b'"isError":true' in body:
                raise BenchmarkFailed(f"{message['method']} was answered with {answer.status} {body[:300]!r}")
            return answer

    def close(self) -> None:
        self._connection.close()


@contextmanager
def serving(command: Sequence[str | Path]) -> Iterator[tuple[int, str]]:
    """The process and the address of a server."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, process.stdout.readline().rpartition(" ")[2].strip()
    finally:
        process.terminate()
        process.communicate()


def cpu_seconds(pid: int) -> float:
    """The processor time of a process with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(space: Workspace, *, quick: bool) -> Result:
    rounds = 5 if quick else 11
    figures: list[Figure] = []
    clew = (CLEW, "serve", space.demo, "--transport", "http", "--port", "0")
    with serving(BARE) as bare, serving(clew) as own:
        for name, stateless in (("stateless", True), ("with a session", False)):
            figures += _compared(name, bare, own, rounds, stateless=stateless)
        figures.append(_memory(own, seconds=10 if quick else 60))
    return Result("Processor time of a call over HTTP", tuple(figures))


def _compared(
    name: str, bare: tuple[int, str], own: tuple[int, str], rounds: int, *, stateless: bool
) -> Iterator[Figure]:
    sets = {"bare server": (bare, ECHO), "a trivial tool": (own, TRIVIAL), "mixed reads": (own, MIXED)}
    samples: dict[str, list[float]] = {each: [] for each in sets}
    for number in range(rounds + 1):
        for each, ((pid, url), calls) in sets.items():
            seconds = _round(pid, url, calls, stateless=stateless)
            # The first round imports the operations and fills their caches.
            if number:
                samples[each].append(seconds)
    against = tuple(samples["bare server"])
    yield Figure(f"bare server, {name}", "ms", milliseconds(against))
    for each, limit in (("a trivial tool", TRIVIAL_LIMIT), ("mixed reads", MIXED_LIMIT)):
        yield Figure(f"clew serve, {each}, {name}", "ms", milliseconds(samples[each]))
        yield Figure(f"  against the bare server, {each}, {name}", "x", paired(tuple(samples[each]), against), limit)


def _round(pid: int, url: str, calls: Sequence[tuple[str, dict[str, Any]]], *, stateless: bool) -> float:
    """Processor seconds of one call."""
    caller = Caller(url, stateless=stateless)
    before = cpu_seconds(pid)
    for number in range(CALLS):
        caller.call(*calls[number % len(calls)])
    used = cpu_seconds(pid) - before
    caller.close()
    # The server takes 100 requests a second from one address.
    time.sleep(CALLS / 100)
    return used / CALLS


def _memory(own: tuple[int, str], *, seconds: float) -> Figure:
    """How much the server's memory grows in the second half of a load, as a ratio."""
    pid, url = own
    caller = Caller(url, stateless=True)
    half: int | None = None
    began = time.monotonic()
    number = 0
    while (passed := time.monotonic() - began) < seconds:
        caller.call(*MIXED[number % len(MIXED)])
        number += 1
        if half is None and passed > seconds / 2:
            half = resident_bytes(pid)
    caller.close()
    return Figure("memory after the load against half of it", "x", (resident_bytes(pid) / (half or 1),), GROWTH_LIMIT)
