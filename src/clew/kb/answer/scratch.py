"""Scratch space: the texts that answers point to instead of carrying them.

A search returns a short preview and the id of a *passage*; the passage itself waits here until somebody reads a part of
it. Everything is in memory and bounded: a passage lives for a fixed time from when it was written, a session has a
quota, and all sessions together have one. What has to make room is what was not read for longest.

A passage can be reached only from where it was written. `owner` says from where a call comes: the session of its
transport, or None where the transport keeps none; there the ids themselves, 128 random bits, are the key, and what they
lead to is gone after an hour at the latest. `credential` names the token that the caller showed; a passage is reached
with the same one only. The handle by which a session is named to the outside is random too: it tells nothing about the
transport.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from clew.cache import Cache, Quota
from clew.errors import InvalidArgument, OverBudget
from clew.kb.ingest.records import DocumentRecord
from clew.text.display import shortened

log = logging.getLogger(__name__)

TTL_SECONDS = 1_800.0
TOTAL_BYTES = 256 * 1024 * 1024
SESSION_BYTES = 64 * 1024 * 1024

_ID_BYTES = 16
"""128 bits, 22 characters."""
_OWNED_ID_BYTES = 12
"""96 bits, 16 characters: every quote carries an id, and where a session guards the passage, it is not the only key."""
_UNOWNED_SECONDS = 3_600.0
"""Longest lifetime of a passage that no session guards, whatever is configured."""
_OVERHEAD_BYTES = 1_024
"""The size of a passage besides its text, roughly."""
_MOST_SESSIONS = 4_096
"""With an owner, and as many without one: a client that opens one per question must not push out the others."""
_MOST_FORGOTTEN = 8_192
"""Of so many passages it is remembered that they once were there."""
_PRESSURE_SECONDS = 60.0
_PRESSURE_EVICTIONS = 16
"""So many passages that had to go before their time within that time are worth a warning."""


class ScratchPassage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    session: str
    """The handle of the session it belongs to."""
    section_id: str
    doc_tag: str
    title: str
    text: str
    source_uri: str
    """The file and its lines."""
    created_at: str
    size_bytes: int
    anchor: tuple[int, int]
    """The characters that say most about the question for which it was found last."""
    path: str
    line: int
    end_line: int
    document: DocumentRecord


class NewPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage to keep."""

    section_id: str
    version: str
    """Names the text: another text of the same section is another passage."""
    title: str
    text: str
    anchor: tuple[int, int]
    line: int
    end_line: int
    document: DocumentRecord


class ScratchLimits(msgspec.Struct, frozen=True, kw_only=True):
    ttl_seconds: float = TTL_SECONDS
    total_bytes: int = TOTAL_BYTES
    session_bytes: int = SESSION_BYTES


class ScratchState(msgspec.Struct, frozen=True, kw_only=True):
    """Counters since the process began, and the present contents."""

    passages: int
    bytes: int
    sessions: int
    written: int
    reused: int
    read: int
    refused: int
    expired: int
    evicted: int


@dataclass(slots=True)
class _Entry:
    passage: ScratchPassage
    key: tuple[str, str]
    size: int
    until: float


@dataclass(slots=True)
class _Session:
    handle: str
    owner: str | None
    credential: str
    ids: Quota[str]
    """Its passages with their sizes."""
    by_key: dict[tuple[str, str], str] = field(default_factory=dict)


class ScratchStore:
    """Safe under threads: one lock, held for a few dictionary operations at a time, never while a text is read."""

    def __init__(
        self,
        limits: ScratchLimits | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._limits = limits or ScratchLimits()
        self._monotonic = monotonic
        self._wall = wall
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}
        self._owned: Quota[str] = Quota(_MOST_SESSIONS)
        self._unowned: Quota[str] = Quota(_MOST_SESSIONS)
        """The handles of sessions."""
        self._handles: dict[tuple[str, str], str] = {}
        """From an owner and its credential to the handle of its session."""
        self._entries: dict[str, _Entry] = {}
        self._ids: Quota[str] = Quota(self._limits.total_bytes)
        """All passages with their sizes."""
        self._by_age: Quota[str] = Quota()
        self._unowned_by_age: Quota[str] = Quota()
        """The passages of sessions with and without an owner, the one that expires next first: reading one does not
        count as use here."""
        self._forgotten: Cache[str, str] = Cache(_MOST_FORGOTTEN)
        """From the id of a passage that is gone to its session."""
        self._counts = dict.fromkeys(("written", "reused", "read", "refused", "expired", "evicted"), 0)
        self._pressed_at = 0.0
        self._pressed = 0

    # Sessions

    def session(self, owner: str | None, credential: str = "") -> str:
        """The handle of the owner's session; a new session if there is no owner."""
        with self._lock:
            own = self._handles.get((owner, credential)) if owner is not None else None
            if own is None:
                return self._opened(owner, credential)
            self._quota(self._sessions[own]).use(own)
            return own

    def _opened(self, owner: str | None, credential: str) -> str:
        handle = secrets.token_urlsafe(_ID_BYTES)
        session = self._sessions[handle] = _Session(handle, owner, credential, Quota(self._limits.session_bytes))
        quota = self._quota(session)
        quota.add(handle)
        if owner is not None:
            self._handles[owner, credential] = handle
        for old in quota.excess():
            self._closed(old)
        return handle

    def _quota(self, session: _Session) -> Quota[str]:
        return self._unowned if session.owner is None else self._owned

    def _closed(self, handle: str) -> None:
        session = self._sessions[handle]
        for id in list(session.ids):
            self._remove(id, "evicted")
        del self._sessions[handle]
        self._quota(session).remove(handle)
        if session.owner is not None:
            del self._handles[session.owner, session.credential]

    # Passages

    def put(self, handle: str, new: NewPassage) -> ScratchPassage:
        """Keep a passage for the full time from now on. A passage that the session has keeps its id."""
        size = len(new.text.encode("utf-8", "surrogatepass"))
        cost = size + _OVERHEAD_BYTES
        most = min(self._limits.session_bytes, self._limits.total_bytes)
        if cost > most:
            raise OverBudget(
                f"A passage of {size} bytes is larger than the scratch space of a session.",
                hint="Raise kb.session_scratch_mb in clew.toml.",
                data={"reason": "scratch_full", "size_bytes": size, "max_bytes": most},
            )
        created = datetime.fromtimestamp(self._wall(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        key = (new.section_id, new.version)
        with self._lock:
            now = self._monotonic()
            self._expire(now)
            session = self._sessions.get(handle)
            if session is None:
                raise _no_session(handle)
            known = session.by_key.get(key)
            if known is not None:
                self._remove(known, None)
            id = known or secrets.token_urlsafe(_ID_BYTES if session.owner is None else _OWNED_ID_BYTES)
            document = new.document
            passage = ScratchPassage(
                id=id,
                session=handle,
                section_id=new.section_id,
                doc_tag=document.tag,
                title=new.title,
                text=new.text,
                source_uri=f"{document.path}#L{new.line}-L{new.end_line}",
                created_at=created,
                size_bytes=size,
                anchor=new.anchor,
                path=document.path,
                line=new.line,
                end_line=new.end_line,
                document=document,
            )
            self._add(session, _Entry(passage, key, cost, now + self._seconds(session)))
            self._counts["written" if known is None else "reused"] += 1
            warning = self._make_room(session, now)
        if warning:
            log.warning(
                "The scratch space is full: %d passages had to go before their time within %d s. "
                "Raise kb.scratch_mb in clew.toml, or ask for fewer results.",
                warning,
                _PRESSURE_SECONDS,
            )
        return passage

    def get(self, owner: str | None, id: str, *, handle: str | None = None, credential: str = "") -> ScratchPassage:
        """A passage of the caller's own; with a handle, only out of that session."""
        with self._lock:
            self._expire(self._monotonic())
            entry = self._entries.get(id)
            session = self._sessions[entry.passage.session] if entry is not None else None
            caller = (owner, credential)
            if entry is not None and session is not None and self._may_read(session, caller, handle):
                self._ids.use(id)
                session.ids.use(id)
                self._quota(session).use(session.handle)
                self._counts["read"] += 1
                return entry.passage
            self._counts["refused"] += 1
            gone = self._sessions.get(self._forgotten.get(id) or "")
            was_there = gone is not None and self._may_read(gone, caller, handle)
        raise _no_passage(id, expired=was_there)

    @staticmethod
    def _may_read(session: _Session, caller: tuple[str | None, str], handle: str | None) -> bool:
        return (session.owner, session.credential) == caller and handle in (None, session.handle)

    def state(self) -> ScratchState:
        with self._lock:
            self._expire(self._monotonic())
            return ScratchState(
                passages=len(self._entries), bytes=self._ids.size, sessions=len(self._sessions), **self._counts
            )

    # Inside the lock

    def _add(self, session: _Session, entry: _Entry) -> None:
        id = entry.passage.id
        self._entries[id] = entry
        self._ids.add(id, entry.size)
        self._ages(session).add(id)
        session.ids.add(id, entry.size)
        session.by_key[entry.key] = id

    def _remove(self, id: str, why: str | None) -> None:
        entry = self._entries.pop(id)
        self._ids.remove(id)
        session = self._sessions[entry.passage.session]
        self._ages(session).remove(id)
        session.ids.remove(id)
        del session.by_key[entry.key]
        if why is not None:
            self._counts[why] += 1
            self._forgotten.put(id, session.handle)

    def _expire(self, now: float) -> None:
        # The passages of either kind live equally long, so of each those that were written first go first.
        for ages in (self._by_age, self._unowned_by_age):
            while (id := next(iter(ages), None)) and self._entries[id].until <= now:
                self._remove(id, "expired")

    def _seconds(self, session: _Session) -> float:
        """The lifetime of the session's passages in seconds."""
        ttl = self._limits.ttl_seconds
        return ttl if session.owner is not None else min(ttl, _UNOWNED_SECONDS)

    def _ages(self, session: _Session) -> Quota[str]:
        return self._by_age if session.owner is not None else self._unowned_by_age

    def _make_room(self, session: _Session, now: float) -> int:
        """Evict the passages that were not read for longest; returns how many were evicted lately, if that is worth a
        warning."""
        evicted = 0
        for quota in (session.ids, self._ids):
            for id in quota.excess():
                self._remove(id, "evicted")
                evicted += 1
        if not evicted:
            return 0
        if now - self._pressed_at > _PRESSURE_SECONDS:
            self._pressed_at, self._pressed = now, 0
        before, self._pressed = self._pressed, self._pressed + evicted
        return self._pressed if before < _PRESSURE_EVICTIONS <= self._pressed else 0


def _no_session(handle: str) -> InvalidArgument:
    return InvalidArgument(
        f"The session '{shortened(handle)}' is no longer kept.",
        hint="Call again: a new one is opened.",
        data={"reason": "session_expired"},
    )


def _no_passage(id: str, *, expired: bool) -> InvalidArgument:
    reason = "passage_expired" if expired else "passage_not_found"
    state = "is no longer kept" if expired else "is not known in this session"
    return InvalidArgument(
        f"The passage '{shortened(id)}' {state}.",
        hint="Call kb_search or kb_retrieve_evidence again and use a passage_id it returns.",
        data={"reason": reason, "passage_id": id[:200]},
    )
