"""Reading of files that somebody else may have written: a project's, git's, a user's, and files that a call names.

`contents`, `beginning` and `opened` are the only way in which Clew reads them. In a clone any file may be a link to a
device without an end, or a pipe that never says anything; a file may say nothing true of its size, or grow while it is
read. Little is imported here, because hooks read too.
"""

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 16 * 1024 * 1024
"""No file is read that has more, where its reader says nothing else."""
ANY_BYTES = 256 * 1024 * 1024
"""Of what is copied, compared or replaced as it is, whatever it holds."""
SETTINGS_BYTES = 1024 * 1024
"""No settings are read that have more."""
_CHUNK = 1024 * 1024
_OPENED = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""A pipe that nobody writes to is opened at once, and then refused."""
_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)


class NotRegular(OSError):
    """Error for a path that is a folder, a device, a pipe or a socket, by itself or through a link."""


class TooLarge(OSError):
    """The file has more bytes than are read."""

    def __init__(self, place: "Path | str", said: str) -> None:
        super().__init__(errno.EFBIG, f"it {said}", os.fspath(place))
        self.said = said


def contents(place: "Path | str", limit: int = MOST_BYTES) -> bytes:
    """The content of a file, wherever it is. Links are followed, but only to a file. OSError if it cannot be read,
    NotRegular if it is not a plain file, TooLarge if it has more bytes, whatever the system says of its size."""
    with opened(place) as file:
        return read_from(file, place, limit)


def beginning(place: "Path | str", limit: int) -> bytes:
    """At most so many bytes from the beginning of a file, likewise."""
    with opened(place) as file:
        return _read(file, limit)


class opened:  # noqa: N801 - used as a function is
    """A file's descriptor, for reading: `with opened(place) as descriptor`. OSError where it cannot be opened,
    NotRegular where it is no file."""

    def __init__(self, place: "Path | str") -> None:
        self._place = place

    def __enter__(self) -> int:
        # Opening a device may do something, such as rewind a tape.
        _check_kind(os.stat(self._place), self._place)  # noqa: PTH116
        descriptor = os.open(self._place, _OPENED)
        try:
            # It may have been replaced since.
            _check_kind(os.fstat(descriptor), self._place)
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return descriptor

    def __exit__(self, *error: object) -> None:
        os.close(self._descriptor)


def read_from(descriptor: int, place: "Path | str", limit: int = MOST_BYTES) -> bytes:
    """All bytes of an open file. TooLarge where there are more, as soon as there are."""
    size = os.fstat(descriptor).st_size
    if size > limit:
        raise TooLarge(place, f"has {size:,} bytes")
    data = _read(descriptor, limit + 1, size)
    if len(data) > limit:
        raise TooLarge(place, f"has more than {limit:,} bytes")
    return data


def _read(descriptor: int, most: int, expected: int = 0) -> bytes:
    """At most so many bytes, in one piece if the size is as expected."""
    parts: list[bytes] = []
    while most > 0 and (part := os.read(descriptor, min(most, max(expected + 1, _CHUNK) if not parts else _CHUNK))):
        parts.append(part)
        most -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _check_kind(status: os.stat_result, place: "Path | str") -> None:
    if not stat.S_ISREG(status.st_mode):
        what = next((said for is_kind, said in _KINDS if is_kind(status.st_mode)), "it is not a file")
        raise NotRegular(errno.EISDIR if what == "it is a folder" else errno.EINVAL, what, os.fspath(place))
