"""Archiving in a process that is killed, or while somebody else writes.

The process is a real one. A hook of the interpreter sees every rename before it happens, and so finds the moments
between two writes that no clock would hit.
"""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.project import Project
from clew.specs.archive import Manner

ARCHIVING = """
import os, signal, sys
from pathlib import Path
from clew.surfaces.cli.main import main

moment, action, root = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
renames = 0

def watch(event, arguments):
    global renames
    if event != "os.rename" or ".clew" in str(arguments[1]):
        return
    renames += 1
    if renames != moment:
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    Path(root, action).write_text("# Somebody else was here\\n", encoding="utf-8")

sys.addaudithook(watch)
sys.exit(main(["change", "archive", "brighter", "--json", "-C", str(root)]))
"""


def archive(root: Path, moment: int, action: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-c", ARCHIVING, str(moment), action, str(root))
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def change(folder: Any, brighter: str) -> Path:
    """One that adds a spec and changes another."""
    made: Path = folder.change("brighter", bell=brighter[brighter.index("## ADDED") :], lamp=brighter)
    return made


def files(folder: Any) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder.root)): path.read_bytes()
        for path in folder.root.rglob("*.md")
        if ".clew" not in path.parts
    }


# Verifies: REQ-d00078-B
@pytest.mark.parametrize("moment", [1, 2, 3])
def test_an_archive_that_was_killed_is_finished_by_running_it_again(
    folder: Any, change: Path, opened: Callable[[Path], Project], moment: int
) -> None:
    """Killed before the first spec is written, before the second, and before the folder is moved."""
    before = files(folder)
    assert archive(folder.root, moment, "kill").returncode == -signal.SIGKILL
    assert change.exists()
    written = {path for path, data in files(folder).items() if before.get(path) != data}
    assert len(written) == moment - 1
    report = opened(folder.root).specs.archive("brighter", Manner())
    assert len(report.files) == 3 - moment
    assert not change.exists()
    assert "Ring at noon" in (folder.specs / "bell" / "spec.md").read_text(encoding="utf-8")
    lamp = (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8")
    assert (lamp.count("MUST rest by day"), lamp.count("### Requirement: Ring at noon")) == (1, 1)


# Verifies: REQ-d00078-B
@pytest.mark.parametrize(
    ("moment", "edited"),
    [
        # While the first spec is written, the second is edited; before the folder is moved, one of its deltas is.
        (1, "openspec/specs/lamp/spec.md"),
        (2, "openspec/changes/brighter/specs/bell/spec.md"),
    ],
)
def test_a_file_edited_during_the_archive_stops_it_and_what_was_written_is_taken_back(
    folder: Any, change: Path, moment: int, edited: str
) -> None:
    before = files(folder)
    outcome = archive(folder.root, moment, edited)
    assert outcome.returncode == 2
    assert "changed" in outcome.stderr
    assert files(folder) == {**before, edited: b"# Somebody else was here\n"}
    assert change.exists()
