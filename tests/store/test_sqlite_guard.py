"""Databases that somebody made, or that are damaged: nothing in them acts by itself."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.derived.file import DerivedFile, FileSchema, in_memory
from clew.errors import StoreCorrupt, StoreError
from clew.store.sqlite.connections import SqliteConnections
from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.guard import unsound
from clew.store.sqlite.light_connection import light_connection
from clew.store.sqlite.note import note_of

SCHEMA = FileSchema(
    name="The store of notes",
    version=3,
    statements=(
        "CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT NOT NULL, packed BLOB, UNIQUE (text))",
        "CREATE INDEX notes_by_size ON notes (length(packed))",
        "CREATE VIEW long_notes AS\n    SELECT text FROM notes WHERE length(text) > 9",
        "CREATE TRIGGER note_went AFTER DELETE ON notes BEGIN\n    DELETE FROM words WHERE rowid = old.number;\nEND",
        "CREATE VIRTUAL TABLE words USING fts5(text, title, tokenize='ascii')",
        "INSERT INTO notes VALUES (1, 'one', x'00')",
    ),
    remedy="it is rebuilt",
    extra=("CREATE TABLE more (number INTEGER)",),
)


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def texts(file: DerivedFile) -> list[str]:
    with file.reading() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY number")]


# Verifies: REQ-d00646-A
@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TRIGGER mine BEFORE INSERT ON notes BEGIN SELECT RAISE(ABORT, 'caught'); END",),
        ("CREATE VIEW mine AS SELECT 1",),
        ("CREATE TABLE mine (a)",),
        ("CREATE INDEX mine ON notes (hex(text))",),
        ("ALTER TABLE notes ADD COLUMN mine AS (hex(text))",),
        ("CREATE VIRTUAL TABLE mine USING fts5(a)",),
        ("CREATE TABLE words_more (id INTEGER PRIMARY KEY, a AS (hex(id)))",),
        ("DROP INDEX notes_by_size",),
        ("DROP TRIGGER note_went",),
        ("DROP VIEW long_notes", "CREATE VIEW long_notes AS SELECT 'SHALL NEVER' AS text"),
        ("DROP TABLE notes", "CREATE VIEW notes AS WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT n + 1 FROM c) "
         "SELECT n AS number, 'text' AS text, n AS packed FROM c"),
        ("DROP TABLE notes", "CREATE TABLE notes (number INTEGER PRIMARY KEY, text BLOB, packed BLOB, UNIQUE (text))"),
        ("DROP TABLE notes", "CREATE VIRTUAL TABLE notes USING fts5(number, text, packed)"),
        ("PRAGMA writable_schema = ON",
         "UPDATE sqlite_master SET sql = replace(sql, 'BLOB', 'INT') WHERE name = 'notes'"),
        ("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE TABLE no sense' WHERE name = 'notes'"),
        ("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'notes'"),
    ],
    ids=lambda statements: statements[-1][:60],
)  # fmt: skip
def test_a_derived_file_with_another_schema_is_replaced_by_an_empty_one(
    tmp_path: Path, statements: tuple[str, ...]
) -> None:
    path = tmp_path / "notes.db"
    DerivedFile(path, SCHEMA).close()
    change(path, "INSERT INTO notes VALUES (2, 'two', x'00')", *statements)
    with closing(DerivedFile(path, SCHEMA)) as again:
        assert texts(again) == ["one"]
        (note,) = again.notes
        assert note.startswith("The store of notes ")
    with closing(DerivedFile(path, SCHEMA)) as last:
        assert last.notes == ()


# Verifies: REQ-d00646-A
def test_a_file_that_holds_nothing_but_views_is_no_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    change(path, "CREATE VIEW notes AS SELECT 1", "PRAGMA user_version = 3")
    with closing(DerivedFile(path, SCHEMA)) as file:
        assert texts(file) == ["one"]
        assert len(file.notes) == 1


# Verifies: REQ-d00646-A
def test_what_clew_and_sqlite_make_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    DerivedFile(path, SCHEMA).close()
    change(
        path, "INSERT INTO notes VALUES (2, 'two', x'00')", "CREATE TABLE more (number INTEGER)", "ANALYZE", "VACUUM"
    )
    note_of(path).unlink()
    with closing(DerivedFile(path, SCHEMA)) as file:
        assert (texts(file), file.notes) == (["one", "two"], ())


# Verifies: REQ-d00646-B
@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (("CREATE TRIGGER mine BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",), "the trigger 'mine'"),
        (("CREATE TABLE mine (a)",), "the table 'mine'"),
        (("ALTER TABLE jobs ADD COLUMN mine AS (hex(id))",), "the table 'jobs'"),
        (("DROP VIEW records", "CREATE VIEW records AS SELECT 1 AS id"), "the view 'records'"),
        (("CREATE INDEX mine ON events (hex(id))",), "the index 'mine'"),
    ],
)
def test_an_authored_store_with_something_foreign_is_refused_and_left_as_it_is(
    tmp_path: Path, statements: tuple[str, ...], named: str
) -> None:
    path = tmp_path / "clew.db"
    with closing(open_sqlite(path)) as store:
        store.put("notes", "one", {"text": "first"}, actor="a")
    change(path, "PRAGMA journal_mode = DELETE", *statements)
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=f"holds .*{re.escape(named)}, which Clew did not make") as refused:
            open_sqlite(path, read_only=read_only)
        assert "move it away" in refused.value.hint
    assert path.read_bytes() == before


# Verifies: REQ-d00646-B
def test_an_authored_store_without_one_of_its_tables_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    open_sqlite(path).close()
    change(path, "DROP TABLE jobs")
    with pytest.raises(StoreCorrupt, match="the table 'jobs' is missing"):
        open_sqlite(path)


# Verifies: REQ-d00645-B
def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    store, derived = tmp_path / "clew.db", tmp_path / "notes.db"
    open_sqlite(store).close()
    DerivedFile(derived, SCHEMA).close()
    for path, table in ((store, "jobs"), (derived, "notes")):
        unreadable = f"UPDATE sqlite_master SET name = CAST(x'f46a' AS TEXT), sql = 'CREATE no' WHERE name = '{table}'"
        change(path, "PRAGMA writable_schema = ON", unreadable)
    with pytest.raises(StoreCorrupt, match="is damaged"):
        open_sqlite(store)
    with closing(DerivedFile(derived, SCHEMA)) as file:
        assert texts(file) == ["one"]


# Verifies: REQ-d00646-C
def test_no_connection_trusts_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    DerivedFile(path, SCHEMA).close()

    def settings(connection: sqlite3.Connection) -> tuple[int, int]:
        (trusted,) = connection.execute("PRAGMA trusted_schema").fetchone()
        (checked,) = connection.execute("PRAGMA cell_size_check").fetchone()
        return trusted, checked

    for read_only in (False, True):
        connections = SqliteConnections(path, read_only=read_only, busy_timeout=1)
        with closing(connections), connections.reading() as connection:
            assert settings(connection) == (0, 1)
    with closing(light_connection(path, 1)) as connection:
        assert settings(connection) == (0, 1)
    with closing(in_memory(SCHEMA.statements)) as connection:
        assert settings(connection) == (0, 1)


# Verifies: REQ-d00646-D
def test_a_look_through_a_file_finds_damaged_pages_and_values_of_other_types(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(DerivedFile(path, SCHEMA)) as file, file.writing() as connection:
        connection.executemany(
            "INSERT INTO notes VALUES (?, ?, ?)", [(number, f"{number}" * 50, b"x") for number in range(2, 300)]
        )

    def found(file: Path) -> str | None:
        with closing(sqlite3.connect(file)) as connection:
            return unsound(connection)

    assert found(path) is None
    for column, value in (("text", "x'00'"), ("packed", "'text'"), ("packed", "7")):
        other = tmp_path / "other.db"
        shutil.copyfile(path, other)
        change(other, f"UPDATE notes SET {column} = {value} WHERE number = 200")
        assert f"notes.{column} holds a value" in (found(other) or "")
    content = bytearray(path.read_bytes())
    content[4096 * 9 : 4096 * 9 + 12] = b"\xff" * 12
    path.write_bytes(content)
    assert found(path)
