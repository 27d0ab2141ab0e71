"""Trust in the files of a folder that Clew made for itself: a project's state folder, or that of a repository's memory.

Whoever opens something in such a folder has it admitted first. In a folder that came from elsewhere, what can be made
again is thrown away, journals are left alone, and the stores in it are for reading only until the user trusts them.
"""

# Implements: REQ-d00621

import os
import stat
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.edit import below, stamp
from clew.errors import ClewError, StoreError, StoreReadOnly
from clew.workspace.find import names_in
from clew.workspace.git import staged
from clew.workspace.git.find import find_work_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

AUTHORED = ("clew.db", "memory.db")
"""The stores with what somebody wrote."""
_MADE_AGAIN = frozenset(
    {"parsed.db", "kb", "search", "code", "history", "link-vectors", "memory-index.db", "memory-mirror.db"}
    | {"team-memory", "restoring"}
)
"""Other files of Clew's in such a folder, which it can make again."""
_MADE_AGAIN_BY_BEGINNING = ("team-", "hooks.spool")
_NOTES = (".db-note", ".db-boot")
"""Notes beside databases, those of an earlier Clew included."""
_NOT_MADE_HERE = (
    "is not known to be yours: it came with the project, from another machine or user, was kept by git, or is of a "
    "version of Clew that did not mark what it makes"
)
_SET_STATE = "Set XDG_STATE_HOME to a folder that you can write."
_TRACKED = "is kept by git, so that others may change it"
_LINK = "is a link; remove it, and Clew makes a folder"
_LOCK_SECONDS = 10.0


class FolderTrust(msgspec.Struct, frozen=True):
    """Trust in a folder and its stores."""

    folder: Path
    is_ours: bool
    """True if files in it that can be made again are used and written there. Otherwise they go to a temporary
    folder."""
    asks: tuple[str, ...] = ()
    """The stores in it that are not believed."""
    why: str = ""
    """The reason for distrust, completing "The folder X ..."."""

    def believes(self, store: str) -> bool:
        return self.is_ours and store not in self.asks

    @property
    def may_be_trusted(self) -> bool:
        return self.why == _NOT_MADE_HERE

    @property
    def note(self) -> str | None:
        """The message for the user about stores that are not believed, or a folder that is not used."""
        if not self.asks and (self.is_ours or not self.why):
            return None
        if not self.asks:
            return f"The folder {self.folder} {self.why}; nothing in it is used."
        named = " and ".join(self.asks)
        what = "what it holds is" if len(self.asks) == 1 else "what they hold is"
        step = "Look at it, then `clew trust --grant store` makes it yours." if self.may_be_trusted else self._step
        return (
            f"{named} in {self.folder}: the folder {self.why}. Until then {what} for reading only, given to no agent "
            f"unasked, and no drafts of it count. {step}"
        )

    @property
    def _step(self) -> str:
        if self.why == _TRACKED:
            return f"Take it out of git (`git rm -r --cached {below.STATE_FOLDER}`)."
        return _SET_STATE if self.why == _no_key() else ""

    def refusal(self, store: str) -> StoreReadOnly:
        """For whoever would write to a store that is not believed."""
        step = "Look at it, then `clew trust --grant store` makes it yours." if self.may_be_trusted else self._step
        return StoreReadOnly(
            f"Nothing is written to {self.folder / store}: the folder {self.why}.",
            hint=f"{step} Nothing was written.".strip(),
        )


class _Depends(NamedTuple):
    """State of everything on which the trust in a folder depends."""

    device: int
    inode: int
    key: bytes
    stamp: tuple[int, int] | None
    git_index: str | None
    """The index of git's work tree around the folder."""
    kept: staged.Mark


_admitted: dict[str, tuple[_Depends, FolderTrust]] = {}
"""By path: what it depended on, and what it was."""
_paths: dict[str, str] = {}
"""By the path that was asked about: the one on which there is no link, as it was found last."""
_admitting = threading.Lock()


def admit(folder: Path) -> FolderTrust:
    """Decide whether a folder is trusted. A folder that came from elsewhere is cleaned and gets a stamp; a missing one
    is not made."""
    place = os.path.abspath(folder)  # noqa: PTH100
    return _admitted_before(place) or _admit(place)


def _admitted_before(place: str) -> FolderTrust | None:
    """The earlier decision on a folder, if nothing on which it depends changed. The folder's inode tells a new folder
    at the same path."""
    real = _paths.get(place, "")
    made = _admitted.get(real)
    if made is None:
        return None
    own = stamp.key()
    if own is None:
        return None
    try:
        status = os.lstat(place)
    except OSError:
        return None
    before, standing = made
    return standing if before == _depends_on(own, real, status, before) else None


def _depends_on(own: bytes, real: str, status: os.stat_result, before: _Depends | None = None) -> _Depends:
    folder = os.path.dirname(real)  # noqa: PTH120 - several times as fast, whenever something is opened
    index = before.git_index if before is not None and before.kept is not None else None
    # No other repository can be nearer than the one in the project's own folder.
    if index is None or os.path.dirname(os.path.dirname(index)) != folder:  # noqa: PTH120
        is_own = os.path.basename(real) == below.STATE_FOLDER  # noqa: PTH119
        index = staged.index_of(folder) if is_own else None
    stamped = _mark(stamp.stamp_file(own, real))
    return _Depends(status.st_dev, status.st_ino, own, stamped, index, staged.mark_of(index))


def _admit(place: str) -> FolderTrust:
    real = _real(Path(place))
    status = below.status_of(real)
    if status is None:
        own = stamp.key()
        return FolderTrust(real, True) if own is not None else FolderTrust(real, False, AUTHORED, _no_key())
    if stat.S_ISLNK(status.st_mode):
        return FolderTrust(real, False, AUTHORED, _LINK)
    if not stat.S_ISDIR(status.st_mode):
        # Nothing can be opened in it, and whoever tries says so.
        return FolderTrust(real, True)
    own = stamp.key()
    if own is None:
        return FolderTrust(real, False, _stores_in(real), _no_key())
    with _admitting:
        # What git keeps may change meanwhile: what was before counts, so that it is looked at again.
        now = _depends_on(own, str(real), status)
        made = _admitted.get(str(real))
        if made is not None and made[0] == now:
            _paths[place] = str(real)
            return made[1]
        standing = _admitted_now(own, real, status, is_kept=now.git_index is not None and staged.is_kept(real))
        now = now._replace(stamp=_mark(stamp.stamp_file(own, str(real))))
        _admitted[str(real)] = now, standing
        _paths[place] = str(real)
        return standing


def look(folder: Path) -> FolderTrust:
    """The trust in a folder, without a change of it. One that came from elsewhere is not believed."""
    real = _real(folder)
    status = below.status_of(real)
    own = stamp.key(make=False)
    if status is None or not stat.S_ISDIR(status.st_mode) or own is None:
        return FolderTrust(real, False, AUTHORED, _NOT_MADE_HERE)
    if real.name == below.STATE_FOLDER and staged.is_kept(real):
        return FolderTrust(real, False, AUTHORED, _TRACKED)
    record = stamp.known(own, real, status)
    if record is None:
        return FolderTrust(real, False, AUTHORED, _NOT_MADE_HERE)
    return FolderTrust(real, True, record.asks, _NOT_MADE_HERE if record.asks else "")


def make(folder: Path, mode: int = 0o777) -> FolderTrust:
    """The folder, created and stamped if it is missing. OSError if it cannot be created."""
    before = _admitted_before(os.path.abspath(folder))  # noqa: PTH100
    if before is not None:
        return before
    real = _real(folder)
    if below.status_of(real) is None:
        own = stamp.key()
        if own is None:
            raise StoreReadOnly(f"The folder {real} {_no_key()}.", hint=_SET_STATE)
        with _alone():
            below.make_folder(real, mode)
            status = below.status_of(real)
            if status is not None and not names_in(real):
                stamp.set_stamp(own, real, status)
    standing = admit(real)
    if standing.why == _LINK:
        raise below.refused(real)
    return standing


def folders_of(root: Path) -> list[Path]:
    """The folders in which Clew keeps things of a project, as far as they are there: its own, and the one that all work
    trees of its repository share."""
    found = [root / below.STATE_FOLDER]
    with suppress(ClewError, OSError):
        tree = find_work_tree(root)
        found += [tree.common / below.SHARED_FOLDER] if tree is not None else []
    return [folder for folder in found if os.path.lexists(folder)]


def asked_stores(root: Path) -> tuple[Path, ...]:
    """The stores of a project that the user has not trusted, and may."""
    standings = [admit(folder) for folder in folders_of(root)]
    return tuple(each.folder / name for each in standings for name in each.asks if each.may_be_trusted)


def accept(folder: Path) -> bool:
    """Trust the stores of a folder from now on, because the user said so; returns whether they were distrusted
    before."""
    standing = admit(folder)
    real, own = standing.folder, stamp.key()
    status = below.status_of(real)
    if own is None or status is None or not standing.asks or not standing.may_be_trusted:
        return False
    with _alone():
        record = stamp.set_stamp(own, real, status) or stamp.note_protected(own, real, status)
    _admitted.pop(str(real), None)
    return record is not None


def settle(folder: Path, store: str) -> FolderTrust:
    """Trust a store that was empty and is rebuilt."""
    standing = admit(folder)
    own, status = stamp.key(), below.status_of(standing.folder)
    if own is not None and status is not None and standing.is_ours and not standing.believes(store):
        with _alone():
            stamp.set_stamp(own, standing.folder, status, tuple(each for each in standing.asks if each != store))
        _admitted.pop(str(standing.folder), None)
    return admit(folder)


def withdraw(folder: Path) -> None:
    """Believe the stores of a folder no longer."""
    real, own = _real(folder), stamp.key()
    status = below.status_of(real)
    if own is None or status is None:
        return
    with _alone():
        stamp.forget_protected(own, real)
        stamp.set_stamp(own, real, status, _stores_in(real))
    _admitted.pop(str(real), None)


def demand(path: Path) -> None:
    """StoreError for a derived file in a state folder that is not trusted."""
    anchor, names = below.anchor_of(path)
    if names[0] != below.STATE_FOLDER:
        return
    standing = admit(anchor / names[0])
    if not standing.is_ours:
        raise StoreError(f"{path} is not used: the folder {standing.folder} {standing.why}.")


def _admitted_now(own: bytes, real: Path, status: os.stat_result, *, is_kept: bool) -> FolderTrust:
    if is_kept:
        # What was put there by a commit lies there, too, when git does not keep it any longer.
        stamp.forget(own, real)
        return FolderTrust(real, False, _stores_in(real), _TRACKED)
    record = stamp.known(own, real, status)
    if record is None and os.access(real, os.W_OK | os.X_OK):
        with suppress(StoreError, OSError), _alone():
            # Another process may have been first.
            record = stamp.known(own, real, status)
            if record is None:
                _clean(real)
                record = stamp.set_stamp(own, real, status, _stores_in(real))
    if record is None:
        return FolderTrust(real, False, _stores_in(real), _NOT_MADE_HERE)
    return FolderTrust(real, True, record.asks, _NOT_MADE_HERE if record.asks else "")


def _clean(folder: Path) -> None:
    """Delete derived files, and links, which Clew does not create."""
    for name in names_in(folder):
        place = folder / name
        status = below.status_of(place)
        if status is None:
            continue
        is_link = stat.S_ISLNK(status.st_mode) or stat.S_ISFIFO(status.st_mode)
        if is_link or _is_made_again(name):
            if stat.S_ISDIR(status.st_mode):
                below.remove_folder(place)
            else:
                below.remove(place)


def _is_made_again(name: str) -> bool:
    stem = name
    for ending in ("-wal", "-shm", "-journal"):
        stem = stem.removesuffix(ending)
    return stem in _MADE_AGAIN or stem.startswith(_MADE_AGAIN_BY_BEGINNING) or stem.endswith(_NOTES)


def _stores_in(folder: Path) -> tuple[str, ...]:
    return tuple(name for name in AUTHORED if os.path.lexists(folder / name))


def _no_key() -> str:
    return f"cannot be marked as yours, because no key can be kept in {stamp.state_place()}"


def _real(folder: Path) -> Path:
    """The folder with all links on the way to it resolved; the folder itself is checked later."""
    absolute = Path(os.path.abspath(folder))  # noqa: PTH100
    return Path(os.path.realpath(absolute.parent)) / absolute.name


def _mark(file: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(file)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def _alone() -> "Iterator[None]":
    """Keep other processes of this user from stamping or cleaning a folder during the block."""
    from clew.edit.locking import locked

    file = stamp.state_place("folders.lock")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b") as opened, locked(opened, _LOCK_SECONDS):
        yield
