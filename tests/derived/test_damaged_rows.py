"""Rows of derived files in which a byte changed are never used."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.failing_disk import spoil

from clew.derived.code_file import CodeFile, SourceFile
from clew.derived.file import DerivedFile, FileSchema
from clew.derived.history import CommitHistory
from clew.derived.parse_cache import CachedFile, ParseCache
from clew.derived.sealed import sealed, unsealed
from clew.errors import StoreCorrupt
from clew.formats.code.declared_imports import Import
from clew.formats.code.facts.model import Facts, Outline, Reading, Symbol
from clew.project import Project
from clew.store.sqlite.note import note_of, state_of, write_note
from clew.workspace.git.history import CommitRecord, PathChange

READER = "elspais/1"


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


# Verifies: REQ-d00645-A
def test_no_bit_of_a_sealed_value_can_change() -> None:
    value = sealed(b"what was parsed", "spec/a.md", 7)
    assert unsealed(value, "spec/a.md", 7) == b"what was parsed"
    for place in range(len(value) * 8):
        flipped = bytearray(value)
        flipped[place // 8] ^= 1 << place % 8
        assert unsealed(bytes(flipped), "spec/a.md", 7) is None
    for end in range(len(value)):
        assert unsealed(value[:end], "spec/a.md", 7) is None
    for other in (("spec/b.md", 7), ("spec/a.md", 8), ("spec/a.md", "7"), ("spec/a.md",)):
        assert unsealed(value, *other) is None
    for wrong in (None, 7, 1.5, "text", b""):
        assert unsealed(wrong, "spec/a.md", 7) is None


# Verifies: REQ-d00645-A
@pytest.mark.parametrize(
    "spoil",
    [
        "payload = CAST(replace(CAST(payload AS TEXT), 'two', 'owt') AS BLOB)",
        "payload = substr(payload, 1, length(payload) - 1)",
        "payload = 7",
        "payload = 'text'",
        "size = 13",
        "size = 'text'",
        "mtime_ns = 'soon'",
        "mtime_ns = CAST(x'ff' AS TEXT)",
        "content_hash = 'sha256:01'",
        "content_hash = CAST(x'fffe' AS TEXT)",
        "path = CAST('b2.md' AS BLOB)",
        "path = 'b.md'",
        "path = x'ff'",
    ],
)
def test_a_damaged_row_of_the_parse_cache_is_as_if_it_were_not_there(tmp_path: Path, spoil: str) -> None:
    files = [CachedFile(f"{name}.md", READER, 12, 17, "sha256:00", f"{name} two".encode()) for name in "abc"]
    with closing(ParseCache(tmp_path)) as cache:
        cache.put(files)
    change(tmp_path / "parsed.db", f"UPDATE files SET {spoil} WHERE path = CAST('b.md' AS BLOB)")
    with closing(ParseCache(tmp_path)) as cache:
        assert cache.files(READER) == {file.path: file for file in files if file.path != "b.md"}


# Verifies: REQ-d00645-A
def test_only_the_file_of_a_damaged_row_is_parsed_again(demo: Path) -> None:
    def parsed() -> tuple[int, int]:
        project = Project.open(demo)
        try:
            report = project.refresh()
            return report.parsed, report.from_cache
        finally:
            project.close()

    every, _ = parsed()
    assert parsed() == (0, every)
    damaged = "UPDATE files SET payload = zeroblob(length(payload)) WHERE path = CAST('spec/dev-tides.md' AS BLOB)"
    change(demo / ".clew" / "parsed.db", damaged)
    assert parsed() == (1, every - 1)
    assert parsed() == (0, every)


@pytest.fixture
def code(tmp_path: Path) -> Iterator[CodeFile]:
    symbols = (
        Symbol("Reader", "Reader", "class", 1, 9, False, -1, "class Reader:"),
        Symbol("Reader.read", "read", "method", 2, 3, True, 0, "def read(self):"),
    )
    opened = CodeFile(tmp_path)
    opened.put(
        [(SourceFile("a.py", 10, 2**70, "sha256:00"), Reading(Outline(symbols, (Import(1, "os", "path"),)), Facts()))]
    )
    yield opened
    opened.close()


# Verifies: REQ-d00645-B, REQ-d00645-C
@pytest.mark.parametrize(
    ("spoil", "ask"),
    [
        ("UPDATE records SET symbols = zeroblob(length(symbols))", lambda code: code.symbols_of("a.py")),
        ("UPDATE records SET symbols = substr(symbols, 1, 20)", lambda code: code.named("read")),
        ("UPDATE records SET symbols = facts", lambda code: code.symbol("a.py", "Reader.read")),
        ("UPDATE records SET facts = symbols", lambda code: code.with_name("read")),
        ("UPDATE records SET facts = 'text'", lambda code: code.with_name("read")),
        ("UPDATE imports SET name = 'htap'", lambda code: code.imports_of("a.py")),
        ("UPDATE files SET path = 'b.py'", lambda code: code.symbols_of("b.py")),
        ("UPDATE files SET mtime_ns = 'soon'", lambda code: code.files()),
        ("UPDATE files SET size = x'c1'", lambda code: code.files()),
        ("INSERT INTO marks VALUES ('of x', 'text')", lambda code: code.mark("x")),
    ],
)
def test_a_row_of_outlines_that_is_not_the_one_written_is_never_shown(
    code: CodeFile, tmp_path: Path, spoil: str, ask: Callable[[CodeFile], object]
) -> None:
    assert code.count() == (2, 1)
    change(tmp_path / "code.db", spoil)
    with pytest.raises(StoreCorrupt, match="is damaged"):
        ask(code)
    assert code.files() == []
    assert not ask(code)


# Verifies: REQ-d00645-B, REQ-d00645-C
@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE commits SET message = 'Another'",
        "UPDATE commits SET time = 'text'",
        "UPDATE commits SET parents = NULL",
        "UPDATE commits SET author = CAST(x'fffe' AS TEXT)",
        "UPDATE changes SET status = 'D'",
        "UPDATE changes SET old = 1",
    ],
)
def test_a_row_of_the_history_that_is_not_the_one_written_is_never_shown(tmp_path: Path, spoil: str) -> None:
    with closing(CommitHistory(tmp_path)) as history:
        history.plan("c1", ["c1"], [])
        record = CommitRecord("c1", (), 7, "A", "a@example.com", "Begin", (PathChange("A", "a.py"),))
        history.put([record], ["c1"])
        history.keep({"a": 1}, "about")
        assert [touch.commit.message for touch in history.of_path("a.py")] == ["Begin"]
        change(tmp_path / "history.db", spoil)
        with pytest.raises(StoreCorrupt, match="is damaged"):
            history.of_path("a.py")
        assert history.of_path("a.py") == []
        assert history.state().head is None


# Verifies: REQ-d00645-B
@pytest.mark.parametrize("time", ["9000000000", "'later'", "1e308"])
def test_a_commit_is_not_left_out_of_a_search_by_time_because_its_time_is_damaged(tmp_path: Path, time: str) -> None:
    with closing(CommitHistory(tmp_path)) as history:
        history.plan("c2", ["c2", "c1"], [])
        records = [CommitRecord(f"c{at}", (), at, "A", "a@example.com", "Begin", ()) for at in (1, 2)]
        history.put(records, ["c1", "c2"])
        assert [getattr(history.at(moment), "id", None) for moment in (0, 1, 2, 3)] == [None, "c1", "c2", "c2"]
        change(tmp_path / "history.db", f"UPDATE commits SET time = {time} WHERE id = 'c2'")
        with pytest.raises(StoreCorrupt, match="is damaged"):
            history.at(3)


# Verifies: REQ-d00645-B
def test_changes_of_a_commit_that_are_gone_are_missed(tmp_path: Path) -> None:
    with closing(CommitHistory(tmp_path)) as history:
        history.plan("c1", ["c1"], [])
        changes = (PathChange("A", "a.py"), PathChange("A", "b.py"), PathChange("M", "b.py"))
        history.put([CommitRecord("c1", (), 7, "A", "a@example.com", "Begin", changes)], ["c1", "c0"])
        assert [each.path for each in history.touched_by("c1")] == ["a.py", "b.py"]
        assert history.touched_by("c2") == []
        change(tmp_path / "history.db", "DELETE FROM changes WHERE path = (SELECT max(path) FROM changes)")
        with pytest.raises(StoreCorrupt, match="is damaged"):
            history.touched_by("c1")
        assert history.state().head is None


# Verifies: REQ-d00645-B
def test_a_path_is_not_left_out_because_pages_of_an_index_are_swapped(tmp_path: Path) -> None:
    file, paths = tmp_path / "history.db", [f"src/some/where/in/the/project/{name:04}.py" for name in range(600)]
    with closing(CommitHistory(tmp_path)) as history:
        history.plan("c1", ["c1"], [])
        history.put(
            [CommitRecord("c1", (), 7, "A", "a@b", "Begin", tuple(PathChange("A", each) for each in paths))], ["c1"]
        )
    change(file, "PRAGMA journal_mode = DELETE")
    note_of(file).unlink()
    CommitHistory(tmp_path).close()
    whole, size, raised = file.read_bytes(), 4096, 0
    pages = len(whole) // size
    for one in range(3, pages - 1):
        content = bytearray(whole)
        here, there = one * size, (one + 1) * size
        content[here : here + size], content[there : there + size] = whole[there : there + size], whole[here:there]
        spoil(file, content)
        # As of a file that is too large for a checksum of all of it.
        write_note(file, state_of(file.stat()))
        with closing(CommitHistory(tmp_path)) as history:
            try:
                assert [each for each in paths[::20] if not history.of_path(each)] == [], one
            except StoreCorrupt:
                raised += 1
    assert 0 < raised < pages


# Verifies: REQ-d00645-B
def test_what_git_said_is_asked_again_where_a_byte_of_it_changed(tmp_path: Path) -> None:
    with closing(CommitHistory(tmp_path)) as history:
        history.keep({"a": 1}, "about")
        assert history.kept(dict, "about") == {"a": 1}
        change(tmp_path / "history.db", "UPDATE kept SET value = CAST(replace(CAST(value AS TEXT), 'a', 'b') AS BLOB)")
        assert history.kept(dict, "about") is None


NOTES = FileSchema("The notes", 1, ("CREATE TABLE notes (text TEXT NOT NULL, number INTEGER)",), "they are made again")


# Verifies: REQ-d00645-B
def test_a_fault_in_clew_is_no_damage_of_a_sound_file(tmp_path: Path) -> None:
    with closing(DerivedFile(tmp_path / "notes.db", NOTES)) as file:
        with file.writing() as connection:
            connection.execute("INSERT INTO notes VALUES ('one', 1)")
        with pytest.raises(KeyError), file.reading():
            raise KeyError("a fault")
        assert not file.met_damage
        with file.writing() as connection:
            connection.execute("UPDATE notes SET number = 'text'")
        with pytest.raises(StoreCorrupt), file.reading():
            raise KeyError("met a value that nobody wrote")
        assert file.met_damage
