"""A process that is killed while it writes files: afterwards there is the state before or the state after."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from clew.edit.recovery import recover
from clew.formats.register.model import Layout
from clew.project import Project
from clew.register.change.changes import add
from clew.register.change.draft import Author
from clew.register.change.transaction import RegisterFile, new_register
from clew.register.operations.edit import AddRequirement

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process can be killed without warning here")
Nursery = Callable[[str, int, Path], bool]
NOW = Author("2026-01-01T00:00:00Z", "ann")


@pytest.fixture
def killed() -> Iterator[Nursery]:
    """Starts a process that dies at a moment; whether it was killed, rather than done before that moment."""
    command = [sys.executable, "-m", "tests.edit.killed_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def start(what: str, moment: int, root: Path) -> bool:
            print(what, moment, root, file=process.stdin, flush=True)
            answer = process.stdout.readline() if process.stdout is not None else ""
            assert answer in ("killed\n", "ended\n")
            return answer == "killed\n"

        yield start
        process.stdin.close()
        assert process.wait() == 0


def tree(root: Path) -> dict[str, bytes]:
    """All files, without what Clew keeps for itself: temporary files and journals count."""
    files = (path for path in root.rglob("*") if path.is_file() and ".clew" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files if not path.name.endswith(".lock")}


def check(killed: Nursery, what: str, make: Callable[[int], Path], reopen: Callable[[Path], None]) -> None:
    """Kill at every moment; there are at least ten."""
    before = tree(make(0))
    seen: list[dict[str, bytes]] = []
    moment = 0
    while True:
        moment += 1
        root = make(moment)
        died = killed(what, moment, root)
        reopen(root)
        seen.append(tree(root))
        assert list((root / ".clew").glob(".*-journal")) == []
        if not died:
            break
    after = seen[-1]
    assert before != after
    assert moment > 10
    states = ["before" if each == before else "after" if each == after else "between" for each in seen]
    # Until the journal is complete nothing happened; from then on everything does.
    assert states == sorted(states, reverse=True)
    assert set(states) == {"before", "after"}


# Verifies: REQ-d00048-D
def test_files_are_changed_made_removed_and_moved_all_or_none(tmp_path: Path, killed: Nursery) -> None:
    def make(moment: int) -> Path:
        root = tmp_path / str(moment)
        for path, text in (("changed.txt", "before"), ("old/deep/removed.txt", "removed"), ("here/a/b.txt", "b")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    check(killed, "files", make, lambda root: recover(root, None))


# Verifies: REQ-d00078-B
def test_an_archive_is_completed_or_taken_back_at_the_next_open(tmp_path: Path, killed: Nursery) -> None:
    requirement = "### Requirement: {0}\nIt SHALL {0}.\n\n#### Scenario: S\n- **WHEN** x\n- **THEN** y\n"
    purpose = "## Purpose\n\nThe purpose of this is to be long enough for every rule that there is.\n\n"
    spec = f"# S\n\n{purpose}## Requirements\n\n{requirement.format('burn')}"
    why = "## Why\nBecause the keeper asked for it more than once in the last winter.\n\n## What Changes\nSomething.\n"

    def make(moment: int) -> Path:
        root = tmp_path / str(moment)
        change = "openspec/changes/brighter"
        texts = {
            "clew.toml": '[search]\nbackground = false\n[embedder]\nkind = "none"\n',
            "openspec/specs/lamp/spec.md": spec,
            "openspec/specs/horn/spec.md": spec,
            f"{change}/proposal.md": f"# brighter\n\n{why}",
            f"{change}/tasks.md": "- [x] 1.1 Done\n",
            f"{change}/specs/lamp/spec.md": f"## ADDED Requirements\n\n{requirement.format('shine')}",
            f"{change}/specs/horn/spec.md": f"## ADDED Requirements\n\n{requirement.format('blow')}",
            f"{change}/specs/bell/spec.md": f"## ADDED Requirements\n\n{requirement.format('ring')}",
        }
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return root

    def reopen(root: Path) -> None:
        project = Project.open(root)
        try:
            project.ensure_graph()
            is_open = [each.id for each in project.specs.list_changes().changes] == ["brighter"]
            assert project.store is not None
            # What happened is recorded, and what did not happen is not.
            assert project.store.count("file_edits") == (0 if is_open else 1)
        finally:
            project.close()

    check(killed, "archive", make, reopen)


# Verifies: REQ-d00082-C
def test_a_register_in_a_folder_is_changed_whole_or_not_at_all(tmp_path: Path, killed: Nursery) -> None:
    new = AddRequirement(
        title="The first one",
        statement="The system shall lock the account at once.",
        rationale="Guessing has to stop.",
        acceptance=("It is",),
    )

    def make(moment: int) -> Path:
        file = RegisterFile(tmp_path / str(moment) / "register", layout=Layout.DIRECTORY)
        file.create(msgspec.structs.replace(new_register("demo", NOW), layout=Layout.DIRECTORY))
        for _ in range(2):
            file.transaction(NOW, lambda draft: add(draft, new))
        return tmp_path / str(moment)

    check(killed, "register", make, lambda root: RegisterFile(root / "register").read() and None)
