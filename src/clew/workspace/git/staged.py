"""Test whether git tracks a folder, by reading its index: every folder of Clew's own is tested when it is opened, and a
process of git would take longer than the rest of it."""

import errno
import mmap
import os
import stat
import struct
import sys
from pathlib import Path
from typing import IO

from clew.errors import ClewError
from clew.workspace.find import paths_named
from clew.workspace.git.place import located, located_at

_HEADER = struct.Struct(">4sII")
_ENTRY_BYTES = (62, 74)
"""Of an entry, before its path, with SHA-1 and with SHA-256; two more where it is extended."""
_EXTENDED = 0x4000
_WHOLE_PATHS = (2, 3)
"""Versions of the index in which every entry has its whole path."""

Mark = tuple[int, int, int] | None


def index_of(folder: str) -> str | None:
    """The index of the work tree around a folder with no link on its path; None if there is none."""
    # Also where git is not used, because `.git` leads elsewhere: only the names in the index are looked at.
    tree = located_at(folder)
    return None if tree is None or tree.looks_bare else os.path.join(tree.own, "index")  # noqa: PTH118


def mark_of(index: str | None) -> Mark:
    """Another one after every change of the index."""
    try:
        status = os.stat(index) if index is not None else None  # noqa: PTH116
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size) if status is not None else None


def is_kept(folder: Path) -> bool:
    """True if git tracks a file in a folder, or a link or a repository of this name."""
    tree = located(str(folder.parent))
    if tree is None or tree.looks_bare:
        return False
    inside = os.path.relpath(os.path.realpath(folder.parent), tree.top)
    path = os.path.normpath(Path(inside, folder.name)).replace(os.sep, "/")
    index = Path(tree.own, "index")
    try:
        with _opened(index) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            magic, version, count = _HEADER.unpack(data[: _HEADER.size])
            if magic == b"DIRC" and version in _WHOLE_PATHS and not paths_named(index.parent, "sharedindex.*"):
                return _names(data, os.fsencode(path), count)
    except (OSError, ValueError, struct.error):
        return index.is_file() and _asked(folder.parent, folder.name)
    return _asked(folder.parent, folder.name)


def _opened(index: Path) -> IO[bytes]:
    """The index of git, if it is a plain file. A pipe in its place would block the reader for ever."""
    descriptor = os.open(index, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a plain file", str(index))
    return os.fdopen(descriptor, "rb")


def _names(data: mmap.mmap, path: bytes, count: int) -> bool:
    """True if an entry is this path or lies below it. A look for the bytes comes first: mostly they are nowhere."""
    folded = os.path.normcase("A") == "a" or sys.platform == "darwin"
    if not folded and data.find(path + b"/") < 0 and data.find(path + b"\0") < 0:
        return False
    # The index does not say which hash it has, and read with the other one it names nothing of this kind.
    return any(_is_named(data, path.lower() if folded else path, count, size, folded=folded) for size in _ENTRY_BYTES)


def _is_named(data: mmap.mmap, wanted: bytes, count: int, size: int, *, folded: bool) -> bool:
    place = _HEADER.size
    for _ in range(count):
        if place + size > len(data):
            return False
        (flags,) = struct.unpack_from(">H", data, place + size - 2)
        begin = place + size + (2 if flags & _EXTENDED else 0)
        end = data.find(b"\0", begin)
        name = data[begin:end] if end >= 0 else b""
        name = name.lower() if folded else name
        if name == wanted or name.startswith(wanted + b"/"):
            return True
        # At least one zero byte, up to a multiple of eight.
        place += (max(end, begin) - place + 8) // 8 * 8
    return False


def _asked(folder: Path, name: str) -> bool:
    """The same from git, for an index of another kind."""
    from clew.workspace.git import api as git

    try:
        return git.is_tracked(folder, name)
    except ClewError:
        return False
