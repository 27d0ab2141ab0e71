"""What a process does to an SQLite store in a place that is against it: `python -m tests.store.confined TASK PATH`.

Each task prints what happened as JSON.
"""

import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from clew.errors import ClewError
from clew.store.interface import Store
from clew.store.sqlite.engine import open_sqlite

NOBODY = 65534


def attempt(action: Callable[[], Any]) -> list[str] | None:
    """Code, message and hint of the error, or None."""
    try:
        action()
    except ClewError as error:
        return [error.code, error.message, error.hint]
    return None


def write(store: Store, name: str, parts: int = 5) -> None:
    with store.transaction(actor="ada") as transaction:
        for part in range(parts):
            transaction.put("notes", f"{name}-{part}", "x" * 2000)


def fill(store: Store) -> dict[str, Any]:
    """Write until it fails."""
    for number in range(10_000):
        error = attempt(lambda name=f"{number:05}": write(store, name))
        if error:
            return {"acknowledged": number * 5, "error": error, **state(store)}
    raise AssertionError("the disk never filled up")


def state(store: Store) -> dict[str, Any]:
    return {"records": store.count("notes"), "events": len(store.events()), "damage": store.check()}


def full_disk(path: Path) -> dict[str, Any]:
    """On a small file system of its own: fill it, open it full, free some space, go on."""
    ballast = path.parent / "ballast"
    ballast.write_bytes(b"x" * 300_000)
    store = open_sqlite(path)
    report: dict[str, Any] = {"filled": fill(store)}
    store.close()
    with ballast.open("ab", buffering=0) as file:
        while attempt_write(file):
            pass
    store = open_sqlite(path)
    report["opened_full"] = state(store)
    report["new_store"] = attempt(lambda: open_sqlite(path.parent / "other" / "clew.db"))
    ballast.unlink()
    report["after"] = attempt(lambda: write(store, "after"))
    report["at_the_end"] = state(store)
    store.close()
    return report


def attempt_write(file: Any) -> bool:
    try:
        return bool(file.write(b"x" * 512))
    except OSError:
        return False


def size_limit(path: Path) -> dict[str, Any]:
    """Under a limit on the size of files, which is then lifted."""
    store = open_sqlite(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    report: dict[str, Any] = {"filled": fill(store)}
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    report["after"] = attempt(lambda: write(store, "after"))
    report["at_the_end"] = state(store)
    store.close()
    return report


def as_nobody(path: Path) -> dict[str, Any]:
    """Without the rights of the user who made the store."""
    # Python itself may stand where nobody can read: what it loads late is loaded now.
    with tempfile.TemporaryDirectory() as folder, closing(open_sqlite(Path(folder) / "clew.db")) as practice:
        write(practice, "practice")
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    error = attempt(lambda: open_sqlite(path).close())
    if error:
        return {"opening": error}
    store = open_sqlite(path)
    found = [record.id for record in store.scan("notes")]
    report = {"opening": None, "found": found, "read_only": store.describe()["read_only"]}
    report["writing"] = attempt(lambda: write(store, "nobody"))
    report["caching"] = attempt(lambda: store.setting("key", b"default"))
    store.close()
    return report


TASKS = {task.__name__: task for task in (full_disk, size_limit, as_nobody)}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(TASKS[sys.argv[1]](Path(sys.argv[2]))))
