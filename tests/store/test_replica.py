"""The copy of a team's store on this machine: it answers while the database is gone, and never says more than it."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.postgres import OwnPostgres

from clew.errors import StoreBusy, StoreTooNew, StoreUnreachable
from clew.store.interface import Store
from clew.store.replica import ReplicatedStore
from clew.store.sqlite.engine import open_sqlite
from clew.store.transfer import copy
from clew.text.database_address import Address
from clew.workspace.find import files_below

pytest.importorskip("psycopg")

import psycopg

from clew.store.postgres.engine import PostgresStore, open_postgres

SECRET = "the lamp key is 4711-kestrel"


def put(store: Store, id: str, data: object) -> None:
    with store.transaction(actor="agent") as transaction:
        transaction.put("notes", id, data)


def ids(store: Store) -> list[str]:
    return [record.id for record in store.scan("notes")]


def schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA schema_version").fetchone()[0])


def is_locked(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return True
    connection.execute("ROLLBACK")
    return False


@pytest.fixture
def remote(database: str) -> Iterator[PostgresStore]:
    with closing(open_postgres(Address(database), "clew_team", create=True)) as store:
        yield store


def replica(database: str, place: Path) -> ReplicatedStore:
    place.mkdir(exist_ok=True)
    return ReplicatedStore(lambda: open_postgres(Address(database), "clew_team"), place / "copy.db", fresh_seconds=0)


# Verifies: REQ-d00483-B
def test_what_one_server_writes_another_one_reads_at_its_next_question(
    database: str, remote: PostgresStore, tmp_path: Path
) -> None:
    with closing(replica(database, tmp_path / "a")) as first, closing(replica(database, tmp_path / "b")) as second:
        put(first, "1", "one")
        assert ids(first) == ids(second) == ["1"]
        with second.transaction(actor="agent") as transaction:
            transaction.delete("notes", "1")
        assert ids(first) == ids(second) == []
        assert [each.id for each in first.tombstones("notes")] == ["1"]
        assert first.events() == second.events() == remote.events()


# Verifies: REQ-d00482-D
def test_a_running_server_refuses_a_schema_that_needs_a_newer_clew_and_goes_on_when_it_does_not(
    database: str, remote: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.store.replica.VERSION_SECONDS", 0)
    with closing(replica(database, tmp_path)) as store:
        put(store, "1", "one")
        with remote.moving() as connection:
            connection.execute("INSERT INTO versions VALUES (99, 'of a later release', 98, 'now')")
        with pytest.raises(StoreTooNew, match=r"99.*98"):
            store.get("notes", "1")
        with pytest.raises(StoreTooNew):
            put(store, "2", "two")
        with pytest.raises(StoreTooNew):
            store.put("notes", "2", "two", actor="agent")
        with remote.moving() as connection:
            connection.execute("DELETE FROM versions WHERE number = 99")
        put(store, "3", "three")
        assert ids(store) == ["1", "3"]


# Verifies: REQ-d00483-A, REQ-d00483-B
def test_reading_goes_on_while_the_database_is_gone_and_writing_when_it_is_back(
    own_postgres: OwnPostgres, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with own_postgres.database("team") as url:
        open_postgres(Address(url), "clew_team", create=True).close()
        with closing(replica(url, tmp_path)) as store:
            put(store, "1", "one")
            assert store.setting("repository", b"r1") == b"r1"
            own_postgres.kill()
            assert ids(store) == ["1"]
            assert store.stale is not None
            assert "until" in store.stale
            assert store.setting("repository", b"other") == b"r1"
            with pytest.raises(StoreUnreachable, match="cannot be reached"):
                put(store, "2", "two")
            # A command has said so already: a line of a log would say it again, and not as a command does.
            assert caplog.messages == []
            # A server that starts now has the copy too.
            with closing(replica(url, tmp_path)) as late:
                assert ids(late) == ["1"]
                assert late.stale is not None
                own_postgres.start()
                until_it_answers(late)
                put(late, "3", "three")
            until_it_answers(store)
            assert ids(store) == ["1", "3"]
            assert store.stale is None
            put(store, "4", "four")
            assert ids(store) == ["1", "3", "4"]


def until_it_answers(store: ReplicatedStore) -> None:
    """For a moment after a failed attempt nobody tries again."""
    for _ in range(1_000):
        try:
            store.pull()
            return
        except StoreUnreachable:
            threading.Event().wait(0.05)
    raise AssertionError("the database did not come back")


# Verifies: REQ-d00483-C
def test_a_purge_reaches_every_copy_with_its_bytes(database: str, remote: PostgresStore, tmp_path: Path) -> None:
    with closing(replica(database, tmp_path / "a")) as first, closing(replica(database, tmp_path / "b")) as second:
        put(first, "kept", {"text": "a lamp"})
        put(first, "purged", {"text": SECRET})
        put(first, "erased", {"text": SECRET})
        with first.transaction(actor="agent") as transaction:
            transaction.delete("notes", "erased")
        assert ids(second) == ["kept", "purged"]
        first.erase("notes", ["erased"])
        first.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
        for store in (first, second):
            assert ids(store) == ["kept"]
            assert store.tombstones("notes") == []
            assert SECRET not in str(store.events())
            assert store.events() == remote.events()
    for file in files_below(tmp_path):
        assert SECRET.encode() not in file.read_bytes(), file


# Verifies: REQ-d00483-C
def test_a_copy_that_nobody_uses_during_a_purge_is_clean_when_it_is_opened_next(
    database: str, remote: PostgresStore, tmp_path: Path
) -> None:
    with closing(replica(database, tmp_path / "a")) as first:
        put(first, "purged", {"text": SECRET})
        replica(database, tmp_path / "b").close()
        assert SECRET.encode() in bytes_below(tmp_path / "b")
        first.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
    replica(database, tmp_path / "b").close()
    assert SECRET.encode() not in bytes_below(tmp_path)


def bytes_below(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in files_below(folder))


# Verifies: REQ-d00483-C
def test_a_purge_of_what_was_not_copied_yet_leaves_no_gap(
    database: str, remote: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(replica(database, tmp_path)) as store:
        put(store, "first", "one")
        ask = store.database.purged

        def purged_meanwhile(*, after: int) -> tuple[list[tuple[str, str]], int]:
            """Between the look for events and the look for purges, others write and purge."""
            monkeypatch.setattr(store.database, "purged", ask)
            put(remote, "between", "two")
            put(remote, "last", SECRET)
            remote.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
            return ask(after=after)

        monkeypatch.setattr(store.database, "purged", purged_meanwhile)
        store.pull()
        assert ids(store) == ["between", "first"]
        assert store.events() == remote.events()


# Verifies: REQ-d00483-C
def test_a_purge_that_two_processes_follow_at_once_undoes_nothing_of_what_one_of_them_copied(
    database: str, remote: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(replica(database, tmp_path)) as first, closing(replica(database, tmp_path)) as second:
        put(first, "lamp", "the key is 4711")
        remote.rewrite(lambda collection, id, value: "the key" if "4711" in str(value) else value)
        ask = first.database.event_rows

        def events_and_then(**wanted: object) -> list[tuple[object, ...]]:
            """After the events of the purged record were fetched, another process copies further."""
            found = ask(**wanted)  # type: ignore[arg-type]
            if "id" in wanted:
                monkeypatch.setattr(first.database, "event_rows", ask)
                put(remote, "lamp", "a later text")
                second.pull()
            return found

        monkeypatch.setattr(first.database, "event_rows", events_and_then)
        first.pull()
        for store in (first, second):
            record = store.get("notes", "lamp")
            assert record is not None
            assert (record.version, record.data) == (2, "a later text")
            assert store.events() == remote.events()


# Verifies: REQ-d00483-C
def test_what_was_fetched_before_a_purge_is_not_copied_after_it(
    database: str, remote: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(replica(database, tmp_path)) as first, closing(replica(database, tmp_path)) as second:
        put(first, "kept", "one")
        put(remote, "late", SECRET)
        ask = first.database.event_rows

        def events_and_then(**wanted: object) -> list[tuple[object, ...]]:
            found = ask(**wanted)  # type: ignore[arg-type]
            monkeypatch.setattr(first.database, "event_rows", ask)
            # Another process that has not copied the event yet follows the purge.
            monkeypatch.setattr(second.database, "event_rows", lambda **wanted: [])
            remote.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
            second.pull()
            monkeypatch.undo()
            return found

        monkeypatch.setattr(first.database, "event_rows", events_and_then)
        first.pull()
        assert ids(first) == ["kept"]
        assert SECRET not in str(first.events())


# Verifies: REQ-d00483-C
def test_bytes_of_what_was_purged_are_removed_as_soon_as_nobody_holds_them(
    database: str, remote: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody's question waits for the reader: a wait would fail.
    monkeypatch.delattr("clew.store.sqlite.engine.COMPACTING_SECONDS")
    monkeypatch.setattr("clew.store.replica.CLEAN_AGAIN_SECONDS", 0)
    with closing(replica(database, tmp_path)) as store:
        put(store, "purged", {"text": SECRET})
        with closing(sqlite3.connect(tmp_path / "copy.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            store.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
            assert ids(store) == []
            assert SECRET.encode() in bytes_below(tmp_path)
        store.pull()
        assert SECRET.encode() not in bytes_below(tmp_path)


# Verifies: REQ-d00483-C
def test_who_reads_for_a_moment_leaves_no_bytes_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # However slow the machine is, the moment lasts until the reader has ended.
    monkeypatch.setattr("clew.store.sqlite.engine.MOMENT_SECONDS", 3600.0)
    place = tmp_path / "copy.db"
    with closing(open_sqlite(place)) as store, ThreadPoolExecutor(1) as beside:
        put(store, "purged", {"text": SECRET})
        with closing(sqlite3.connect(place, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            store.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
            with closing(sqlite3.connect(place, isolation_level=None, timeout=0)) as writer:
                written = schema_version(writer)
                compacted = beside.submit(store.compact, waits=False)
                while schema_version(writer) == written and not compacted.done():
                    pass
                # The file is written anew. Who waits for readers lets nobody write meanwhile.
                while not is_locked(writer) and not compacted.done():
                    pass
        compacted.result()
        assert SECRET.encode() not in bytes_below(tmp_path)


# Verifies: REQ-d00483-C
def test_the_copy_is_cleaned_also_where_the_database_cannot_be(
    database: str, remote: PostgresStore, tmp_path: Path
) -> None:
    def opened() -> PostgresStore:
        return open_postgres(Address(database), "clew_team", busy_timeout=0.1)

    with closing(ReplicatedStore(opened, tmp_path / "copy.db", fresh_seconds=0)) as store:
        put(store, "purged", {"text": SECRET})
        with psycopg.connect(database) as dump:
            dump.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            dump.execute("SELECT count(*) FROM clew_team.versions")
            with closing(sqlite3.connect(tmp_path / "copy.db", isolation_level=None)) as reader:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM events").fetchone()
                store.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
            assert SECRET.encode() in bytes_below(tmp_path)
            with pytest.raises(StoreBusy):
                store.compact()
        assert SECRET.encode() not in bytes_below(tmp_path)


# Verifies: REQ-d00483-C
def test_a_purge_in_a_database_that_was_restored_reaches_the_copy(
    database: str, remote: PostgresStore, tmp_path: Path
) -> None:
    with closing(replica(database, tmp_path)) as store:
        put(store, "1", "the first key")
        store.rewrite(lambda collection, id, value: "a key" if "first" in str(value) else value)
        put(store, "2", {"text": SECRET})
    with closing(open_sqlite(tmp_path / "backup.db")) as backup:
        copy(remote, backup)
        with remote.asking() as connection:
            connection.execute("DROP SCHEMA clew_team CASCADE")
        with closing(open_postgres(Address(database), "clew_team", create=True)) as fresh:
            copy(backup, fresh)
            fresh.rewrite(lambda collection, id, value: None if SECRET in str(value) else value)
    with closing(replica(database, tmp_path)) as store:
        assert ids(store) == ["1"]
        assert SECRET not in str(store.events())


# Verifies: REQ-d00483-A
def test_a_copy_of_another_database_is_made_anew(database: str, remote: PostgresStore, tmp_path: Path) -> None:
    with closing(replica(database, tmp_path)) as store:
        put(store, "1", "one")
        assert ids(store) == ["1"]
    with remote.asking() as connection:
        connection.execute("DROP SCHEMA clew_team CASCADE")
    with closing(open_postgres(Address(database), "clew_team", create=True)) as fresh:
        put(fresh, "2", "two")
    with closing(replica(database, tmp_path)) as store:
        assert ids(store) == ["2"]
        assert len(store.events()) == 1


# Verifies: REQ-d00483-A
def test_a_damaged_copy_is_made_anew(database: str, remote: PostgresStore, tmp_path: Path) -> None:
    put(remote, "1", "one")
    replica(database, tmp_path).close()
    (tmp_path / "copy.db").write_bytes(b"not a database at all")
    with closing(replica(database, tmp_path)) as store:
        assert ids(store) == ["1"]


def by_hand(database: str, *statements: str) -> None:
    """What an administrator does to the tables, past all rules."""
    with psycopg.connect(database, autocommit=True, options="-c search_path=clew_team") as connection:
        for statement in ("SET session_replication_role = replica", *statements):
            connection.execute(statement.encode())


_LATE = """
    INSERT INTO events OVERRIDING SYSTEM VALUE
    SELECT {seq}, '2026-01-01T00:00:00.000000Z', 'a', 'put', '', 'notes', '{id}', 1, NULL, '{{"a": 1}}'
"""
_FAR = 9_000_000_000_000_000_000


# Verifies: REQ-d00671-A, REQ-d00671-B
@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (("UPDATE events SET after = '\"other\"' WHERE id = '1'",), "1 were others"),
        (("DELETE FROM events WHERE id = '2'",), "1 were not in the database"),
        (("UPDATE events SET seq = DEFAULT WHERE id = '2'",), "1 were not in the database"),
        ((_LATE.format(seq=1, id="late"),), "1 events of the database were missing"),
    ],
)
def test_a_copy_that_is_not_in_step_says_what_differs_and_catches_up(
    database: str, remote: PostgresStore, tmp_path: Path, statements: tuple[str, ...], said: str
) -> None:
    # A number that a transaction took which has not ended.
    by_hand(database, "SELECT nextval('events_seq_seq')")
    with closing(replica(database, tmp_path)) as store:
        for number in range(4):
            put(store, str(number), number)
        assert store.check() == []
        by_hand(database, *statements)
        put(store, "after", 1)
        (found,) = store.check()
        assert said in found
        assert store.check() == []
        assert store.events() == remote.events()
        assert {event.id for event in store.events()} == {*ids(store)}


# Verifies: REQ-d00671-A
def test_a_number_beyond_all_others_hides_nothing_that_follows(
    database: str, remote: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.store.replica.COMPARE_SECONDS", 0)
    with closing(replica(database, tmp_path)) as store:
        put(store, "1", "one")
        by_hand(database, _LATE.format(seq=_FAR, id="far"))
        store.pull()
        assert store.events(latest_first=True, limit=1)[0].seq == _FAR
        # As the step does that gives it another number.
        by_hand(database, f"UPDATE events SET seq = DEFAULT WHERE seq = {_FAR}")
        put(remote, "2", "two")
        assert store.get("notes", "2") is not None
        assert store.events() == remote.events()
        differed = store.describe()["copy_differed"]
        assert "1 were not in the database" in differed


# Verifies: REQ-d00671-B
def test_a_value_that_nobody_can_read_keeps_no_copy_from_what_follows(
    database: str, remote: PostgresStore, tmp_path: Path
) -> None:
    with closing(replica(database, tmp_path)) as store:
        number = "nextval('events_seq_seq')"
        by_hand(database, _LATE.format(seq=number, id="odd").replace('{"a": 1}', "1e999"))
        put(remote, "1", "one")
        assert store.get("notes", "1") is not None
