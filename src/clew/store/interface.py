"""The store: what was authored through Clew and lives nowhere else, and what is worth not computing twice.

One interface, several engines. `tests/store/contract.py` is the same for all of them.

- A *record* is a JSON value under a collection and an id. Writing happens inside a transaction that names the actor and
  the reason; every write appends an event with the value before and after. A deleted record leaves a tombstone and
  is hidden from every read until it is restored.
- A *job* is long work with progress that any process may watch and cancel.
- The *parse cache* holds what readers made of files. It may be lost at any time without losing anything.
- A *setting* is a small value that belongs to the store itself, such as the key that signs cursors.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec


class Record(msgspec.Struct, frozen=True):
    collection: str
    id: str
    version: int
    """1 for a new record; one more with every write, deletion and restoration included."""
    data: Any
    updated_at: str
    """UTC, ISO 8601 with microseconds."""


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
    after: Any


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
    """running, done, failed or cancelled."""
    done: int
    total: int | None
    message: str
    cancel_requested: bool
    started_at: str
    updated_at: str


class CachedFile(msgspec.Struct, frozen=True):
    """What a reader made of one file."""

    path: str
    """Relative to the project, with forward slashes."""
    reader: str
    """Name and version of the reader and of the settings it ran under; another value is another entry."""
    size: int
    mtime_ns: int
    content_hash: str
    payload: bytes


class Transaction(Protocol):
    """Writes that become visible and durable together when the block ends, or not at all."""

    def put(self, collection: str, id: str, data: Any, *, if_version: int | None = None) -> Record:
        """Write a record. `if_version` 0 demands that it be new, another number that it be the present version;
        otherwise Conflict."""
        ...

    def delete(self, collection: str, id: str, *, if_version: int | None = None) -> Tombstone:
        """Hide a record behind a tombstone; NotFound where there is none."""
        ...

    def restore(self, collection: str, id: str) -> Record:
        """Bring back what was deleted last under this id; NotFound where there is no tombstone, Conflict where the
        id is in use again."""
        ...

    def get(self, collection: str, id: str) -> Record | None: ...


class Store(Protocol):
    def transaction(self, *, actor: str, reason: str = "") -> AbstractContextManager[Transaction]: ...

    def get(self, collection: str, id: str) -> Record | None: ...

    def scan(self, collection: str, *, after: str = "", limit: int | None = None) -> list[Record]:
        """Records in the order of their ids, those greater than `after`."""
        ...

    def count(self, collection: str) -> int: ...

    def events(
        self, *, collection: str | None = None, id: str | None = None, after: int = 0, limit: int | None = None
    ) -> list[Event]: ...

    def tombstones(self, collection: str, *, limit: int | None = None) -> list[Tombstone]: ...

    def start_job(self, kind: str, *, total: int | None = None) -> Job: ...

    def advance_job(self, id: str, *, done: int, total: int | None = None, message: str = "") -> Job:
        """Record progress. Raises Cancelled once somebody has asked for it, NotFound for an unknown job."""
        ...

    def finish_job(self, id: str, *, state: str = "done", message: str = "") -> Job: ...

    def cancel_job(self, id: str) -> Job:
        """Ask the job to stop; it does so at its next `advance_job`."""
        ...

    def jobs(self, *, state: str | None = None, limit: int | None = None) -> list[Job]: ...

    def cached_files(self, reader: str) -> dict[str, CachedFile]:
        """Every cached file of a reader, by path."""
        ...

    def cache_files(self, files: Iterable[CachedFile], *, forget: Iterable[tuple[str, str]] = ()) -> None:
        """Write cache entries and forget those of the given (reader, path) pairs, in one transaction, without events."""
        ...

    def setting(self, name: str, default: bytes) -> bytes:
        """The value under this name; the first caller's default is kept and returned to everyone after."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Engine, location, schema version and sizes, for `clew doctor`."""
        ...

    def close(self) -> None: ...
