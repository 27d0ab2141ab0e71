"""The store: data that was authored through Clew and is in no other place.

One interface, several engines. `tests/store/test_contract_*.py` are the same for all of them.

- A *record* is a JSON value under a collection and an id. Writing happens inside a transaction that names the actor and
  the reason; every write appends an event with the value before and after. A deleted record leaves a tombstone and
  is hidden from every read until it is restored.
- A *job* is long work with progress that any process may watch and cancel.
- A *setting* is a small value that belongs to the store itself, such as the key that signs cursors.

Collections, ids, actors, kinds of jobs and names of settings are non-empty strings of at most 512 characters without
control characters; anything else is InvalidArgument. A store may be used by any number of threads and processes, but
not across a fork: a child process opens its own.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec

from clew.errors import StoreError


class Record(msgspec.Struct, frozen=True):
    collection: str
    id: str
    version: int
    """1 for an id never used before; one more with every write, deletion and restoration included. An id that is used
    again after a deletion goes on counting, so a version never means two things."""
    data: Any
    """A plain JSON value: what any later read returns."""
    updated_at: str
    """UTC, ISO 8601 with microseconds, as are all times here. The writes of one transaction share one time."""


class Event(msgspec.Struct, frozen=True):
    seq: int
    """Increasing in the order of commits."""
    at: str
    actor: str
    operation: str
    """put, delete or restore."""
    reason: str
    collection: str
    id: str
    version: int
    before: Any
    """None where there was no record."""
    after: Any
    """None where no record is left."""


class Tombstone(msgspec.Struct, frozen=True):
    collection: str
    id: str
    version: int
    data: Any
    """The record's last value."""
    deleted_at: str
    actor: str
    reason: str


class Job(msgspec.Struct, frozen=True):
    id: str
    kind: str
    state: str
    """running, done, failed or cancelled. Work whose process is gone is reported as failed, whatever was written last;
    see `clew.store.processes`."""
    done: int
    total: int | None
    message: str
    cancel_requested: bool
    started_at: str
    updated_at: str


Damaged = dict[str, StoreError]
"""The reasons why records could not be read, by their ids."""

Rewrite = Callable[[str, str, Any], Any]
"""Gets the collection and the id of a record and one of its values, or the reason of a write; returns what takes its
place, None for nothing."""


class Transaction(Protocol):
    """Writes that become visible and durable together when the block ends, or not at all.

    An exception that leaves the block takes everything back. A call that raises BadInput, NotFound or Conflict has
    written nothing, and the block may go on; after a StoreError it can only be left. Until the block ends, nobody sees
    its writes but through this object.
    """

    def put(self, collection: str, id: str, data: Any, *, if_version: int | None = None) -> Record:
        """Write a record. `if_version` 0 demands that it be new, another number that it be the present version;
        otherwise Conflict."""
        ...

    def delete(self, collection: str, id: str, *, if_version: int | None = None) -> Tombstone:
        """Hide a record behind a tombstone; NotFound if there is no record."""
        ...

    def restore(self, collection: str, id: str) -> Record:
        """Bring back the last deleted record with this id; NotFound if there is no tombstone, Conflict if the id is in
        use again."""
        ...

    def get(self, collection: str, id: str) -> Record | None: ...


class Store(Protocol):
    def transaction(self, *, actor: str, reason: str = "") -> AbstractContextManager[Transaction]:
        """A transaction; one at a time in each thread. Inside the block every other write to the store is refused with
        StoreError."""
        ...

    def put(
        self, collection: str, id: str, data: Any, *, actor: str, reason: str = "", if_version: int | None = None
    ) -> Record:
        """A transaction of one record, as `Transaction.put` writes it. A database elsewhere is asked once for it."""
        ...

    def get(self, collection: str, id: str) -> Record | None: ...

    def get_many(self, collection: str, ids: Iterable[str], *, damaged: "Damaged | None" = None) -> dict[str, Record]:
        """The existing records, in the order of the ids, all of one moment. A damaged one is StoreCorrupt, unless
        `damaged` takes its error: then it is left out, and the others are returned."""
        ...

    def scan(
        self, collection: str, *, after: str = "", limit: int | None = None, damaged: "Damaged | None" = None
    ) -> list[Record]:
        """Records in the order of their ids (by code point), those greater than `after`. A damaged one as above; there
        may then be fewer than `limit`, and none only where no more are whole."""
        ...

    def count(self, collection: str) -> int: ...

    def mark(self) -> object:
        """A value that changes with every write by anybody, for callers with caches; None if the store cannot tell
        without reading records."""
        ...

    def events(
        self,
        *,
        collection: str | None = None,
        id: str | tuple[str, ...] | None = None,
        after: int = 0,
        limit: int | None = None,
        latest_first: bool = False,
    ) -> list[Event]:
        """Events in the order of their `seq`, those greater than `after`; with `id`, of one record or of several."""
        ...

    def tombstones(self, collection: str, *, limit: int | None = None) -> list[Tombstone]:
        """The last deletion of each id that has not been restored, latest first."""
        ...

    def start_job(self, kind: str, *, total: int | None = None) -> Job: ...

    def advance_job(self, id: str, *, done: int, total: int | None = None, message: str = "") -> Job:
        """Record progress; without `total` or `message` the earlier one stays. The caller's process becomes the one
        that runs the job. Once somebody has asked for it, the job becomes cancelled and this raises Cancelled, now and
        ever after. NotFound for an unknown job, Conflict for one that has ended otherwise."""
        ...

    def renew_job(self, id: str) -> None:
        """Say that the work goes on, without news: progress stays as it is, and so does a request to stop, which only
        the worker can meet. A job that has ended stays as it is."""
        ...

    def finish_job(self, id: str, *, state: str = "done", message: str = "", done: int | None = None) -> Job:
        """End the job as done, failed or cancelled. The first ending stands: the same one again changes nothing,
        another is Conflict."""
        ...

    def cancel_job(self, id: str) -> Job:
        """Ask the job to stop; it does so at its next `advance_job`. One that has ended stays as it is."""
        ...

    def jobs(self, *, state: str | None = None, limit: int | None = None) -> list[Job]:
        """The latest first."""
        ...

    def setting(self, name: str, default: bytes) -> bytes:
        """The value under this name; the first caller's default is stored and returned to everyone after."""
        ...

    def rewrite(self, edit: Rewrite) -> int:
        """Pass every value that was ever stored, and every reason, through `edit`, and store the result: also in
        tombstones, events and the messages of jobs, which have no collection. A record without a value is deleted; its
        events stay, with id and time. Returns the number of changed rows. It cannot be undone, and it is for purging
        only."""
        ...

    def erase(self, collection: str, ids: Iterable[str]) -> list[str]:
        """Remove deleted values for good: the tombstones of these ids, and the values in their events, which stay with
        id, time and reason. An existing record stays. Returns the ids that were erased; it cannot be undone."""
        ...

    def compact(self, *, waits: bool = True) -> None:
        """Leave no byte of deleted or replaced values in the store's files. StoreBusy if others use the store all the
        time, or at all if it `waits` for nobody."""
        ...

    def describe(self, *, counts: bool = True) -> Mapping[str, Any]:
        """For `clew doctor`: `engine`, `location`, `schema_version`, `read_only`, `bytes`, and how many `records`,
        `events`, `tombstones` and `jobs` there are, which is counted and takes longer the more there are."""
        ...

    def check(self) -> list[str]:
        """Read everything and name what is damaged; empty when the store is whole. Changes nothing."""
        ...

    def close(self) -> None:
        """Close the store. A call under way in another thread ends normally; any later one is StoreError."""
        ...
