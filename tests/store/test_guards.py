"""What the schema itself keeps to: the numbers, the turns of writers, and servers of two versions at once."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.postgres import Postgres

from clew.store.sqlite.engine import open_sqlite
from clew.store.transfer import copy
from clew.text.database_address import Address

psycopg = pytest.importorskip("psycopg")

from clew.store.postgres import engine  # noqa: E402
from clew.store.postgres.connections import lock_of  # noqa: E402
from clew.store.postgres.engine import PostgresStore, open_postgres  # noqa: E402
from clew.store.postgres.migrations import MIGRATIONS, migrate  # noqa: E402

SCHEMA = "clew_guarded"
_FAR = 9_000_000_000_000_000_000


def of_the_version_before(database: str, monkeypatch: pytest.MonkeyPatch) -> PostgresStore:
    """A store as that version opens it: its writers lock a number."""
    with monkeypatch.context() as patched:
        patched.setattr(engine, "HAS_TURNS", 99)
        return open_postgres(Address(database), SCHEMA, busy_timeout=300.0)


@pytest.fixture
def store(database: str) -> Iterator[PostgresStore]:
    with closing(open_postgres(Address(database), SCHEMA, create=True, busy_timeout=300.0)) as opened:
        yield opened


# Verifies: REQ-d00670-D
def test_servers_of_two_versions_take_turns(
    database: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reads in a transaction what it writes one more of: a turn that two had at once would lose one."""
    rounds = 40

    def count(through: PostgresStore) -> None:
        for _ in range(rounds):
            with through.transaction(actor="agent") as transaction:
                present = transaction.get("notes", "count")
                transaction.put("notes", "count", (present.data if present else 0) + 1)

    with closing(of_the_version_before(database, monkeypatch)) as older, ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(count, through) for through in (store, older, store, older)]:
            done.result()
        assert [event.after for event in older.events()] == list(range(1, 4 * rounds + 1))


# Verifies: REQ-d00670-D
def test_a_schema_without_the_step_is_written_to_by_both_versions(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        migrate(connection, SCHEMA, MIGRATIONS[:1])
    with (
        closing(open_postgres(Address(database), SCHEMA)) as store,
        closing(of_the_version_before(database, monkeypatch)) as older,
    ):
        store.put("notes", "1", "one", actor="agent")
        older.put("notes", "2", "two", actor="agent")
        with psycopg.connect(database, autocommit=True) as connection:
            assert migrate(connection, SCHEMA) == [2]
        # Both go on where the schema changed under them.
        store.put("notes", "3", "three", actor="agent")
        with older.transaction(actor="agent") as transaction:
            transaction.delete("notes", "1")
        assert [event.id for event in store.events()] == ["1", "2", "3", "1"]


# Verifies: REQ-d00670-C
def test_nobody_who_may_not_write_is_waited_for_and_an_older_server_is(
    postgres: Postgres, database: str, store: PostgresStore
) -> None:
    name = store.address.url.split("/")[3].partition("?")[0]
    postgres.execute(f"CREATE USER {name}_stranger")
    try:
        with psycopg.connect(postgres.url(name, f"{name}_stranger"), autocommit=True) as stranger:
            stranger.execute("SELECT pg_advisory_lock(%s)", (lock_of(SCHEMA),))
            store.put("notes", "1", "one", actor="agent")
            with store.transaction(actor="agent") as transaction:
                transaction.put("notes", "2", "two")
    finally:
        postgres.execute(f"DROP USER {name}_stranger")
    with psycopg.connect(database, autocommit=True) as older:
        older.execute("SELECT pg_advisory_lock(%s)", (lock_of(SCHEMA),))
        writer = threading.Thread(target=store.put, args=("notes", "3", "three"), kwargs={"actor": "agent"})
        writer.start()
        waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not older.execute(waits).fetchall():
            assert writer.is_alive()
        older.execute("SELECT pg_advisory_unlock(%s)", (lock_of(SCHEMA),))
        writer.join()
    assert store.count("notes") == 3


# Verifies: REQ-d00670-E
def test_the_step_gives_new_numbers_to_rows_beyond_all_that_follow(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        migrate(connection, SCHEMA, MIGRATIONS[:1])
        with closing(open_postgres(Address(database), SCHEMA)) as store:
            store.put("notes", "1", "one", actor="agent")
            connection.execute(f"""
                INSERT INTO {SCHEMA}.events OVERRIDING SYSTEM VALUE
                VALUES ({_FAR}, '2026', 'eve', 'put', '', 'notes', 'far', 1, NULL, '1')
            """)
            connection.execute(f"INSERT INTO {SCHEMA}.entries VALUES ('notes', 'far', 1, '1', '2026')")
            migrate(connection, SCHEMA)
        with closing(open_postgres(Address(database), SCHEMA)) as store:
            store.put("notes", "2", "two", actor="agent")
            assert [(event.seq, event.id) for event in store.events()] == [(1, "1"), (2, "far"), (3, "2")]


# Verifies: REQ-d00670-B
def test_what_an_owner_moves_keeps_its_time(store: PostgresStore, tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "store.db")) as here:
        for number in range(3):
            here.put("notes", "1", number, actor="ada")
        with here.transaction(actor="ada") as transaction:
            transaction.delete("notes", "1")
        copy(here, store)
        assert [event.at for event in store.events()] == [event.at for event in here.events()]
        with store.transaction(actor="ada") as transaction:
            assert transaction.restore("notes", "1").data == 2
