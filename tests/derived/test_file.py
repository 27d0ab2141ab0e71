"""A derived file is opened, versioned, found damaged and replaced by an empty one in one way."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from clew.derived.file import DerivedFile, FileSchema, in_memory, throw_away
from clew.errors import StoreCorrupt, StoreReadOnly
from clew.store.sqlite.connections import SqliteConnection
from clew.store.sqlite.note import note_of

SCHEMA = FileSchema(
    name="The store of notes",
    version=3,
    statements=("CREATE TABLE notes (text TEXT NOT NULL)", "CREATE TABLE tags (tag TEXT NOT NULL)"),
    remedy="it is rebuilt",
)


def notes(file: DerivedFile) -> list[str]:
    with file.reading() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM notes")]


def add(file: DerivedFile, text: str) -> None:
    with file.writing() as connection:
        connection.execute("INSERT INTO notes VALUES (?)", (text,))


# Verifies: REQ-o00010-C
def test_what_was_written_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    with closing(DerivedFile(tmp_path / "new" / "notes.db", SCHEMA)) as file:
        add(file, "one")
        assert file.notes == ()
    with closing(DerivedFile(tmp_path / "new" / "notes.db", SCHEMA)) as again:
        assert notes(again) == ["one"]
        assert again.notes == ()


# Verifies: REQ-o00010-C
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b"this is no database" * 400), "was damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8000), "was damaged"),
        (lambda path: change(path, "PRAGMA user_version = 2"), "changed by another program"),
        (lambda path: change(path, "PRAGMA user_version = 2", is_noted=False), "another version of Clew"),
        (lambda path: change(path, "PRAGMA user_version = 4", is_noted=False), "another version of Clew"),
        (lambda path: change(path, "DROP TABLE tags", is_noted=False), "another version of Clew"),
    ],
    ids=["another file", "damaged", "changed", "an older version", "a newer version", "a table is missing"],
)
def test_a_file_of_no_use_is_replaced_by_an_empty_one_and_a_note_says_why(tmp_path: Path, spoil, said: str) -> None:
    path = tmp_path / "notes.db"
    with closing(DerivedFile(path, SCHEMA)) as file:
        add(file, "one")
    spoil(path)
    with closing(DerivedFile(path, SCHEMA)) as again:
        assert notes(again) == []
        (note,) = again.notes
        assert note.startswith("The store of notes ")
        assert said in note
        add(again, "two")
    with closing(DerivedFile(path, SCHEMA)) as last:
        assert (notes(last), last.notes) == (["two"], ())


def change(path: Path, statement: str, *, is_noted: bool = True) -> None:
    """Change a file with another program, or as a Clew that kept no notes."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    if not is_noted:
        note_of(path).unlink()


# Verifies: REQ-o00010-C
@pytest.mark.parametrize(
    "statement", ["SELECT txt FROM notes", "SELECT text FROM note", "INSERT INTO notes VALUES (1, 2)"]
)
def test_a_statement_that_does_not_fit_the_tables_has_met_damage(tmp_path: Path, statement: str) -> None:
    with closing(DerivedFile(tmp_path / "notes.db", SCHEMA)) as file:
        for use in (file.reading, file.writing, file.unbound):
            with pytest.raises(StoreCorrupt, match="is damaged: "), use() as connection:
                connection.execute(statement)
            file.renew()
        assert notes(file) == []


# Verifies: REQ-o00010-C
def test_an_earlier_version_that_can_be_upgraded_keeps_what_it_holds(tmp_path: Path) -> None:
    with closing(DerivedFile(tmp_path / "notes.db", SCHEMA)) as file:
        add(file, "one")

    def upgrade(connection: SqliteConnection) -> bool:
        connection.execute("CREATE TABLE authors (name TEXT NOT NULL)")
        return True

    newer = SCHEMA._replace(
        version=4, statements=(*SCHEMA.statements, "CREATE TABLE authors (name TEXT NOT NULL)"), upgrade=upgrade
    )
    for _ in range(2):
        with closing(DerivedFile(tmp_path / "notes.db", newer)) as again:
            assert (notes(again), again.notes) == (["one"], ())


# Verifies: REQ-o00010-C
def test_whoever_has_a_file_open_that_was_thrown_away_follows_to_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(DerivedFile(path, SCHEMA)) as one, closing(DerivedFile(path, SCHEMA)) as other:
        add(one, "old")
        assert not other.follow()
        one.renew()
        add(one, "new")
        assert other.is_replaced
        assert other.follow()
        assert notes(other) == ["new"]
        throw_away(path)
        assert other.follow()
        assert notes(other) == []


def test_throwing_away_a_folder_takes_everything_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "search"
    DerivedFile(folder / "notes.db", SCHEMA).close()
    throw_away(folder)
    throw_away(folder)
    assert not folder.exists()


def test_many_who_open_a_new_file_at_once_make_it_once(tmp_path: Path) -> None:
    start = threading.Barrier(8)
    found: list[tuple[str, ...]] = []

    def run(number: int) -> None:
        start.wait()
        with closing(DerivedFile(tmp_path / "notes.db", SCHEMA)) as file:
            add(file, str(number))
            found.append(file.notes)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [()] * 8
    with closing(DerivedFile(tmp_path / "notes.db", SCHEMA)) as file:
        assert sorted(notes(file)) == [str(number) for number in range(8)]


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreReadOnly, match="file"):
        DerivedFile(tmp_path / "file" / "notes.db", SCHEMA)


def test_tables_in_memory_are_those_of_the_statements() -> None:
    with closing(in_memory(SCHEMA.statements)) as connection:
        connection.execute("INSERT INTO notes VALUES ('x')")
        assert connection.execute("SELECT text FROM notes").fetchall() == [("x",)]


# Verifies: REQ-o00010-C
def test_a_file_that_grew_is_written_anew_once_and_keeps_what_it_holds(tmp_path: Path) -> None:
    with closing(DerivedFile(tmp_path / "notes.db", SCHEMA)) as file:
        assert not file.tidy()
        for number in range(100):
            add(file, f"{number} " + "long " * 1_000)
        before = notes(file)
        assert (file.tidy(), file.tidy()) == (True, False)
        assert notes(file) == before
        for number in range(60):
            add(file, f"more {number} " + "long " * 1_000)
        assert file.tidy()


def filled(path: Path, schema: FileSchema = SCHEMA) -> DerivedFile:
    """A file that is worth tidying."""
    file = DerivedFile(path, schema, patience=0.05)
    for number in range(100):
        add(file, f"{number} " + "long " * 1_000)
    return file


# Verifies: REQ-o00010-D
def test_a_file_is_not_written_anew_where_the_disk_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(filled(tmp_path / "notes.db")) as file:
        with file.unbound() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        monkeypatch.setattr("clew.derived.file._ROOM", 2**60)
        before = sizes(tmp_path)
        assert not file.tidy()
        assert sizes(tmp_path) == before
        monkeypatch.undo()
        assert file.tidy()


def sizes(folder: Path) -> dict[str, int]:
    return {each.name: each.stat().st_size for each in folder.iterdir()}


FILLED_UP = """
import resource, signal, sys
from pathlib import Path
from tests.derived.test_file import filled, notes, sizes
file = filled(Path(sys.argv[1]))
with file.unbound() as connection:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
before = sizes(file.path.parent)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (before["notes.db"] // 2, resource.RLIM_INFINITY))
assert not file.tidy()
assert sizes(file.path.parent) == before, (before, sizes(file.path.parent))
assert len(notes(file)) == 100
"""


# Verifies: REQ-o00010-D
@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited here")
def test_a_disk_that_fills_up_while_a_file_is_written_anew_is_given_back(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    command = [sys.executable, "-c", FILLED_UP, str(tmp_path / "notes.db")]
    done = subprocess.run(command, cwd=pytestconfig.rootpath, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Verifies: REQ-o00010-D
def test_a_file_that_another_writes_to_is_tidied_another_time(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(filled(path)) as file:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert not file.tidy()
        assert file.tidy()


# Verifies: REQ-o00010-C
def test_a_file_that_is_upgraded_gets_pages_of_its_present_size_unless_another_has_it_open(tmp_path: Path) -> None:
    newer = SCHEMA._replace(version=4, page_size=1024, upgrade=lambda connection: True)
    for shared, size in ((False, 1024), (True, 4096)):
        path = tmp_path / str(shared) / "notes.db"
        old = filled(path)
        before = notes(old)
        if not shared:
            old.close()
        with closing(DerivedFile(path, newer)) as file:
            assert (notes(file), file.notes) == (before, ())
            with file.unbound() as connection:
                assert connection.execute("PRAGMA page_size").fetchone() == (size,)
                assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            add(file, "more")
        old.close()


# Verifies: REQ-o00010-C
def test_a_file_that_got_pages_of_another_size_was_written_anew_by_that(tmp_path: Path) -> None:
    path, newer = tmp_path / "notes.db", SCHEMA._replace(version=4, page_size=1024, upgrade=lambda connection: True)
    with closing(filled(path)) as old:
        assert old.tidy()
    with closing(DerivedFile(path, newer)) as file:
        assert not file.tidy()
        # It grows from there.
        for number in range(60):
            add(file, f"more {number} " + "long " * 1_000)
        assert file.tidy()


# Verifies: REQ-o00010-C
def test_a_thread_reads_the_state_that_it_holds_and_another_one_the_present_state(tmp_path: Path) -> None:
    def latest(file: DerivedFile) -> list[str]:
        with file.reading_latest() as connection:
            return [text for (text,) in connection.execute("SELECT text FROM notes")]

    with closing(DerivedFile(tmp_path / "notes.db", SCHEMA)) as file:
        add(file, "one")
        seen: list[list[str]] = []
        with file.holding(), file.holding():
            assert latest(file) == ["one"]
            add(file, "two")
            seen.append(latest(file))
            other = threading.Thread(target=lambda: seen.append(latest(file)))
            other.start()
            other.join()
        assert seen == [["one"], ["one", "two"]]
        assert latest(file) == ["one", "two"]
