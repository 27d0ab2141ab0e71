"""The server's side of hooks: a local socket on which one server of a project answers them.

Whichever server gets the lock listens; the others wait, and one of them goes on when it ends. Nothing of the memory is
imported before the first event. An event is answered first and then handled from the spool, where events that came
while no server ran wait as well.
"""

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.edit import below
from clew.edit.locking import locked
from clew.errors import Cancelled
from clew.memory.hooks import address, spool

if TYPE_CHECKING:
    from clew.memory.hooks.handler import HookHandler
    from clew.memory.service import MemoryService

log = logging.getLogger(__name__)

LOCK = "hooks.lock"
_LARGEST_REQUEST = 256 * 1024
_MOST_AT_ONCE = 8
_POLL_SECONDS = 0.5
_CLIENT_SECONDS = 5.0
_DRAIN_EVERY_SECONDS = 30.0
_SENDING_SECONDS = 0.2
"""An answer is given up so long before the hook gives up: what is said later is not heard."""
_LONGEST_PATIENCE = 60.0
_STOPPING_SECONDS = 10.0


class HookListener:
    def __init__(self, root: Path, memory: "Callable[[], MemoryService]") -> None:
        self._root = root
        self._memory = memory
        self._stop = threading.Event()
        self._work = threading.Event()
        self._room = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self._threads: list[threading.Thread] = []
        self._making = threading.Lock()
        self._handler: HookHandler | None = None
        self._listening: socket.socket | None = None

    def start(self) -> None:
        """Begin to listen as soon as no other server does; returns at once."""
        if hasattr(socket, "AF_UNIX"):
            self._start(self._run, "clew-hooks")

    def stop(self, patience: float = _STOPPING_SECONDS) -> None:
        """Stop listening, after the events that were taken are handled, or after `patience` seconds; what is left then
        waits for the next server."""
        self._stop.set()
        self._work.set()
        listening = self._listening
        if listening is not None:
            with suppress(OSError):
                # Threads that wait for a hook stop waiting.
                listening.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=patience)

    def _start(self, target: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _run(self) -> None:
        folder = self._root / address.STATE_FOLDER
        while not self._stop.is_set():
            try:
                # Where nothing was kept yet there are no hooks either: the folder is not made for them.
                if folder.is_dir():
                    descriptor = below.open_file(folder / LOCK, os.O_RDWR | os.O_CREAT)
                    with os.fdopen(descriptor, "r+b") as file, locked(file, 0.0) as is_ours:
                        if is_ours:
                            self._listen()
            except OSError as error:
                log.info("Hooks of this project are not answered: %s.", error)
                return
            self._stop.wait(_POLL_SECONDS)

    def _listen(self) -> None:
        listening = self._bound()
        if listening is None:
            self._stop.wait()
            return
        path = listening.getsockname()
        self._listening = listening
        self._start(self._work_off, "clew-hooks-work")
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
        """A socket at the first address at which one can be made."""
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
                log.info("No socket for hooks at %s: %s.", path, error)
        log.warning("Hooks of this project are not answered: no local socket can be made.")
        return None

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(_CLIENT_SECONDS)
                if address.peer_is_us(connection):
                    self._answer(connection)
        except (OSError, ValueError) as error:
            log.debug("A hook went away: %s", error)
        except Cancelled:
            pass
        except Exception:
            log.exception("A hook was not answered")
        finally:
            self._room.release()

    def _answer(self, connection: socket.socket) -> None:
        data = json.loads(_line(connection))
        if not isinstance(data, dict) or data.get("root") != str(self._root):
            _send(connection, {"taken": False})
            return
        deadline = time.monotonic() + _patience(data.pop("patience", None)) - _SENDING_SECONDS

        def check() -> None:
            if time.monotonic() > deadline:
                raise Cancelled("The hook no longer waits.")

        if self._handling().answer(data, lambda said: _send(connection, {"taken": True, "context": said}), check):
            self._work.set()

    def _handling(self) -> "HookHandler":
        with self._making:
            if self._handler is None:
                from clew.memory.hooks.handler import HookHandler

                self._handler = HookHandler(self._root, self._memory())
            return self._handler

    def _work_off(self) -> None:
        """Handle what waits in the spool, now and whenever there is more."""
        while True:
            # Looked at first: what was kept before the stop is handled below.
            is_last = self._stop.is_set()
            if any(spool.is_waiting(Path(place)) for place in address.spools(str(self._root))):
                try:
                    self._handling().drain()
                except Cancelled:
                    return
                except Exception:
                    log.exception("Events of hooks were not handled")
            if is_last:
                return
            self._work.wait(_DRAIN_EVERY_SECONDS)
            self._work.clear()


def _patience(seconds: object) -> float:
    """For how many seconds a hook waits, by what it says."""
    return min(float(seconds), _LONGEST_PATIENCE) if isinstance(seconds, int | float) else 0.0


def _line(connection: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        part = connection.recv(65_536)
        if not part:
            break
        received += part
        if len(received) > _LARGEST_REQUEST:
            raise ValueError("the event is too large")
    return received


def _send(connection: socket.socket, answer: dict[str, Any]) -> bool:
    """Send the answer; False if the hook no longer waits and has closed its end."""
    try:
        connection.sendall(json.dumps(answer).encode() + b"\n")
    except OSError:
        return False
    return True
