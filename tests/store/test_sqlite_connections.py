"""Waiting for the writer, surviving forks and deletions, and keeping what was acknowledged."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from clew.errors import StoreBusy, StoreError
from clew.store.sqlite.connections import SqliteConnections, is_open_here
from clew.store.sqlite.engine import open_sqlite

# Verifies: REQ-o00002-A


def test_a_writer_that_waits_too_long_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as holder, closing(open_sqlite(path, busy_timeout=0)) as hasty:
        with holder.transaction(actor="ada") as transaction:
            transaction.put("notes", "1", 1)
            with pytest.raises(StoreBusy, match=str(path)), hasty.transaction(actor="bob"):
                pass
            with pytest.raises(StoreBusy):
                hasty.start_job("index")
            assert hasty.count("notes") == 0
        with hasty.transaction(actor="bob") as transaction:
            transaction.put("notes", "2", 2)
        assert holder.count("notes") == 2


def test_a_writer_waits_for_another(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as first, closing(open_sqlite(path)) as second:
        held, waiting = threading.Event(), threading.Event()

        def hold() -> None:
            with first.transaction(actor="ada") as transaction:
                held.set()
                waiting.wait()
                transaction.put("notes", "1", "first")

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        waiting.set()
        with second.transaction(actor="bob") as transaction:
            record = transaction.get("notes", "1")
            transaction.put("notes", "2", "second")
        thread.join()
        assert record is not None
        assert [event.actor for event in second.events()] == ["ada", "bob"]


def test_a_store_cannot_be_carried_across_a_fork(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    script = """
import os, sys
from pathlib import Path
from clew.errors import StoreError
from clew.store.sqlite.connections import SqliteConnections, is_open_here
from clew.store.sqlite.engine import open_sqlite

store = open_sqlite(Path(sys.argv[1]))
child = os.fork()
if child == 0:
    try:
        store.count("notes")
    except StoreError as error:
        os._exit(7 if "after a fork" in error.message else 8)
    os._exit(9)
_, status = os.waitpid(child, 0)
store.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""
    command = [sys.executable, "-c", script, str(tmp_path / "clew.db")]
    assert subprocess.run(command, cwd=pytestconfig.rootpath).returncode == 7


@pytest.mark.parametrize("successor", [False, True], ids=["deleted", "replaced"])
def test_nothing_is_written_to_a_file_that_is_no_longer_the_store(tmp_path: Path, successor: bool) -> None:
    path = tmp_path / ".clew" / "clew.db"
    with closing(open_sqlite(path)) as store:
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "1", 1)
        path.parent.rename(tmp_path / "moved away")
        if successor:
            open_sqlite(path).close()
        with pytest.raises(StoreError, match="deleted, moved or replaced"), store.transaction(actor="ada"):
            pass
        with pytest.raises(StoreError, match="deleted, moved or replaced"):
            store.count("notes")
        assert path.exists() == successor
    with closing(open_sqlite(tmp_path / "moved away" / "clew.db")) as moved:
        assert moved.count("notes") == 1


def test_an_sqlite_error_of_somebody_else_passes_through_unchanged(tmp_path: Path) -> None:
    with (
        closing(open_sqlite(tmp_path / "clew.db")) as store,
        closing(sqlite3.connect(":memory:")) as other,
        pytest.raises(sqlite3.OperationalError, match="nowhere"),
        store.transaction(actor="ada"),
    ):
        other.execute("SELECT * FROM nowhere")


def test_threads_leave_no_connections_behind(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("this system does not list open files")
    with closing(open_sqlite(tmp_path / "clew.db")) as store:
        store.count("notes")
        before = len(list(descriptors.iterdir()))
        for _ in range(30):
            thread = threading.Thread(target=store.count, args=("notes",))
            thread.start()
            thread.join()
        assert len(list(descriptors.iterdir())) == before


def test_a_path_with_odd_characters_is_only_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a ?mode=memory#%20&é" / "clew.db"
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", 1)
    assert path.stat().st_size > 0
    with closing(open_sqlite(path)) as store:
        assert store.count("notes") == 1
        assert store.describe()["location"] == str(path)


def test_what_the_garbage_collector_closes_while_open_files_are_looked_at_holds_nobody_up(tmp_path: Path) -> None:
    others = [SqliteConnections(tmp_path / f"{number}.db", read_only=False, busy_timeout=1) for number in range(3)]

    class Closing(type(tmp_path)):  # type: ignore[misc]
        """Closes files at the moment at which a finalizer may: in the middle of a comparison."""

        def __eq__(self, other: object) -> bool:
            for each in others:
                each.close()
            return False

        __hash__ = type(tmp_path).__hash__

    found: list[bool] = []
    looking = threading.Thread(target=lambda: found.append(is_open_here(Closing(tmp_path / "2.db"))), daemon=True)
    looking.start()
    looking.join(60)

    assert found == [False]
