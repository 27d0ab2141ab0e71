"""Damaged stores that were put aside: kept beside the new store, listed by `clew doctor`.

To put a store aside takes several steps, and a process may be killed between any two of them. So there is a note in the
place of the store from before its log goes until the new store is there: opening it reports a damaged store, and
another rescue reads the copy that the note names.
"""

from pathlib import Path

from clew.edit.replacing import copy_in_place, put_in_place, replace_file, sweep, sync_folder
from clew.store.sqlite.connections import index_of
from clew.store.sqlite.light_connection import log_of, size_of
from clew.workspace.find import paths_named

_MARK = "-damaged-"
_NOTE = b"The damaged store that was here is kept beside this file until its rescue is complete, under the number "
_LONGEST_NOTE = 512
"""Less than the smallest store."""


def damaged_files(store: Path) -> list[Path]:
    """The files of damaged stores beside a store. Deleting something from the store for good deletes these too."""
    return sorted(paths_named(store.parent, f"{store.stem}{_MARK}*"))


def unfinished(store: Path) -> Path | None:
    """The path of a damaged store that an interrupted rescue put aside; None if there is none."""
    try:
        note = store.read_bytes() if size_of(store) < _LONGEST_NOTE else b""
    except OSError:
        return None
    number = note.removeprefix(_NOTE).strip()
    if not note.startswith(_NOTE) or not number.isdigit():
        return None
    kept = _kept(store, int(number))
    return kept if kept.exists() else None


def put_aside(store: Path, new: Path) -> Path:
    """Replace a damaged store by a new one, and return the path at which the damaged one is kept with its log. At every
    moment the damaged one is in one of the two places, and until the end its former place says that it is damaged."""
    kept = unfinished(store) or _copied(store)
    # A log beside another store than its own would be taken for that one's.
    for file in (log_of(store), index_of(store)):
        file.unlink(missing_ok=True)
    put_in_place(new, store)
    sync_folder(store.parent)
    # Made by the process that read the copy.
    for file in (index_of(kept), *((log_of(kept),) if not size_of(log_of(kept)) else ())):
        file.unlink(missing_ok=True)
    return kept


def _copied(store: Path) -> Path:
    """Copy a store with its log, and leave a note in its place."""
    number = 1
    while (kept := _kept(store, number)).exists() and not kept.samefile(store):
        number += 1
    # Of a rescue that was killed before there was a note: the log may have changed since.
    for file in (kept, log_of(kept)):
        sweep(file)
        file.unlink(missing_ok=True)
    if size_of(log_of(store)):
        copy_in_place(log_of(store), log_of(kept))
    copy_in_place(store, kept)
    replace_file(store, _NOTE + b"%d\n" % number)
    return kept


def _kept(store: Path, number: int) -> Path:
    return store.with_name(f"{store.stem}{_MARK}{number}{store.suffix}")
