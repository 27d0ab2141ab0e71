"""The folder of a hook's project, the server of the project, and the place for events that no server took.

A hook runs with every prompt, so this module and those it needs import little of the standard library and nothing else.
"""

import os

from clew.workspace.git.place import leads_to, located
from clew.workspace.root import CONFIGURED, marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STATE_FOLDER = ".clew"
SOCKET = "hooks.sock"
SPOOL = "hooks.spool"
"""Events that wait for a server, one JSON object a line."""
_LONGEST = 100
"""Bytes of an address. Systems allow 104 to 108."""
_PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")


def folders(named: object) -> list[str]:
    """The folders in which the host may be working, the likeliest first: the project it names, the folder it names, and
    this one."""
    found = [os.environ.get(name, "") for name in _PROJECT_VARIABLES]
    found += [named] if isinstance(named, str) else []
    try:
        found.append(os.getcwd())
    except OSError:
        pass  # the folder was removed
    return [each for each in found if each and "\0" not in each]


def project_at(folder: str) -> str | None:
    """The project at or above a folder, as `clew.config.find_root` has it; None where Clew is not used there."""
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
    if not hasattr(os, "getuid"):
        return None
    import hashlib

    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    return os.path.join(runtime_folder(), f"{name}.sock")


def runtime_folder() -> str:
    own = os.environ.get("XDG_RUNTIME_DIR", "")
    if own and os.path.isabs(own) and is_ours(own):
        return os.path.join(own, "clew")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"clew-{os.getuid()}")  # noqa: S108 - checked by is_ours


def is_ours(folder: str) -> bool:
    """True if a folder belongs to this user and nobody else can write to it."""
    try:
        state = os.lstat(folder)
    except OSError:
        return False
    is_folder = state.st_mode & 0o170000 == 0o040000
    return is_folder and state.st_uid == os.getuid() and not state.st_mode & 0o022


def peer_is_us(connection: object) -> bool:
    """True if the process at the other end of a local socket belongs to the same user."""
    import socket
    import struct

    assert isinstance(connection, socket.socket)  # noqa: S101 - for the type checker; nothing else is passed
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return bool(struct.unpack("3i", credentials)[1] == os.getuid())
    # LOCAL_PEERCRED of macOS and the BSDs: a version, then the user.
    credentials = connection.getsockopt(0, 1, 128)
    return bool(struct.unpack_from("=II", credentials)[1] == os.getuid())


def spools(root: str) -> list[str]:
    """The folders in which events wait: beside the memory that the work trees of a repository share, or in the
    project's folder."""
    found = []
    shared = _shared_folder(root)
    if shared is not None:
        found.append(os.path.join(shared, SPOOL))
    found.append(os.path.join(root, STATE_FOLDER, SPOOL))
    return found


def folder_inside(root: str) -> str | None:
    """The project's own folder inside its repository, empty where it is the repository itself; None without git."""
    tree = located(root)
    if tree is None or tree.looks_bare:
        return None
    inside = os.path.relpath(root, tree.top).replace(os.sep, "/")
    return "" if inside == "." else inside


def _shared_folder(root: str) -> str | None:
    """The folder of the repository's memory, where there is one already and the repository is the project's own."""
    tree = located(root)
    if tree is None or tree.looks_bare:
        return None
    folder = os.path.join(os.path.normpath(tree.common), "clew")
    if not os.path.isfile(os.path.join(folder, "memory.db")):
        return None
    if leads_to(tree):
        # It takes the user's grants to say, and is seldom so.
        from clew.workspace.git.find import is_allowed

        return folder if is_allowed(tree) else None
    return folder
