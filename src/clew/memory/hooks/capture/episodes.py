"""Episodes: events of a session as memories, one for each event. They are searched on request and never injected.

An episode's id follows from the session, the kind of event and the turn, so an event that two hooks report, or that is
handled again after a kill, is one episode.
"""

import hashlib
import uuid

import msgspec

from clew.errors import Conflict
from clew.memory.hooks.event import HookEvent
from clew.memory.model import MEMORIES, Memory, MemoryKind, MemoryScope, Origin, TrustLevel
from clew.memory.scope import MemoryFilters
from clew.memory.service import MemoryView
from clew.text.instruction_like import flags_of

ACTOR = "hook"
_SAME_TURN_SECONDS = 30
"""Time within which a repeated event belongs to the same turn, for hosts that do not number turns."""
_MOST_REPEATS = 1_000
_LOOKED_BACK = 200


class Episodes:
    """The episodes of the project, as one session sees them."""

    def __init__(self, view: MemoryView, folder: str) -> None:
        self._view = view
        self._home = view.service.home
        self._folder = folder
        """The folder inside the repository in which the session works."""

    def is_known(self, event: HookEvent) -> bool:
        return self._free_id(event) is None

    def add(self, event: HookEvent, **more: object) -> Memory | None:
        """The episode of an event; None if it exists already."""
        id = self._free_id(event)
        if id is None:
            return None
        episode = self._episode(event, id, more)
        try:
            self._home.store.put(MEMORIES, id, episode, actor=ACTOR, reason=event.kind, if_version=0)
        except Conflict:
            return None
        return episode

    def note(self, episode: Memory, **more: object) -> None:
        """Add details to an episode."""
        changed = msgspec.structs.replace(episode, metadata={**episode.metadata, **more})
        self._home.store.put(MEMORIES, episode.id, changed, actor=ACTOR, reason="what a run showed")

    def earlier(self, session: str) -> list[Memory]:
        """The last episodes of a session, the latest first."""
        filters = MemoryFilters(session=session, kinds=(MemoryKind.EPISODE.value,))
        return [memory for memory, _ in self._view.library.latest(_LOOKED_BACK, filters)]

    def _free_id(self, event: HookEvent) -> str | None:
        """The id of an event that is new; None for one that is known."""
        turn = event.call or event.turn
        for number in range(1 if turn else _MOST_REPEATS):
            id = _id(event, turn, number)
            known = self._home.store.events(collection=MEMORIES, id=id, limit=1)
            if not known:
                return id
            before = (known[0].after or {}).get("metadata", {})
            # A command that ended otherwise ran again.
            is_other = None not in (ends := (event.exit, before.get("exit"))) and len(set(ends)) > 1
            if not turn and not is_other and abs(event.at - before.get("at", 0.0)) < _SAME_TURN_SECONDS:
                return None
        return None

    def _episode(self, event: HookEvent, id: str, more: dict[str, object]) -> Memory:
        is_user = event.kind == "prompt"
        text = said_of(event)
        details = {
            "event": event.kind,
            "at": event.at,
            "command": event.command or None,
            "exit": event.exit,
            "paths": list(event.paths) or None,
            "wrote": event.wrote,
            **more,
        }
        return Memory(
            id=id,
            kind=MemoryKind.EPISODE,
            text=text,
            title=text.splitlines()[0][:120],
            rationale=f"Reported by a hook of {event.host}",
            recorded_at=self._view.changes.now(),
            scope=MemoryScope(repository=self._home.repository, folder=self._folder, branch=self._home.branch()),
            origin=Origin(
                trust=TrustLevel.USER if is_user else TrustLevel.TOOL,
                actor=ACTOR,
                session=event.session,
                host=event.host,
            ),
            importance=0.1,
            metadata={key: value for key, value in details.items() if value is not None and value is not False},
            flags=flags_of(text),
        )


def said_of(event: HookEvent) -> str:
    """The text of an episode."""
    if event.text:
        return f"User: {event.text}" if event.kind == "prompt" else f"Assistant: {event.text}"
    if event.command:
        ended = "" if event.exit is None else f" (exit code {event.exit})"
        return f"Ran: {event.command}{ended}"
    if event.paths:
        return f"{'Edited' if event.wrote else 'Read'}: {', '.join(event.paths)}"
    what = {"start": "Session started", "compact": "Context compacted", "stop": "Turn ended", "end": "Session ended"}
    return what.get(event.kind, event.kind) + (f" ({event.source})" if event.source else "")


def _id(event: HookEvent, turn: str, number: int) -> str:
    kind = "tool" if event.kind == "failure" else event.kind
    content = "" if turn else "\0".join((event.text, event.command, *event.paths, event.source, str(number)))
    key = "\0".join((event.session, kind, turn, content))
    return str(uuid.UUID(bytes=hashlib.sha256(key.encode("utf-8", "replace")).digest()[:16]))
