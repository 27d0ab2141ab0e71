"""Stamp in a folder of Clew's own: the proof that this user made it.

The user has a key, which lies in the user's own state folder and nowhere else. A folder that Clew makes gets a file
with a random id and a code that only this key makes of the id and the folder's real path; the user's state knows the
id. A folder without such a stamp came from elsewhere, whatever is in it: with a clone, an archive, a cache of a build,
or from a version of Clew that made no stamps. Several users' stamps lie side by side, each in a file of its own.
"""

# Implements: REQ-d00620

import hmac
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from clew.edit import below
from clew.grants import own_folder

_KEY_BYTES = 32
_PREFIX = "stamp-"
_MOST_STAMPS = 32
"""In one folder. Homes that live for one run only leave theirs behind."""
_MOST_KNOWN = 4096
"""Folders that the state of one user knows."""
_LONGEST = 512


class StampRecord(msgspec.Struct, frozen=True):
    """Record of a stamped folder in the user's state."""

    path: str
    device: int
    inode: int
    asks: tuple[str, ...] = ()
    """The stores that were in the folder when it got its stamp, and are not believed until the user trusts them."""
    is_protected: bool = False
    """The folder cannot be written, so that the stamp is only here."""


def state_place(inside: str = "") -> Path:
    """The user's own state of Clew."""
    return own_folder("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state", f"clew/{inside}" if inside else "clew")


_key_read: tuple[Path, object, bytes] | None = None
"""The key that was read last: the path, identity and time of its file, and the key."""


def key(*, make: bool = True) -> bytes | None:
    """The user's key; None where there is none and none can be made."""
    global _key_read
    file = state_place("key")
    mark = _mark_of(file)
    last = _key_read
    if last is not None and mark is not None and last[:2] == (file, mark):
        return last[2]
    found = _read_key(file)
    if found is not None:
        _key_read = file, mark, found
    if found is None and make and not os.path.lexists(file):
        with suppress(OSError):
            _make_key(file)
        found = _read_key(file)
    return found


def _mark_of(file: Path) -> object:
    try:
        status = os.stat(file)  # noqa: PTH116 - whenever something is opened
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


def _read_key(file: Path) -> bytes | None:
    try:
        # Without a buffer: it is read whenever something is opened, and is small.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            data = os.read(descriptor, _KEY_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError:
        return None
    return data if len(data) == _KEY_BYTES else None


def _make_key(file: Path) -> None:
    """Create the key. If several processes do so at once, one is first, and all read its key."""
    from clew.edit.replacing import add_in_place, temporary_beside, write_private

    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = temporary_beside(file)
    write_private(temporary, os.urandom(_KEY_BYTES))
    add_in_place(temporary, file)


def code(what: str, *said: str | bytes) -> str | None:
    """The code of this user for some content; None without a key. `what` keeps codes for different purposes apart."""
    own = key()
    return None if own is None else _code(own, what, *said)


def _code(own: bytes, what: str, *said: str | bytes) -> str:
    parts = (each if isinstance(each, bytes) else os.fsencode(each) for each in (what, *said))
    # The length of each part is a part of it, so that no two lists of them are the same bytes.
    return hmac.digest(own, b"".join(b"%d:%s" % (len(part), part) for part in parts), "sha256").hex()


def is_code(given: str, what: str, *said: str | bytes) -> bool:
    """True if a code is this user's for something."""
    own = key(make=False)
    return own is not None and hmac.compare_digest(_code(own, what, *said).encode(), os.fsencode(given))


def stamp_file(own: bytes, folder: str) -> str:
    """The path of this user's stamp in a folder."""
    return os.path.join(folder, _stamp_name(own))  # noqa: PTH118 - it is looked at whenever something is opened


@lru_cache(maxsize=4)
def _stamp_name(own: bytes) -> str:
    return f"{_PREFIX}{_code(own, 'name')[:16]}"


def known(own: bytes, folder: Path, status: os.stat_result) -> StampRecord | None:
    """The record of a folder, by the stamp in it; None without a valid stamp. A folder that was moved has its former
    path in the stamp, and gets a new one."""
    return _stamped(own, folder, status) or _protected(own, folder, status)


def forget(own: bytes, folder: Path) -> None:
    """Let the stamp in a folder count no longer."""
    id, _ = _read_stamp(own, folder)
    if id:
        _forget(id)
    forget_protected(own, folder)


def _read_stamp(own: bytes, folder: Path) -> tuple[str, str]:
    """The id and the code in this user's stamp; empty where there is none."""
    try:
        id, _, given = below.read(folder / _stamp_name(own), _LONGEST).decode("ascii").strip().partition(" ")
    except (OSError, UnicodeDecodeError):
        return "", ""
    return (id, given) if id.isalnum() else ("", "")


def _stamped(own: bytes, folder: Path, status: os.stat_result) -> StampRecord | None:
    id, given = _read_stamp(own, folder)
    record = _record(id) if id else None
    if record is None or not hmac.compare_digest(given.encode(), _code(own, "folder", record.path, id).encode()):
        return None
    same = (record.device, record.inode) == (status.st_dev, status.st_ino)
    if record.path == str(folder):
        # Another number at the same path: a network folder, or a file system that was mounted again.
        return record
    if not same:
        return None
    return set_stamp(own, folder, status, record.asks)


def _protected(own: bytes, folder: Path, status: os.stat_result) -> StampRecord | None:
    """A folder that cannot be written is known by its path and numbers alone."""
    record = _record(_id_of(own, folder))
    if record is None or not record.is_protected or record.path != str(folder):
        return None
    return record if (record.device, record.inode) == (status.st_dev, status.st_ino) else None


def _id_of(own: bytes, folder: Path) -> str:
    return _code(own, "protected", str(folder))[:32]


def set_stamp(own: bytes, folder: Path, status: os.stat_result, asks: tuple[str, ...] = ()) -> StampRecord | None:
    """Stamp a folder and note it; None where neither can be done."""
    id = os.urandom(16).hex()
    record = StampRecord(str(folder), status.st_dev, status.st_ino, asks)
    try:
        _note(id, record)
        below.write(folder / _stamp_name(own), f"{id} {_code(own, 'folder', record.path, id)}\n".encode())
    except OSError:
        _forget(id)
        return None
    _drop_most(folder)
    return record


def note_protected(own: bytes, folder: Path, status: os.stat_result) -> StampRecord | None:
    """Note that the user trusts a folder that cannot be written."""
    record = StampRecord(str(folder), status.st_dev, status.st_ino, (), is_protected=True)
    with suppress(OSError):
        _note(_id_of(own, folder), record)
        return record
    return None


def forget_protected(own: bytes, folder: Path) -> None:
    _forget(_id_of(own, folder))


def _place(id: str) -> Path:
    return state_place(f"folders/{id}.json")


def _record(id: str) -> StampRecord | None:
    try:
        with _place(id).open("rb") as file:
            return msgspec.json.decode(file.read(64 * _LONGEST), type=StampRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _note(id: str, record: StampRecord) -> None:
    from clew.edit.replacing import put_in_place, temporary_beside, write_private

    place = _place(id)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = temporary_beside(place)
    try:
        # A path need not be text; such a folder is not known, and rebuilt each time.
        write_private(temporary, msgspec.json.encode(record))
        put_in_place(temporary, place)
    except (UnicodeEncodeError, ValueError) as error:
        raise OSError(str(error)) from error
    _drop_oldest(place.parent)


def _forget(id: str) -> None:
    with suppress(OSError):
        _place(id).unlink(missing_ok=True)


def _drop_oldest(folder: Path) -> None:
    """Forget folders that are gone, and then the ones noted longest ago, where there are too many."""
    from clew.workspace.find import paths_named

    files = paths_named(folder, "*.json")
    if len(files) <= _MOST_KNOWN:
        return
    for file in files:
        record = _record(file.stem)
        if record is None or not os.path.lexists(record.path):
            with suppress(OSError):
                file.unlink(missing_ok=True)
    left = [file for file in paths_named(folder, "*.json") if file.exists()]
    for file in sorted(left, key=_age)[: -_MOST_KNOWN * 3 // 4]:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _drop_most(folder: Path) -> None:
    from clew.workspace.find import paths_named

    stamps = paths_named(folder, f"{_PREFIX}{'[0-9a-f]' * 16}")
    for stamp in sorted(stamps, key=_age)[: max(len(stamps) - _MOST_STAMPS, 0)]:
        with suppress(OSError):
            below.remove(stamp)


def _age(file: Path) -> int:
    try:
        return file.lstat().st_mtime_ns
    except OSError:
        return 0
