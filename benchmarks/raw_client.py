"""A client without a library: JSON lines over pipes, so that only the server's time is measured."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.workspace import BenchmarkFailed

PATIENCE_SECONDS = 60
CLIENT = {"name": "benchmark", "version": "1.0.0"}

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
LIST_ALONE = {
    **LIST,
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


class Connection:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._input = process.stdin
        self._output = process.stdout

    def send(self, message: dict[str, Any]) -> None:
        self._input.write(json.dumps(message).encode() + b"\n")
        self._input.flush()

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; anything else the server says meanwhile is passed over."""
        self.send(message)
        for line in self._output:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == message["id"]:
                if "result" not in answer:
                    raise BenchmarkFailed(f"{message['method']} was answered with {answer}")
                result: dict[str, Any] = answer["result"]
                return result
        raise BenchmarkFailed(f"The server ended before it answered {message['method']}.")


Conversation = Callable[[Connection], dict[str, Any]]


def with_handshake(connection: Connection) -> dict[str, Any]:
    """What clients up to 2025-11-25 say until they know the tools."""
    connection.ask(INITIALIZE)
    connection.send(INITIALIZED)
    return connection.ask(LIST)


def stateless(connection: Connection) -> dict[str, Any]:
    """What a client of the current revision says."""
    return connection.ask(LIST_ALONE)


def seconds_to_tools(command: Sequence[str | Path], conversation: Conversation) -> float:
    """From starting the server to holding its list of tools."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=-1
    )
    watchdog = threading.Timer(PATIENCE_SECONDS, process.kill)
    watchdog.start()
    try:
        result = conversation(Connection(process))
        seconds = time.perf_counter() - started
    finally:
        # The server may be reading the project by now. Nobody waits for that, and the next start has the machine alone.
        watchdog.cancel()
        process.kill()
        process.communicate()
    if not result.get("tools"):
        raise BenchmarkFailed("The server listed no tools.")
    return seconds
