"""Long work that any process may watch and cancel."""

import os
from collections.abc import Sequence
from typing import Any

from clew.errors import Cancelled, Conflict, InvalidArgument, NotFound
from clew.store import processes
from clew.store.clock import before
from clew.store.interface import Job
from clew.store.processes import ENDED, Process, has_ended, is_elsewhere, this_process
from clew.store.sql.connections import Connection

ENDINGS = ("done", "failed", "cancelled")
STATES = ("running", *ENDINGS)

_COLUMNS = """
    id, kind, state, done, total, message, cancel_requested, started_at, updated_at, host, boot, pid, process_started
"""


def check_state(value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidArgument(
            f"The state of a job cannot be {value!r}.", hint=f"Pass one of {', '.join(allowed)}. Nothing was written."
        )


def start(connection: Connection, kind: str, total: int | None) -> Job:
    id, process, at = f"job-{os.urandom(8).hex()}", this_process(), connection.moment()
    connection.execute(
        f"INSERT INTO jobs ({_COLUMNS}) VALUES (?, ?, 'running', 0, ?, '', FALSE, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (id, kind, total, at, at, process.host, process.boot, process.pid, process.started),
    )
    return _find(connection, id)


def advance(connection: Connection, id: str, done: int, total: int | None, message: str) -> Job:
    """The job with its progress, or as cancelled where that was asked for: the caller raises once this is committed."""
    state, cancel_requested = _standing(connection, id)
    if state == "cancelled":
        return _find(connection, id)
    if state != "running":
        raise Conflict(
            f"The job {id} has ended as {state} and cannot go on.", hint="Start a new job.", data={"state": state}
        )
    process = this_process()
    connection.execute(
        """
        UPDATE jobs SET state = ?, done = ?, total = coalesce(?, total), message = coalesce(nullif(?, ''), message),
            updated_at = ?, host = ?, boot = ?, pid = ?, process_started = ?
        WHERE id = ?
        """,
        (
            *("cancelled" if cancel_requested else "running", done, total, message, connection.moment()),
            *(process.host, process.boot, process.pid, process.started, id),
        ),
    )
    return _find(connection, id)


def refuse_cancelled(job: Job) -> None:
    if job.state == "cancelled":
        raise Cancelled(f"The job {job.id} was cancelled.", hint="Stop the work.", data={"job": job.id})


def renew(connection: Connection, id: str) -> None:
    """Only the time and the process: `advance` alone meets a request to cancel."""
    process = this_process()
    connection.execute(
        """
        UPDATE jobs SET updated_at = ?, host = ?, boot = ?, pid = ?, process_started = ?
        WHERE id = ? AND state = 'running'
        """,
        (connection.moment(), process.host, process.boot, process.pid, process.started, id),
    )


def finish(connection: Connection, id: str, state: str, message: str, done: int | None) -> Job:
    before, _ = _standing(connection, id)
    if before not in ("running", state):
        raise Conflict(
            f"The job {id} has already ended as {before} and cannot become {state}.",
            hint="Nothing is left to do.",
            data={"state": before},
        )
    if before == "running":
        connection.execute(
            """
            UPDATE jobs SET state = ?, message = coalesce(nullif(?, ''), message), done = coalesce(?, done),
                updated_at = ? WHERE id = ?
            """,
            (state, message, done, connection.moment(), id),
        )
    return _find(connection, id)


def cancel(connection: Connection, id: str) -> Job:
    # `updated_at` stays: it is the last word of the process that runs the job.
    connection.execute("UPDATE jobs SET cancel_requested = TRUE WHERE id = ? AND state = 'running'", (id,))
    return _find(connection, id)


def listed(connection: Connection, state: str | None, limit: int | None) -> list[Job]:
    # What is written as running may turn out to have failed, so it is a candidate for either.
    wanted = (state,) if state is not None else ()
    among = "WHERE state IN ('running', ?)" if wanted else ""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM jobs {among} ORDER BY number DESC", wanted)  # noqa: S608
    return [job for job in _judged(connection, rows.fetchall()) if state in (None, job.state)][:limit]


def _find(connection: Connection, id: str) -> Job:
    row = connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (id,)).fetchone()  # noqa: S608
    if row is None:
        raise _unknown(id)
    return _judged(connection, [row])[0]


def _standing(connection: Connection, id: str) -> tuple[str, bool]:
    """State as written and whether a cancellation was asked for."""
    row = connection.execute("SELECT state, cancel_requested FROM jobs WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise _unknown(id)
    return row[0], bool(row[1])


def _judged(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> list[Job]:
    judged: list[Job] = []
    silent_since: str | None = None
    for id, kind, state, done, total, message, cancel_requested, started_at, updated_at, *of_process in rows:
        process = Process(*of_process)
        if state == "running" and is_elsewhere(process) and silent_since is None:
            # The clocks of two machines differ: the store's own counts.
            silent_since = before(connection.moment(), processes.LEASE)
        if state == "running" and has_ended(process, last_word=updated_at, silent_since=silent_since):
            state, message = "failed", ENDED
        judged.append(Job(id, kind, state, done, total, message, bool(cancel_requested), started_at, updated_at))
    return judged


def _unknown(id: str) -> NotFound:
    return NotFound(f"There is no job {id}.", hint="List the jobs for their ids.")
