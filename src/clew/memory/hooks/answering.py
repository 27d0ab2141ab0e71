"""The server's answers to hooks, which ask at the project's socket.

Nothing of the memory is imported before the first event. An event is answered first and then handled from the spool,
where events that came while no server ran wait as well.
"""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.errors import Cancelled
from clew.memory.hooks import address, spool

if TYPE_CHECKING:
    from clew.ipc.listener import Connection
    from clew.memory.hooks.handler import HookHandler
    from clew.memory.hooks.pushed import EditGuard
    from clew.memory.service import MemoryService

log = logging.getLogger(__name__)

_DRAIN_EVERY_SECONDS = 30.0
_SENDING_SECONDS = 0.2
"""An answer is given up so long before the hook gives up: what is said later is not heard."""
_LONGEST_PATIENCE = 60.0


class HookAnswers:
    most_at_once = 16
    """As many as the socket takes: they are answered one after the other."""

    def __init__(
        self,
        root: Path,
        memory: "Callable[[], MemoryService]",
        guard: "Callable[[], EditGuard] | None" = None,
    ) -> None:
        self._root = root
        self._memory = memory
        self._guard = guard
        self._stop = threading.Event()
        self._work = threading.Event()
        self._worker: threading.Thread | None = None
        self._making = threading.Lock()
        self._handler: HookHandler | None = None

    def begin(self) -> None:
        self._worker = threading.Thread(target=self._work_off, name="clew-hooks-work", daemon=True)
        self._worker.start()

    def end(self, patience: float) -> None:
        """Handle the events that were taken; what is left after `patience` seconds waits for the next server."""
        self._stop.set()
        self._work.set()
        if self._worker is not None:
            self._worker.join(timeout=patience)

    def answer(self, request: dict[str, Any], connection: "Connection") -> None:
        deadline = time.monotonic() + _patience(request.pop("patience", None)) - _SENDING_SECONDS

        def check() -> None:
            if time.monotonic() > deadline:
                raise Cancelled("The hook no longer waits.")

        def reply(said: str) -> bool:
            return connection.send({"taken": True, "context": said})

        if self._handling().answer(request, reply, check):
            self._work.set()

    def _handling(self) -> "HookHandler":
        with self._making:
            if self._handler is None:
                from clew.memory.hooks.handler import HookHandler

                guard = self._guard() if self._guard is not None else None
                self._handler = HookHandler(self._root, self._memory(), guard)
            return self._handler

    def _work_off(self) -> None:
        """Handle the events in the spool, now and whenever there are more."""
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
    """The number of seconds that a hook waits, from its request."""
    return min(float(seconds), _LONGEST_PATIENCE) if isinstance(seconds, int | float) else 0.0
