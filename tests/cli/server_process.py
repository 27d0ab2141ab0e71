"""A server of a project and commands beside it, each a process of its own."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests import forked, in_process

from clew.ipc.address import sockets
from clew.surfaces.cli.asking import server_of

PATIENCE = "60"
"""A slow machine must not look like a server that is busy."""
CLEW = (sys.executable, "-m", "clew")
WITHOUT_LIBRARIES = """
import sys
sys.modules["msgspec"] = None
from clew.surfaces.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""A command that can print nothing but the answer of a server: to read a project it would have to import msgspec."""
Ended = tuple[int, bytes, bytes]


def command(root: Path, *words: str, program: Sequence[str] = CLEW, **environment: str) -> Ended:
    """The exit code of a command in a folder, and what it printed."""
    told = {**os.environ, "CLEW_SERVER_SECONDS": PATIENCE, **environment}
    start = forked.run if program == CLEW else subprocess.run
    done = start([*program, *words], cwd=root, env=told, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def alone(root: Path, *words: str, **environment: str) -> Ended:
    """The same without a server, and inside this process: nothing but the command has a say in what it prints."""
    with patch.dict(os.environ, {**environment, "CLEW_SERVER": "off"}):
        done = in_process.run(root, *words)
    return done.returncode, done.stdout.encode(), done.stderr.encode()


def served(root: Path, *words: str, **environment: str) -> Ended:
    """The same by a server, or the exit code 3 where none answers."""
    return command(root, *words, program=(sys.executable, "-c", WITHOUT_LIBRARIES), **environment)


@contextmanager
def serving(root: Path, *options: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server over stdio, once it answers commands."""
    told = {**os.environ, **environment}
    command = [*CLEW, "serve", str(root), *options]
    with forked.Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=told) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(120)


def wait_for(root: Path) -> int:
    """The process that answers commands about a project."""
    found: int = wait_until(lambda: server_of(str(root))[0])
    return found


def wait_until(holds: Callable[[], Any]) -> Any:
    """What a condition gives as soon as it holds; fails after a time that no machine needs."""
    deadline = time.monotonic() + 120
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


class LyingServer:
    """A socket at a project's address that answers each request with the same bytes."""

    def __init__(self, root: Path, replies: Sequence[bytes | None]) -> None:
        (address, *_) = sockets(str(root))
        self._replies = replies
        self._listening = socket.socket(socket.AF_UNIX)
        # A long path has its socket in a folder that the first server makes.
        Path(address).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        Path(address).unlink(missing_ok=True)
        self._listening.bind(address)
        self._listening.listen()
        self.requests: list[dict[str, Any]] = []
        self.open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.requests.append(json.loads(connection.makefile("rb").readline()))
            # Whoever has read enough closes its end.
            with suppress(OSError):
                for reply in self._replies:
                    if reply is not None:
                        connection.sendall(reply)
            if None in self._replies:
                self.open.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        self._listening.close()
        for connection in self.open:
            connection.close()
