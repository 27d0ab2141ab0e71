"""What a killed writer of a register left goes with the next look at it, and a refused change leaves nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests import forked
from tests.in_process import run

ADD = ("-t", "Lock the door", "-s", "The system shall lock the door at night.", "-r", "Thieves come at night.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "clew.toml").touch()
    assert run(tmp_path, "req", "init", "--name", "Doors").returncode == 0
    assert run(tmp_path, "req", "add", *ADD, "-a", "The door is locked").returncode == 0
    return tmp_path


# Verifies: REQ-d00654-A
@pytest.mark.parametrize("command", ["status", "check", "req list", "req status", "req validate"])
def test_what_a_killed_writer_left_goes_with_the_next_command(root: Path, command: str) -> None:
    left = root / ".project.req.0123456789ab.clew-tmp"
    left.touch()
    done = forked.run([sys.executable, "-m", "clew", *command.split()], cwd=root, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert not left.exists()


# Verifies: REQ-d00654-A
def test_what_a_living_writer_has_stays(root: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    left = root / ".project.req.0123456789ab.clew-tmp"
    left.touch()
    with (root / ".project.req.lock").open("a+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(root, "req", "list").returncode == 0
        assert left.exists()
    assert run(root, "req", "list").returncode == 0
    assert not left.exists()


# Verifies: REQ-d00654-B
@pytest.mark.parametrize(
    "words",
    [
        ("update", "REQ-9999", "-t", "Another title"),
        ("delete", "REQ-9999", "-r", "Nobody needs it"),
        ("add", "-t", "", "-s", "It opens.", "-r", "Why not."),
        ("link", "REQ-0001", "depends_on", "REQ-9999"),
        ("init", "--name", "Windows"),
        ("merge", "no-such-branch"),
    ],
)
def test_a_refused_change_leaves_nothing(root: Path, words: tuple[str, ...]) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".project.req.lock").unlink()
    before = {place.name for place in root.iterdir()}
    assert run(root, "req", *words).returncode in (1, 2)
    assert {place.name for place in root.iterdir()} == before
