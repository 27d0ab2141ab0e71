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
from clew.memory.hooks.answer import HookAnswer, answer, before_edit, suspects_line, with_line
from clew.memory.hooks.capture import runs
from clew.memory.hooks.capture.capture import Capture
from clew.memory.hooks.capture.episodes import Episodes
from clew.memory.hooks.event import HookEvent, event_of
from clew.memory.hooks.hosts import COMPACT, EDIT, INJECTS, PROMPT, START, STOP, TELLS_USER, TOOL
from clew.memory.hooks.pushed import EditGuard, NoGuard
from clew.memory.scope import Viewer
from clew.memory.service import MemoryService, MemoryView

log = logging.getLogger(__name__)

_REMEMBERED = 4_096
_KEEPING_SECONDS = 10.0
"""An event is answered as taken only after it was kept, so nothing but a full spool makes the server give up."""
_EXPIRED_EVERY = timedelta(hours=1)


_MADE_ANEW = ("compact", "resume", "clear")
"""The sources of a session's start after which its agent knows nothing of what it was shown before."""
_MOST_OPEN = 5


class OpenTurn(msgspec.Struct, frozen=True):
    """A turn of a session that is under way."""

    suspect: tuple[str, ...] = ()
    """Requirements under which code was changed, and no tests passed since."""
    is_told: bool = False
    """True if the agent was told what became suspect."""


class HookHandler:
    def __init__(self, root: Path, memory: MemoryService, guard: EditGuard | None = None) -> None:
        self._root = root
        self._memory = memory
        self._guard: EditGuard = guard or NoGuard()
        self._again: Cache[str, frozenset[str]] = Cache(_REMEMBERED)
        """What sessions may be shown again, because they were compacted or resumed."""
        self._turns: Cache[str, OpenTurn] = Cache(_REMEMBERED)
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
        kept = msgspec.structs.replace(event, parts=())
        return spool.keep(Path(places[0]), msgspec.to_builtins(kept), _KEEPING_SECONDS)

    def _answer_to(self, event: HookEvent, check: Callable[[], None]) -> HookAnswer:
        if self._memory.home.doubt is not None:
            return HookAnswer()
        try:
            self._follow(event)
            if event.kind == STOP and event.host in TELLS_USER:
                return HookAnswer(self._open_obligations(event))
            if event.kind not in INJECTS.get(event.host, ()):
                return HookAnswer()
            # Read first: what is being handled meanwhile is in the index afterwards.
            shown = spool.shown_in(address.spools(str(self._root)), event.session)
            view, again = self._view(event), self._again.get(event.session) or frozenset()
            seen = frozenset((*shown, *view.injected())) - again
            if event.kind == EDIT:
                return before_edit(view, event, self._guard, seen)
            said = answer(view, event, seen, check)
            return self._with_suspects(event, said) if event.kind == TOOL and event.wrote else said
        except (ClewError, OSError) as error:
            log.info("Nothing was injected: %s", error)
            return HookAnswer()

    def _follow(self, event: HookEvent) -> None:
        """Follow the turns of a session, and forget what it was shown when its context is made anew."""
        if event.kind == COMPACT or (event.kind == START and event.source in _MADE_ANEW):
            shown = spool.shown_in(address.spools(str(self._root)), event.session)
            self._again.put(event.session, frozenset((*shown, *self._view(event).injected())))
        if event.kind in (START, PROMPT):
            self._turns.put(event.session, OpenTurn())
        elif event.kind == TOOL and event.command and event.exit == 0 and runs.test_run(event.command) is not None:
            turn = self._turns.get(event.session) or OpenTurn()
            self._turns.put(event.session, msgspec.structs.replace(turn, suspect=()))

    def _with_suspects(self, event: HookEvent, said: HookAnswer) -> HookAnswer:
        """An answer after an edit, with what became suspect the first time in a turn."""
        turn = self._turns.get(event.session) or OpenTurn()
        on = self._guard.switches
        if not (on.after or on.end):
            return said
        try:
            suspects = self._guard.after(event.paths, event.parts)
        except (ClewError, OSError) as error:
            log.info("What became suspect is not known: %s", error)
            return said
        keys = tuple(line.key.removeprefix("requirement:") for line in suspects if line.key != "run")
        told = suspects_line(suspects) if on.after and not turn.is_told else ""
        suspect = tuple(dict.fromkeys((*turn.suspect, *keys)))
        self._turns.put(event.session, OpenTurn(suspect, turn.is_told or bool(told)))
        return with_line(said, told) if told else said

    def _open_obligations(self, event: HookEvent) -> str:
        """The obligations of a turn under which code was changed and no tests passed since, once."""
        turn = self._turns.get(event.session) or OpenTurn()
        self._turns.put(event.session, OpenTurn())
        if not turn.suspect or not self._guard.switches.end:
            return ""
        more = f" and {len(turn.suspect) - _MOST_OPEN} more" if len(turn.suspect) > _MOST_OPEN else ""
        named = ", ".join(turn.suspect[:_MOST_OPEN])
        return f"Clew: code was changed under {named}{more}, and no test run has passed since."

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
            if event.kind == COMPACT:
                view.note_exchange("hook", "", (), compacted=True, reason="the client compacted its context")
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
        if again := self._again.get(event.session):
            self._again.put(event.session, again - frozenset(shown))
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
