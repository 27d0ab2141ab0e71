"""Every write to the memory is one change: a transaction that can be undone as a whole.

A change notes which records it touched. The store's events have them as they were before and after, so undoing puts
back what was before, provided that it still finds what was after. Undoing is a change itself.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from clew.errors import Conflict, InvalidArgument, NotFound, RecoveryExpired
from clew.memory.model import CHANGES, LINKS, MEMORIES, Link, Memory
from clew.memory.texts.scrub import scrub
from clew.store.interface import Event, Store, Transaction
from clew.text.display import shortened

RECOVERY = timedelta(days=30)
ERASE = "erase"
"""The operation that deletes a memory for good."""

PURGE = "purge"
"""The operation that cannot be undone, and how the names of its records begin."""

EXPIRY = "expiry"
"""The job that removes for good what expired."""

Clock = Callable[[], datetime]


class ChangeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The stored record of a change."""

    operation: str
    at: str
    actor: str
    rationale: str
    expires_at: str
    memories: tuple[str, ...]
    """The memories it is about."""
    touched: tuple[tuple[str, str, int], ...]
    """The records it wrote: collection, id and version."""
    details: dict[str, Any] = {}


class ChangeWriter:
    """The writes of one change, while it is being made."""

    def __init__(self, transaction: Transaction, at: str, hash: str) -> None:
        self._transaction = transaction
        self.at = at
        self.hash = hash
        """Hash that undoes the change."""
        self.details: dict[str, Any] = {}
        self.memories: dict[str, None] = {}
        self._touched: dict[tuple[str, str, int], None] = {}

    @property
    def touched(self) -> tuple[tuple[str, str, int], ...]:
        return tuple(self._touched)

    def put(self, memory: Memory) -> None:
        self._put(MEMORIES, memory.id, memory)
        self.memories[memory.id] = None

    def memory(self, id: str) -> Memory:
        """A memory as it is now that nobody else can write."""
        data = self.present(MEMORIES, id)
        if data is None:
            raise NotFound(f"The memory {id} has just been forgotten.", hint="Nothing was written.")
        return msgspec.convert(data, Memory)

    def delete(self, id: str) -> None:
        self._delete(MEMORIES, id)
        self.memories[id] = None

    def link(self, link: Link) -> None:
        if link.source != link.target:
            self._put(LINKS, link.id, link)

    def unlink(self, link: Link) -> None:
        self._delete(LINKS, link.id)

    def write(self, collection: str, id: str, value: Any) -> None:
        """Write a record that is no memory and no link."""
        self._put(collection, id, value)

    def remove(self, collection: str, id: str) -> None:
        self._delete(collection, id)

    def note(self, collection: str, id: str, value: Any) -> None:
        """Write a record with the change that undoing the change leaves as it is."""
        self._transaction.put(collection, id, value)

    def replace(self, collection: str, id: str, value: Any) -> None:
        """Write a value to a record, or delete the record."""
        present = self._transaction.get(collection, id)
        if value is None:
            if present is not None:
                self._delete(collection, id)
        elif present is not None:
            self._put(collection, id, value)
        else:
            restored = self._transaction.restore(collection, id)
            self._touched[(collection, id, restored.version)] = None
            if restored.data != value:
                self._put(collection, id, value)
        if collection == MEMORIES:
            self.memories[id] = None

    def present(self, collection: str, id: str) -> Any:
        record = self._transaction.get(collection, id)
        return None if record is None else record.data

    def _put(self, collection: str, id: str, value: Any) -> None:
        record = self._transaction.put(collection, id, value)
        self._touched[(collection, id, record.version)] = None

    def _delete(self, collection: str, id: str) -> None:
        tombstone = self._transaction.delete(collection, id)
        self._touched[(collection, id, tombstone.version)] = None


class ChangeJournal:
    def __init__(self, store: Store, clock: Clock, after: Callable[[], None] = lambda: None) -> None:
        self._store = store
        self._clock = clock
        self._after = after
        """Called after every change that was made."""

    def now(self) -> str:
        return spelled(self._clock())

    @contextmanager
    def make(self, operation: str, actor: str, rationale: str) -> Iterator[ChangeWriter]:
        """A block whose writes happen together or not at all."""
        moment, rationale = self._clock(), scrub(rationale).text
        with self._store.transaction(actor=actor or "agent", reason=rationale) as transaction:
            change = ChangeWriter(transaction, spelled(moment), _hash(operation, spelled(moment)))
            yield change
            record = ChangeRecord(
                operation=operation,
                at=change.at,
                actor=actor or "agent",
                rationale=rationale,
                expires_at=spelled(moment + RECOVERY),
                memories=tuple(change.memories),
                touched=change.touched,
                details=change.details,
            )
            transaction.put(CHANGES, change.hash, record)
        self._after()

    def get(self, hash: str) -> ChangeRecord:
        record = self._store.get(CHANGES, hash.strip()) if hash.strip() and len(hash) <= 200 else None
        if record is None:
            raise NotFound(
                f"No change of this memory has the reversal hash '{shortened(hash)}'.",
                hint="Pass a reversal_hash as a tool returned it; search_tombstones lists those of forgotten memories.",
            )
        return msgspec.convert(record.data, ChangeRecord)

    def refuse_expired(self, record: ChangeRecord) -> None:
        if self.now() > record.expires_at:
            raise RecoveryExpired(
                f"The change of {record.at} can no longer be undone: its 30 days ended at {record.expires_at}.",
                hint="It is permanent now. Store what is still needed again.",
                data={"deleted_at": record.at, "expired_at": record.expires_at},
            )

    def undo(self, hash: str, actor: str, later: Sequence[str] = ()) -> tuple[ChangeRecord, ChangeWriter]:
        """Restore the records as they were before a change, and before the given later changes of them, latest first.
        Refused after 30 days, and if another change touched them."""
        record = self.get(hash)
        self.refuse_expired(record)
        undone = [*((each, self.get(each)) for each in later), (hash, record)]
        found = [(each, [(event, self._later(event)) for event in self._events(each)]) for _, each in undone]
        with self.make("restore", actor, f"undo of {record.operation}: {record.rationale}") as change:
            change.details["of"] = hash
            if later:
                change.details["with"] = list(later)
            for each, events in found:
                if events and all(change.present(event.collection, event.id) == event.before for event, _ in events):
                    raise _restored(each)
                for event, after in events:
                    if change.present(event.collection, event.id) != event.after:
                        raise _changed_since(each, event, after)
                for event, _ in reversed(events):
                    change.replace(event.collection, event.id, event.before)
        return record, change

    def after(self, hash: str, touched: Callable[[str], list[tuple[int, str]]]) -> list[str]:
        """The later changes of the records of a change, and of their records in turn, latest first. `touched` gives the
        changes of a memory."""
        order: dict[str, int] = {hash: 0}
        records, todo = {hash: self.get(hash)}, [hash]
        while todo:
            record = records[todo.pop()]
            last = {(collection, id): version for collection, id, version in record.touched}
            memories = {id for collection, id in last if collection == MEMORIES}
            memories |= {end for collection, id in last if collection == LINKS for end in id.split(".")[::2]}
            for seq, other in sorted({each for id in memories for each in touched(id)}):
                if other in records:
                    order[other] = max(order.get(other, 0), seq)
                    continue
                written = self.get(other)
                if any(version > last.get((collection, id), version) for collection, id, version in written.touched):
                    records[other], order[other] = written, seq
                    todo.append(other)
        del order[hash]
        return sorted(order, key=lambda each: order[each], reverse=True)

    def _events(self, record: ChangeRecord) -> list[Event]:
        """One event for each record, from its value before the change to its value after it."""
        last = {(collection, id): version for collection, id, version in record.touched}
        found = []
        for (collection, id), version in last.items():
            first = min(v for c, i, v in record.touched if (c, i) == (collection, id))
            events = self._store.events(collection=collection, id=id)
            before = next(event.before for event in events if event.version == first)
            final = next(event for event in events if event.version == version)
            found.append(msgspec.structs.replace(final, before=before))
        return found

    def _later(self, event: Event) -> Event | None:
        """The write of the same record that came after, if any."""
        events = self._store.events(collection=event.collection, id=event.id, after=event.seq, limit=1)
        return events[0] if events else None


def spelled(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment_of(time: str) -> datetime:
    """A time that somebody gave, as ISO 8601."""
    try:
        at = datetime.fromisoformat(time)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"'{shortened(time)}' is not a time.", hint="Write it as in 2026-01-31T12:00:00Z."
        ) from error


def spelled_time(time: str | None) -> str | None:
    return None if time is None else spelled(moment_of(time))


def _hash(operation: str, at: str) -> str:
    return f"sha256:{hashlib.sha256(f'{operation} {at} {secrets.token_hex(16)}'.encode()).hexdigest()}"


def _restored(record: ChangeRecord) -> Conflict:
    return Conflict(
        f"The {record.operation} of {record.at} is already restored: everything that it changed is as it was before.",
        hint="Nothing is left to do.",
        data={"already_restored": True},
    )


def _changed_since(record: ChangeRecord, event: Event, later: Event | None) -> Conflict:
    what = f"{event.collection} {event.id}"
    when = f" at {later.at} ({later.reason})" if later is not None else ""
    return Conflict(
        f"The {record.operation} of {record.at} cannot be undone: the {what} was changed again{when}.",
        hint="Undo the later change first, or pass cascade; get_node_lineage gives the reversal_hash of each.",
        data={"node_id": event.id, "changed_at": later.at if later is not None else None},
    )
