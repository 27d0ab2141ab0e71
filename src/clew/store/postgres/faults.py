"""Translation of PostgreSQL's errors into those of Clew."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from clew.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly, StoreUnreachable
from clew.text.database_address import Address

_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure, errors.QueryCanceled)
_PROTECTED = (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)
_UNREACHABLE = (psycopg.OperationalError, psycopg.InterfaceError)


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Every error of the database that leaves the block leaves it as an error of the store."""
    try:
        yield
    except psycopg.Error as error:
        raise fault(error, address) from None  # The original may quote what it was given.


def fault(error: psycopg.Error, address: Address) -> StoreError:
    cause = address.cleaned(" ".join(str(error).split()))
    if isinstance(error, _BUSY):
        return StoreBusy(
            f"The store {address} is in use: timed out waiting for another writer ({cause}).",
            hint="Try again. Nothing was written.",
        )
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return StoreFull(
            f"The store {address} cannot grow: {cause}.", hint="Free some space there. Nothing was written."
        )
    if isinstance(error, _PROTECTED):
        return read_only(address, cause)
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return damaged(address, cause)
    if is_lost(error):
        return unreachable(address, cause)
    return StoreError(f"The store {address} failed: {cause}.", hint="Run `clew store status`. Nothing was written.")


def is_lost(error: psycopg.Error) -> bool:
    """True if the connection is gone, rather than the statement wrong."""
    return isinstance(error, _UNREACHABLE) and not isinstance(error, (*_BUSY, errors.DiskFull, errors.OutOfMemory))


def unreachable(address: Address, cause: str) -> StoreUnreachable:
    hint = "Clew goes on by itself when the database answers again."
    if "password" in cause:
        hint = "Put this user's password into ~/.pgpass, or into the file that PGPASSFILE names; only you may read it."
    return StoreUnreachable(
        f"The team's database {address} cannot be reached: {cause.rstrip('.')}.", hint=f"Nothing was written. {hint}"
    )


def read_only(address: Address, cause: str) -> StoreReadOnly:
    return StoreReadOnly(
        f"The store {address} may not be written by this user: {cause.rstrip('.')}.",
        hint="Ask an owner of the project for the role writer: `clew store init --writer USER`.",
    )


def damaged(address: Address, cause: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"The store {address} is damaged: {cause}.",
        hint="It was not changed. Restore a backup into a new project: `clew store restore`.",
        data={"address": str(address)},
    )
