"""Users without rights, for tests that root runs: what they may reach, and what is copied to where they can.

The checkout, its `.venv` and the folder of temporary files may lie below one that only root may enter, such as /root or
what `mktemp -d` makes. A process of another user then finds neither its program nor its libraries there.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

USER = "nobody"


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


@cache
def identity() -> dict[str, Any]:
    """What makes `subprocess` start a process without rights; nothing where this process has none itself."""
    if not is_root():
        return {}
    import pwd

    return {"user": USER, "group": pwd.getpwnam(USER).pw_gid, "extra_groups": []}


def can_enter(folder: Path) -> bool:
    """Whether a process without rights can work in a folder."""
    command = ["/bin/sh", "-c", 'cd -- "$0"', str(folder)]
    return subprocess.run(command, cwd="/", stderr=subprocess.DEVNULL, check=False, **identity()).returncode == 0


def can_run(program: Path) -> bool:
    """Whether a process without rights can start a program, with the libraries that it needs."""
    command = [str(program), "--version"]
    try:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.run(command, cwd="/", check=False, **quiet, **identity()).returncode == 0
    except OSError:
        return False


def open_place(longest: int | None = None) -> Path:
    """A folder for temporary files that every user can enter, of a path with at most so many characters."""
    usual = Path(tempfile.gettempdir())
    for place in (usual, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")):
        if (longest is None or len(str(place)) <= longest) and place.is_dir() and can_enter(place):
            return place
    pytest.fail(f"The user {USER} can enter neither {usual} nor another folder of temporary files.")


def open_to_all(folder: Path) -> None:
    """Let every user read what is in a folder, and run its programs."""
    for name, _, files in os.walk(folder):
        Path(name).chmod(0o755)
        for file in files:
            path = Path(name, file)
            path.chmod(path.stat().st_mode | (0o555 if path.stat().st_mode & 0o100 else 0o444))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach; the one pytest makes belongs to its user alone."""
    with tempfile.TemporaryDirectory(prefix="clew-", dir=open_place()) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
