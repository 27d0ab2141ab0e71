"""Prepared statements that are asked together, on a real connection."""

import select
from collections.abc import Iterator
from contextlib import closing

import pytest

from clew.text.database_address import Address

psycopg = pytest.importorskip("psycopg")

from clew.store.postgres.connections import Lent, options  # noqa: E402
from clew.store.postgres.engine import open_postgres  # noqa: E402
from clew.store.postgres.pipeline import PreparedStatement, StatementCall, ask, prepared, roll_back  # noqa: E402

SAY = PreparedStatement(b"say", "SELECT $1::text")
FAIL = PreparedStatement(b"fail", "SELECT 1 / $1::int")
BEGIN, COMMIT = PreparedStatement(b"begin", "BEGIN"), PreparedStatement(b"commit", "COMMIT")


@pytest.fixture
def lent(database: str) -> Iterator[Lent]:
    with psycopg.connect(database, **options("test")) as connection:
        yield connection


# Verifies: REQ-o00065-A
def test_answers_come_in_the_order_of_the_questions(lent: Lent) -> None:
    for _ in range(2):
        first, second, third = ask(
            lent, StatementCall(SAY, ("ein Köder",)), StatementCall(SAY, (None,)), StatementCall(SAY, ("",))
        )
        assert [first.rows, second.rows, third.rows] == [[("ein Köder",)], [(None,)], [("",)]]
        assert first.said == "SELECT 1"


# Verifies: REQ-o00065-A
def test_a_text_larger_than_what_is_sent_at_once_arrives_whole(lent: Lent) -> None:
    text = "ä" * 5_000_000
    (done,) = ask(lent, StatementCall(SAY, (text,)))
    assert done.rows == [(text,)]


# Verifies: REQ-o00065-A
def test_texts_and_bytes_are_values_of_one_statement(lent: Lent) -> None:
    statement = prepared("SELECT encode(%s::bytea, 'hex'), %s::int + 1, %s::text")
    assert statement.text == "SELECT encode($1::bytea, 'hex'), $2::int + 1, $3::text"
    assert prepared("SELECT 1").name != statement.name
    for _ in range(2):
        (done,) = ask(lent, StatementCall(statement, (b"\0\xff", "41", None)))
        assert done.rows == [("00ff", "42", None)]


# Verifies: REQ-o00065-A
def test_an_answer_comes_as_bytes_where_that_is_asked_for(lent: Lent) -> None:
    statement = prepared("SELECT %s::bytea, 258::smallint, 'Köder', NULL")
    text, own = ask(lent, StatementCall(statement, (b"\0\xff",)), StatementCall(statement, (b"\0\xff",), binary=True))
    assert text.rows == [("\\x00ff", "258", "Köder", None)]
    assert own.values == [(b"\0\xff", b"\1\2", "Köder".encode(), None)]


# Verifies: REQ-o00065-A
def test_a_system_without_poll_waits_by_select(lent: Lent, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on Windows.
    monkeypatch.delattr(select, "poll")
    text = "ä" * 5_000_000
    first, second = ask(lent, StatementCall(SAY, (text,)), StatementCall(SAY, ("next",)))
    assert (first.rows, second.rows) == ([(text,)], [("next",)])


# Verifies: REQ-d00483-D
def test_after_one_that_fails_none_is_carried_out_and_the_connection_goes_on(lent: Lent) -> None:
    lent.execute("CREATE TEMP TABLE done (number int)")
    note = PreparedStatement(b"note", "INSERT INTO done VALUES ($1)")
    with pytest.raises(psycopg.errors.DivisionByZero):
        ask(lent, StatementCall(note, ("1",)), StatementCall(FAIL, ("0",)), StatementCall(note, ("2",)))
    assert lent.execute("SELECT * FROM done").fetchall() == []
    ask(lent, StatementCall(note, ("3",)), StatementCall(FAIL, ("1",)))
    assert lent.execute("SELECT * FROM done").fetchall() == [(3,)]


# Verifies: REQ-d00483-D
def test_a_transaction_that_failed_is_not_said_to_be_committed(lent: Lent) -> None:
    ask(lent, StatementCall(BEGIN))
    with pytest.raises(psycopg.errors.DivisionByZero):
        ask(lent, StatementCall(FAIL, ("0",)))
    committed, after = ask(lent, StatementCall(COMMIT), StatementCall(SAY, ("next",)))
    assert (committed.said, after.rows) == ("ROLLBACK", [("next",)])


# Verifies: REQ-o00065-A
def test_a_character_that_would_end_a_text_is_refused(lent: Lent) -> None:
    with pytest.raises(psycopg.DataError):
        ask(lent, StatementCall(SAY, ("one\0two",)))


# Verifies: REQ-d00483-B
def test_a_connection_that_the_database_ends_is_lost_and_closed(lent: Lent, database: str) -> None:
    ask(lent, StatementCall(SAY, ("here",)))
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 60000)", (lent.info.backend_pid,))
    with pytest.raises(psycopg.OperationalError):
        ask(lent, StatementCall(SAY, ("gone",)))
    assert lent.closed


# Verifies: REQ-d00483-B
def test_writers_go_on_where_the_prepared_statements_of_a_session_were_thrown_away(database: str) -> None:
    with closing(open_postgres(Address(database), "clew_thrown", create=True)) as store:
        for number in range(3):
            with store.transaction(actor="agent") as transaction:
                transaction.put("notes", str(number), number)
            with store.asking() as connection:
                connection.execute("DEALLOCATE ALL")
        assert store.count("notes") == 3


# Verifies: REQ-o00065-A
def test_statements_stay_prepared_when_a_transaction_is_rolled_back(lent: Lent) -> None:
    ask(lent, StatementCall(BEGIN), StatementCall(SAY, ("one",)))
    roll_back(lent)
    assert lent.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    names = {name for (name,) in lent.execute("SELECT name FROM pg_prepared_statements").fetchall()}
    assert {"begin", "say"} <= names
