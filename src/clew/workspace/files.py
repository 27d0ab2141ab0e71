"""The files of a project: their times, their contents, and never leaving the project's folder.

Every path that goes in or out here is relative to the project, has forward slashes and is spelled as `paths.display`
does, so that it can be shown, stored and sent whatever bytes the file's name has.
"""

import errno
import os
import stat
from pathlib import Path

import msgspec

from clew.errors import FormatError, InvalidArgument, NotFound, OutsideProject
from clew.text.display import shortened
from clew.workspace.paths import display, raw
from clew.workspace.regular import TooLarge, contents

_MAYBE_TOO_LONG = 60
"""Of so many characters a name may have 255 bytes, which many systems do not allow."""
_OWN_USER = os.geteuid() if hasattr(os, "geteuid") else None
_OWN_BITS = stat.S_IRUSR | stat.S_IXUSR


class FileEntry(msgspec.Struct, frozen=True, gc=False):
    path: str
    """Relative to the project, with forward slashes."""
    size: int
    mtime_ns: int


def entry_of(root: Path, path: str) -> FileEntry:
    """A single file, as a scan would find it; size and time are 0 if it does not exist. Called for every file before a
    tool answers, so it makes as few system calls as possible."""
    try:
        state = os.stat(f"{root}/{raw(path)}")  # noqa: PTH116
    except OSError:
        return FileEntry(path, 0, 0)
    return FileEntry(path, state.st_size, state.st_mtime_ns)


def time_of(root: Path, path: str) -> int:
    """When the file or folder was last changed, in nanoseconds; 0 where it does not exist, or is a folder that may not
    be listed."""
    return time_at(f"{root}/{raw(path)}")


def time_at(place: str) -> int:
    """Called for every folder before a tool answers, so every question to the system counts."""
    try:
        state = os.stat(place)  # noqa: PTH116
    except OSError:
        return 0
    mode = state.st_mode
    # A folder's time stays the same when it is opened to us, and then what lies in it must be noticed.
    if stat.S_ISDIR(mode) and not (state.st_uid == _OWN_USER and mode & _OWN_BITS == _OWN_BITS):
        # Not plainly our own, so the system has to be asked.
        return state.st_mtime_ns if os.access(place, os.R_OK | os.X_OK) else 0
    return state.st_mtime_ns


def resolve(root: Path, path: str) -> Path:
    """The real location of a path given relative to the project, refusing to leave it by any way."""
    check_spelling(path)
    base = os.path.realpath(root)
    real = os.path.realpath(os.path.join(base, raw(path)))  # noqa: PTH118
    if len(path) > _MAYBE_TOO_LONG:
        _check_length(path, real)
    if not is_inside(base, real):
        raise OutsideProject(
            f"The path '{path}' lies outside the project.", hint="Pass a path relative to the project's folder."
        )
    return Path(real)


def check_spelling(path: str) -> None:
    """Refuse a path about which the system cannot even be asked."""
    if "\0" in path:
        raise OutsideProject(f"The path {path!r} holds a NUL byte.", hint="Pass a path relative to the project.")


def _check_length(path: str, real: str) -> None:
    """Refuse a path that the system cannot have: every later question about it would fail."""
    try:
        os.lstat(real)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidArgument(
                f"The path '{shortened(path)}' has {len(path):,} characters, more than the system allows.",
                hint="Pass a path of a file or folder of the project.",
            ) from error


def path_inside(root: Path, path: str) -> str:
    """The one spelling of a path of the project, links followed: relative to it, with forward slashes."""
    return display(resolve(root, path).relative_to(os.path.realpath(root)).as_posix())


def read_bytes(root: Path, path: str, *, limit: int) -> bytes:
    """A file's content. FormatError where it is larger than the limit or cannot be read."""
    try:
        return contents(resolve(root, path), limit)
    except FileNotFoundError as error:
        hint = "Check the path; where the file was removed, refresh the graph."
        raise NotFound(f"There is no file '{path}'.", hint=hint) from error
    except TooLarge as error:
        raise FormatError(
            f"'{path}' {error.said}; files over {limit:,} bytes are not read.",
            hint="Split the file, or raise limits.max_file_bytes in clew.toml.",
        ) from error
    except OSError as error:
        raise FormatError(
            f"'{path}' cannot be read: {error.strerror or error}.", hint="Check the file's permissions."
        ) from error


def is_inside(base: str, real: str) -> bool:
    """True if a real path is a folder, or lies below it."""
    return real == base or real.startswith(base if base.endswith(os.sep) else base + os.sep)
