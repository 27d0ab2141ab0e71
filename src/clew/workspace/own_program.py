"""Path of the running program, and the state of its files."""

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

_NAME = "clew"
DISTRIBUTION = "clew-mcp"
"""The name of Clew in the package index, and of the command that serves."""


def own_program() -> Path | None:
    """The program file of this Clew; None if there is none, as under a test runner of another environment."""
    running = Path(sys.argv[0])
    if running.stem != _NAME or not running.is_file():
        running = Path(sys.executable).with_name(f"{_NAME}.exe" if sys.platform == "win32" else _NAME)
    return running.absolute() if running.is_file() else None


def is_run_by_uvx() -> bool:
    """True if this is an environment in the cache of uvx, which is gone once the cache is emptied."""
    folder = Path(sys.prefix).resolve().parent
    return folder.name.startswith(("archive-v", "environments-v")) and (folder.parent / "CACHEDIR.TAG").is_file()


def code_state() -> str:
    """The state of Clew's own files: another one where a file was changed, added or removed."""
    # This file is in a folder of the package.
    package = Path(__file__).absolute().parent.parent
    seen = hashlib.sha256()
    # What is installed beside it is replaced together with the folder that holds it.
    folders = [package.parent, Path(msgspec.__file__).parent.parent]
    for folder in folders:
        seen.update(f"{folder} {folder.stat().st_mtime_ns}\n".encode())
    for path, _, names in sorted(os.walk(package)):
        if path.endswith("__pycache__"):
            continue
        for name in sorted(names):
            with suppress(OSError):
                state = os.stat(os.path.join(path, name))  # noqa: PTH116, PTH118 - a thousand files
                seen.update(f"{path}/{name} {state.st_mtime_ns} {state.st_size}\n".encode())
    return seen.hexdigest()
