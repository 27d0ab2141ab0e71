"""Client of a language server on standard input and output, as much of it as references need."""

import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from benchmarks.workspace import BenchmarkFailed


class LanguageServer:
    """One server over one folder. Requests wait for their answers; what the server asks is answered with nothing."""

    def __init__(self, command: Sequence[str], root: Path, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._last = 0
        self._messages: Queue[dict[str, Any] | None] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        capabilities = {
            "workspace": {"configuration": True, "workspaceFolders": True},
            "textDocument": {"references": {}},
        }
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "rootPath": str(root),
                "workspaceFolders": [folder],
                "capabilities": capabilities,
                "initializationOptions": settings,
            },
        )
        self.tell("initialized", {})
        self.tell("workspace/didChangeConfiguration", {"settings": settings})

    def ask(self, method: str, parameters: Any, patience: float = 900.0) -> Any:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters})
        while True:
            try:
                message = self._messages.get(timeout=patience)
            except Empty:
                raise BenchmarkFailed(f"The language server gave no answer to {method} in {patience:.0f} s.") from None
            if message is None:
                raise BenchmarkFailed(f"The language server ended before it answered {method}.")
            if "method" in message:
                if "id" in message:
                    self._send({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message)})
            elif message.get("id") == self._last:
                if "error" in message:
                    raise BenchmarkFailed(f"The language server refused {method}: {message['error']}.")
                return message.get("result")

    def wait_for(self, words: str, patience: float = 120.0) -> None:
        """Until the server's log has some words."""
        while True:
            try:
                message = self._messages.get(timeout=patience)
            except Empty:
                raise BenchmarkFailed(f"The language server did not log '{words}' in {patience:.0f} s.") from None
            if message is None:
                raise BenchmarkFailed(f"The language server ended before it logged '{words}'.")
            if "id" in message and "method" in message:
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message)})
            elif message.get("method") == "window/logMessage" and words in message["params"]["message"]:
                return

    def tell(self, method: str, parameters: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": parameters})

    def close(self) -> None:
        try:
            self.ask("shutdown", None, 20.0)
            self.tell("exit", None)
            self._process.wait(10)
        except (BenchmarkFailed, subprocess.TimeoutExpired, OSError):
            self._process.kill()
            self._process.wait()

    def _answer(self, message: dict[str, Any]) -> Any:
        if message["method"] != "workspace/configuration":
            return None
        found = []
        for item in message["params"]["items"]:
            value: Any = self._settings
            for part in item.get("section", "").split("."):
                value = value.get(part, {}) if isinstance(value, dict) and part else value
            found.append(value)
        return found

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps(message).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        stream = self._process.stdout
        while True:
            length = 0
            while (line := stream.readline()).strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not line:
                self._messages.put(None)
                return
            self._messages.put(json.loads(stream.read(length)))
