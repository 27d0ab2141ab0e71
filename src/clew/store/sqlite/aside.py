"""Damaged stores that were put aside: kept beside the store that took their place, listed by `clew doctor`."""

from pathlib import Path

from clew.edit.replacing import copy_in_place, put_in_place, sync_folder
from clew.store.sqlite.connections import index_of, log_of, size_of
from clew.workspace.find import paths_named

_MARK = "-damaged-"


def damaged_files(store: Path) -> list[Path]:
    """The files of damaged stores beside a store. Whoever deletes for good what is in the store deletes these too."""
    return sorted(paths_named(store.parent, f"{store.stem}{_MARK}*"))


def put_aside(store: Path, new: Path) -> Path:
    """Put a new store in the place of a damaged one, and return where that one is kept with its log. At every moment
    the damaged one is in one of the two places."""
    number = 1
    while (kept := store.with_name(f"{store.stem}{_MARK}{number}{store.suffix}")).exists():
        number += 1
    if size_of(log_of(store)):
        copy_in_place(log_of(store), log_of(kept))
    copy_in_place(store, kept)
    # A log beside another store than its own would be taken for that one's.
    for file in (log_of(store), index_of(store)):
        file.unlink(missing_ok=True)
    put_in_place(new, store)
    sync_folder(store.parent)
    return kept
