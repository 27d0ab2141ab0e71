"""Moving everything authored between this machine, a team's database and folders of backups.

A place is two stores: what was decided in the project, and what was remembered. In a team's database both are one, with
different collections.
"""

# Implements: REQ-d00482

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from clew.context import STORE_PATIENCE_SECONDS, Context
from clew.edit.admission import make
from clew.edit.replacing import translated
from clew.edit.state_folder import make_state_folder
from clew.errors import Conflict, StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from clew.memory.storage.home import STORE_FILE, places
from clew.store.backups import MANIFEST, UNVERIFIED, Manifest, damaged, prepare, seal, verified
from clew.store.interface import Store
from clew.store.sqlite.compacting import put_into_one_file
from clew.store.sqlite.engine import open_own, open_sqlite
from clew.store.team import SHARED_COLLECTIONS, schema_of
from clew.store.transfer import Copied, content, copy, everything, plan
from clew.text.database_address import Address

PROJECT_FILE = "project.db"
_FILES = (PROJECT_FILE, STORE_FILE)
"""Of a backup."""
_OF_THE_COPY = (StoreBusy, StoreFull, StoreReadOnly)
"""Errors that say nothing of the backup: the copy of it cannot be used where it lies."""


class StoreLocation(msgspec.Struct, frozen=True):
    name: str
    project: Any
    memory: Any
    is_team: bool = False


class MovedStore(msgspec.Struct, frozen=True):
    source: str
    target: str
    project: Copied
    memory: Copied
    notes: tuple[str, ...] = ()


Opener = Callable[[ExitStack], StoreLocation]


def here(context: Context) -> Opener:
    """The stores on this machine."""

    def opened(stack: ExitStack) -> StoreLocation:
        folder, _ = places(context)
        with translated(folder):
            make_state_folder(context.root)
            make(folder, 0o700)
        return _files(stack, "this machine", context.store_file, folder / STORE_FILE, open_own)

    return opened


def team(context: Context, address: Address) -> Opener:
    """A team's database. The schemas have to be there: `clew store init` makes them."""

    def opened(stack: ExitStack) -> StoreLocation:
        from clew.store.postgres.engine import open_postgres

        _, inside = places(context)
        project, memory = (
            stack.enter_context(
                closing(open_postgres(address, schema_of(context.config, inside=each), busy_timeout=_PATIENCE))
            )
            for each in (inside, "")
        )
        return StoreLocation(str(address), project, memory, is_team=True)

    return opened


def backup(name: str, folder: Path) -> Opener:
    """The stores of a backup, in the folder that holds them or their copies."""

    def opened(stack: ExitStack) -> StoreLocation:
        return _files(stack, name, folder / PROJECT_FILE, folder / STORE_FILE)

    return opened


_PATIENCE = STORE_PATIENCE_SECONDS


def _files(
    stack: ExitStack, name: str, project: Path, memory: Path, opener: Callable[..., Store] = open_sqlite
) -> StoreLocation:
    first, second = (stack.enter_context(closing(opener(file, busy_timeout=_PATIENCE))) for file in (project, memory))
    return StoreLocation(name, first, second)


def move(source: Opener, target: Opener, report: Callable[[str, int], None]) -> MovedStore:
    """Copy everything from one place to another, and verify it. The source is only read."""
    with _opened(source, target) as (first, second):
        wanted = _decided if first.is_team or second.is_team else everything
        # Both before either is written: in a team's database they may be one store.
        plans = plan(first.project, second.project, wanted), plan(first.memory, second.memory, _remembered)
        project = copy(
            *(first.project, second.project, wanted),
            lambda what, done: report(f"{what} of the project", done),
            plans[0],
        )
        memory = copy(
            *(first.memory, second.memory, _remembered),
            lambda what, done: report(f"{what} of the memory", done),
            plans[1],
        )
        return MovedStore(first.name, second.name, project, memory)


def keep(
    source: Opener, folder: Path, report: Callable[[str, int], None], *, patience: float = STORE_PATIENCE_SECONDS
) -> MovedStore:
    """Make a backup in a folder. Its manifest is written last: a folder without one is none. StoreBusy where others
    have a file of the backup open for longer than the patience."""
    if (folder / MANIFEST).exists():
        raise Conflict(f"'{folder}' holds a backup already.", hint="Name another folder. Nothing was written.")
    with translated(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        prepare(folder, _FILES)
    moved = move(source, backup(str(folder), folder), report)
    for name in _FILES:
        put_into_one_file(folder / name, patience)
    with translated(folder):
        seal(folder, _FILES, moved.project, moved.memory)
    return moved


def restore(folder: Path, target: Opener, report: Callable[[str, int], None], root: Path) -> MovedStore:
    """Copy a backup into a place that holds nothing else, on behalf of the project at `root`. Tampered, before the
    place is opened, where any byte of the backup is another one than was written, or where its files do not hold what
    was copied into them."""
    with verified(folder, _FILES, root) as (copied, manifest):
        source = backup(str(folder), copied)
        _compare(source, manifest, folder, copied)
        moved = move(source, target, report)
    return moved if manifest.has_checksums else msgspec.structs.replace(moved, notes=(UNVERIFIED,))


def _compare(source: Opener, manifest: Manifest, folder: Path, copied: Path) -> None:
    """Tampered where the content of a backup is not the one that its manifest names."""
    try:
        with ExitStack() as stack:
            kept = source(stack)
            stores = (PROJECT_FILE, kept.project, manifest.project), (STORE_FILE, kept.memory, manifest.memory)
            for name, store, made in stores:
                # Every byte of the others was compared, so that what is wrong in them was so in the source.
                if not manifest.has_checksums and (problems := store.check()):
                    raise damaged(folder / name, str(problems[0]))
                if content(store) != made.content:
                    raise damaged(folder / name, f"the content is not what {MANIFEST} says")
    except _OF_THE_COPY:
        raise
    except StoreError as error:
        message = error.message.replace(str(copied), str(folder))
        if manifest.has_checksums and isinstance(error, StoreTooNew):
            # Every byte is as a newer Clew wrote it.
            raise StoreTooNew(message, hint=error.hint, data=error.data) from error
        raise damaged(folder, message) from error


@contextmanager
def _opened(source: Opener, target: Opener) -> Iterator[tuple[StoreLocation, StoreLocation]]:
    with ExitStack() as stack:
        yield source(stack), target(stack)


def _decided(collection: str) -> bool:
    return collection in SHARED_COLLECTIONS


def _remembered(collection: str) -> bool:
    return collection not in SHARED_COLLECTIONS
