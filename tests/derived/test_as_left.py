"""Derived files whose bytes changed while their size and time did not: a disk that fails."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.failing_disk import spoil

from clew.derived import as_left
from clew.derived.file import DerivedFile, FileSchema
from clew.store.sqlite.note import NO_NOTE, note_of, read_note

SCHEMA = FileSchema("The store of notes", 3, ("CREATE TABLE notes (text TEXT NOT NULL)",), "it is rebuilt")
BY_ROW = SCHEMA._replace(is_checked_by_row=True)
SAYS_SO = ("The store of notes was damaged, or changed by another program; it is rebuilt.",)


def rows(path: Path, schema: FileSchema = SCHEMA) -> tuple[list[str], tuple[str, ...]]:
    """The texts in a file, and what was said when it was opened."""
    with closing(DerivedFile(path, schema)) as file, file.reading() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM notes")], file.notes


def write(path: Path, *texts: str, schema: FileSchema = SCHEMA) -> None:
    with closing(DerivedFile(path, schema)) as file, file.writing() as connection:
        connection.executemany("INSERT INTO notes VALUES (?)", [(text,) for text in texts])


def change_letter(path: Path) -> None:
    content = path.read_bytes()
    assert b"lamp" in content
    spoil(path, content.replace(b"lamp", b"lump"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes.db"
    write(path, "lamp", "oil")
    return path


# Verifies: REQ-d00647-E
def test_a_letter_that_changed_without_size_and_time_is_no_answer(path: Path) -> None:
    for _ in range(2):
        assert rows(path) == (["lamp", "oil"], ())
    change_letter(path)
    assert rows(path) == ([], SAYS_SO)
    assert rows(path) == ([], ())


# Verifies: REQ-d00647-E
def test_each_write_has_a_checksum_of_its_own(path: Path) -> None:
    seen = {read_note(path).checksum}
    for number in range(5):
        # Quicker than the clock of many file systems.
        write(path, f"wick {number}")
        assert rows(path)[1] == ()
        seen.add(read_note(path).checksum)
    assert len(seen) == 6
    assert None not in seen


# Verifies: REQ-d00647-E
def test_the_last_one_to_close_notes_the_checksum(path: Path) -> None:
    with closing(DerivedFile(path, SCHEMA)) as first:
        write(path, "wick")
        with first.unbound() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert read_note(path).checksum is None
    assert read_note(path).checksum is not None
    assert rows(path) == (["lamp", "oil", "wick"], ())


# Verifies: REQ-d00647-E
def test_a_note_of_an_earlier_version_is_believed_and_gets_a_checksum(path: Path) -> None:
    start, size, time, _, end = note_of(path).read_text().split(" ")
    note_of(path).write_text(" ".join((start, size, time, end)))
    assert read_note(path) not in (NO_NOTE, None)
    assert rows(path) == (["lamp", "oil"], ())
    assert read_note(path).checksum is not None


# Verifies: REQ-d00647-E
@pytest.mark.parametrize("note", ["x 1 2 3 4 \n", "x 1 2 three \n", "x 1 2 3"])
def test_a_damaged_checksum_is_no_note(path: Path, note: str) -> None:
    note_of(path).write_text(note)
    assert read_note(path) == NO_NOTE
    assert rows(path) == (["lamp", "oil"], ())


# Verifies: REQ-d00647-E
def test_a_large_file_and_one_that_is_checked_by_row_are_not_read_through(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "rows.db", "lamp", schema=BY_ROW)
    assert read_note(tmp_path / "rows.db").checksum is None
    with monkeypatch.context() as lowered:
        lowered.setattr(as_left, "_LARGEST_SUMMED", path.stat().st_size - 1)
        write(path, "wick")
        assert read_note(path).checksum is None
    rows(path)
    assert read_note(path).checksum is not None


# Verifies: REQ-d00647-A
def test_what_another_program_changed_gets_no_checksum(path: Path) -> None:
    with (
        closing(DerivedFile(path, SCHEMA)) as file,
        file.reading(),
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("DELETE FROM notes")
        other.execute("PRAGMA wal_checkpoint(PASSIVE)")
    assert rows(path) == ([], SAYS_SO)
