"""What an engine gives the shared statements: connections for reading, and one writer at a time."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from clew.errors import StoreError


class Rows(Protocol):
    """What a statement found."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int, /) -> list[Any]: ...

    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Rows:
        """Each value takes the place of a question mark."""
        ...

    def write(self, query: str, values: Sequence[Any], /) -> None:
        """A statement that gives no rows. It has happened when the next statement runs, or the transaction ends."""
        ...

    def executemany(self, query: str, rows: Sequence[Any], /) -> object: ...

    def moment(self) -> str:
        """The time, as the store tells it: of one clock for all who write."""
        ...


class Connections(Protocol):
    @property
    def name(self) -> str:
        """The store, as messages call it."""
        ...

    @property
    def principal(self) -> str | None:
        """Who the store itself has authenticated; None where it does not."""
        ...

    @property
    def as_written(self) -> str:
        """The expression that tells whether a row of `records` still holds what was written to it. An engine whose
        pages have no checksums compares it with its last event."""
        ...

    def reading(self) -> AbstractContextManager[Connection]: ...

    def writing(self, *, durable: bool = True) -> AbstractContextManager[Connection]:
        """The writer's lock and a transaction around the block."""
        ...

    def translated(self) -> AbstractContextManager[None]:
        """Every error of the engine that leaves the block leaves it as an error of the store."""
        ...

    def damaged(self, cause: str) -> StoreError:
        """What to raise where a value cannot be read."""
        ...

    def close(self) -> None: ...
