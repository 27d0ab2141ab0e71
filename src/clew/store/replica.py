"""A team's store with a copy of it on this machine.

Writes go to the database, reads are answered by the copy. The copy is made of the database's events, in their order:
each event has a number (`seq`), and a read first fetches the events since the last one. So the copy never holds what
the database does not, and after a lost connection it continues where it stopped. A purge changes events that were
copied already; the database notes which, and the copy takes those over again.

While the database does not answer, reading goes on from the copy, `stale` says so, and every write fails with
StoreUnreachable: nothing is acknowledged that is not in the database.
"""

# Implements: REQ-d00483

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from clew.errors import StoreCorrupt, StoreError, StoreTooNew, StoreUnreachable
from clew.store.arguments import LARGEST_NUMBER
from clew.store.comparing import BLOCK, COLUMNS, Difference, Row, block_of, digests_of
from clew.store.interface import Damaged, Event, Job, Record, Rewrite, Tombstone, Transaction
from clew.store.sqlite.connections import index_of
from clew.store.sqlite.engine import SqliteStore, open_sqlite
from clew.store.sqlite.light_connection import log_of
from clew.store.sqlite.note import note_of
from clew.workspace.keeping import start_thread

if TYPE_CHECKING:
    from clew.store.postgres.engine import PostgresStore

log = logging.getLogger(__name__)

FRESH_SECONDS = 0.25
"""For so long what was asked of the database last is still true."""
AGAIN_SECONDS = 2.0
"""After a failed attempt, the database is left alone for so long."""
CLEAN_AGAIN_SECONDS = 60.0
"""After an attempt to clean the copy's files failed because others used them all the time."""
POLL_SECONDS = 0.5
"""Seconds between two looks of a server for events, woken or not."""
VERSION_SECONDS = 1.0
"""Seconds between two checks that this version may still work on the database's schema."""
COMPARE_SECONDS = 5.0
"""Seconds between two comparisons of the copy's last events with the database."""
COMPARED_BLOCKS = 16
"""Blocks of earlier events that a server compares each time."""
_BATCH = 2_000
_PURGES = "purges followed"
"""The copy's own setting: up to which purge it is in step."""
_UNCLEAN = "purged bytes left"
"""The copy's own setting: there while its files may hold bytes of what was replaced."""
_ORIGIN = "copy of"
"""The copy's own setting: the database that it is a copy of."""
_COPIED_ONCE = ("events_are_never_changed", "events_are_never_removed", "events_are_never_replaced")


class Waker(Protocol):
    """Waits until somebody has written."""

    def wait(self, seconds: float) -> None:
        """Return after a write, or when the time is over. May raise where the connection is lost."""
        ...

    def close(self) -> None: ...


class ReplicatedStore:
    def __init__(
        self,
        open_remote: "Callable[[], PostgresStore]",
        path: Path,
        *,
        fresh_seconds: float = FRESH_SECONDS,
    ) -> None:
        """`path` is the file of the copy. A database that does not answer now may answer later: then the copy serves
        until it does."""
        self.copy = path
        """The path of the copy."""
        self._open_remote = open_remote
        self._fresh = fresh_seconds
        self._local = _opened(path)
        self._pulling = threading.RLock()
        self._remote_lock = threading.Lock()
        self._remote: PostgresStore | None = None
        self._asked_at = -1e9
        self._rest_until = 0.0
        self._stale: str | None = None
        self._too_new: StoreTooNew | None = None
        self._version_after = 0.0
        self._checked = False
        self._clean_after = 0.0
        self._compare_after = 0.0
        self._compare_next = 0
        self._differed = ""
        self._follower: _Follower | None = None
        with self._local.moving() as connection:
            # It is a copy: what is purged in the database is replaced here.
            for trigger in _COPIED_ONCE:
                connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        try:
            self.pull()
        except StoreUnreachable:
            if not self._local.events(limit=1):
                self._local.close()
                raise
        except BaseException:
            self._local.close()
            raise

    @property
    def principal(self) -> str | None:
        """The user's name in the database; None before the first connection."""
        return self._remote.principal if self._remote is not None else None

    @property
    def may_write(self) -> bool:
        """True if the user may write to the database, or if it was never asked."""
        return self._remote is None or self._remote.may_write

    @property
    def database(self) -> "PostgresStore":
        """The database itself. StoreUnreachable where it does not answer."""
        return self._asked()

    # What the copy is worth

    @property
    def stale(self) -> str | None:
        """A message for readers: the time since which the database does not answer; None while it does."""
        return self._stale

    def follow(self, wakers: Callable[[], Waker]) -> None:
        """Bring the copy in step in the background from now on, for a server that runs long."""
        with self._remote_lock:
            if self._follower is None:
                self._follower = _Follower(self, wakers)

    def pull(self) -> int:
        """Copy new events; returns their number. StoreUnreachable if the database does not answer, StoreTooNew if an
        owner took a migration step that this version does not know."""
        with self._pulling:
            try:
                copied = self._pulled(self._opened())
            except StoreUnreachable as error:
                self._lost(error)
                raise
            self._asked_at = time.monotonic()
            if self._stale is not None:
                log.info("The database answers again; %d events were copied.", copied)
            self._stale = None
            return copied

    def _lost(self, error: StoreUnreachable) -> None:
        self._rest_until = time.monotonic() + AGAIN_SECONDS
        self._checked = False
        if self._stale is None:
            last = self._local.events(latest_first=True, limit=1)
            until = last[0].at if last else "nothing"
            self._stale = (
                "The team's database does not answer: this is the copy on this machine, with all that was written "
                f"until {until}. Nothing can be written until it answers again."
            )
            if self._follower is not None:
                # Who runs a server reads its log; a command says it in its notes or as its error.
                log.warning("%s", error)

    def _in_step(self) -> None:
        """Copy new events, unless that was just done or is impossible."""
        now = time.monotonic()
        if now - self._asked_at < self._fresh or now < self._rest_until:
            return
        # While the database is gone, one caller finds out; nobody else waits for that.
        if not self._pulling.acquire(blocking=self._stale is None):
            return
        try:
            if time.monotonic() - self._asked_at >= self._fresh:
                with suppress(StoreUnreachable):
                    self.pull()
        finally:
            self._pulling.release()

    def _pulled(self, remote: "PostgresStore") -> int:
        copied = 0
        self._demand_known(remote)
        if not self._checked:
            self._check(remote)
        while True:
            with self._local.asking() as connection:
                before = _place(connection)
            # Asked before the file is locked: other processes must not wait for the network.
            events = remote.event_rows(after=before.seq, limit=_BATCH)
            if events:
                remote.demand_on_disk()
                with self._local.moving() as connection:
                    now = _place(connection)
                    if now.purges != before.purges:
                        # Another process followed a purge: what was fetched may be what the purge took out.
                        continue
                    for event in events:
                        # Another process may have copied further.
                        if event[0] > now.seq:
                            _apply(connection, event)
            copied += len(events)
            if len(events) < _BATCH and self._has_followed_purges(remote):
                break
        seq = self._seq()
        self._compare_some(remote)
        # Where the copy had a number that the database does not have, what came since is not copied yet.
        return copied + (self._pulled(remote) if self._seq() < seq else 0)

    def _seq(self) -> int:
        with self._local.asking() as connection:
            return _place(connection).seq

    def _demand_known(self, remote: "PostgresStore") -> None:
        if self._too_new is None and time.monotonic() < self._version_after:
            return
        try:
            remote.demand_known()
        except StoreTooNew as error:
            self._too_new = error
            raise
        self._too_new = None
        self._version_after = time.monotonic() + VERSION_SECONDS

    def _has_followed_purges(self, remote: "PostgresStore") -> bool:
        """Copy records again that purges changed, and leave no byte of the former ones. False if another process did so
        at the same time, and this one has to look again."""
        with self._local.asking() as connection:
            before = _place(connection)
        purged, last = remote.purged(after=before.purges)
        if last != before.purges:
            events = [event for place in purged for event in remote.event_rows(collection=place[0], id=place[1])]
            remote.demand_on_disk()
            with self._local.moving() as connection:
                now = _place(connection)
                if now.purges != before.purges:
                    return False
                for event in events:
                    # What was not copied yet comes in its turn: the copy must not have a later event without the
                    # earlier ones.
                    if event[0] <= now.seq:
                        _apply(connection, event)
                _keep_setting(connection, _PURGES, str(last).encode())
                _keep_setting(connection, _UNCLEAN, os.urandom(8).hex().encode())
        self._clean()
        return True

    def _clean(self) -> None:
        """Leave no byte of replaced records. If others use the copy all the time, it is tried again later."""
        unclean = self._local.found_setting(_UNCLEAN)
        if not unclean or time.monotonic() < self._clean_after:
            return
        try:
            # This is part of a question: it does not wait for who reads the copy for long.
            self._local.compact(waits=False)
        except StoreError as error:
            self._clean_after = time.monotonic() + CLEAN_AGAIN_SECONDS
            log.warning("What was purged may still be in the copy's files: %s", error)
            return
        with self._local.moving() as connection:
            # Another process may have replaced something since.
            connection.execute("DELETE FROM settings WHERE name = ? AND value = ?", (_UNCLEAN, unclean))

    def _check(self, remote: "PostgresStore") -> None:
        """Check that the copy still belongs to the database. A database restored from an earlier backup lacks some
        events of the copy. One that was created anew counts its purges from the beginning, even with the same
        events."""
        with self._local.asking() as connection:
            before = _place(connection)
        last = _rows(self._local, after=before.seq - 1)
        same = remote.event_rows(after=before.seq - 1, limit=1) if last else []
        # At least the last purge that the copy followed.
        _, purges = remote.purged(after=max(0, before.purges - 1))
        origin, made = self._local.found_setting(_ORIGIN), remote.origin()
        is_other = (
            [_known_by(event) for event in same] != [_known_by(event) for event in last]
            or purges < before.purges
            or (bool(last) and origin != made)
        )
        if is_other:
            log.warning("This is not the database that was copied; the copy is made again.")
            self._renew(remote)
        elif origin != made:
            with self._local.moving() as connection:
                _keep_setting(connection, _ORIGIN, made)
        self._checked = True

    def _compared(self, remote: "PostgresStore", first: int, last: int) -> str:
        """Compare the blocks from one to another, and copy again those that differ; returns the differences. Events of
        the database that are missing here because they are newer do not count."""
        with self._local.asking() as connection:
            mark = _place(connection)
        last = min(last, block_of(mark.seq))
        rows = _rows(self._local, after=first * BLOCK - 1, before=min((last + 1) * BLOCK, LARGEST_NUMBER))
        here, there = digests_of(rows), remote.digests(first, last)
        if block_of(mark.seq) in there:
            # Its end may have come after the last look.
            end = remote.event_rows(after=block_of(mark.seq) * BLOCK - 1, before=mark.seq + 1)
            there |= digests_of(end) or {block_of(mark.seq): (0, 0)}
        difference = Difference()
        for block in sorted(block for block in here.keys() | there.keys() if here.get(block) != there.get(block)):
            after, before = block * BLOCK - 1, min((block + 1) * BLOCK, mark.seq + 1)
            there_now = remote.event_rows(after=after, before=before)
            difference.note(there_now, _rows(self._local, after=after, before=before))
        if not difference:
            return ""
        events = [event for place in difference.places for event in remote.event_rows(collection=place[0], id=place[1])]
        remote.demand_on_disk()
        with self._local.moving() as connection:
            if _place(connection) != mark:
                # Another process copied further meanwhile, or follows a purge: the next look compares again.
                return ""
            for place in difference.places:
                for table in ("tombstones", "events", "entries"):
                    connection.execute(f"DELETE FROM {table} WHERE collection = ? AND id = ?", place)  # noqa: S608
            for event in events:
                if event[0] <= mark.seq:
                    _apply(connection, event)
            _keep_setting(connection, _UNCLEAN, os.urandom(8).hex().encode())
        said = f"{difference}. They were copied again."
        log.warning("The copy of the team's store was not in step: %s", said)
        return said

    def _compare_some(self, remote: "PostgresStore") -> None:
        """Compare the last events, and some of the earlier ones, in turn. A few milliseconds, every few seconds."""
        if time.monotonic() < self._compare_after:
            return
        self._compare_after = time.monotonic() + COMPARE_SECONDS
        with self._local.asking() as connection:
            last = block_of(_place(connection).seq)
        self._differed = self._compared(remote, max(0, last - 1), last) or self._differed
        if self._follower is not None and last > 1:
            first = self._compare_next if self._compare_next < last - 1 else 0
            self._compare_next = first + COMPARED_BLOCKS
            said = self._compared(remote, first, min(self._compare_next, last - 1) - 1)
            self._differed = said or self._differed

    def _renew(self, remote: "PostgresStore") -> None:
        """Make the copy again, and leave no byte of the former one."""
        _, last = remote.purged(after=0)
        with self._local.moving() as connection:
            for table in ("tombstones", "entries", "events", "settings"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608
            seq = 0
            while events := remote.event_rows(after=seq, limit=_BATCH):
                for event in events:
                    _apply(connection, event)
                seq = events[-1][0]
            remote.demand_on_disk()
            _keep_setting(connection, _ORIGIN, remote.origin())
            _keep_setting(connection, _PURGES, str(last).encode())
            _keep_setting(connection, _UNCLEAN, os.urandom(8).hex().encode())
        self._clean()

    def _asked(self) -> "PostgresStore":
        """The database, unless this version may not work on its schema any more."""
        if self._too_new is not None:
            self.pull()
        return self._opened()

    def _opened(self) -> "PostgresStore":
        with self._remote_lock:
            if self._remote is None:
                self._remote = self._open_remote()
            return self._remote

    # Writing: the database alone

    @contextmanager
    def transaction(self, *, actor: str, reason: str = "") -> Iterator[Transaction]:
        with self._asked().transaction(actor=actor, reason=reason) as transaction:
            yield transaction
        self._after_write()

    def put(
        self, collection: str, id: str, data: Any, *, actor: str, reason: str = "", if_version: int | None = None
    ) -> Record:
        record = self._asked().put(collection, id, data, actor=actor, reason=reason, if_version=if_version)
        self._after_write()
        return record

    def _after_write(self) -> None:
        """Copy a write at once, so that the writer can read it. If that fails it is copied later: it is in the
        database."""
        with suppress(StoreError):
            self.pull()

    def start_job(self, kind: str, *, total: int | None = None) -> Job:
        return self._asked().start_job(kind, total=total)

    def advance_job(self, id: str, *, done: int, total: int | None = None, message: str = "") -> Job:
        return self._asked().advance_job(id, done=done, total=total, message=message)

    def renew_job(self, id: str) -> None:
        self._asked().renew_job(id)

    def finish_job(self, id: str, *, state: str = "done", message: str = "", done: int | None = None) -> Job:
        return self._asked().finish_job(id, state=state, message=message, done=done)

    def cancel_job(self, id: str) -> Job:
        return self._asked().cancel_job(id)

    def jobs(self, *, state: str | None = None, limit: int | None = None) -> list[Job]:
        return self._asked().jobs(state=state, limit=limit)

    def rewrite(self, edit: Rewrite) -> int:
        changed = self._asked().rewrite(edit)
        self.pull()
        return changed

    def erase(self, collection: str, ids: Iterable[str]) -> list[str]:
        erased = self._asked().erase(collection, ids)
        self.pull()
        return erased

    def compact(self, *, waits: bool = True) -> None:
        try:
            self._asked().compact(waits=waits)
        finally:
            # The copy is this user's own, also where the database's tables are another one's to write anew.
            if waits:
                self._compact_copy()

    def _compact_copy(self) -> None:
        """Compact the copy after a purge. If that fails a later look at the database does it: the failure does not
        concern the database's files."""
        try:
            self._local.compact()
        except StoreError as error:
            log.warning("What was purged may still be in the copy's files: %s", error)

    def setting(self, name: str, default: bytes) -> bytes:
        try:
            value = self._asked().setting(name, default)
        except StoreUnreachable as error:
            self._lost(error)
            known = self._local.found_setting(name)
            if known is None:
                raise
            return known
        if self._local.found_setting(name) != value:
            with self._local.moving() as connection:
                _keep_setting(connection, name, value)
        return value

    # Reading: the copy

    def get(self, collection: str, id: str) -> Record | None:
        self._in_step()
        return self._local.get(collection, id)

    def get_many(self, collection: str, ids: Iterable[str], *, damaged: Damaged | None = None) -> dict[str, Record]:
        self._in_step()
        return self._local.get_many(collection, ids, damaged=damaged)

    def scan(
        self, collection: str, *, after: str = "", limit: int | None = None, damaged: Damaged | None = None
    ) -> list[Record]:
        self._in_step()
        return self._local.scan(collection, after=after, limit=limit, damaged=damaged)

    def count(self, collection: str) -> int:
        self._in_step()
        return self._local.count(collection)

    def mark(self) -> object:
        return None

    def events(
        self,
        *,
        collection: str | None = None,
        id: str | tuple[str, ...] | None = None,
        after: int = 0,
        limit: int | None = None,
        latest_first: bool = False,
    ) -> list[Event]:
        self._in_step()
        return self._local.events(collection=collection, id=id, after=after, limit=limit, latest_first=latest_first)

    def tombstones(self, collection: str, *, limit: int | None = None) -> list[Tombstone]:
        self._in_step()
        return self._local.tombstones(collection, limit=limit)

    def describe(self, *, counts: bool = True) -> Mapping[str, Any]:
        try:
            description = dict(self._asked().describe(counts=counts))
        except StoreUnreachable as error:
            self._lost(error)
            description = dict(self._local.describe(counts=counts))
        return {
            **description,
            "copy": self._local.describe(counts=False)["location"],
            "copy_differed": self._differed or None,
            "stale": self._stale,
        }

    def check(self) -> list[str]:
        remote = self._asked()
        with self._pulling:
            differed = self._compared(remote, 0, block_of(self._seq())) or self._differed
            self._differed = ""
            self.pull()
        found = [f"the copy on this machine was not in step: {differed}"] if differed else []
        return [*remote.check(), *self._local.check(), *found]

    def close(self) -> None:
        if self._follower is not None:
            self._follower.close()
        self._local.close()
        with self._remote_lock:
            if self._remote is not None:
                self._remote.close()


class _Place(msgspec.Struct, frozen=True):
    """The progress of a copy."""

    seq: int
    purges: int


def _place(connection: Any) -> _Place:
    (seq,) = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (_PURGES,)).fetchone()
    return _Place(seq, 0 if row is None else int(row[0]))


def _known_by(event: Row) -> tuple[object, ...]:
    seq, at, _, _, _, collection, id, version, *_ = event
    return seq, at, collection, id, version


def _rows(local: SqliteStore, *, after: int, before: int = LARGEST_NUMBER) -> list[Row]:
    with local.asking() as connection:
        query = f"SELECT {COLUMNS} FROM events WHERE seq > ? AND seq < ? ORDER BY seq"  # noqa: S608
        return [tuple(row) for row in connection.execute(query, (after, before)).fetchall()]


def _apply(connection: Any, event: Row) -> None:
    """One event, in all tables of the copy, with its values as they are."""
    _, at, actor, operation, reason, collection, id, version, before, after = event
    connection.execute(f"INSERT OR REPLACE INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", event)  # noqa: S608
    place = (collection, id)
    row = connection.execute("SELECT version FROM entries WHERE collection = ? AND id = ?", place).fetchone()
    if row is not None and row[0] > version:
        # Events of a purge are taken over again; another process may have copied what came after them.
        return
    connection.execute("DELETE FROM tombstones WHERE collection = ? AND id = ?", place)
    connection.execute(
        "INSERT INTO entries VALUES (?, ?, ?, ?, ?) ON CONFLICT (collection, id) DO UPDATE SET"
        " version = excluded.version, data = excluded.data, updated_at = excluded.updated_at",
        (*place, version, after, at),
    )
    if operation == "delete" and before is not None:
        connection.execute(
            "INSERT INTO tombstones (collection, id, version, data, deleted_at, actor, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*place, version, before, at, actor, reason),
        )


def _opened(path: Path) -> SqliteStore:
    try:
        return open_sqlite(path)
    except (StoreCorrupt, StoreTooNew) as error:
        log.warning("The copy of the team's store is rebuilt: %s", error.message)
        for file in (path, log_of(path), index_of(path), note_of(path)):
            file.unlink(missing_ok=True)
        return open_sqlite(path)


def _keep_setting(connection: Any, name: str, value: bytes) -> None:
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))


class _Follower:
    """The thread that keeps a copy in step. Being woken only saves time: it looks every now and then by itself."""

    def __init__(self, store: ReplicatedStore, wakers: Callable[[], Waker]) -> None:
        self._store = store
        self._wakers = wakers
        self._closing = threading.Event()
        self._thread = start_thread("clew-replica", self._run)

    def close(self) -> None:
        self._closing.set()
        self._thread.join(POLL_SECONDS * 4)

    def _run(self) -> None:
        waker: Waker | None = None
        while not self._closing.is_set():
            try:
                if waker is None:
                    waker = self._wakers()
                self._store.pull()
                waker.wait(POLL_SECONDS)
            except Exception as error:
                # The database is gone, or came back as another process: a new connection is tried until it answers.
                log.debug("The copy waits for the database: %s", error)
                if waker is not None:
                    with suppress(Exception):
                        waker.close()
                waker = None
                self._closing.wait(AGAIN_SECONDS)
        if waker is not None:
            with suppress(Exception):
                waker.close()
