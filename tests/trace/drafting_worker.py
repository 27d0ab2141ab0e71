"""A process that drafts and saves, and dies where it is told to: `python -m tests.trace.drafting_worker`.

Each line on standard input names a project and the number of the moment at which to die. A moment is the time before or
after something becomes durable: a commit of the store, a synced file, a renamed one. A child does the work, so that the
next line finds everything loaded already.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.trace.drafted import mutate

from clew.project import Project
from clew.store.sqlite.connections import SqliteConnection

STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rename_node", {"old_id": "REQ-d00001", "new_id": "REQ-d00009"}),
    ("add_assertion", {"req_id": "REQ-o00001", "text": "It SHALL be safe."}),
    ("save", {}),
    ("update_title", {"node_id": "REQ-d00002", "new_title": "Never saved"}),
    ("undo", {}),
    ("delete_requirement", {"node_id": "REQ-d00003"}),
)


def steps(project: Project) -> Iterator[None]:
    """Take one step after the other."""
    for operation, arguments in STEPS:
        if operation == "save":
            project.mutations.save()
        elif operation == "undo":
            project.mutations.undo_last()
        else:
            mutate(project, operation, **arguments)
        yield


def say(text: str) -> None:
    # Not buffered: what has been said survives the process.
    os.write(1, f"{text}\n".encode())


def die_at(moment: int) -> None:
    passed = 0

    def moments(work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            nonlocal passed
            for when in ("before", "after"):
                passed += 1
                if passed == moment:
                    os.kill(os.getpid(), signal.SIGKILL)
                if when == "before":
                    result = work(*args, **kwargs)
            return result

        return watched

    os.fsync = moments(os.fsync)
    Path.replace = moments(Path.replace)  # type: ignore[method-assign]
    execute = SqliteConnection.execute
    commit = moments(execute)
    SqliteConnection.execute = (  # type: ignore[method-assign]
        lambda self, statement, *rest: (commit if statement == "COMMIT" else execute)(self, statement, *rest)
    )


def work(root: Path, moment: int) -> None:
    project = Project.open(root)
    project.ensure_graph()
    die_at(moment)
    for _ in steps(project):
        say("done")
    os._exit(0)


def main() -> None:
    for line in sys.stdin:
        moment, root = line.rstrip("\n").split(" ", 1)
        child = os.fork()
        if not child:
            work(Path(root), int(moment))
        _, status = os.waitpid(child, 0)
        say("killed" if os.WIFSIGNALED(status) else "ended")


if __name__ == "__main__":
    main()
