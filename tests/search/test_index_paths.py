"""What the units of a file share in the index, and what it costs to ask for the units below a folder."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clew.search.dense.visibility import Visibility
from clew.search.index import UnitIndex
from clew.search.units import Filters, Scope, Unit, compile_condition


def sections(path: str, count: int, *, edit: int = 0, part: str = "section") -> Iterator[Unit]:
    document = f"doc:{path}"
    for number in range(count):
        yield Unit(
            id=f"{document}#{part}{number}",
            part=part,
            title=f"Section {number}",
            body=f"the text of {path} {number}",
            document=document,
            path=path,
            time=f"2026-01-01T00:{edit // 60:02}:{edit % 60:02}.000Z",
            place=number,
        )


@pytest.fixture
def index(tmp_path: Path) -> Iterator[UnitIndex]:
    with closing(UnitIndex(tmp_path / "index.db")) as opened:
        yield opened


def files(index: UnitIndex) -> list[tuple[str, str]]:
    with index.reading() as connection:
        return connection.execute("SELECT path, common_time FROM unit_files ORDER BY path, common_time").fetchall()


# Verifies: REQ-d00030-F
def test_a_file_that_was_edited_often_has_one_entry(index: UnitIndex) -> None:
    index.put(sections("docs/other.md", 2))
    for edit in range(1, 30):
        assert index.put(sections("docs/log.md", 3 + edit % 2, edit=edit)).any
        index.delete(f"doc:docs/log.md#section{number}" for number in range(3 + edit % 2, 5))
        at = f"2026-01-01T00:00:{edit:02}.000Z"
        assert files(index) == [("docs/log.md", at), ("docs/other.md", "2026-01-01T00:00:00.000Z")]
        unit = index.get("doc:docs/log.md#section2")
        assert unit is not None
        assert (unit.path, unit.document, unit.time) == ("docs/log.md", "doc:docs/log.md", at)
    index.delete(unit.id for unit in sections("docs/log.md", 5))
    assert [path for path, _ in files(index)] == ["docs/other.md"]


# Verifies: REQ-d00030-F
def test_an_entry_stays_while_a_unit_has_it(index: UnitIndex) -> None:
    # More than are written at once, so that old and new ones are there together.
    index.put(sections("docs/long.md", 700))
    index.put(sections("docs/long.md", 1, part="rule"))
    index.put(sections("docs/long.md", 700, edit=5))
    old, new = "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:05.000Z"
    assert files(index) == [("docs/long.md", old), ("docs/long.md", new)]
    rule, last = index.get("doc:docs/long.md#rule0"), index.get("doc:docs/long.md#section699")
    assert rule is not None
    assert last is not None
    assert (rule.path, rule.time, last.path, last.time) == ("docs/long.md", old, "docs/long.md", new)


# Verifies: REQ-d00030-G
@pytest.mark.parametrize("place", ["small", "small/page.md"])
def test_units_below_a_folder_take_no_more_work_where_there_are_more_elsewhere(tmp_path: Path, place: str) -> None:
    few, many = (work(tmp_path / f"{count}.db", count, place) for count in (20, 2_000))
    assert many < 1.2 * few


def work(path: Path, elsewhere: int, place: str) -> int:
    """How many instructions SQLite takes to tell which units are below a place."""
    condition = compile_condition(Scope(parts=("section", "rule"), path=place), Filters())
    steps: list[int] = []
    with closing(UnitIndex(path)) as index:
        index.put(sections("small/page.md", 30))
        for number in range(elsewhere // 20):
            index.put(sections(f"large/{number}.md", 20))
        with index.asked() as reading:
            reading.connection.set_progress_handler(lambda: steps.append(1), 1)
            assert Visibility().mask(reading, condition).sum() == 30
            reading.connection.set_progress_handler(None, 0)
    return len(steps)


# Verifies: REQ-d00030-G
def test_a_folder_is_no_beginning_of_a_name(index: UnitIndex) -> None:
    paths = ("docs", "docs/a.md", "docs/b/c.md", "docs-old/a.md", "docs.md", "docs0", "doc", "documents/a.md")
    index.put(unit for path in paths for unit in sections(path, 1))
    index.put([Unit(id="note", part="section", title="", body="in no file")])
    scopes = {
        "docs": {"docs", "docs/a.md", "docs/b/c.md"},
        "docs/b": {"docs/b/c.md"},
        "docs/": {"docs", "docs/a.md", "docs/b/c.md"},
        "docs.md": {"docs.md"},
        ".": set(paths),
    }
    for place, expected in scopes.items():
        condition = compile_condition(Scope(parts=("section",), path=place), Filters())
        with index.asked() as reading:
            numbers = Visibility().mask(reading, condition).nonzero()[0].tolist()
            marks = ", ".join(map(str, numbers))
            find = f"SELECT path FROM indexed_units WHERE number IN ({marks})"
            assert {path for (path,) in reading.connection.execute(find)} == expected
