"""The listener on a project's socket: one server of a project listens, and passes requests to its handlers.

Whichever server gets the lock listens; the others wait, and one of them goes on when it ends. Each connection brings
one request, in a thread of its own. How many there are, how long one may be and how long it may take to come are
bounded, and only processes of the same user are heard.
"""

import json
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from clew.edit import below
from clew.edit.locking import locked
from clew.errors import Cancelled
from clew.ipc import address

log = logging.getLogger(__name__)

HOOK, COMMAND = "hook", "command"
"""The kinds of requests. One that names no kind comes from a hook."""
_LARGEST_REQUEST = 256 * 1024
_MOST_AT_ONCE = 16
_POLL_SECONDS = 0.5
_CLIENT_SECONDS = 5.0
STOPPING_SECONDS = 10.0


class Answerer(Protocol):
    """Handler of the requests of one kind."""

    most_at_once: int
    """A request beyond is declined at once, so that one kind never keeps another waiting."""

    def begin(self) -> None:
        """This server listens from now on."""

    def answer(self, request: dict[str, Any], connection: "Connection") -> None:
        """Answer a request of this project. Cancelled where its sender no longer waits."""

    def end(self, patience: float) -> None:
        """Finish the work under way, within so many seconds."""


class Connection:
    """The answering end of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, answer: dict[str, Any]) -> bool:
        """Send a line of the answer; False if its receiver no longer waits and has closed its end."""
        return self.send_line(json.dumps(answer).encode())

    def send_line(self, line: bytes) -> bool:
        try:
            self._connection.sendall(line + b"\n")
        except OSError:
            return False
        return True

    def is_open(self) -> bool:
        """False once the client closed the connection, or sent more than its request."""
        self._connection.setblocking(False)
        try:
            self._connection.recv(1)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        finally:
            with suppress(OSError):
                self._connection.settimeout(_CLIENT_SECONDS)
        return False

    def request(self) -> Any:
        """The request: one line of JSON. ValueError for a line that is too long or not JSON."""
        deadline = time.monotonic() + _CLIENT_SECONDS
        received = bytearray()
        while not received.endswith(b"\n"):
            self._connection.settimeout(max(deadline - time.monotonic(), 0.001))
            part = self._connection.recv(65_536)
            if not part:
                break
            received += part
            if len(received) > _LARGEST_REQUEST:
                raise ValueError("the request is too large")
        self._connection.settimeout(_CLIENT_SECONDS)
        return json.loads(bytes(received))


class Listener:
    def __init__(self, root: Path, answerers: Mapping[str, Answerer]) -> None:
        self._root = root
        self._answerers = {
            kind: (each, threading.BoundedSemaphore(each.most_at_once)) for kind, each in answerers.items()
        }
        self._stop = threading.Event()
        self._room = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self._thread: threading.Thread | None = None
        self._listening: socket.socket | None = None

    def start(self) -> None:
        """Begin to listen as soon as no other server does; returns at once."""
        if hasattr(socket, "AF_UNIX"):
            self._thread = threading.Thread(target=self._run, name="clew-ipc", daemon=True)
            self._thread.start()

    def stop(self, patience: float = STOPPING_SECONDS) -> None:
        """Stop listening after the accepted requests are answered, or after `patience` seconds."""
        self._stop.set()
        listening = self._listening
        if listening is not None:
            with suppress(OSError):
                # A thread that waits for a connection stops waiting.
                listening.shutdown(socket.SHUT_RDWR)
        if self._thread is not None:
            self._thread.join(timeout=patience)
        for each, _ in self._answerers.values():
            each.end(patience)

    def _run(self) -> None:
        folder = self._root / address.STATE_FOLDER
        while not self._stop.is_set():
            try:
                # Where nothing was kept yet there is nothing to ask for either: the folder is not made for a socket.
                if folder.is_dir():
                    descriptor = below.open_file(folder / address.LOCK, os.O_RDWR | os.O_CREAT)
                    with os.fdopen(descriptor, "r+b") as file, locked(file, 0.0) as is_ours:
                        if is_ours:
                            self._listen()
            except OSError as error:
                log.info("Hooks and commands of this project are not answered: %s.", error)
                return
            self._stop.wait(_POLL_SECONDS)

    def _listen(self) -> None:
        listening = self._bound()
        if listening is None:
            self._stop.wait()
            return
        path = listening.getsockname()
        self._listening = listening
        for each, _ in self._answerers.values():
            each.begin()
        with listening:
            listening.settimeout(_POLL_SECONDS)
            while not self._stop.is_set():
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    continue
                except OSError:
                    if self._stop.is_set():
                        break
                    raise
                self._room.acquire()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        with suppress(OSError):
            Path(path).unlink()

    def _bound(self) -> socket.socket | None:
        """A socket at the first address at which one can be created; none on Windows, which has no addresses."""
        if sys.platform == "win32":
            return None
        for path in address.sockets(str(self._root)):
            place = Path(path)
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                if place.parent != self._root / address.STATE_FOLDER:
                    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    if not address.is_ours(str(place.parent)):
                        raise PermissionError(f"{place.parent} is not this user's alone")
                # We hold the lock: the process that made it has ended.
                place.unlink(missing_ok=True)
                listening.bind(path)
                place.chmod(0o600)
                listening.listen(_MOST_AT_ONCE)
                return listening
            except OSError as error:
                listening.close()
                log.info("No socket at %s: %s.", path, error)
        log.warning("Hooks and commands of this project are not answered: no local socket can be made.")
        return None

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                if address.peer_is_us(connection):
                    self._answer(Connection(connection))
        except (OSError, ValueError, RecursionError) as error:
            log.debug("A hook or command went away: %s", error)
        except Cancelled:
            pass
        except Exception:
            log.exception("A hook or command was not answered")
        finally:
            self._room.release()

    def _answer(self, connection: Connection) -> None:
        request = connection.request()
        kind = request.pop("for", HOOK) if isinstance(request, dict) else None
        found = self._answerers.get(kind) if isinstance(kind, str) else None
        if found is None or request.get("root") != str(self._root):
            connection.send({"taken": False, "reason": "it is a request for another project or of another version"})
            return
        answerer, room = found
        if not room.acquire(blocking=False):
            connection.send({"taken": False, "reason": "the server is busy"})
            return
        try:
            answerer.answer(request, connection)
        finally:
            room.release()
