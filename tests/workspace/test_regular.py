"""Reading of what may be no file, or one without an end."""

import os
import socket
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from clew.errors import Refused
from clew.workspace.git.run import run
from clew.workspace.regular import NotRegular, TooLarge, beginning, contents, opened, read_from

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs devices, pipes and links")


# Verifies: REQ-d00651-A
@needs_posix
@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize("kind", ["device", "pipe", "socket", "folder"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str, is_linked: bool) -> None:
    place = tmp_path / "a"
    match kind:
        case "device":
            place = Path("/dev/zero")
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case _:
            with chdir(tmp_path), socket.socket(socket.AF_UNIX) as bound:
                bound.bind("a")
    if is_linked:
        (tmp_path / "link").symlink_to(place)
        place = tmp_path / "link"
    for read in (lambda: contents(place), lambda: beginning(place, 10)):
        with pytest.raises(NotRegular, match=f"it is a {kind}"):
            read()


# Verifies: REQ-d00651-B
def test_no_more_is_read_than_allowed(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_bytes(b"12345")
    assert contents(place, 5) == b"12345"
    assert beginning(place, 3) == b"123"
    with pytest.raises(TooLarge, match="it has 5 bytes"):
        contents(place, 4)
    with place.open("r+b") as file:
        file.truncate(40 * 1024**3)
    with pytest.raises(TooLarge):
        contents(place)
    assert beginning(place, 6) == b"12345\0"


# Verifies: REQ-d00651-B
def test_bytes_are_counted_that_come_while_a_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a"
    place.write_bytes(b"1")
    read = os.read
    asked = []

    def growing(descriptor: int, most: int) -> bytes:
        asked.append(most)
        with place.open("ab") as file:
            file.write(b"2" * 1_000)
        return read(descriptor, min(most, 100))

    monkeypatch.setattr(os, "read", growing)
    with opened(place) as descriptor, pytest.raises(TooLarge, match="more than 5,000 bytes"):
        read_from(descriptor, place, 5_000)
    assert len(asked) < 100


# Verifies: REQ-d00651-B
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs files that do not say their size")
def test_a_file_that_says_nothing_of_its_size_is_read_to_its_end() -> None:
    place = Path("/proc/self/limits")
    assert place.stat().st_size == 0
    assert contents(place).startswith(b"Limit")
    with pytest.raises(TooLarge):
        contents(place, 20)


# Verifies: REQ-d00651-D
@needs_posix
@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".mailmap", ".git/HEAD", ".git/config", ".git/index"])
def test_git_is_not_run_where_it_would_wait_for_a_pipe(tmp_path: Path, name: str) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert run(tmp_path, "status", "--porcelain").code == 0
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(Refused, match="git would wait for it"):
        run(tmp_path, "status", "--porcelain", seconds=5)


# Verifies: REQ-d00651-D
@needs_posix
def test_git_passes_over_a_link_that_it_does_not_follow(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").symlink_to("/dev/zero")
    assert run(tmp_path, "status", "--porcelain").code == 0
