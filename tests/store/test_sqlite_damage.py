"""Files that are damaged, too new or not Clew's: a clear error, and the file is left as it is."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.failing_disk import spoil

from clew.errors import StoreCorrupt, StoreError, StoreTooNew
from clew.store.interface import Damaged
from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.migrations import SCHEMA_VERSION

# Verifies: REQ-d00006-A+B

PAGE = 4096


@pytest.fixture
def healthy(tmp_path: Path) -> bytes:
    path = tmp_path / "healthy.db"
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        for number in range(200):
            transaction.put("notes", f"{number:03}", "x" * 500)
    return path.read_bytes()


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "another file": lambda good: b"# Notes\n" * 1024,
    "noise": lambda good: noise(8 * PAGE),
    "one byte": lambda good: b"x",
    "half a header": lambda good: good[:50],
    "a header alone": lambda good: good[:100],
    "one page": lambda good: good[:PAGE],
    "half of it": lambda good: good[: len(good) // PAGE // 2 * PAGE],
    "the last page missing": lambda good: good[:-PAGE],
    "the last bytes missing": lambda good: good[:-100],
    "header overwritten": lambda good: noise(100) + good[100:],
    "schema overwritten": lambda good: good[:100] + noise(PAGE - 100) + good[PAGE:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named_with_the_way_out_and_left_alone(
    tmp_path: Path, healthy: bytes, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "my project" / "clew.db"
    path.parent.mkdir()
    path.write_bytes(damage(healthy))
    for read_only in (False, True):
        with pytest.raises(StoreCorrupt) as caught:
            open_sqlite(path, read_only=read_only)
        assert str(path) in caught.value.message
        assert f"clew.store.sqlite.rescue '{path}'" in caught.value.hint
        assert path.read_bytes() == damage(healthy)


def test_a_damaged_page_is_found_when_it_is_read_and_nothing_is_written_after(tmp_path: Path, healthy: bytes) -> None:
    path = tmp_path / "clew.db"
    with closing(sqlite3.connect(tmp_path / "healthy.db")) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entries'").fetchone()
    damaged = healthy[: (root - 1) * PAGE] + noise(PAGE) + healthy[root * PAGE :]
    path.write_bytes(healthy)
    open_sqlite(path).close()
    spoil(path, damaged)
    with closing(open_sqlite(path)) as store:
        with pytest.raises(StoreCorrupt, match=str(path)):
            store.scan("notes")
        with pytest.raises(StoreCorrupt), store.transaction(actor="ada") as transaction:
            transaction.put("elsewhere", "1", 1)
        with pytest.raises(StoreCorrupt):
            store.start_job("index")
        assert store.check() != []
    assert path.read_bytes() == damaged


def test_a_value_that_is_no_longer_json_is_damage(tmp_path: Path, healthy: bytes) -> None:
    path = tmp_path / "clew.db"
    path.write_bytes(healthy)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE entries SET data = '{' WHERE id = '007'")
    with closing(open_sqlite(path)) as store:
        assert store.check() == ["the value of notes/007 is not JSON"]
        with pytest.raises(StoreCorrupt, match="notes/007"):
            store.get("notes", "007")
        assert store.get("notes", "008") is not None


def values_of(path: Path, text: bytes) -> list[int]:
    """Where in the file a text is."""
    data = path.read_bytes()
    return [place for place in range(len(data)) if data.startswith(text, place)]


# Verifies: REQ-d00247-F
@pytest.mark.parametrize("change", [0x01, 0x80], ids=["another letter", "not UTF-8"])
def test_a_changed_byte_of_a_value_is_found_in_the_record_and_in_its_event(tmp_path: Path, change: int) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        transaction.put("notes", "harbour", "the gate is at port 8017")
        transaction.put("notes", "other", "unharmed")
    good = path.read_bytes()
    places = values_of(path, b"port 8017")
    assert len(places) == 2
    for place in places:
        damaged = bytearray(good)
        damaged[place + 7] ^= change
        path.write_bytes(damaged)
        with closing(open_sqlite(path)) as store:
            assert store.check()
            for read in (
                lambda: store.get("notes", "harbour"),
                lambda: store.get_many("notes", ["harbour"]),
                lambda: store.scan("notes"),
            ):
                with pytest.raises(StoreCorrupt, match=str(path)):
                    read()
            assert store.get("notes", "other") is not None
        assert path.read_bytes() == damaged


# Verifies: REQ-d00247-H
def test_one_damaged_record_does_not_take_the_others_away(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        for number in range(7):
            transaction.put("notes", f"{number}", f"text {number}")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE entries SET data = '\"changed\"' WHERE id IN ('1', '2', '5')")
        connection.execute("UPDATE entries SET data = '{' WHERE id = '3'")
        connection.execute("UPDATE entries SET data = CAST(x'22FF22' AS TEXT) WHERE id = '6'")
        connection.commit()
    with closing(open_sqlite(path)) as store:
        damaged: Damaged = {}
        assert list(store.get_many("notes", ["0", "1", "4", "6"], damaged=damaged)) == ["0", "4"]
        assert damaged.keys() == {"1", "6"}
        assert "notes/1" in damaged["1"].message
        # Page by page, also where nothing of a page is whole.
        seen: list[str] = []
        page = store.scan("notes", limit=2, damaged=damaged)
        while page:
            seen += [record.id for record in page]
            page = store.scan("notes", after=page[-1].id, limit=2, damaged=damaged)
        assert seen == ["0", "4"]
        assert damaged.keys() == {"1", "2", "3", "5", "6"}
        for read in (lambda: store.get_many("notes", ["0", "6"]), lambda: store.scan("notes")):
            with pytest.raises(StoreCorrupt):
                read()


# Verifies: REQ-d00247-B
def test_a_version_that_is_no_number_is_damage_and_nothing_is_written_over_it(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "notes.db")) as store:
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "lamp", "burns")
        with closing(sqlite3.connect(tmp_path / "notes.db")) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("UPDATE entries SET version = 'x'")
        with pytest.raises(StoreCorrupt, match="version of notes/lamp"), store.transaction(actor="ada") as transaction:
            transaction.put("notes", "lamp", "is out")
        with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
            assert connection.execute("SELECT version, data FROM entries").fetchall() == [("x", '"burns"')]


# Verifies: REQ-d00247-B
def test_every_error_by_damage_says_which_file_has_it(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store:
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "1", "text")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE entries SET data = '{'")
        write = store.transaction(actor="ada")
        for refused in (lambda: store.get("notes", "1"), write.__enter__):
            with pytest.raises(StoreCorrupt) as caught:
                refused()
            assert caught.value.data == {"path": str(path)}


# Verifies: REQ-d00247-F
def test_a_changed_byte_of_an_earlier_value_is_found_in_the_history(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        transaction.put("notes", "harbour", "the gate is at port 8017")
        transaction.put("notes", "harbour", "the gate is closed")
    good = path.read_bytes()
    places = values_of(path, b"port 8017")
    assert len(places) == 2
    for place in places:
        damaged = bytearray(good)
        damaged[place + 7] ^= 0x01
        path.write_bytes(damaged)
        with closing(open_sqlite(path)) as store:
            assert store.check() == ["event 2 does not begin with the value that the one before it ended with"]


def test_a_file_emptied_beside_its_log_is_not_taken_for_a_new_store(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store:
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "1", 1)
        log = (tmp_path / "clew.db-wal").read_bytes()
    path.write_bytes(b"")
    (tmp_path / "clew.db-wal").write_bytes(log)
    with pytest.raises(StoreCorrupt, match="writes in the log beside it"):
        open_sqlite(path)
    assert (path.read_bytes(), (tmp_path / "clew.db-wal").read_bytes()) == (b"", log)


def test_a_store_gets_its_name_when_it_is_whole_so_that_an_empty_file_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    open_sqlite(path).close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["clew.db", "clew.db-note"]
    path.write_bytes(b"")
    with pytest.raises(StoreCorrupt, match="it is empty"):
        open_sqlite(path)
    assert path.read_bytes() == b""


def test_a_store_of_a_newer_version_is_refused_with_both_versions(tmp_path: Path, healthy: bytes) -> None:
    path = tmp_path / "clew.db"
    path.write_bytes(healthy)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE from_the_future (x)")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 7}")
        connection.commit()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreTooNew) as caught:
            open_sqlite(path, read_only=read_only)
        assert f"version {SCHEMA_VERSION + 7}" in caught.value.message
        assert f"up to {SCHEMA_VERSION}" in caught.value.message
        assert "Update Clew" in caught.value.hint
        assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program") as caught:
        open_sqlite(path)
    assert caught.type is StoreError
    assert path.read_bytes() == before


def test_a_place_that_cannot_hold_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "clew.db", tmp_path / ("x" * 300) / "clew.db"):
        with pytest.raises(StoreError) as caught:
            open_sqlite(path)
        assert str(path) in caught.value.message
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
