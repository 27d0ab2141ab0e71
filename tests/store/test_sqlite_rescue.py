"""What is left of a damaged store can be saved into a new one."""

import random
import shlex
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from clew.errors import Conflict, NotFound, StoreCorrupt
from clew.store.interface import Record
from clew.store.sqlite.damaged_copies import damaged_files
from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.rescue import Rescue, rescue, rescue_in_place

# Verifies: REQ-d00006-B

PAGE = 4096
NUMBER = 120


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store:
        with store.transaction(actor="ada", reason="first") as transaction:
            for number in range(NUMBER):
                transaction.put("notes", f"{number:03}", "x" * 300)
        with store.transaction(actor="bob", reason="second") as transaction:
            for number in range(0, NUMBER, 3):
                transaction.put("notes", f"{number:03}", f"changed {number}")
            for number in range(1, NUMBER, 20):
                transaction.delete("notes", f"{number:03}")
        store.setting("key", b"secret")
        store.start_job("index")
    return path


def contents(path: Path) -> list[tuple[str, int, object]]:
    with closing(open_sqlite(path)) as store:
        assert store.check() == []
        return [comparable(record) for record in store.scan("notes")]


def comparable(record: Record) -> tuple[str, int, object]:
    return record.id, record.version, record.data


def pages_of(path: Path, *tables: str) -> list[int]:
    """The numbers of the pages that hold these tables, or else of all but those that hold the schema."""
    query = "SELECT name, pageno FROM dbstat WHERE name NOT IN ('sqlite_schema', 'sqlite_master')"
    with closing(sqlite3.connect(path)) as connection:
        try:
            rows = connection.execute(query).fetchall()
        except sqlite3.OperationalError as error:
            pytest.skip(f"this SQLite does not tell which page belongs to which table: {error}")
    return [page for name, page in rows if not tables or name in tables]


def damage(path: Path, *pages: int) -> None:
    content = bytearray(path.read_bytes())
    for page in pages:
        content[(page - 1) * PAGE : page * PAGE] = random.Random(page).randbytes(PAGE)
    path.write_bytes(content)


# Verifies: REQ-d00247-G
def test_where_a_record_and_its_event_differ_both_values_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        transaction.put("notes", "harbour", "port 8017")
        transaction.put("notes", "other", "unharmed")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("""UPDATE entries SET data = '"port 8007"' WHERE id = 'harbour'""")
    found, _ = rescue_in_place(path)
    assert (found.records, found.rebuilt, found.differing) == (2, 0, ("notes/harbour",))
    with closing(open_sqlite(path)) as store:
        assert store.check() == []
        record = store.get("notes", "harbour")
        assert record is not None
        assert (record.version, record.data) == (2, "port 8007")
        history = [(event.before, event.after) for event in store.events(collection="notes", id="harbour")]
        assert history == [(None, "port 8017"), ("port 8017", "port 8007")]


def test_a_healthy_store_is_copied_whole(tmp_path: Path, store_path: Path) -> None:
    target = tmp_path / "rescued.db"
    dead = len(range(1, NUMBER, 20))
    events = NUMBER + len(range(0, NUMBER, 3)) + dead
    assert rescue(store_path, target) == Rescue(records=NUMBER - dead, rebuilt=0, events=events, tombstones=dead)
    assert contents(target) == contents(store_path)
    with closing(open_sqlite(store_path)) as old, closing(open_sqlite(target)) as new:
        assert new.events() == old.events()
        assert new.tombstones("notes") == old.tombstones("notes")
        assert new.setting("key", b"another") == b"secret"
        with new.transaction(actor="ada") as transaction:
            assert transaction.restore("notes", "001").version == 3


def test_whichever_page_is_damaged_every_record_is_saved(tmp_path: Path, store_path: Path) -> None:
    healthy, expected = store_path.read_bytes(), contents(store_path)
    pages = sorted(pages_of(store_path))
    assert len(pages) > 15
    for page in pages:
        damage(store_path, page)
        before = store_path.read_bytes()
        target = tmp_path / f"rescued-{page}.db"
        found = rescue(store_path, target)
        assert contents(target) == expected
        assert found.records == len(expected)
        assert store_path.read_bytes() == before
        store_path.write_bytes(healthy)


def test_the_values_of_a_lost_table_come_from_the_events(tmp_path: Path, store_path: Path) -> None:
    expected = contents(store_path)
    damage(store_path, *pages_of(store_path, "entries"))
    assert rescue(store_path, tmp_path / "rescued.db").rebuilt == len(expected)
    assert contents(tmp_path / "rescued.db") == expected


def test_a_file_that_lost_its_end_gives_what_is_left(tmp_path: Path, store_path: Path) -> None:
    expected = contents(store_path)
    content = store_path.read_bytes()
    store_path.write_bytes(content[: len(content) * 3 // 4])
    rescue(store_path, tmp_path / "rescued.db")
    saved = contents(tmp_path / "rescued.db")
    assert saved
    assert {id for id, _, _ in saved} <= {id for id, _, _ in expected} | {f"{n:03}" for n in range(1, NUMBER, 20)}


# Verifies: REQ-d00247-C
def test_the_command_in_the_error_does_it_and_keeps_the_damaged_store(store_path: Path) -> None:
    expected = contents(store_path)
    damage(store_path, *pages_of(store_path, "entries"))
    broken = store_path.read_bytes()
    with pytest.raises(StoreCorrupt) as caught:
        open_sqlite(store_path)
    command = shlex.split(caught.value.hint.split("`")[1])
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert f"Rescued {len(expected)} records" in done.stdout
    assert contents(store_path) == expected
    (kept,) = damaged_files(store_path)
    assert kept.read_bytes() == broken
    assert str(kept) in done.stdout
    # Once more, with a store that is empty: nothing is written over.
    store_path.write_bytes(b"")
    again = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "Rescued 0 records" in again.stdout
    assert [file.stat().st_size for file in damaged_files(store_path)] == [len(broken), 0]
    assert contents(store_path) == []


# Verifies: REQ-d00268-A
def test_a_rescue_that_was_interrupted_is_repeated_from_the_copy(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = contents(store_path)
    damage(store_path, *pages_of(store_path, "entries"))
    broken = store_path.read_bytes()

    class Killed(BaseException):
        pass

    def killed(*_: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("clew.store.sqlite.damaged_copies.put_in_place", killed)
        with pytest.raises(Killed):
            rescue_in_place(store_path)
    with pytest.raises(StoreCorrupt, match=r"its rescue was interrupted.*clew-damaged-1\.db"):
        open_sqlite(store_path)
    # Nor does it help to name another file for the new store.
    rescue(store_path, store_path.with_name("other.db"))
    assert contents(store_path.with_name("other.db")) == expected
    _, kept = rescue_in_place(store_path)
    assert contents(store_path) == expected
    assert (kept.name, kept.read_bytes()) == ("clew-damaged-1.db", broken)
    assert damaged_files(store_path) == [kept]


def test_a_rescue_writes_over_nothing(tmp_path: Path, store_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    with pytest.raises(Conflict, match="precious"):
        rescue(store_path, target)
    assert target.read_text() == "precious"


def test_a_file_that_is_no_store_at_all_is_named(tmp_path: Path) -> None:
    damaged = tmp_path / "clew.db"
    with pytest.raises(NotFound, match="There is no file"):
        rescue(damaged, tmp_path / "rescued.db")
    damaged.write_bytes(b"# Notes\n" * 1024)
    with pytest.raises(StoreCorrupt, match="Nothing can be read"):
        rescue(damaged, tmp_path / "rescued.db")
    assert [file.name for file in tmp_path.iterdir()] == ["clew.db"]
