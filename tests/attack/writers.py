"""Projects in which something is about to be written, and the commands that write it."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from clew.edit.edits import FileEdit, FolderMove, folder_contents
from clew.edit.recovery import recover
from clew.edit.replacing import make_folder
from clew.edit.transaction import FileTransaction
from clew.errors import StoreCorrupt
from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.light_connection import log_of
from clew.store.sqlite.rescue import rescue_in_place
from clew.surfaces.cli.main import main as clew
from clew.trace.safety.branches import list_all

_WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
CONFIG = '[search]\nbackground = false\n[embedder]\nkind = "none"\n'
REQUIREMENT = """## REQ-{0}: Requirement {0}

**Level**: {1} | **Status**: Active{2}

It SHALL work.

## Assertions

A. The system SHALL work.

*End* *Requirement {0}* | **Hash**: 00000000

"""
SPECS = {
    "spec/parents.md": "# Parents\n\n" + REQUIREMENT.format("p00001", "PRD", ""),
    "spec/children.md": "# Children\n\n" + REQUIREMENT.format("d00001", "DEV", " | **Implements**: REQ-p00001"),
}
CODE = {"src/lamp.py": "def shine() -> None:\n    pass\n"}
DELTA = "### Requirement: {0}\nIt SHALL {0}.\n\n#### Scenario: S\n- **WHEN** x\n- **THEN** y\n"
SPEC = (
    "# S\n\n## Purpose\n\nThe purpose of this is to be long enough for every rule that there is.\n\n## Requirements\n\n"
    + DELTA.format("burn")
)
CHANGE = {
    "openspec/specs/lamp/spec.md": SPEC,
    "openspec/specs/horn/spec.md": SPEC,
    "openspec/changes/brighter/proposal.md": "# brighter\n\n## Why\nBecause the keeper asked for it more than once in "
    "the last winter.\n\n## What Changes\nSomething.\n",
    "openspec/changes/brighter/tasks.md": "- [x] 1.1 Done\n",
    **{
        f"openspec/changes/brighter/specs/{name}/spec.md": f"## ADDED Requirements\n\n{DELTA.format(verb)}"
        for name, verb in (("lamp", "shine"), ("horn", "blow"), ("bell", "ring"))
    },
}
ADDED = {
    "title": "The next one",
    "statement": "The system shall lock the account at once.",
    "rationale": "Guessing has to stop.",
    "acceptance": ["It is safe"],
}
BATCH = [
    {"kind": "add", **ADDED},
    {"kind": "link", "from": "$1", "to": "REQ-0001", "link_kind": "refines"},
    {"kind": "update", "id": "REQ-0002", "title": "The second one, renamed", "reason": "better"},
]


@dataclass(frozen=True)
class Writer:
    prepare: Callable[[Path], None]
    """Makes the project in an empty folder."""
    write: Callable[[Path], None]
    reopen: Callable[[Path], None]
    """What the user does next. It must mend what was interrupted."""
    writes_again: bool = False
    """Whether that writes by itself, also where nothing was interrupted."""


def command(*words: str) -> Callable[[Path], None]:
    """A command of Clew on the project. It has to succeed."""

    def run(root: Path) -> None:
        if clew([*words, "-C", str(root)]):
            raise RuntimeError(f"clew {' '.join(words)} failed")

    return run


def tool(name: str, **arguments: object) -> Callable[[Path], None]:
    return command("call", name, json.dumps(arguments))


def project(files: dict[str, str], *before: Callable[[Path], None]) -> Callable[[Path], None]:
    def prepare(root: Path) -> None:
        for path, text in {"clew.toml": CONFIG, **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        for step in before:
            step(root)

    return prepare


def opened(root: Path) -> None:
    """Reads requirements, specs and drafts."""
    if clew(["call", "get_mutation_log", "{}", "-C", str(root)]):
        raise RuntimeError("the project cannot be opened")


def init(root: Path) -> None:
    """Makes `clew.toml` anew, and the files of a client in the project and of one outside of it."""
    os.environ["CODEX_HOME"] = str(root / "home" / "codex")
    if clew(["init", str(root), "--force", "--client", "cursor", "--client", "codex"]):
        raise RuntimeError("clew init failed")


def files(root: Path) -> None:
    """Changes, makes, removes and moves, without a store."""
    steps = [
        FileEdit("changed.txt", b"before", b"after"),
        FileEdit("new/deep/made.txt", None, b"made"),
        FileEdit("old/deep/removed.txt", b"removed", None, prune="old"),
        FolderMove("here", "there/it/is", folder_contents(root / "here")),
    ]
    FileTransaction(root, steps).commit()


def recovered(root: Path) -> None:
    recover(root, None)


STORE = Path(".clew", "clew.db")
NOTES = 20


def damaged_store(root: Path) -> None:
    """A store whose last writes are in the log beside it, as a killed process leaves it, and one of them damaged:
    without the log the store looks whole, and lacks them all."""
    live = root / "live.db"
    with closing(open_sqlite(live)) as store:
        for number in range(NOTES):
            with store.transaction(actor="ada") as records:
                records.put("notes", f"{number:02}", {"text": f"note {number}"})
        make_folder((root / STORE).parent)
        shutil.copyfile(live, root / STORE)
        log = bytearray(log_of(live).read_bytes())
        log[len(log) // 2] ^= 0xFF
        log_of(root / STORE).write_bytes(log)
    for file in root.glob("live.db*"):
        file.unlink()


def rescued(root: Path) -> None:
    rescue_in_place(root / STORE)


def read_notes(root: Path) -> None:
    """Rescue the store where it is said to be damaged, as the error says, and write down what it holds."""
    try:
        store = open_sqlite(root / STORE)
    except StoreCorrupt:
        rescued(root)
        store = open_sqlite(root / STORE)
    with closing(store):
        held = {record.id: record.data for record in store.scan("notes")}
    (root / "notes.json").write_text(json.dumps(held), encoding="utf-8")


_ADD = ("req", "add", "-t", ADDED["title"], "-s", ADDED["statement"], "-r", ADDED["rationale"], "-a", "It is safe")
_READ = command("req", "list")


def register(layout: str) -> Callable[[Path], None]:
    begin = command("req", "init", "-n", "demo", "--layout", layout)
    return project({}, begin, command(*_ADD), command(*_ADD))


_REGISTER = (command("req", "init", "-n", "demo"), command(*_ADD))
_SET_UP = command("req", "setup")
_AGENTS = command("req", "help", "agents", "--install")


def repository(root: Path) -> None:
    for words in (("init", "-q"), ("add", "."), (*_WHO, "commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def saved_on_a_branch(root: Path) -> None:
    """A requirement with another title, and a branch that holds the title it had."""
    tool("mutate_update_title", node_id="REQ-p00001", new_title="Another title")(root)
    tool("mutate_update_title", node_id="REQ-d00001", new_title="A third title")(root)
    tool("save_mutations", save_branch=True)(root)


def restored(root: Path) -> None:
    """What the first safety branch holds is in the files again."""
    (first,) = (each.name for each in list_all(root))
    tool("restore_from_safety_branch", branch_name=first)(root)


WRITERS = {
    "files": Writer(
        project({"changed.txt": "before", "old/deep/removed.txt": "removed", "here/a/b.txt": "b"}), files, recovered
    ),
    "save": Writer(
        project(
            SPECS,
            tool("mutate_update_title", node_id="REQ-p00001", new_title="Another title"),
            tool("mutate_update_title", node_id="REQ-d00001", new_title="A third title"),
        ),
        tool("save_mutations"),
        opened,
    ),
    "fix": Writer(project(SPECS), command("fix"), opened),
    "apply_link": Writer(
        project(SPECS | CODE), tool("apply_link", file_path="src/lamp.py", line=1, requirement_id="REQ-d00001"), opened
    ),
    "archive": Writer(
        project(CHANGE), tool("archive_change", change_id="brighter", dry_run=False, confirm=True), opened
    ),
    "req add": Writer(register("single"), command(*_ADD), _READ),
    "req batch": Writer(register("directory"), tool("req_batch", mutations=BATCH), _READ),
    "init": Writer(
        project({"home/codex/config.toml": 'model = "x"\n', ".cursor/mcp.json": '{"mcpServers": {}}\n'}),
        init,
        init,
        writes_again=True,
    ),
    "setup": Writer(
        project({".gitattributes": "*.md text\n"}, repository, *_REGISTER), _SET_UP, _SET_UP, writes_again=True
    ),
    "agents": Writer(project({"AGENTS.md": "# Agents\n"}, *_REGISTER), _AGENTS, opened),
    "restore": Writer(project(SPECS, repository, saved_on_a_branch), restored, opened, writes_again=True),
    "rescue": Writer(damaged_store, rescued, read_notes, writes_again=True),
}
