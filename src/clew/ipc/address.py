"""Address of a project's socket, and the proof that both ends belong to one user.

A hook and a command look here before they import anything else, so this module and those it needs import little of the
standard library and nothing else.
"""

import os
import sys

from clew.workspace.root import CONFIGURED, marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STATE_FOLDER = ".clew"
SOCKET = "hooks.sock"
"""Hooks were its first users, and those of other versions go on looking for it under this name."""
LOCK = "hooks.lock"
_LONGEST = 100
"""Bytes of an address. Systems allow 104 to 108."""
_FOLDER, _SOCKET = 0o040000, 0o140000


def project_at(folder: str) -> str | None:
    """The project at or above a folder, by the rule of `clew.config.find_root`; None if Clew is not used there."""
    start = os.path.realpath(folder)
    if not os.path.isdir(start):
        return None
    # A folder that nothing makes a project is one where somebody named it to Clew before.
    root = marked(start) or start
    is_used = any(os.path.exists(os.path.join(root, name)) for name in (*CONFIGURED, STATE_FOLDER))
    return root if is_used else None


def sockets(root: str) -> "Iterator[str]":
    """The addresses at which a server of the project may listen, the first that is short enough being the usual one."""
    inside = os.path.join(root, STATE_FOLDER, SOCKET)
    if len(os.fsencode(inside)) <= _LONGEST:
        yield inside
    # It takes a hash to say, and is seldom asked for.
    elsewhere = _runtime_socket(root)
    if elsewhere and len(os.fsencode(elsewhere)) <= _LONGEST:
        yield elsewhere


def _runtime_socket(root: str) -> str | None:
    """An address in a folder that only this user can enter."""
    if sys.platform == "win32":
        return None
    import hashlib

    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    return os.path.join(runtime_folder(), f"{name}.sock")


def _user() -> int:
    """The number of this user; -1, which no file belongs to, on Windows, where there are no such sockets."""
    if sys.platform == "win32":
        return -1
    return os.getuid()


def runtime_folder() -> str:
    own = os.environ.get("XDG_RUNTIME_DIR", "")
    if own and os.path.isabs(own) and is_ours(own):
        return os.path.join(own, "clew")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"clew-{_user()}")  # noqa: S108 - checked by is_ours


def is_ours(folder: str) -> bool:
    """True if a folder belongs to this user and nobody else can write to it."""
    try:
        state = os.lstat(folder)
    except OSError:
        return False
    return state.st_mode & 0o170000 == _FOLDER and state.st_uid == _user() and not state.st_mode & 0o022


def is_our_socket(path: str) -> bool:
    """True for a socket of this user. Neither it nor its folder may be a link, which may lead to a socket of any
    program."""
    try:
        folder, place = os.lstat(os.path.dirname(path)), os.lstat(path)
    except OSError:
        return False
    is_socket = folder.st_mode & 0o170000 == _FOLDER and place.st_mode & 0o170000 == _SOCKET
    return is_socket and place.st_uid == _user()


def peer_is_us(connection: object) -> bool:
    """True if the process at the other end of a local socket belongs to the same user."""
    import socket
    import struct

    assert isinstance(connection, socket.socket)  # noqa: S101 - for the type checker; nothing else is passed
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return bool(struct.unpack("3i", credentials)[1] == _user())
    # LOCAL_PEERCRED of macOS and the BSDs: a version, then the user.
    credentials = connection.getsockopt(0, 1, 128)
    return bool(struct.unpack_from("=II", credentials)[1] == _user())
