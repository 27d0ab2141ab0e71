"""The note beside a database: what something else than Clew changed is not taken for Clew's."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clew.derived.file import DerivedFile, FileSchema
from clew.errors import StoreCorrupt
from clew.store.interface import Store
from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.note import DatabaseState, note_of, read_note

PAGE = 4096
SCHEMA = FileSchema("The store of notes", 3, ("CREATE TABLE notes (text TEXT NOT NULL)",), "it is rebuilt")


def fill(store: Store, number: int = 200) -> None:
    with store.transaction(actor="ada") as transaction:
        for each in range(number):
            transaction.put("notes", f"{each:03}", "x" * 500)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store:
        fill(store)
    return path


def state_of(path: Path) -> DatabaseState:
    return DatabaseState(path.stat().st_size, path.stat().st_mtime_ns)


def root_of(path: Path, table: str) -> int:
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return int(page) - 1


def swap(path: Path, one: int, other: int) -> None:
    data = bytearray(path.read_bytes())
    first, second = (slice(page * PAGE, (page + 1) * PAGE) for page in (one, other))
    data[first], data[second] = data[second], data[first]
    path.write_bytes(data)


# Verifies: REQ-d00647-B
def test_a_store_that_is_sound_for_sqlite_and_lacks_its_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store:
        fill(store, 1)
    # A table without rows in the place of one whose only row fits the other.
    swap(path, root_of(path, "entries"), root_of(path, "settings"))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM records").fetchone() == (0,)
    damaged = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreCorrupt, match="the record notes/000 is missing, or older than its last") as caught:
            open_sqlite(path, read_only=read_only)
        assert str(path) in caught.value.message
        assert "clew.store.sqlite.rescue" in caught.value.hint
    assert path.read_bytes() == damaged


# Verifies: REQ-d00647-B
def test_an_older_state_of_one_table_is_refused(tmp_path: Path, path: Path) -> None:
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        transaction.put("notes", "007", "more")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE entries SET version = 1 WHERE id = '007'")
        connection.commit()
    with pytest.raises(StoreCorrupt, match="notes/007 is missing, or older"):
        open_sqlite(path)


# Verifies: REQ-d00647-B
@pytest.mark.parametrize("place", range(1, 12))
def test_a_page_that_is_gone_is_noticed_when_the_store_is_opened(path: Path, place: int) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: place * PAGE] + bytes(PAGE) + data[(place + 1) * PAGE :])
    with pytest.raises(StoreCorrupt):
        open_sqlite(path)


# Verifies: REQ-d00647-D
def test_deleted_purged_and_repeated_records_are_no_damage(path: Path) -> None:
    with closing(open_sqlite(path)) as store:
        with store.transaction(actor="ada") as transaction:
            for id in ("001", "002", "003"):
                transaction.delete("notes", id)
            transaction.restore("notes", "002")
        store.erase("notes", ["001"])
        store.rewrite(lambda collection, id, value: None if id == "005" else value)
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "003", "again")
        store.compact()
        before = [record.id for record in store.scan("notes", limit=500)]
    note_of(path).unlink()
    with closing(open_sqlite(path)) as store:
        assert [record.id for record in store.scan("notes", limit=500)] == before
        assert store.check() == []


# Verifies: REQ-d00647-C
def test_each_way_to_change_the_file_is_noted(path: Path) -> None:
    assert read_note(path).state == state_of(path)
    for change in (
        lambda store: fill(store, 1_500),
        lambda store: store.compact(),
        lambda store: store.start_job("index"),
        lambda store: None,
    ):
        with closing(open_sqlite(path)) as store:
            change(store)
            assert read_note(path).state == state_of(path)
        assert read_note(path).state == state_of(path)


# Verifies: REQ-d00647-C
def test_a_log_that_a_killed_process_left_is_no_damage_and_is_noted(path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from clew.store.sqlite.engine import open_sqlite
store = open_sqlite(Path({str(path)!r}))
with store.transaction(actor="bob") as transaction:
    for each in range(3_000):
        transaction.put("notes", f"more {{each}}", "y" * 2_000)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    with closing(open_sqlite(path)) as store:
        assert store.count("notes") == 3_200
    assert read_note(path).state == state_of(path)
    with closing(open_sqlite(path)) as store:
        assert store.count("notes") == 3_200


# Verifies: REQ-d00647-C
def test_processes_that_write_by_turns_leave_a_state_that_is_noted(path: Path) -> None:
    code = f"""
import sys
from contextlib import closing
from pathlib import Path
from clew.derived.file import DerivedFile, FileSchema
schema = FileSchema("The store of notes", 3, ("CREATE TABLE notes (text TEXT NOT NULL)",), "it is rebuilt")
with closing(DerivedFile(Path({str(path.with_name("notes.db"))!r}), schema)) as file:
    assert not file.notes
    for each in range(40):
        with file.writing() as connection:
            connection.executemany("INSERT INTO notes VALUES (?)", [("z" * 900,)] * 100)
"""
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [each.wait() for each in running] == [0, 0, 0]
    with closing(DerivedFile(path.with_name("notes.db"), SCHEMA)) as file:
        assert file.notes == ()
        with file.reading() as connection:
            assert connection.execute("SELECT count(*) FROM notes").fetchone() == (12_000,)


# Verifies: REQ-d00647-A
def test_a_derived_file_that_something_else_changed_is_made_again_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(DerivedFile(path, SCHEMA)) as file, file.writing() as connection:
        connection.executemany("INSERT INTO notes VALUES (?)", [("one",), ("two",)])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM notes WHERE text = 'one'")
    with closing(DerivedFile(path, SCHEMA)) as file:
        assert file.notes == ("The store of notes was damaged, or changed by another program; it is rebuilt.",)
        with file.writing() as connection:
            assert connection.execute("SELECT * FROM notes").fetchall() == []
    with closing(DerivedFile(path, SCHEMA)) as file:
        assert file.notes == ()


# Verifies: REQ-d00647-C
@pytest.mark.parametrize("note", ["", "half a no", "x 1 \n", "x one 2 \n"])
def test_a_part_of_a_note_is_no_note(path: Path, note: str) -> None:
    note_of(path).write_text(note)
    with closing(open_sqlite(path)) as store:
        assert store.count("notes") == 200
    assert read_note(path).state == state_of(path)


# Verifies: REQ-d00647-C
@pytest.mark.parametrize(
    ("other", "is_like"),
    [
        (DatabaseState(4096, 1_700_000_000_123_456_789), True),
        (DatabaseState(8192, 1_700_000_000_123_456_789), False),
        (DatabaseState(4096, 1_700_000_000_123_456_790), False),
        (DatabaseState(4096, 1_700_000_000_000_000_000), True),
        (DatabaseState(4096, 1_699_999_999_000_000_000), True),
        (DatabaseState(4096, 1_699_999_998_000_000_000), False),
        (None, False),
    ],
)
def test_a_time_that_a_file_system_keeps_more_coarsely_is_the_same(other: DatabaseState | None, is_like: bool) -> None:
    state = DatabaseState(4096, 1_700_000_000_123_456_789)
    assert state.is_like(other) is is_like
    assert other is None or other.is_like(state) is is_like


# Verifies: REQ-d00647-C
def test_a_folder_that_cannot_be_written_keeps_its_note(path: Path) -> None:
    note = note_of(path).read_bytes()
    path.parent.chmod(0o500)
    try:
        with closing(open_sqlite(path, read_only=True)) as store:
            assert store.count("notes") == 200
    finally:
        path.parent.chmod(0o700)
    assert note_of(path).read_bytes() == note
