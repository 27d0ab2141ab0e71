"""The index of the memory: which memories there are, and how they are linked, both ways.

It is made from the events of the store, in their order, and kept in step before each question. So it may be lost or
damaged at any time, several processes may share it, and a write that a killed process left unindexed is found at the
next question.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from clew.derived.file import DerivedFile
from clew.errors import StoreCorrupt
from clew.memory.model import EXCHANGES, PENDING, PURGES, Link, MemoryLinkKind
from clew.memory.scope import BY_ID, EVERYTHING, FORGOTTEN_BY_ID, MemoryFilters, Viewer, condition
from clew.memory.storage import citations
from clew.memory.storage.citations import SEQ, number
from clew.memory.storage.index_tables import SCHEMA, apply_event, drop_memory, text_hash
from clew.store.interface import Store
from clew.store.sqlite.connections import SqliteConnection

_PURGED = "purged"
_BATCH = 10_000
_CACHE_FOR_MANY = 65_536
"""Kilobytes. Ids are random, so each of many events goes to another page of the file."""
_OLDEST = 500
_AT_ONCE = 500


class IndexedMemory(msgspec.Struct, frozen=True):
    """The columns of a memory in the index, known without reading the memory."""

    id: str
    kind: str
    domain: str
    importance: float
    confidence: float | None
    session: str | None
    recorded_at: str
    retired_at: str | None
    shown: int
    shown_at: str | None
    deleted_at: str | None


_COLUMNS = ", ".join(f"memories.{name}" for name in IndexedMemory.__struct_fields__)


class MemoryIndex(DerivedFile):
    def __init__(self, path: Path, store: Store) -> None:
        super().__init__(path, SCHEMA)
        self._store = store
        self._lock = threading.Lock()
        self._held = threading.local()
        self._seq = 0
        """Up to which event the file was seen to be filled."""
        self._damaged: object = None
        """The opening of the file in which damage was met."""
        self._is_copied = hasattr(store, "stale")
        """True if others may purge texts that were read here: on one machine, the purge itself rebuilds the index."""
        self._check_store()

    def _check_store(self) -> None:
        """A store that was replaced by an older copy has fewer events than the index was made from."""
        try:
            with self.reading() as connection:
                seq = number(connection, SEQ)
        except StoreCorrupt as error:
            if not self.is_damaged(error):
                raise
            self.renew()
            return
        if seq and not self._store.events(after=seq - 1, limit=1):
            self.renew()

    def renew(self) -> None:
        with self._lock:
            self._renew()

    def _renew(self) -> None:
        super().renew()
        self._seq = 0

    @contextmanager
    def reading(self) -> Iterator[SqliteConnection]:
        with self._noting_damage(), super().reading() as connection:
            yield connection

    @contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[SqliteConnection]:
        with self._noting_damage(), super().writing(durable=durable) as connection:
            yield connection

    # Implements: REQ-d00300-E
    @contextmanager
    def _noting_damage(self) -> Iterator[None]:
        """Note damage of the file, so that the next question makes it again."""
        opening = self.opening
        try:
            yield
        except StoreCorrupt as error:
            if not self.is_damaged(error):
                # A question may read other files on its way.
                raise
            self._damaged = opening
            hint = "Ask again: it is rebuilt from the memory."
            raise StoreCorrupt(error.message, hint=hint, data=error.data) from error

    def is_damaged(self, error: StoreCorrupt) -> bool:
        """True if an error came from this file."""
        return error.data.get("path") == str(self.path)

    @contextmanager
    def asked(self) -> Iterator[SqliteConnection]:
        """One state of the index, with all that was committed before the block began."""
        held: SqliteConnection | None = getattr(self._held, "connection", None)
        if held is not None:
            yield held
            return
        self._sync()
        with self.reading() as connection:
            yield connection

    @contextmanager
    def held(self) -> Iterator[None]:
        """All that this thread asks inside the block is of one state of the index, brought up to date only once."""
        with self.asked() as connection:
            before = getattr(self._held, "connection", None)
            self._held.connection = connection
            try:
                yield
            finally:
                self._held.connection = before

    def _sync(self) -> None:
        with self._lock:
            if self._damaged is self.opening:
                self._renew()
            elif self.follow():
                self._seq = 0
            began: int | None = None
            renewed = False
            while events := self._store.events(after=self._seq, limit=1):
                with self.writing() as connection:
                    # Another process may have filled it further.
                    seq = number(connection, SEQ)
                    # What an earlier process read counts as well.
                    began = seq if began is None else began
                    events = self._store.events(after=seq, limit=_BATCH)
                    if len(events) == _BATCH:
                        connection.execute(f"PRAGMA cache_size = -{_CACHE_FOR_MANY:d}")
                    purged = 0
                    for event in events:
                        apply_event(connection, event)
                        seq = event.seq
                        if (event.collection, event.id) == (PURGES, PENDING) and event.after is None:
                            purged = seq
                    _set_number(connection, SEQ, seq)
                    if purged:
                        _set_number(connection, _PURGED, purged)
                self._seq = seq
                if purged and began and self._is_copied and not renewed:
                    # Events that were read before have been blanked since.
                    self._renew()
                    renewed = True

    # Memories

    def visible(
        self, ids: Iterable[str], viewer: Viewer, filters: MemoryFilters = EVERYTHING
    ) -> dict[str, IndexedMemory]:
        """The visible memories among these, in the order in which they were named."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, IndexedMemory] = {}
        with self.asked() as connection:
            for start in range(0, len(wanted), _AT_ONCE):
                found |= _visible(connection, wanted[start : start + _AT_ONCE], viewer, filters)
        return {id: found[id] for id in wanted if id in found}

    def latest(
        self, viewer: Viewer, filters: MemoryFilters = EVERYTHING, limit: int = 20, offset: int = 0
    ) -> list[IndexedMemory]:
        """The memories that were made or shown last, the latest first."""
        seen = condition(viewer, filters)
        order = "deleted" if filters.forgotten else "max(made, shown_last)"
        query = f"SELECT {_COLUMNS} FROM memories WHERE {seen.sql} ORDER BY {order} DESC, id DESC LIMIT ? OFFSET ?"  # noqa: S608
        with self.asked() as connection:
            return _memories(connection, query, (*seen.parameters, limit, offset))

    def count(self, viewer: Viewer, filters: MemoryFilters = EVERYTHING) -> int:
        seen = condition(viewer, filters)
        is_counted = filters == MemoryFilters(forgotten=filters.forgotten)
        what, table = ("coalesce(sum(number), 0)", "figures") if is_counted else ("count(*)", "memories")
        query = f"SELECT {what} FROM {table} WHERE {seen.sql}"  # noqa: S608
        with self.asked() as connection:
            return int(connection.execute(query, seen.parameters).fetchone()[0])

    def importance(self, viewer: Viewer) -> tuple[int, float, float]:
        """The number of memories, with the mean and the mean square of their importance."""
        seen = condition(viewer)
        query = f"SELECT sum(number), sum(importance), sum(squares) FROM figures WHERE {seen.sql}"  # noqa: S608
        with self.asked() as connection:
            count, total, squares = connection.execute(query, seen.parameters).fetchone()
        return (count, total / count, squares / count) if count else (0, 0.0, 0.0)

    def counts(self, column: str, viewer: Viewer) -> dict[str, int]:
        """The number of memories of each kind, or of each domain."""
        seen = condition(viewer)
        query = f"SELECT {column}, sum(number) FROM figures WHERE {seen.sql} GROUP BY 1 ORDER BY 2 DESC"  # noqa: S608
        with self.asked() as connection:
            return {value: number for value, number in connection.execute(query, seen.parameters).fetchall() if number}

    def heaviest(self, viewer: Viewer, above: float, limit: int) -> list[IndexedMemory]:
        """The memories of more than some importance, the most important first."""
        return self._rows("importance > ?", "importance DESC", viewer, limit, above)

    def recorded(self, viewer: Viewer, since: str, until: str, limit: int) -> list[IndexedMemory]:
        """The memories that were written down in a span of time, the latest first."""
        return self._rows("recorded_at >= ? AND recorded_at < ?", "recorded_at DESC", viewer, limit, since, until)

    def oldest(self, viewer: Viewer, limit: int) -> list[IndexedMemory]:
        return self._rows("1", "made", viewer, limit)

    def old_episodes(self, viewer: Viewer, before: str, limit: int) -> list[IndexedMemory]:
        """The episodes from before a time, the earliest first."""
        seen = condition(viewer, MemoryFilters(kinds=("episode",)))
        query = f"""
            SELECT {_COLUMNS} FROM memories INDEXED BY memories_episodes
            WHERE kind = 'episode' AND deleted IS NULL AND recorded_at < ? AND {seen.sql} ORDER BY recorded_at LIMIT ?
        """  # noqa: S608
        with self.asked() as connection:
            return _memories(connection, query, (before, *seen.parameters, limit))

    def forgotten_first(self, viewer: Viewer, limit: int, offset: int = 0) -> list[IndexedMemory]:
        """The forgotten memories, the earliest first."""
        seen = condition(viewer, FORGOTTEN_BY_ID)
        query = f"SELECT {_COLUMNS} FROM memories WHERE {seen.sql} ORDER BY deleted LIMIT ? OFFSET ?"  # noqa: S608
        with self.asked() as connection:
            return _memories(connection, query, (*seen.parameters, limit, offset))

    def drop(self, ids: Iterable[str]) -> None:
        """Know nothing more of memories that were erased from the store."""
        self._sync()
        with self.writing() as connection:
            for id in ids:
                drop_memory(connection, id)

    def flagged(self, viewer: Viewer, limit: int = 20) -> list[IndexedMemory]:
        return self._rows("flagged", "made DESC", viewer, limit)

    def waiting(self, viewer: Viewer, limit: int = 1_000) -> list[IndexedMemory]:
        """The memories that came from documents and that nobody has accepted yet, the latest first."""
        return self._rows("waits", "made DESC", viewer, limit)

    def of_kind(self, kind: str, viewer: Viewer, limit: int) -> list[IndexedMemory]:
        """The memories of a kind, the latest first."""
        seen = condition(viewer, MemoryFilters(kinds=(kind,)))
        query = f"SELECT {_COLUMNS} FROM memories WHERE kind = ? AND {seen.sql} ORDER BY made DESC LIMIT ?"  # noqa: S608
        with self.asked() as connection:
            return _memories(connection, query, (kind, *seen.parameters, limit))

    def unlinked(self, viewer: Viewer, before: str, limit: int) -> list[IndexedMemory]:
        """Memories from before a time that nothing is linked to and that are linked to nothing, of the oldest ones."""
        oldest = [row for row in self.oldest(viewer, _OLDEST) if row.recorded_at < before]
        query = """
            SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM links WHERE source = value)
            AND NOT EXISTS (SELECT 1 FROM links WHERE target = value)
        """
        with self.asked() as connection:
            rows = connection.execute(query, (msgspec.json.encode([row.id for row in oldest]).decode(),)).fetchall()
        alone = {id for (id,) in rows}
        return [row for row in oldest if row.id in alone][:limit]

    def _rows(self, test: str, order: str, viewer: Viewer, limit: int, *values: object) -> list[IndexedMemory]:
        seen = condition(viewer)
        query = f"SELECT {_COLUMNS} FROM memories WHERE {test} AND {seen.sql} ORDER BY {order} LIMIT ?"  # noqa: S608
        with self.asked() as connection:
            return _memories(connection, query, (*values, *seen.parameters, limit))

    def with_prefix(self, digits: str, viewer: Viewer, limit: int = 6) -> list[tuple[str, bool]]:
        """The memories whose ids begin with these hexadecimal digits, and whether each was forgotten."""
        found: list[tuple[str, bool]] = []
        with self.asked() as connection:
            for filters in (BY_ID, FORGOTTEN_BY_ID):
                seen = condition(viewer, filters)
                query = f"SELECT id FROM memories WHERE hex >= ? AND hex < ? AND {seen.sql} ORDER BY hex LIMIT ?"  # noqa: S608
                rows = connection.execute(query, (digits, f"{digits}g", *seen.parameters, limit)).fetchall()
                found += [(id, filters.forgotten) for (id,) in rows]
        return found

    def with_text(self, text: str, viewer: Viewer) -> str | None:
        """A memory of exactly this text, apart from blanks and case, that nothing superseded."""
        seen = condition(viewer)
        query = (
            f"SELECT id FROM memories WHERE text_hash = ? AND retired_at IS NULL AND {seen.sql} ORDER BY made LIMIT 1"  # noqa: S608
        )
        with self.asked() as connection:
            row = connection.execute(query, (text_hash(text), *seen.parameters)).fetchone()
        return row[0] if row else None

    # Links

    def links(
        self,
        ids: Sequence[str],
        kinds: Iterable[MemoryLinkKind] | None = None,
        *,
        outward: bool = True,
        inward: bool = True,
        cites: bool = False,
    ) -> list[Link]:
        """The links at these memories or nodes, the heaviest first."""
        sides = [side for side, wanted in (("source", outward), ("target", inward)) if wanted]
        chosen = None if kinds is None else [kind.value for kind in kinds]
        with self.asked() as connection:
            found = [row for side in sides for row in _links(connection, side, list(ids), chosen, cites=cites)]
        links = {link.id: link for link in map(_link, found)}
        return sorted(links.values(), key=lambda link: (-link.weight, link.id))

    def around(self, ids: Iterable[str], *, cites: bool = False) -> dict[str, frozenset[str]]:
        """The memories that each of these is linked to, in either direction, without the kinds of links."""
        found: dict[str, set[str]] = {id: set() for id in ids}
        with self.asked() as connection:
            for own, other in ((0, 1), (1, 0)):
                for row in _links(connection, ("source", "target")[own], list(found), None, cites=cites):
                    found[row[own]].add(row[other])
        return {id: frozenset(others) for id, others in found.items()}

    def replacing(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """The memories that supersede these; none for most. Asked for all results at once."""
        found: dict[str, list[str]] = {}
        with self.asked() as connection:
            for start in range(0, len(ids), _AT_ONCE):
                some = ids[start : start + _AT_ONCE]
                query = f"""
                    SELECT target, source FROM links INDEXED BY links_superseding
                    WHERE kind = 'supersedes' AND is_cite = 0 AND target IN ({", ".join("?" * len(some))})
                    ORDER BY weight DESC, id
                """  # noqa: S608
                for target, source in connection.execute(query, tuple(some)).fetchall():
                    found.setdefault(target, []).append(source)
        return found

    def links_of_kind(self, kind: MemoryLinkKind, viewer: Viewer, limit: int, origin: str | None = None) -> list[Link]:
        """The heaviest links of a kind between memories that may both be seen, and of which none was superseded."""
        seen = condition(viewer)
        is_current = f"EXISTS (SELECT 1 FROM memories WHERE id = {{}} AND retired_at IS NULL AND {seen.sql})"  # noqa: S608
        query = f"""
            SELECT source, target, kind, weight, confidence, origin FROM links
            WHERE kind = ? AND is_cite = 0 AND (? IS NULL OR origin = ?)
                AND {is_current.format("links.source")} AND {is_current.format("links.target")}
            ORDER BY weight DESC LIMIT ?
        """  # noqa: S608
        values = (kind.value, origin, origin, *seen.parameters, *seen.parameters, limit)
        with self.asked() as connection:
            return [_link(row) for row in connection.execute(query, values).fetchall()]

    def citing(self, nodes: Sequence[str], prefixes: Sequence[str], viewer: Viewer) -> list[str]:
        """The memories that cite one of these nodes, or one whose id begins like that, the latest first."""
        with self.asked() as connection:
            return citations.citing(connection, nodes, prefixes, viewer)

    def symbols_called(self, names: Iterable[str]) -> list[str]:
        """The cited symbols that have one of these names, whatever file they are in."""
        with self.asked() as connection:
            return citations.symbols_called(connection, names)

    # What happened

    def touched(self, memory: str) -> list[tuple[int, str]]:
        """The changes that touched a memory, in order: the number of the event, and the change's hash."""
        query = "SELECT seq, hash FROM touched WHERE memory = ? ORDER BY seq"
        with self.asked() as connection:
            return connection.execute(query, (memory,)).fetchall()

    def shown_in(self, session: str, *, injected: bool = False) -> list[str]:
        """The memories that were shown in a session, the latest first; only those that were injected, if asked."""
        with self.asked() as connection:
            return citations.shown_in(connection, session, injected=injected)

    def written_since(self, seq: int) -> tuple[int, list[tuple[str, bool]]]:
        """The memories that were written or deleted after an event, and up to which event that is."""
        query = "SELECT id, deleted IS NOT NULL FROM memories WHERE written > ? ORDER BY written"
        with self.asked() as connection:
            rows = connection.execute(query, (seq,)).fetchall()
            return number(connection, SEQ), [(id, bool(gone)) for id, gone in rows]

    def written_after(self, seq: int, viewer: Viewer, limit: int) -> list[tuple[int, str]]:
        """The memories that were written after an event and may be seen, in that order, each with its event."""
        seen = condition(viewer)
        query = f"SELECT written, id FROM memories WHERE written > ? AND {seen.sql} ORDER BY written LIMIT ?"  # noqa: S608
        with self.asked() as connection:
            return connection.execute(query, (seq, *seen.parameters, limit)).fetchall()

    def rewritten(self, since: str, viewer: Viewer, filters: MemoryFilters) -> list[str]:
        """The memories that may be seen and were written again after a time, the latest first."""
        seen = condition(viewer, filters)
        query = f"""
            SELECT id FROM memories WHERE written > made AND written_at > ? AND {seen.sql} ORDER BY written_at DESC
        """  # noqa: S608
        with self.asked() as connection:
            return [id for (id,) in connection.execute(query, (since, *seen.parameters)).fetchall()]

    def happened(self, before: int | None, limit: int, after: int = 0) -> list[tuple[int, str, str]]:
        """Changes and exchanges between two events, the latest first: the event, the collection and the id."""
        query = "SELECT seq, collection, id FROM happened WHERE seq < ? AND seq > ? ORDER BY seq DESC LIMIT ?"
        with self.asked() as connection:
            return connection.execute(query, (before or 2**62, after, limit)).fetchall()

    def last(self, *collections: str) -> int:
        """The event of the last change or exchange; 0 where nothing happened yet."""
        marks = ", ".join("?" for _ in collections)
        query = f"SELECT coalesce(max(seq), 0) FROM happened WHERE collection IN ({marks})"  # noqa: S608
        with self.asked() as connection:
            (last,) = connection.execute(query, collections).fetchone()
            return int(last)

    def exchanges_from(self, limit: int) -> tuple[int | None, int]:
        """The event of the first of the last exchanges, if there was any, and the last event of all."""
        query = "SELECT min(seq) FROM (SELECT seq FROM happened WHERE collection = ? ORDER BY seq DESC LIMIT ?)"
        with self.asked() as connection:
            (first,), last = connection.execute(query, (EXCHANGES, limit)).fetchone(), number(connection, SEQ)
        return first, last

    def purged(self) -> int:
        """The event at which the last purge ended; 0 where there was none."""
        with self.asked() as connection:
            return number(connection, _PURGED)

    def there(self) -> frozenset[str]:
        """The memories that were not forgotten."""
        with self.asked() as connection:
            return frozenset(id for (id,) in connection.execute("SELECT id FROM memories WHERE deleted IS NULL"))

    def mark(self, name: str) -> int:
        """The position up to which somebody has read the index; 0 for one who never did."""
        with self.asked() as connection:
            return number(connection, f"of {name}")

    def set_mark(self, name: str, seq: int) -> None:
        with self.writing() as connection:
            _set_number(connection, f"of {name}", seq)

    def lacking(self, name: str) -> frozenset[str]:
        """The damaged memories that could not be read here."""
        prefix = _lacks(name)
        with self.asked() as connection:
            rows = connection.execute("SELECT name FROM state WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))
            return frozenset(each.removeprefix(prefix) for (each,) in rows.fetchall())

    def set_lacking(self, name: str, ids: Iterable[str]) -> None:
        prefix = _lacks(name)
        with self.writing() as connection:
            connection.execute("DELETE FROM state WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))
            for id in ids:
                _set_number(connection, prefix + id, 0)


def _lacks(name: str) -> str:
    return f"{name} lacks "


def _set_number(connection: SqliteConnection, name: str, value: int) -> None:
    connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))


def _memories(connection: SqliteConnection, query: str, values: Sequence[object]) -> list[IndexedMemory]:
    return [IndexedMemory(*row) for row in connection.execute(query, values).fetchall()]


def _visible(
    connection: SqliteConnection, ids: list[str], viewer: Viewer, filters: MemoryFilters
) -> dict[str, IndexedMemory]:
    seen = condition(viewer, filters)
    marks = ", ".join("?" * len(ids))
    query = f"SELECT {_COLUMNS} FROM memories WHERE id IN ({marks}) AND {seen.sql}"  # noqa: S608
    return {row[0]: IndexedMemory(*row) for row in connection.execute(query, (*ids, *seen.parameters)).fetchall()}


def _links(
    connection: SqliteConnection, side: str, ids: list[str], kinds: list[str] | None, *, cites: bool
) -> Iterator[tuple[Any, ...]]:
    # A memory has few links, and there are many of a kind: the plus keeps SQLite from going over those.
    among = "" if kinds is None else f" AND +kind IN ({', '.join('?' * len(kinds))})"
    only = "" if cites else " AND is_cite = 0"
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        query = f"""
            SELECT source, target, kind, weight, confidence, origin FROM links
            WHERE {side} IN ({", ".join("?" * len(some))}){among}{only}
        """  # noqa: S608
        yield from connection.execute(query, (*some, *(kinds or ()))).fetchall()


def _link(row: tuple[Any, ...]) -> Link:
    source, target, kind, weight, confidence, origin = row
    return Link(
        source=source, target=target, kind=MemoryLinkKind(kind), weight=weight, confidence=confidence, origin=origin
    )
