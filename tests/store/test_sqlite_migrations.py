"""The schema grows by numbered steps that are taken by themselves, whole or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.migrations import (
    APPLICATION_ID,
    MIGRATIONS,
    SCHEMA_VERSION,
    SqliteMigration,
    migrate,
    schema_version,
)

# Verifies: REQ-d00006-E


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(connect(path)) as connection:
        return sorted(connection.execute("SELECT name, sql FROM sqlite_master").fetchall())


def test_the_steps_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert len({migration.name for migration in MIGRATIONS}) == len(MIGRATIONS)


def test_the_file_says_whose_it_is_and_at_which_version(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    open_sqlite(path).close()
    with closing(connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("steps", range(1, len(MIGRATIONS)))
def test_an_older_store_is_brought_up_to_date_and_keeps_what_it_holds(tmp_path: Path, steps: int) -> None:
    path, new = tmp_path / "clew.db", tmp_path / "new.db"
    with closing(connect(path)) as connection:
        migrate(connection, MIGRATIONS[:steps])
        connection.execute("INSERT INTO entries VALUES ('notes', 'n1', 1, '\"one\"', '2026-01-01T00:00:00.000000Z')")
    open_sqlite(new).close()
    with closing(open_sqlite(path)) as store:
        record = store.get("notes", "n1")
        assert record is not None
        assert record.data == "one"
        assert store.describe()["schema_version"] == SCHEMA_VERSION
        assert store.check() == []
    assert schema(path) == schema(new)


def test_a_step_that_fails_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    broken = SqliteMigration(2, "broken", ("CREATE TABLE half (x)", "CREATE TABLE half (x)"))
    with closing(connect(path)) as connection:
        migrate(connection, MIGRATIONS[:1])
        before = connection.execute("SELECT * FROM sqlite_master").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="half"):
            migrate(connection, (MIGRATIONS[0], broken))
        assert connection.execute("SELECT * FROM sqlite_master").fetchall() == before
        assert schema_version(connection) == 1


def test_opening_a_store_of_the_present_version_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    open_sqlite(path).close()
    before = {file.name: (file.read_bytes(), file.stat().st_ino) for file in tmp_path.iterdir()}
    assert sorted(before) == ["clew.db", "clew.db-note"]
    open_sqlite(path).close()
    assert {file.name: (file.read_bytes(), file.stat().st_ino) for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET reason = 'forged'",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT * FROM events",
        "UPDATE OR REPLACE events SET seq = seq + 1",
    ],
)
def test_events_cannot_be_changed_even_with_sql(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store:
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "n1", 1)
        before = store.events()
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA recursive_triggers = OFF")
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)
        assert store.events() == before


def test_a_deleted_value_is_in_no_table_of_the_living(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        transaction.put("notes", "n1", "secret")
        transaction.delete("notes", "n1")
    with closing(connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM records").fetchone() == (0,)
        assert connection.execute("SELECT data FROM entries").fetchall() == [(None,)]
        assert connection.execute("SELECT data FROM tombstones").fetchall() == [('"secret"',)]
