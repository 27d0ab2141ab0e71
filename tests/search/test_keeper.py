"""Making vectors in the background, as a job in the store."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.edit.locking import locked
from clew.errors import Cancelled
from clew.search.dense import indexing
from clew.search.dense.keeper import JOB, IndexKeeper, run_job
from clew.search.engine import SearchEngine
from clew.search.units import Unit
from clew.store.sqlite.engine import open_sqlite

Engines = Callable[..., SearchEngine]


def rules(count: int) -> list[Unit]:
    return [Unit(id=f"u{number}", part="rule", title="", body=f"rule number {number}") for number in range(count)]


# Verifies: REQ-d00035-F
def test_the_work_is_a_job_that_ends_as_done(engines: Engines, word_counts: Any, tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "clew.db")
    engine = engines(word_counts.settings())
    engine.units.put(rules(10))
    run_job(engine, store, lambda done, total, message: None)
    (job,) = store.jobs()
    assert (job.kind, job.state, job.done, job.total) == (JOB, "done", 10, 10)
    # Where nothing is to be done, there is no job to watch.
    run_job(engine, store, lambda done, total, message: None)
    assert len(store.jobs()) == 1
    store.close()


# Verifies: REQ-d00035-F
def test_anybody_who_sees_the_job_can_stop_it_and_what_is_done_is_kept(
    engines: Engines, word_counts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "TEXTS_AT_ONCE", 5)
    store = open_sqlite(tmp_path / "clew.db")
    engine = engines(word_counts.settings())
    engine.units.put(rules(40))

    def stop_it(done: int, total: int, message: str) -> None:
        if done == 20:
            (job,) = store.jobs(state="running")
            store.cancel_job(job.id)

    with pytest.raises(Cancelled):
        run_job(engine, store, stop_it)
    assert [job.state for job in store.jobs()] == ["cancelled"]
    assert engine.state().embedded == 20
    store.close()


def working() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "clew-index"}


# Verifies: REQ-d00035-C
def test_a_woken_keeper_makes_the_vectors_and_a_closed_one_stops(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(10))
    made = threading.Event()
    warm = engine.warm
    monkeypatch.setattr(engine, "warm", lambda: (warm(), made.set()))
    background = IndexKeeper(lambda: engine, None, pause=0.0)
    background.wake()
    assert made.wait(120)
    assert engine.state().embedded == 10
    background.close()
    engine.units.put(rules(12))
    before = working()
    background.wake()
    # A closed keeper begins no thread, so there is nothing to wait for.
    assert working() <= before
    assert engine.state().embedded == 10


# Verifies: REQ-d00200-C
def test_work_that_another_process_left_undone_is_taken_up(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(3))
    refused, made = threading.Event(), threading.Event()
    index_vectors = engine.index_vectors

    def noted(progress: indexing.Progress) -> indexing.VectorReport:
        report = index_vectors(progress)
        (refused if report.note else made).set()
        return report

    monkeypatch.setattr(engine, "index_vectors", noted)
    background = IndexKeeper(lambda: engine, None, pause=0.0, again=0.01)
    with (engine.folder / indexing.LOCK).open("a+b") as file, locked(file, 0.0):
        background.wake()
        assert refused.wait(120)
        assert engine.state().embedded == 0
    assert made.wait(120)
    background.close()
    assert engine.state().embedded == 3


# Verifies: REQ-d00200-D
def test_a_batch_that_does_not_end_keeps_nobody_from_closing(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines(word_counts.settings())
    begun, end = threading.Event(), threading.Event()

    def hang(progress: indexing.Progress) -> indexing.VectorReport:
        begun.set()
        end.wait(120)
        return indexing.VectorReport()

    monkeypatch.setattr(engine, "index_vectors", hang)
    background = IndexKeeper(lambda: engine, None, pause=0.0, patience=0.01)
    background.wake()
    assert begun.wait(120)
    background.close()
    end.set()
