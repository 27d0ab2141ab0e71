"""Jobs: progress, endings, cancellation, and work whose process is gone."""

import os
import subprocess
from datetime import timedelta
from typing import Any

import pytest
from tests.store.factory import StoreFactory

from clew.errors import Cancelled, Conflict, InvalidArgument, NotFound
from clew.store import processes
from clew.store.interface import Store
from clew.store.processes import ENDED

# Verifies: REQ-o00002-E


def test_progress_is_seen_through_another_handle(store_factory: StoreFactory) -> None:
    worker, watcher = store_factory.open(), store_factory.open()
    job = worker.start_job("index", total=10)
    assert (job.kind, job.state, job.done, job.total, job.message) == ("index", "running", 0, 10, "")
    assert watcher.jobs() == [job]
    worker.advance_job(job.id, done=3, message="reading docs")
    (seen,) = watcher.jobs()
    assert (seen.done, seen.total, seen.message, seen.started_at) == (3, 10, "reading docs", job.started_at)
    worker.advance_job(job.id, done=4, total=20)
    (seen,) = watcher.jobs()
    assert (seen.done, seen.total, seen.message) == (4, 20, "reading docs")
    finished = worker.finish_job(job.id, message="all read")
    assert (finished.state, finished.done, finished.message) == ("done", 4, "all read")
    assert watcher.jobs() == [finished]


# Verifies: REQ-d00493-B
def test_a_renewed_job_keeps_its_progress_and_a_request_to_stop(store: Store) -> None:
    job = store.start_job("index", total=10)
    store.advance_job(job.id, done=3, message="reading docs")
    before = store.cancel_job(job.id)
    store.renew_job(job.id)
    (seen,) = store.jobs()
    assert seen.updated_at > before.updated_at
    assert (seen.state, seen.done, seen.message, seen.cancel_requested) == ("running", 3, "reading docs", True)
    ended = store.finish_job(job.id, done=5)
    assert (ended.state, ended.done, ended.message) == ("done", 5, "reading docs")
    store.renew_job(job.id)
    store.renew_job("job-unknown")
    assert store.jobs() == [ended]
    with pytest.raises(InvalidArgument):
        store.finish_job(job.id, done=-1)


def test_a_cancelled_job_stops_at_its_next_step(store_factory: StoreFactory) -> None:
    worker, watcher = store_factory.open(), store_factory.open()
    job = worker.start_job("index")
    worker.advance_job(job.id, done=1)
    asked = watcher.cancel_job(job.id)
    assert (asked.state, asked.cancel_requested) == ("running", True)
    for _ in range(2):
        with pytest.raises(Cancelled, match=job.id):
            worker.advance_job(job.id, done=2)
        (seen,) = watcher.jobs()
        assert (seen.state, seen.done) == ("cancelled", 2)
    assert worker.finish_job(job.id, state="cancelled") == seen
    with pytest.raises(Conflict, match="cancelled"):
        worker.finish_job(job.id)


def test_a_job_that_was_done_before_it_noticed_the_cancellation_is_done(store: Store) -> None:
    job = store.start_job("index")
    store.cancel_job(job.id)
    assert store.finish_job(job.id).state == "done"


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_the_first_ending_stands(store: Store, state: str) -> None:
    job = store.start_job("index")
    ended = store.finish_job(job.id, state=state, message="first")
    assert store.finish_job(job.id, state=state, message="again") == ended
    assert store.cancel_job(job.id) == ended
    other = "failed" if state != "failed" else "done"
    with pytest.raises(Conflict, match=state):
        store.finish_job(job.id, state=other)
    with pytest.raises(Cancelled if state == "cancelled" else Conflict):
        store.advance_job(job.id, done=1)
    assert store.jobs() == [ended]


def test_jobs_come_latest_first_and_can_be_narrowed(store: Store) -> None:
    first, second, third = (store.start_job(kind) for kind in ("a", "b", "c"))
    store.finish_job(second.id, state="failed")
    assert [job.id for job in store.jobs()] == [third.id, second.id, first.id]
    assert [job.id for job in store.jobs(state="running")] == [third.id, first.id]
    assert [job.id for job in store.jobs(state="running", limit=1)] == [third.id]
    assert [job.id for job in store.jobs(state="failed")] == [second.id]
    assert store.jobs(state="done") == []
    assert store.jobs(limit=0) == []


def test_an_unknown_job_is_not_found(store: Store) -> None:
    for lost in (
        lambda: store.advance_job("job-0", done=1),
        lambda: store.finish_job("job-0"),
        lambda: store.cancel_job("job-0"),
    ):
        with pytest.raises(NotFound, match="job-0"):
            lost()


@pytest.mark.parametrize("state", ["running", "finished", "", None])
def test_a_job_cannot_end_in_an_unknown_state(store: Store, state: Any) -> None:
    job = store.start_job("index")
    with pytest.raises(InvalidArgument, match="done, failed, cancelled"):
        store.finish_job(job.id, state=state)
    with pytest.raises(InvalidArgument, match="running, done, failed, cancelled"):
        store.jobs(state="finished")
    assert store.jobs() == [job]


@pytest.mark.parametrize("progress", [{"done": -1}, {"done": 1.5}, {"done": 1, "total": -1}, {"done": 1, "message": 7}])
def test_bad_progress_is_refused(store: Store, progress: dict[str, Any]) -> None:
    job = store.start_job("index")
    with pytest.raises(InvalidArgument):
        store.advance_job(job.id, **progress)
    assert store.jobs() == [job]


def test_a_job_in_another_living_process_runs_and_can_be_cancelled_from_here(store_factory: StoreFactory) -> None:
    store, worker = store_factory.open(), store_factory.worker("hold_job")
    id = worker.line()
    assert [job.id for job in store.jobs(state="running")] == [id]
    assert store.cancel_job(id).cancel_requested


def test_a_job_whose_process_was_killed_is_reported_as_failed(store_factory: StoreFactory) -> None:
    store, worker = store_factory.open(), store_factory.worker("hold_job", start=subprocess.Popen)
    id = worker.line()
    worker.process.kill()
    # It has ended but has not been reaped: its number is still taken.
    os.waitid(os.P_PID, worker.process.pid, os.WEXITED | os.WNOWAIT)
    (job,) = store.jobs(state="failed")
    assert (job.id, job.message) == (id, "the process that ran it ended")
    worker.process.wait()
    assert store.jobs() == [job]
    assert store.jobs(state="running") == []


def test_a_living_process_can_take_over_a_job(store_factory: StoreFactory) -> None:
    store, worker = store_factory.open(), store_factory.worker("hold_job")
    id = worker.line()
    worker.process.kill()
    worker.process.wait()
    assert store.advance_job(id, done=1).state == "running"
    assert store.jobs() == store.jobs(state="running")


# Verifies: REQ-d00493-A
def test_a_job_of_another_machine_counts_as_ended_once_its_lease_has_run_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(processes, "_host", lambda: "elsewhere")
        job = store.start_job("index", total=9)
    assert [each.state for each in store.jobs()] == ["running"]
    with monkeypatch.context() as patched:
        patched.setattr(processes, "LEASE", timedelta(seconds=-1))
        (ended,) = store.jobs(state="failed")
        assert (ended.id, ended.message) == (job.id, ENDED)
    # A wrong verdict is gone as soon as the job reports again.
    assert store.advance_job(job.id, done=3).state == "running"
