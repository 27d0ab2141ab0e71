"""Several prepared statements in one round trip to the database.

psycopg's cursors are for every purpose: what they do for a statement takes longer than the statement itself where one
record is written. Here libpq is asked directly, as psycopg lets one do. Values and answers are texts, or bytes as
PostgreSQL itself would send them.
"""

import hashlib
import select
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import psycopg
from psycopg import errors, pq

Lent = psycopg.Connection[tuple[Any, ...]]
Answer = list[tuple[str | None, ...]]

_BAD = pq.ConnStatus.BAD
_SYNC = pq.ExecStatus.PIPELINE_SYNC
_GOOD = frozenset({pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK})


class PreparedStatement(NamedTuple):
    """A prepared statement, with `$1` for a value. One name means one text on all connections to a schema."""

    name: bytes
    text: str


class StatementCall(NamedTuple):
    statement: PreparedStatement
    values: Sequence[str | bytes | None] = ()
    binary: bool = False
    """True for an answer in PostgreSQL's own format, rather than as texts."""


class StatementResult(NamedTuple):
    said: str
    """The status that the database reports, such as COMMIT."""
    values: list[tuple[bytes | None, ...]]
    """The rows, as they came."""

    @property
    def rows(self) -> Answer:
        """The rows, as texts."""
        return [tuple([None if value is None else value.decode() for value in row]) for row in self.values]


class _Session:
    """State of a connection: its prepared statements, and the wait for its socket."""

    def __init__(self, lent: Lent) -> None:
        self.prepared: set[bytes] = set()
        self.wait = _waiter(lent.pgconn.socket)


@lru_cache(maxsize=256)
def prepared(statement: str) -> PreparedStatement:
    """A statement with `%s` for a value, under a name that only this text has. For few texts, used often."""
    first, *rest = statement.split("%s")
    text = first + "".join(f"${place}{part}" for place, part in enumerate(rest, start=1))
    return PreparedStatement(b"clew_" + hashlib.sha256(text.encode()).hexdigest()[:16].encode(), text)


_sessions: "WeakKeyDictionary[Lent, _Session]" = WeakKeyDictionary()


def ask(lent: Lent, *asked: StatementCall) -> list[StatementResult]:
    """The answers to all statements. Of those after one that fails none is carried out, and its error is raised."""
    done: list[StatementResult] = []
    for each in answers(lent, *asked):
        if isinstance(each, psycopg.Error):
            raise each
        done.append(each)
    return done


def answers(lent: Lent, *asked: StatementCall) -> list[StatementResult | psycopg.Error]:
    """The answer to each statement. If one fails, it and all after it, which are not carried out, have its error."""
    session = _session(lent)
    # Each right before it is asked first: in a transaction that failed, nothing can be prepared.
    new = [each.statement for each in asked if each.statement.name not in session.prepared]
    try:
        results = _sent(lent.pgconn, session, new, asked)
    except BaseException:
        # Answers are still to come, which nobody would tell from those to the next question.
        lent.close()
        raise
    if new:
        prepared = {each.name: result for each, result in results if isinstance(each, PreparedStatement)}
        session.prepared.update(name for name, result in prepared.items() if result.status in _GOOD)
    found: list[StatementResult | psycopg.Error] = []
    failed: psycopg.Error | None = None
    for each, result in results:
        if failed is None and result.status not in _GOOD:
            failed = _error(result)
        if isinstance(each, StatementCall):
            found.append(failed or _done(result))
    if isinstance(failed, errors.InvalidSqlStatementName):
        # Somebody threw the prepared statements of the session away.
        session.prepared.clear()
    return found


def has_ended(lent: Lent) -> bool:
    """True if the database has closed an idle connection, as far as is known here."""
    session = _session(lent)
    try:
        # Besides the end, only notices come unasked.
        while session.wait(0):
            lent.pgconn.consume_input()
    except psycopg.OperationalError:
        lent.close()
    return lent.closed


def _session(lent: Lent) -> _Session:
    session = _sessions.get(lent)
    if session is None:
        session = _sessions[lent] = _Session(lent)
    return session


def roll_back(lent: Lent) -> None:
    """End a transaction in any state. psycopg's own way throws all prepared statements away with it."""
    lent.pgconn.exec_(b"ROLLBACK")


def _sent(
    there: "pq.abc.PGconn", session: _Session, new: Sequence[PreparedStatement], asked: Sequence[StatementCall]
) -> "list[tuple[PreparedStatement | StatementCall, pq.abc.PGresult]]":
    """The prepared and executed statements, each with its result."""
    there.enter_pipeline_mode()
    steps: list[PreparedStatement | StatementCall] = []
    for each in asked:
        name, text = each.statement
        if each.statement in new and each.statement not in steps:
            there.send_prepare(name, text.encode())
            steps.append(each.statement)
        formats = [pq.Format.BINARY if isinstance(value, bytes) else pq.Format.TEXT for value in each.values]
        values = [None if value is None else _encoded(value) for value in each.values]
        there.send_query_prepared(name, values, formats, pq.Format.BINARY if each.binary else pq.Format.TEXT)
        steps.append(each)
    there.pipeline_sync()
    _flush(there)
    results: list[pq.abc.PGresult] = []
    while True:
        while there.is_busy():
            # Other threads go on meanwhile.
            session.wait()
            there.consume_input()
        result = there.get_result()
        if result is None:
            if there.status == _BAD:
                raise psycopg.OperationalError(there.get_error_message())
        elif result.status == _SYNC:
            break
        else:
            results.append(result)
    there.exit_pipeline_mode()
    return list(zip(steps, results, strict=True))


def _encoded(value: str | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    if "\0" in value:
        # libpq would end the text there.
        raise errors.DataError("A text in PostgreSQL cannot hold the character NUL.")
    return value.encode()


def _waiter(socket: int, *, sends: bool = False) -> Callable[..., object]:
    """A function that waits until there is something to read, or until more can be sent as well, for at most the given
    milliseconds. Its answer counts as false if there is nothing."""
    if sys.platform != "win32" and hasattr(select, "poll"):
        polled = select.poll()
        polled.register(socket, select.POLLIN | select.POLLOUT if sends else select.POLLIN)
        return polled.poll
    # Windows has no `poll`, and takes a socket of any number here.
    return lambda milliseconds=None: any(
        select.select([socket], [socket] if sends else [], [], None if milliseconds is None else milliseconds / 1000)
    )


def _flush(there: "pq.abc.PGconn") -> None:
    """Send everything, in several parts if the socket takes less at once."""
    while there.flush():
        _waiter(there.socket, sends=True)()
        there.consume_input()


def _error(result: "pq.abc.PGresult") -> psycopg.Error:
    state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
    try:
        kind = errors.lookup(state)
    except KeyError:
        kind = psycopg.DatabaseError if state else psycopg.OperationalError
    return kind(result.get_error_message())


def _done(result: "pq.abc.PGresult") -> StatementResult:
    columns = range(result.nfields)
    rows = [tuple([result.get_value(row, column) for column in columns]) for row in range(result.ntuples)]
    return StatementResult((result.command_status or b"").decode(), rows)
