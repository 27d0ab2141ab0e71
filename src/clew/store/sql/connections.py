"""Interface of an engine to the shared statements: connections for reading, and one writer at a time."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from clew.errors import StoreError


class StatementRows(Protocol):
    """Result of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int, /) -> list[Any]: ...

    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    def execute(self, query: str, values: Sequence[Any] = ..., /) -> StatementRows:
        """Each value takes the place of a question mark."""
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
        """The user whom the store itself has authenticated; None if it does not."""
        ...

    @property
    def as_written(self) -> str:
        """The expression that is true for a row of `records` with the value that was written. An engine whose pages
        have no checksums compares it with its last event."""
        ...

    @property
    def value(self) -> str:
        """The expression that gives the value of a row of `records` whatever bytes it holds: in an engine that does not
        check them, one invalid text would end the reading of all records."""
        ...

    def reading(self) -> AbstractContextManager[Connection]: ...

    def writing(self, *, durable: bool = True) -> AbstractContextManager[Connection]:
        """The writer's lock and a transaction around the block."""
        ...

    def translated(self) -> AbstractContextManager[None]:
        """Every error of the engine that leaves the block leaves it as an error of the store."""
        ...

    def damaged(self, cause: str) -> StoreError:
        """The error for a value that cannot be read."""
        ...

    def close(self) -> None: ...


def taken_back(name: str) -> StoreError:
    """The error for a block that continues after a failed statement: its writes must not be committed."""
    return StoreError(
        f"The transaction on {name} was rolled back, because a write in it failed.",
        hint="Let the error of the failed write leave the block, remove its cause, and run the block again.",
    )
