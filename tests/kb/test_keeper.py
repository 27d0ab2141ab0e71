"""Answers from documents in step with the files, without long waits."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.errors import Cancelled, ClewError, StoreBusy, StoreError, StoreReadOnly
from clew.kb.ingest.corpus import Corpus, IngestionReport, Progress
from clew.kb.ingest.keeper import DocumentKeeper
from clew.project import Project

AHEAD = 4_000_000_000
"""A time that no clock has reached, so that a file of this time is never settled, however slow the machine."""


class Reader:
    """Stands where documents are read, and can be held up."""

    def __init__(self) -> None:
        self.runs = 0
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.note: str | None = None
        self.error: ClewError | None = None

    def __call__(self, progress: Progress) -> IngestionReport:
        self.runs += 1
        progress(1, 2, "docs/a.md")
        self.entered.set()
        self.gate.wait()
        progress(2, 2, "")
        if self.error is not None:
            raise self.error
        return IngestionReport(note=self.note)


@pytest.fixture
def corpus(make: Callable[..., Project]) -> Corpus:
    project = make({"docs/a.md": "# A\n", "docs/deep/b.md": "# B\n"})
    return project.kb._corpus


def patient(
    corpus: Corpus, read: Callable[[Progress], IngestionReport], is_empty: Callable[[], bool], **more: Any
) -> DocumentKeeper:
    """Waits for a reading however long it takes: its clock stands still."""
    return DocumentKeeper(corpus, read, is_empty, monotonic=lambda: 0.0, **more)


# Verifies: REQ-d00179-B
def test_the_files_are_read_once_and_again_when_one_changed(corpus: Corpus) -> None:
    reader = Reader()
    keeper = patient(corpus, reader, lambda: False)
    for _ in range(3):
        assert keeper.ensure() is None
    assert reader.runs == 1
    root: Path = corpus.root
    (root / "docs/deep/b.md").write_text("# B, longer\n")
    assert (keeper.ensure(), reader.runs) == (None, 2)
    (root / "docs/new.md").write_text("# New\n")
    assert (keeper.ensure(), reader.runs) == (None, 3)
    (root / "docs/a.md").unlink()
    assert (keeper.ensure(), reader.runs) == (None, 4)
    assert (keeper.ensure(), reader.runs) == (None, 4)
    keeper.close()


# Verifies: REQ-d00179-B
def test_an_edit_of_the_same_size_and_time_is_seen_by_the_next_question(corpus: Corpus) -> None:
    reader = Reader()
    keeper = patient(corpus, reader, lambda: False)
    place = corpus.root / "docs/a.md"
    os.utime(place, (AHEAD, AHEAD))
    assert [keeper.ensure() for _ in range(2)] == [None, None]
    assert reader.runs == 1
    place.write_text("# Z\n")
    os.utime(place, (AHEAD, AHEAD))
    assert [keeper.ensure() for _ in range(2)] == [None, None]
    assert reader.runs == 2
    keeper.close()


# Verifies: REQ-d00179-B
def test_a_file_that_comes_without_another_time_of_its_folder_is_seen_by_the_next_question(corpus: Corpus) -> None:
    reader = Reader()
    keeper = patient(corpus, reader, lambda: False)
    os.utime(corpus.root / "docs", (AHEAD, AHEAD))
    assert (keeper.ensure(), reader.runs) == (None, 1)
    (corpus.root / "docs/c.md").write_text("# C\n")
    os.utime(corpus.root / "docs", (AHEAD, AHEAD))
    assert (keeper.ensure(), reader.runs) == (None, 2)
    assert (keeper.ensure(), reader.runs) == (None, 2)
    keeper.close()


# Verifies: REQ-d00179-B
def test_when_much_changed_an_answer_does_not_wait_and_says_so(corpus: Corpus) -> None:
    reader = Reader()
    reader.gate.clear()
    keeper = DocumentKeeper(corpus, reader, lambda: False, patience=0.0)
    seen: list[tuple[int, int, str]] = []
    note = keeper.ensure(lambda *step: seen.append(step))
    assert note is not None
    assert "still being read" in note
    assert set(seen) <= {(0, 0, "waiting"), (1, 2, "docs/a.md")}
    reader.gate.set()
    keeper.close()
    assert reader.runs == 1


# Verifies: REQ-d00179-B
def test_who_asks_in_the_middle_of_a_long_reading_does_not_wait_again(corpus: Corpus) -> None:
    reader = Reader()
    reader.gate.clear()
    now = [0.0]
    keeper = DocumentKeeper(corpus, reader, lambda: False, patience=0.2, monotonic=lambda: now[0])
    looks: list[str] = []

    def first(done: int, total: int, message: str) -> None:
        looks.append("first")
        now[0] += 0.1

    assert keeper.ensure(first) is not None
    assert keeper.ensure(lambda done, total, message: looks.append("second")) is not None
    assert looks == ["first", "first", "second"]
    reader.gate.set()
    keeper.close()


# Verifies: REQ-d00179-B
def test_the_first_reading_of_all_is_waited_for_with_progress_and_can_be_given_up(corpus: Corpus) -> None:
    reader = Reader()
    reader.gate.clear()
    keeper = DocumentKeeper(corpus, reader, lambda: True, patience=0.0)

    def give_up(done: int, total: int, message: str) -> None:
        raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        keeper.ensure(give_up)
    reader.entered.wait()
    seen: list[str] = []

    def let_go(done: int, total: int, message: str) -> None:
        seen.append(message)
        reader.gate.set()

    assert keeper.ensure(let_go) is None
    assert seen[0] == "docs/a.md"
    assert reader.runs == 1
    keeper.close()


def test_many_who_ask_at_once_wait_for_one_reading(corpus: Corpus) -> None:
    reader = Reader()
    reader.gate.clear()
    keeper = patient(corpus, reader, lambda: True)
    threads = [threading.Thread(target=keeper.ensure) for _ in range(6)]
    for thread in threads:
        thread.start()
    reader.entered.wait()
    reader.gate.set()
    for thread in threads:
        thread.join()
    keeper.close()
    assert reader.runs == 1


def test_what_went_wrong_is_told_and_tried_again(corpus: Corpus) -> None:
    reader = Reader()
    reader.error = StoreError("The disk is gone.")
    keeper = patient(corpus, reader, lambda: True)
    with pytest.raises(StoreError):
        keeper.ensure()
    reader.error, reader.note = None, "Another process is reading the documents."
    assert keeper.ensure() == "Another process is reading the documents."
    reader.note = None
    assert keeper.ensure() is None
    assert reader.runs == 3
    keeper.close()


# Verifies: REQ-d00242-A
@pytest.mark.parametrize("error", [StoreBusy("Others write."), StoreReadOnly("Nobody writes.")])
def test_a_store_that_takes_nothing_in_costs_the_latest_changes_not_the_answer(
    corpus: Corpus, error: StoreError
) -> None:
    reader = Reader()
    reader.error = error
    keeper = patient(corpus, reader, lambda: False)
    assert error.code in (keeper.ensure() or "")
    reader.error = None
    assert (keeper.ensure(), reader.runs) == (None, 2)
    keeper.close()
    empty = patient(corpus, reader, lambda: True)
    reader.error = error
    with pytest.raises(type(error)):
        empty.ensure()
    empty.close()


# Verifies: REQ-d00242-B
def test_documents_are_read_again_when_what_they_were_read_into_is_another(corpus: Corpus) -> None:
    reader = Reader()
    stores = ["first"]
    keeper = patient(corpus, reader, lambda: False, stores=lambda: stores[-1], follows_files=False)
    for runs in (1, 1):
        assert (keeper.ensure(), reader.runs) == (None, runs)
    stores.append("second")
    for runs in (2, 2):
        assert (keeper.ensure(), reader.runs) == (None, runs)
    keeper.close()


def test_closing_stops_the_reading_at_the_next_document(corpus: Corpus) -> None:
    reader = Reader()
    reader.gate.clear()
    keeper = DocumentKeeper(corpus, reader, lambda: False, patience=0.0)
    keeper.ensure()
    closing = threading.Thread(target=keeper.close)
    closing.start()
    reader.gate.set()
    closing.join()
    assert keeper.ensure() is None
    assert reader.runs == 1


def test_without_following_files_they_are_read_once(corpus: Corpus) -> None:
    reader = Reader()
    keeper = patient(corpus, reader, lambda: False, follows_files=False)
    keeper.ensure()
    (corpus.root / "docs/a.md").write_text("# Other\n")
    keeper.ensure()
    assert reader.runs == 1
    keeper.close()
