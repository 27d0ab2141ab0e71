"""Archiving in a process that is killed, or while somebody else writes.

The process is a real one. A hook of the interpreter sees every rename before it happens, and so finds the moments
between two writes that no clock would hit; likewise it sees when a file is opened.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.errors import Conflict, Refused
from clew.project import Project
from clew.specs.operations.commands import ArchiveNow

ARCHIVING = """
import os, signal, sys
from pathlib import Path
from clew.surfaces.cli.main import main

moment, action, root = sys.argv[1], sys.argv[2], Path(sys.argv[3])
renames = 0
acted = False

def watch(event, arguments):
    global renames, acted
    if event == "os.rename" and str(root) in str(arguments[1]) and ".clew" not in str(arguments[1]):
        renames += 1
        is_now = str(renames) == moment
    else:
        is_now = event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(moment)
    if acted or not is_now:
        return
    acted = True
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    path = Path(root, action)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# Somebody else was here\\n", encoding="utf-8")

sys.addaudithook(watch)
sys.exit(main(["change", "archive", "brighter", "--json", "-C", str(root)]))
"""


def archive(root: Path, moment: int | str, action: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-c", ARCHIVING, str(moment), action, str(root))
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


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
def test_an_archive_that_was_killed_is_completed_when_the_project_is_opened_next(
    folder: Any, change: Path, opened: Callable[[Path], Project], moment: int
) -> None:
    """Killed before the first spec is written, before the second, and before the folder is moved."""
    before = files(folder)
    assert archive(folder.root, moment, "kill").returncode == -signal.SIGKILL
    assert change.exists()
    written = {path for path, data in files(folder).items() if before.get(path) != data}
    assert len(written) == moment - 1
    project = opened(folder.root)
    project.ensure_graph()
    assert [each.id for each in project.specs.list_changes().changes] == []
    assert not change.exists()
    assert [path for path in folder.root.rglob("*") if path.name.endswith(("-tmp", "-journal"))] == []
    assert project.store is not None
    (event,) = project.store.events(collection="file_edits")
    assert (event.after["change_id"], len(event.after["inverse"])) == ("brighter", 2)
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


# Verifies: REQ-d00078-B
@pytest.mark.parametrize("edited", ["openspec/specs/lamp/spec.md", "openspec/changes/brighter/specs/horn/spec.md"])
def test_what_appears_after_the_specs_were_read_is_neither_overwritten_nor_archived_unapplied(
    folder: Any, change: Path, edited: str
) -> None:
    """Everything is in the cache, so that a spec is opened only to be changed."""
    for path in folder.root.rglob("*.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    project = Project.open(folder.root)
    project.ensure_graph()
    project.close()
    before = files(folder)
    outcome = archive(folder.root, "openspec/specs/lamp/spec.md", edited)
    assert (outcome.returncode, edited in outcome.stderr) == (2, True)
    assert files(folder) == {**before, edited: b"# Somebody else was here\n"}


# Verifies: REQ-d00078-B
@pytest.mark.usefixtures("change")
def test_what_nobody_has_read_yet_is_read_before_the_archive(folder: Any, opened: Callable[[Path], Project]) -> None:
    """Also where the configuration says that files are not followed."""
    folder.root.joinpath("clew.toml").write_text("[graph]\nauto_refresh = false\n", encoding="utf-8")
    project = opened(folder.root)
    project.ensure_graph()
    project.specs.list_changes()
    lamp = folder.specs / "lamp" / "spec.md"
    theirs = lamp.read_text(encoding="utf-8").replace("out by day.", "out by day, says the inspector.")
    lamp.write_text(theirs, encoding="utf-8")
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="brighter"))
    assert lamp.read_text(encoding="utf-8") == theirs


# Verifies: REQ-d00078-B
def test_a_delta_that_cannot_be_read_is_not_archived_unapplied(folder: Any, project: Project, change: Path) -> None:
    horn = change / "specs" / "horn" / "spec.md"
    horn.parent.mkdir()
    horn.write_bytes(b"## ADDED Requirements\n\0")
    with pytest.raises(Conflict) as caught:
        project.specs.archive(ArchiveNow(change_id="brighter"))
    assert "horn" in caught.value.message
    assert change.exists()
