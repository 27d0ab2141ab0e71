"""A process that writes files and is killed where it is told to: `python -m tests.edit.killed_worker`.

Each line on standard input names what to do, the number of the moment at which to die, and a folder. A moment is the
time before something becomes durable or visible: a commit of the store, a sync, a rename, a removal. A child does the
work, so that the next line finds everything loaded already.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clew.edit.edits import FileEdit, FolderMove, folder_contents
from clew.edit.transaction import Transaction
from clew.project import Project
from clew.register.change.batch import apply_batch
from clew.register.change.draft import Author
from clew.register.change.transaction import RegisterFile
from clew.specs.commands import ArchiveNow
from clew.store.sqlite.connections import Connection

STATEMENT = "The system shall lock the account at once."


def die_at(moment: int) -> None:
    passed = 0

    def watched(work: Callable[..., Any]) -> Callable[..., Any]:
        def watch(*args: Any, **kwargs: Any) -> Any:
            nonlocal passed
            passed += 1
            if passed == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            return work(*args, **kwargs)

        return watch

    os.fsync = watched(os.fsync)
    for name in ("replace", "rename", "unlink", "rmdir"):
        setattr(Path, name, watched(getattr(Path, name)))
    execute = Connection.execute
    commit = watched(execute)
    Connection.execute = (  # type: ignore[method-assign]
        lambda self, statement, *rest: (commit if statement == "COMMIT" else execute)(self, statement, *rest)
    )


def archive(root: Path, moment: int) -> None:
    """Archive a change that adds a spec and changes two."""
    project = Project.open(root)
    project.ensure_graph()
    project.specs.list_changes()
    die_at(moment)
    project.specs.archive(ArchiveNow(change_id="brighter"))


def register(root: Path, moment: int) -> None:
    """Change several files of a register in a folder."""
    file = RegisterFile(root / "register")
    statement = {
        "statement": "The system shall lock the account at once.",
        "rationale": "Guessing has to stop.",
        "acceptance": ["It is safe"],
    }
    mutations: list[Any] = [
        {"kind": "add", "title": "The third one", **statement},
        {"kind": "link", "from": "$1", "to": "REQ-0001", "link_kind": "refines"},
        {"kind": "update", "id": "REQ-0002", "title": "The second one, renamed", "reason": "better"},
    ]
    die_at(moment)
    file.transaction(Author("2026-01-01T00:00:00Z", "ann"), lambda draft: apply_batch(draft, mutations, "test"))


def files(root: Path, moment: int) -> None:
    """Change, make, remove and move, without a store."""
    steps = [
        FileEdit("changed.txt", b"before", b"after"),
        FileEdit("new/deep/made.txt", None, b"made"),
        FileEdit("old/deep/removed.txt", b"removed", None, prune="old"),
        FolderMove("here", "there/it/is", folder_contents(root / "here")),
    ]
    die_at(moment)
    Transaction(root, steps).commit()


def main() -> None:
    work = {"archive": archive, "register": register, "files": files}
    for line in sys.stdin:
        what, moment, root = line.rstrip("\n").split(" ", 2)
        child = os.fork()
        if not child:
            work[what](Path(root), int(moment))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        # Not buffered: the next line is read only when this one was answered.
        os.write(1, b"killed\n" if os.WIFSIGNALED(status) else b"ended\n")


if __name__ == "__main__":
    main()
