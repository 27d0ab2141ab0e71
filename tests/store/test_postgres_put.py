"""One record in one question: what becomes of it when the connection or the lock is lost."""

import select
import threading
from contextlib import closing

import pytest

from clew.errors import StoreBusy, StoreError, StoreUnreachable
from clew.text.database_address import Address

psycopg = pytest.importorskip("psycopg")

from clew.store.postgres import pipeline  # noqa: E402
from clew.store.postgres.connections import lock_of, options  # noqa: E402
from clew.store.postgres.engine import PostgresStore, open_postgres  # noqa: E402

SCHEMA = "clew_put"
_OTHERS = """
    SELECT {} FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'clew'
"""


def opened(database: str) -> PostgresStore:
    return open_postgres(Address(database), SCHEMA, create=True)


# Verifies: REQ-d00483-I
def test_a_record_is_asked_for_once(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    sent = pipeline._sent

    def counted(there: object, session: object, new: object, these: tuple[object, ...]) -> object:
        asked.append(len(these))
        return sent(there, session, new, these)  # type: ignore[arg-type]

    with closing(opened(database)) as store:
        monkeypatch.setattr(pipeline, "_sent", counted)
        store.put("notes", "1", "one", actor="ada")
    assert len(asked) == 1


# Verifies: REQ-d00483-B, REQ-d00483-I
@pytest.mark.parametrize("polls", [True, False])
def test_a_connection_that_ended_before_costs_no_write(
    database: str, monkeypatch: pytest.MonkeyPatch, polls: bool
) -> None:
    if not polls:
        # As on Windows.
        monkeypatch.delattr(select, "poll")
    with closing(opened(database)) as store, psycopg.connect(database, autocommit=True) as other:
        for number in range(3):
            assert store.put("notes", "1", number, actor="ada").version == number + 1
            ended = other.execute(_OTHERS.format("pg_terminate_backend(pid, 60000)")).fetchall()
            assert (True,) in ended
        assert len(store.events()) == 3


# Verifies: REQ-d00483-I
def test_a_connection_that_ends_meanwhile_leaves_it_unknown_and_writes_nothing_twice(database: str) -> None:
    errors: list[StoreError] = []
    with closing(opened(database)) as store, psycopg.connect(database, autocommit=True) as other:

        def write() -> None:
            try:
                store.put("notes", "1", "one", actor="ada")
            except StoreError as error:
                errors.append(error)

        other.execute("SELECT pg_advisory_lock(%s)", (lock_of(SCHEMA),))
        writer = threading.Thread(target=write)
        writer.start()
        while not other.execute(_OTHERS.format("pid") + "AND wait_event = 'advisory'").fetchall():
            assert writer.is_alive()
        other.execute(_OTHERS.format("pg_terminate_backend(pid, 60000)"))
        other.execute("SELECT pg_advisory_unlock(%s)", (lock_of(SCHEMA),))
        writer.join()
        assert [type(error) for error in errors] == [StoreUnreachable]
        assert "Look before you write it again" in errors[0].hint
        assert store.events() == []
        assert store.put("notes", "1", "again", actor="ada").version == 1


# Verifies: REQ-d00483-I
def test_a_writer_that_does_not_get_the_lock_in_time_has_written_nothing(database: str) -> None:
    with closing(opened(database)) as store, psycopg.connect(database, autocommit=True) as other:
        with store.asking() as connection:
            connection.execute("SET lock_timeout = 50")
        other.execute("SELECT pg_advisory_lock(%s)", (lock_of(SCHEMA),))
        with pytest.raises(StoreBusy) as raised:
            store.put("notes", "1", "one", actor="ada")
        assert "Nothing was written" in raised.value.hint
        other.execute("SELECT pg_advisory_unlock(%s)", (lock_of(SCHEMA),))
        assert store.put("notes", "1", "one", actor="ada").version == 1


# Verifies: REQ-d00483-B
def test_a_record_is_written_where_the_prepared_statements_were_thrown_away(database: str) -> None:
    with closing(opened(database)) as store:
        for number in range(3):
            store.put("notes", "1", number, actor="ada")
            with store.asking() as connection:
                connection.execute("DEALLOCATE ALL")
        assert [event.after for event in store.events()] == [0, 1, 2]


# Verifies: REQ-d00483-B
def test_a_notice_that_came_meanwhile_is_no_end(database: str) -> None:
    with psycopg.connect(database, **options("test")) as lent, psycopg.connect(database, autocommit=True) as other:
        lent.execute("LISTEN news")
        assert not pipeline.has_ended(lent)
        other.execute("NOTIFY news")
        assert not pipeline.has_ended(lent)
        assert lent.execute("SELECT 1").fetchone() == (1,)
        other.execute("SELECT pg_terminate_backend(%s, 60000)", (lent.info.backend_pid,))
        assert pipeline.has_ended(lent)
        assert lent.closed
