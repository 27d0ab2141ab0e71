"""Standard output on a full disk, closed streams, and readers that go away."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("there is no /dev/full", allow_module_level=True)

DEMO = Path(__file__).parents[2] / "examples" / "demo"
CLEW = f"{sys.executable} -m clew"
COMMANDS = (
    "status",
    "help",
    "version",
    "check --help",
    "check --json",
    "req validate",
    "search tide",
    "-C . show REQ-p00001",
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo that nobody else uses meanwhile, with its caches: a command has nothing to say of them."""
    folder = tmp_path_factory.mktemp("lost") / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns(".clew", "__pycache__"))
    for words in ("status", "index", "search tide"):
        assert run(f"{CLEW} {words}", folder).returncode == 0
    return folder


def run(words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["bash", "-c", words], cwd=folder, capture_output=True, text=True, check=False)


# Verifies: REQ-d00652-A
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that takes nothing")
@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_a_full_disk_does_not_take_is_said_to_be_lost(demo: Path, command: str) -> None:
    done = run(f"{CLEW} {command} > /dev/full", demo)
    assert done.returncode == 4
    assert done.stderr.startswith("clew: Standard output cannot be written: No space left on device.\n")
    assert "Traceback" not in done.stderr
    assert "fault in Clew" not in done.stderr


# Verifies: REQ-d00652-A
def test_closed_output_takes_nothing(demo: Path) -> None:
    done = run(f"{CLEW} status >&-", demo)
    assert done.returncode == 4
    assert done.stderr.startswith("clew: Standard output cannot be written: ")


# Verifies: REQ-d00652-B
@pytest.mark.parametrize("end", ["2>&-", "2>/dev/full", "2>&- <&-"])
@pytest.mark.parametrize(("command", "code"), [("status", 0), ("show REQ-p99999", 1), ("no-such-command", 2)])
def test_what_standard_error_does_not_take_changes_nothing_else(demo: Path, end: str, command: str, code: int) -> None:
    if "full" in end and not Path("/dev/full").exists():
        pytest.skip("needs a device that takes nothing")
    usual, done = run(f"{CLEW} {command}", demo), run(f"{CLEW} {command} {end}", demo)
    assert (done.returncode, done.stdout, done.stderr) == (code, usual.stdout, "")


# Verifies: REQ-d00652-C
@pytest.mark.parametrize("command", ["help", "check --json", "req validate"])
def test_a_reader_that_went_away_is_no_fault(demo: Path, command: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "clew", *command.split()],
            cwd=demo,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, "")
