"""Work as a job in the store."""

from pathlib import Path

import pytest

from clew.errors import Cancelled
from clew.store import processes
from clew.store.interface import Store
from clew.store.sqlite.engine import open_sqlite
from clew.store.watched import Progress, watched


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_sqlite(tmp_path / "clew.db")


def silent(done: int, total: int, message: str) -> None:
    pass


# Verifies: REQ-d00194-A
def test_many_small_steps_are_few_writes_and_the_last_one_is_never_missing(store: Store) -> None:
    seen: set[int] = set()

    def look(done: int, total: int, message: str) -> None:
        seen.update(job.done for job in store.jobs(state="running"))

    def work(progress: Progress) -> str:
        for done in range(1234):
            progress(done, 2000, "")
        return "result"

    assert watched(store, "kind", work, look) == "result"
    assert 50 <= len(seen) <= 101
    (job,) = store.jobs()
    assert (job.kind, job.state, job.done, job.total) == ("kind", "done", 1233, 2000)


# Verifies: REQ-d00194-A
def test_where_there_is_nothing_to_do_there_is_no_job(store: Store) -> None:
    assert watched(store, "kind", lambda progress: 7, silent) == 7
    assert store.jobs() == []


# Verifies: REQ-d00194-B
def test_work_ends_as_what_it_was_and_a_fault_passes(store: Store) -> None:
    def cancelled(progress: Progress) -> None:
        progress(1, 2, "")
        raise Cancelled("Enough.")

    def failing(progress: Progress) -> None:
        progress(1, 2, "")
        raise ValueError("odd")

    with pytest.raises(Cancelled):
        watched(store, "first", cancelled, silent)
    with pytest.raises(ValueError, match="odd"):
        watched(store, "second", failing, silent)
    assert {job.kind: job.state for job in store.jobs()} == {"first": "cancelled", "second": "failed"}


# Verifies: REQ-d00194-B
def test_anybody_can_stop_it(store: Store) -> None:
    def stop(done: int, total: int, message: str) -> None:
        if done == 5:
            (job,) = store.jobs(state="running")
            store.cancel_job(job.id)

    reached = []

    def work(progress: Progress) -> None:
        for done in range(50):
            progress(done, 50, "")
            reached.append(done)

    with pytest.raises(Cancelled):
        watched(store, "kind", work, stop)
    assert len(reached) <= 7


# Verifies: REQ-d00194-B
def test_without_a_store_and_with_one_that_is_closed_the_work_is_done(store: Store) -> None:
    def work(progress: Progress) -> int:
        progress(0, 1, "")
        return 1

    assert watched(None, "kind", work, silent) == 1
    store.close()
    assert watched(store, "kind", work, silent) == 1


# Verifies: REQ-d00493-B
def test_work_that_says_nothing_for_long_keeps_its_lease(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RENEWED_SECONDS", 0.001)

    def work(progress: Progress) -> str:
        progress(1, 5, "at it")
        first = store.jobs()[0]
        while (now := store.jobs()[0]).updated_at == first.updated_at:
            pass
        assert (now.state, now.done, now.message) == ("running", 1, "at it")
        return "result"

    assert watched(store, "kind", work, silent) == "result"
    (job,) = store.jobs()
    assert (job.state, job.done) == ("done", 1)


# Verifies: REQ-d00194-B
def test_work_that_was_done_before_it_could_be_stopped_is_done(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RENEWED_SECONDS", 0.001)

    def work(progress: Progress) -> str:
        progress(1, 5, "at it")
        before = store.jobs()[0]
        store.cancel_job(before.id)
        while (now := store.jobs()[0]).updated_at == before.updated_at:
            pass
        assert (now.state, now.cancel_requested) == ("running", True)
        progress(1, 5, "nearly")
        return "result"

    assert watched(store, "kind", work, silent) == "result"
    (job,) = store.jobs()
    assert (job.state, job.done, job.message) == ("done", 1, "nearly")
