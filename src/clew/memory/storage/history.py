"""History of memories: lineage, tombstones and logs. All of it is read from the store's events."""

import itertools
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

import msgspec

from clew.memory.model import CHANGES, EXCHANGES, LONGEST_SNIPPET, MEMORIES, MemoryLinkKind
from clew.memory.scope import BY_ID, MemoryFilters
from clew.memory.storage.changes import ERASE, EXPIRY, PURGE, ChangeJournal, ChangeRecord, moment_of
from clew.memory.storage.index import IndexedMemory
from clew.memory.storage.library import MemoryReader, normal_id
from clew.memory.storage.requests import Component, LogLevel, LogQuery, TombstoneQuery
from clew.text.display import one_line
from clew.text.hashing import content_hash

_FORGOTTEN = MemoryFilters(forgotten=True)
_LEVELS: tuple[LogLevel, ...] = ("error", "warn", "info", "debug")
_COMPONENTS: dict[str, Component] = {
    "store": "storage",
    "edit": "storage",
    "dream": "dream",
    EXPIRY: "storage",
    **dict.fromkeys(("adjust_coupling", "adjust_neuromodulator", "trigger_workspace_broadcast"), "gwt"),
}
"""Of each operation; all others curate."""
_PAGE = 100


class LineageEvent(msgspec.Struct, frozen=True, kw_only=True):
    timestamp: str
    kind: str
    actor: str
    rationale: str
    before_hash: str | None
    after_hash: str | None
    reversal_hash: str
    related: tuple[str, ...] = ()
    """The other memories that the change was about."""


class Lineage(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    forgotten: bool
    events: tuple[LineageEvent, ...]
    ancestors: tuple[str, ...]
    """Memories that it was merged from or supersedes."""
    descendants: tuple[str, ...]
    """Memories that it was merged into or that supersede it."""
    truncated: bool = False


class TombstoneHit(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    title: str
    snippet: str
    deleted_at: str
    operation: str
    reason: str
    rationale: str
    reversal_hash: str
    expires_at: str
    days_left: int
    recoverable: bool


class Tombstones(msgspec.Struct, frozen=True, kw_only=True):
    tombstones: tuple[TombstoneHit, ...]
    count: int
    """Tombstones on all pages; those beyond `limit` do not count."""
    truncated: bool = False
    next_cursor: str | None = None


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    timestamp: str
    level: LogLevel
    component: str
    action: str
    node_ids: tuple[str, ...]
    reason: str
    recoverable: bool = False
    recovery_tool: str | None = None


class Logs(msgspec.Struct, frozen=True, kw_only=True):
    entries: tuple[LogEntry, ...]
    explanation_for_user: str
    total: int = 0
    """Entries on all pages; those beyond `limit` do not count."""
    truncated: bool = False
    next_cursor: str | None = None


class MemoryHistory:
    def __init__(self, library: MemoryReader, changes: ChangeJournal) -> None:
        self._library = library
        self._changes = changes
        self._store = library.home.store

    def lineage(self, id: str) -> Lineage:
        id = normal_id(id)
        there = id in self._library.index.visible((id,), self._library.viewer, BY_ID)
        if not there:
            self._library.forgotten(id)
        made = {event.version: event for event in self._store.events(collection=MEMORIES, id=id)}
        events: list[LineageEvent] = []
        before: dict[str, None] = {}
        after: dict[str, None] = {}
        for _, hash in self._library.index.touched(id):
            record = self._changes.get(hash)
            versions = [version for collection, touched, version in record.touched if touched == id]
            first, last = made[versions[0]], made[versions[-1]]
            kind = _kind(record, id)
            others = self._visible(other for other in record.memories if other != id)
            if kind == "merged_into":
                after[record.details["merged"]] = None
            elif kind == "merged_from":
                before.update(dict.fromkeys(record.details["sources"]))
            events.append(
                LineageEvent(
                    timestamp=record.at,
                    kind=kind,
                    actor=record.actor,
                    rationale=record.rationale,
                    before_hash=_image(first.before),
                    after_hash=_image(last.after),
                    reversal_hash=hash,
                    related=others,
                )
            )
        for link in self._library.index.links([id], (MemoryLinkKind.SUPERSEDES,)):
            (before if link.source == id else after)[link.target if link.source == id else link.source] = None
        is_erased = bool(events) and self._changes.get(events[-1].reversal_hash).operation == ERASE
        if is_erased:
            # No hash undoes anything of a memory whose text is gone.
            events = [msgspec.structs.replace(event, reversal_hash="") for event in events]
        return Lineage(
            node_id=id,
            forgotten=not there,
            events=tuple(events),
            ancestors=self._visible(before),
            descendants=self._visible(after),
        )

    def _visible(self, ids: Iterable[str]) -> tuple[str, ...]:
        wanted = list(ids)
        index, viewer = self._library.index, self._library.viewer
        seen = {*index.visible(wanted, viewer), *index.visible(wanted, viewer, _FORGOTTEN)}
        return tuple(id for id in wanted if id in seen)

    def tombstones(self, asked: TombstoneQuery, offset: int = 0) -> Tombstones:
        """Forgotten memories that can still be restored, the latest first."""
        now = moment_of(self._changes.now())
        since = moment_of(asked.deleted_after) if asked.deleted_after else None
        limit, words = asked.limit, (asked.query or "").casefold().split()
        found: list[TombstoneHit] = []
        for row in self._forgotten_rows():
            if len(found) > limit:
                break
            hash, record = self._deletion(row.id)
            if record.operation == ERASE:
                continue
            memory = self._library.forgotten(row.id)
            text = f"{memory.title} {memory.text} {record.rationale}".casefold()
            left = moment_of(record.expires_at) - now
            if left < timedelta(0) or (since and moment_of(record.at) < since) or not all(w in text for w in words):
                continue
            found.append(
                TombstoneHit(
                    node_id=row.id,
                    title=memory.own_title,
                    snippet=one_line(memory.text, LONGEST_SNIPPET),
                    deleted_at=record.at,
                    operation=record.operation,
                    reason=str(record.details.get("reason", record.operation)),
                    rationale=record.rationale,
                    reversal_hash=hash,
                    expires_at=record.expires_at,
                    days_left=left.days,
                    recoverable=True,
                )
            )
        shown, count = tuple(found[offset:limit]), min(len(found), limit)
        return Tombstones(tombstones=shown, count=count, truncated=len(found) > limit)

    def _forgotten_rows(self) -> Iterator[IndexedMemory]:
        for offset in itertools.count(0, _PAGE):
            rows = self._library.index.latest(self._library.viewer, _FORGOTTEN, _PAGE, offset)
            yield from rows
            if len(rows) < _PAGE:
                return

    def _deletion(self, id: str) -> tuple[str, ChangeRecord]:
        """The change that forgot a memory: the last one that touched it."""
        hash = self._library.index.touched(id)[-1][1]
        return hash, self._changes.get(hash)

    def logs(self, asked: LogQuery, offset: int = 0) -> Logs:
        """List stores, curations and recalls, the latest first."""
        shown, limit = _LEVELS[: _LEVELS.index(asked.level) + 1], asked.limit
        entries: list[LogEntry] = []
        for collection, data, entry, ids in self._latest():
            if entry.level not in shown or asked.component not in ("all", entry.component):
                continue
            # What is about no memory at all, such as a threshold, everybody may know; what was purged, a person.
            is_purge = entry.action == PURGE
            is_general = self._library.viewer.is_owner if is_purge else collection == CHANGES and not entry.node_ids
            if not ids and not is_general and not (collection == EXCHANGES and self._may_know(data)):
                continue
            entries.append(msgspec.structs.replace(entry, node_ids=ids))
            if len(entries) > limit:
                break
        said = (
            f"The last {min(len(entries), limit)} things that happened to the memory. What was forgotten within 30 days"
            " can be restored with restore_from_hash; search_tombstones finds it. What was never stored is not here."
        )
        return Logs(
            entries=tuple(entries[offset:limit]),
            explanation_for_user=said,
            total=min(len(entries), limit),
            truncated=len(entries) > limit,
        )

    def _latest(self) -> Iterator[tuple[str, dict[str, Any], LogEntry, tuple[str, ...]]]:
        """Changes and exchanges as they were recorded, the latest first, as entries of the log, with those of their
        memories that may be seen."""
        before: int | None = None
        while rows := self._library.home.happened(before, _PAGE):
            before = rows[-1][0]
            entries = [
                self._change_entry(each.data) if each.collection == CHANGES else _exchange_entry(each.data)
                for _, each in rows
            ]
            seen = set(self._visible(dict.fromkeys(id for entry in entries for id in entry.node_ids)))
            for (_, each), entry in zip(rows, entries, strict=True):
                yield each.collection, each.data, entry, tuple(id for id in entry.node_ids if id in seen)

    def _may_know(self, exchange: dict[str, Any]) -> bool:
        """True if the viewer may read what was asked and not found."""
        viewer = self._library.viewer
        own = exchange.get("agent") in (None, viewer.agent) and exchange.get("folder") == viewer.folder
        return viewer.is_owner or (own and not exchange.get("shown"))

    def _change_entry(self, data: object) -> LogEntry:
        record = msgspec.convert(data, ChangeRecord)
        deletes = record.operation in ("forget", "merge")
        return LogEntry(
            timestamp=record.at,
            level="warn" if record.operation in (ERASE, EXPIRY, PURGE) else "info",
            component=_COMPONENTS.get(record.operation, "curation"),
            action=record.operation,
            node_ids=record.memories,
            reason=record.rationale,
            recoverable=record.operation not in (ERASE, EXPIRY, PURGE) and record.expires_at > self._changes.now(),
            recovery_tool="restore_from_hash" if deletes else None,
        )


def _exchange_entry(data: dict[str, Any]) -> LogEntry:
    query, shown = data.get("query", ""), tuple(data.get("shown", ()))
    return LogEntry(
        timestamp=data["at"],
        level="info" if data.get("injected") is not None and not shown else "debug",
        component="retrieval",
        action=data["tool"],
        node_ids=shown,
        reason=data.get("reason") or f"asked for '{query}'",
    )


def _kind(record: ChangeRecord, id: str) -> str:
    """The kind of event that a change was for one of the memories it touched."""
    if record.operation == "merge":
        return "merged_from" if record.details.get("merged") == id else "merged_into"
    if record.operation == "store":
        return "created" if record.memories[0] == id else "superseded"
    names = {
        "annotate": "annotated",
        "boost": "boosted",
        "forget": "deleted",
        ERASE: "deleted",
        "restore": "restored",
    }
    return names.get(record.operation, record.operation)


def _image(value: object) -> str | None:
    return None if value is None else content_hash(msgspec.json.encode(value, order="deterministic"), 8)
