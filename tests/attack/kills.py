"""Writers of files are killed at every moment, and so are those who mend what they left.

Afterwards a project is as it was before or as it was to become, what was acknowledged is there, no temporary file is
left, and whoever opened the project said what became of the change.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.attack.outcome import Outcome
from tests.attack.writers import WRITERS

from clew.edit.admission import accept, folders_of
from clew.project import Project

Tree = dict[str, bytes]

_MEMORY = Path("/dev/shm")

_STEADY = (
    (re.compile(rb"\d{4}-\d\d-\d\d(T[0-9:.]+Z)?"), b"DATE"),
    # Checksums of what has a date in it.
    (re.compile(rb"\b[0-9a-f]{16,}\b"), b"HASH"),
)


def run(rounds: int) -> Outcome:
    """Kill so many processes, spread evenly over writers and moments. Beyond all moments of all writers, the process
    that mends is killed as well, at one moment after the other."""
    # Processes die here, not disks: where there is one in memory, syncing costs nothing.
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder, started() as ask:
        attack = Attack(Path(folder), ask)
        moments = [(name, moment) for name in WRITERS for moment in range(1, attack.begin(name) + 1)]
        chosen = [moments[number * len(moments) // rounds] for number in range(min(rounds, len(moments)))]
        for name, moment in chosen if rounds < len(moments) else moments:
            attack.kill(name, moment)
        again = 0
        while attack.kills < rounds:
            again += 1
            for name, moment in moments:
                if attack.kills < rounds:
                    attack.kill(name, moment, again)
        return Outcome(attack.kills, tuple(attack.faults), dict(attack.counts))


@contextmanager
def started() -> Iterator[Any]:
    """A process that forks one for each task; gives a function that asks it."""
    command = [sys.executable, "-m", "tests.attack.killed_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(step: str, writer: str, root: Path, moment: int = 0) -> dict[str, Any]:
            task = {"step": step, "writer": writer, "root": str(root), "moment": moment}
            print(json.dumps(task), file=process.stdin, flush=True)
            answer = process.stdout.readline() if process.stdout is not None else ""
            return json.loads(answer)  # type: ignore[no-any-return]

        yield ask
        process.stdin.close()
        process.wait()


class Attack:
    def __init__(self, folder: Path, ask: Any) -> None:
        self._folder = folder
        self._ask = ask
        self.kills = 0
        self.faults: list[str] = []
        self.counts: Counter[str] = Counter()
        self._before: dict[str, Tree] = {}
        self._after: dict[str, Tree] = {}

    def begin(self, name: str) -> int:
        """Prepare the project of a writer, and see what it makes of it; returns how many moments that has."""
        template = self._folder / name / "template"
        template.mkdir(parents=True)
        self._demand(name, self._ask("prepare", name, template))
        self._before[name] = tree(template)
        root = self._copy(name)
        answer = self._ask("write", name, root)
        self._demand(name, answer)
        self._demand(name, self._ask("reopen", name, root))
        self._after[name] = tree(root)
        if self._before[name] == self._after[name]:
            self.faults.append(f"{name}: writes nothing")
        return int(answer["passed"])

    def kill(self, name: str, moment: int, again: int = 0) -> None:
        """Kill a writer at a moment, and with `again` the process that mends at that moment."""
        root = self._copy(name)
        where = f"{name}, moment {moment}" + f" and {again} of mending" * bool(again)
        written = self._ask("write", name, root, moment)
        self._note(written)
        said: list[str] = []
        promised, interrupted = self._promised(name, root), bool(states(root))
        if again:
            mended = self._ask("reopen", name, root, again)
            self._note(mended)
            said += mended.get("said", [])
            interrupted = interrupted and bool(states(root))
        mended = self._ask("reopen", name, root)
        self._demand(where, mended)
        said += mended.get("said", [])
        self._judge(name, where, root, is_silent=interrupted and not said)
        if promised is not None and tree(root) != promised:
            self.faults.append(f"{where}: the change was begun and lost, or given up and made")
        if not written["killed"] and tree(root) != self._after[name]:
            self.faults.append(f"{where}: an acknowledged write is lost")

    def _promised(self, name: str, root: Path) -> Tree | None:
        """What the next open has to make of what is there; None where the next command writes by itself."""
        if WRITERS[name].writes_again:
            return None
        begun = states(root)
        if not begun:
            # A register in one file is replaced without a journal, and so is a temporary file of it without a trace.
            return tree(root)
        return self._before[name] if begun == {"planned"} else self._after[name]

    def _judge(self, name: str, where: str, root: Path, *, is_silent: bool) -> None:
        found = tree(root)
        if found == self._after[name]:
            self.counts["completed"] += 1
        elif found == self._before[name]:
            self.counts["taken back"] += 1
            if name == "save" and drafts(root) != 2:
                self.faults.append(f"{where}: drafts are lost")
        else:
            both = self._before[name] | self._after[name]
            paths = sorted(path for path in both | found if found.get(path) != self._after[name].get(path))
            self.faults.append(f"{where}: half written: {', '.join(paths)}")
        if is_silent:
            self.faults.append(f"{where}: nobody said what became of the change")
        left = [each for each in root.rglob("*") if ".clew-tmp" in each.name or each.name.endswith(".clew-journal")]
        if left:
            self.faults.append(f"{where}: left {', '.join(each.name for each in left)}")

    def _note(self, answer: dict[str, Any]) -> None:
        self.kills += bool(answer["killed"])

    def _copy(self, name: str) -> Path:
        root = self._folder / name / "project"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self._folder / name / "template", root)
        # A copy's drafts count only once its user says so.
        for folder in folders_of(root):
            accept(folder)
        return root

    def _demand(self, where: str, answer: dict[str, Any]) -> None:
        if answer["killed"] or answer["error"]:
            self.faults.append(f"{where}: failed: {answer.get('error')}")


def states(root: Path) -> set[str]:
    """The states of the changes that are under way in a project, of those that have a plan."""
    found: set[str] = set()
    for journal in root.rglob("*.clew-journal"):
        _, *lines = journal.read_text().split("\n")
        if lines:
            # What follows the last line break was being written.
            found.add((["planned", *lines[:-1]])[-1])
    return found


def tree(root: Path) -> Tree:
    """All files and empty folders, without what Clew keeps for itself; dates and checksums are the same everywhere."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        first, *rest = name.split("/")
        # Of what git keeps, only the hooks are Clew's to write.
        if (
            first == ".clew"
            or (first == ".git" and rest[:1] != ["hooks"])
            or name.endswith((".lock", ".clew-backup", ".clew-tmp", ".clew-journal"))
        ):
            continue
        if path.is_dir():
            found[_steady(name.encode()).decode() + "/"] = b""
        else:
            found[_steady(name.encode()).decode()] = _steady(path.read_bytes())
    return found


def _steady(data: bytes) -> bytes:
    for pattern, word in _STEADY:
        data = pattern.sub(word, data)
    return data


def drafts(root: Path) -> int:
    """How many drafts are kept that are not saved."""
    project = Project.open(root)
    try:
        project.ensure_graph()
        return len(project.mutations.drafted_paths())
    finally:
        project.close()
