"""Handling of events by the server: answer at once, and store in the memory after the answer."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from clew.cache import Cache
from clew.errors import Cancelled, ClewError
from clew.memory.curation.expiry import Expiry
from clew.memory.hooks import address, spool
from clew.memory.hooks.answer import HookAnswer, answer
from clew.memory.hooks.capture.capture import Capture
from clew.memory.hooks.capture.episodes import Episodes
from clew.memory.hooks.event import HookEvent, event_of
from clew.memory.hooks.hosts import INJECTS
from clew.memory.scope import Viewer
from clew.memory.service import MemoryService, MemoryView

log = logging.getLogger(__name__)

_REMEMBERED = 4_096
_KEEPING_SECONDS = 10.0
"""An event is answered as taken only after it was kept, so nothing but a full spool makes the server give up."""
_EXPIRED_EVERY = timedelta(hours=1)


class HookHandler:
    def __init__(self, root: Path, memory: MemoryService) -> None:
        self._root = root
        self._memory = memory
        self._answering = threading.Lock()
        """One answer at a time: two that are made at once would show the same."""
        self._answered: Cache[tuple[str, ...], float] = Cache(_REMEMBERED)
        self._is_warm = False
        self._expired_at: datetime | None = None

    def answer(self, data: Any, reply: Callable[[str], bool], check: Callable[[], None]) -> bool:
        """Answer an event, unless it was answered before, and put it into the spool; returns whether there is something
        to handle. Whatever goes wrong, the hook gets an answer."""
        try:
            event = event_of(data)
        except msgspec.ValidationError as error:
            log.warning("A hook sent something else than an event: %s", error)
            reply("")
            return False
        with self._answering:
            if self._is_known(event):
                reply("")
                return False
            said = self._answer_to(event, check)
            # Kept before it is answered: the hook forgets what the server has taken.
            is_kept = not event.is_read and self._keep(event)
            if reply(said.context) and said.shown:
                self._note(event, said.shown)
        return is_kept

    def drain(self) -> None:
        """Handle the events in the spool. While the memory is not trusted, they go on waiting."""
        if self._memory.home.doubt is not None:
            return
        handled = sum(spool.drain(Path(place), self._handled) for place in address.spools(str(self._root)))
        now = self._memory.context.clock()
        if handled and (self._expired_at is None or now - self._expired_at >= _EXPIRED_EVERY):
            self._expired_at = now
            Expiry(self._memory.shared_view()).remove()
        self._warm()

    def _keep(self, event: HookEvent) -> bool:
        places = address.spools(str(self._root))
        return spool.keep(Path(places[0]), msgspec.to_builtins(event), _KEEPING_SECONDS)

    def _answer_to(self, event: HookEvent, check: Callable[[], None]) -> HookAnswer:
        if event.kind not in INJECTS.get(event.host, ()) or self._memory.home.doubt is not None:
            return HookAnswer()
        try:
            # Read first: what is being handled meanwhile is in the index afterwards.
            shown = spool.shown_in(address.spools(str(self._root)), event.session)
            return answer(self._view(event), event, shown, check)
        except (ClewError, OSError) as error:
            log.info("Nothing was injected: %s", error)
            return HookAnswer()

    def _is_known(self, event: HookEvent) -> bool:
        """True if the same event was answered before, in this process or by another one."""
        turn = event.call or event.turn
        key = (event.session, event.kind, turn or f"{event.text}\0{event.command}\0{event.paths}\0{event.source}")
        before = self._answered.get(key)
        if before is not None and (turn or abs(event.at - before) < 30):
            return True
        self._answered.put(key, event.at)
        return self._episodes(event).is_known(event)

    def _handled(self, data: dict[str, Any]) -> None:
        try:
            event = event_of(data)
            view = self._view(event)
            if event.shown:
                self._note(event, event.shown)
            Capture(view, self._folder(event)).handle(event)
        except Cancelled:
            raise
        except (ClewError, OSError, msgspec.ValidationError) as error:
            log.warning("An event of a hook was not taken into the memory: %s", error)
        except Exception:
            # One event that cannot be handled must not keep the others waiting for ever.
            log.exception("An event of a hook could not be handled")

    def _note(self, event: HookEvent, shown: tuple[str, ...]) -> None:
        view = self._view(event)
        view.note_exchange("hook", event.text or " ".join(event.paths), shown, injected=True)

    def _view(self, event: HookEvent) -> MemoryView:
        viewer = Viewer(folder=self._folder(event), session=event.session)
        return MemoryView(self._memory, viewer)

    def _episodes(self, event: HookEvent) -> Episodes:
        home = self._memory.home
        viewer = Viewer(folder=home.inside, session=event.session)
        return Episodes(MemoryView(self._memory, viewer), home.inside)

    def _folder(self, event: HookEvent) -> str:
        """The folder of the event's project inside the repository; that of this one for a work tree that is gone."""
        if event.root == str(self._root) or not Path(event.root).is_dir():
            return self._memory.home.inside
        inside = address.folder_inside(event.root)
        return self._memory.home.inside if inside is None else inside

    def _warm(self) -> None:
        """Load everything that the first prompt would otherwise wait for."""
        if not self._is_warm:
            self._is_warm = True
            viewer = Viewer(folder=self._memory.home.inside)
            MemoryView(self._memory, viewer).near("what is remembered about this project")
