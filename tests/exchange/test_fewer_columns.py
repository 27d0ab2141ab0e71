"""A table that says less than the project: what it has no column for stays as it is."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.exchange.conftest import Clew, files_of
from tests.exchange.test_same_graph import given_out, started, taken_in

from clew.exchange.formats import WRITTEN
from clew.exchange.model import Criterion, Exchange, Item, Relation
from clew.exchange.sources import ImportSource

NEEDED = ("id", "version")
SHELF = Item(
    id="shelf",
    title="Hold the books",
    text="The shelf shall hold ten books.",
    criteria=(Criterion("A", "Ten books stand on it."), Criterion("B", "None falls off it.")),
    attributes={"status": "Active", "Rationale": "Books lie around.", "Owner": "Ann", "Depends on": "odd"},
    relations=(Relation("refines", "room"), Relation("cites", "room")),
)
ROOM = Item(id="room", title="Hold the shelf", text="The room shall hold a shelf.", attributes={"status": "Active"})


def as_table(name: str, rows: list[list[str]]) -> bytes:
    if name == "csv":
        sheet = io.StringIO()
        csv.writer(sheet).writerows(rows)
        return sheet.getvalue().encode()
    import openpyxl

    book, packed = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(packed)
    return packed.getvalue()


def exported(folder: Path) -> list[dict[str, str]]:
    data = WRITTEN["csv"].write(Exchange(items=tuple(given_out(folder).values())), "project")
    return list(csv.DictReader(io.StringIO(data.decode())))


def read(name: str, rows: list[dict[str, str]], left: Callable[[str], bool]) -> Exchange:
    """A table with some of the columns."""
    columns = [each for each in rows[0] if left(each)]
    data = as_table(name, [columns, *([row[each] for each in columns] for row in rows)])
    return WRITTEN[name].read(ImportSource(Path("x"), data))


# Verifies: REQ-d00603-D
# Verifies: REQ-d00600-C
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
@pytest.mark.parametrize("name", ["csv", "excel"])
def test_an_export_without_some_columns_changes_only_what_it_says(
    clew: Clew, tmp_path: Path, name: str, into: str
) -> None:
    if name == "excel":
        pytest.importorskip("openpyxl")
    folder = started(clew, tmp_path / "first", into)
    taken_in(folder, Exchange(items=(SHELF, ROOM)), into)
    before, files = given_out(folder), files_of(folder)
    for column in exported(folder)[0]:
        if column not in NEEDED:
            taken_in(folder, read(name, exported(folder), lambda each: each != column), into, name)  # noqa: B023
            assert (column, given_out(folder)) == (column, before)
            assert {path for path, data in files_of(folder).items() if files.get(path) != data} <= {IMPORTS}
    rows = exported(folder)
    rows[0]["title"] = "Hold all the books"
    report = taken_in(folder, read(name, rows, lambda each: each in ("id", "title", "version")), into, name)
    assert [each.title for each in report.changed] == ["Hold all the books"]
    (shelf, room), (former, other) = given_out(folder).values(), before.values()
    assert said(shelf) == {**said(former), "title": "Hold all the books"}
    assert said(room) == said(other)


IMPORTS = "clew.imports.jsonl"


def said(item: Item) -> dict[str, object]:
    names = ("id", "kind", "title", "text", "criteria", "attributes", "relations", "kept")
    return {name: getattr(item, name) for name in names}


# Verifies: REQ-d00603-D
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_a_table_of_another_tool_may_lose_columns(clew: Clew, tmp_path: Path, into: str) -> None:
    folder = started(clew, tmp_path / "first", into)
    data = WRITTEN["csv"].write(Exchange(items=(ROOM, SHELF)), "project")
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    taken_in(folder, read("csv", rows, lambda _: True), into, "csv")
    before = given_out(folder)
    rows[1]["text"] = "The shelf shall hold twelve books."
    report = taken_in(folder, read("csv", rows, lambda each: each in ("id", "text")), into, "csv")
    assert [each.id for each in report.changed] == ["shelf"]
    now = given_out(folder)
    for id, item in before.items():
        text = rows[1]["text"] if "books" in item.title else item.text
        assert said(now[id]) == {**said(item), "text": text}
    after = files_of(folder)
    taken_in(folder, read("csv", rows, lambda each: each in ("id", "text")), into, "csv")
    assert files_of(folder) == after


# Verifies: REQ-d00600-C
# Verifies: REQ-d00603-D
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_a_table_that_says_nothing_new_adds_nothing_also_without_versions(
    clew: Clew, tmp_path: Path, into: str
) -> None:
    folder = started(clew, tmp_path / "first", into)
    taken_in(folder, Exchange(items=(ROOM, SHELF)), into)
    table, before = tmp_path / "table.csv", files_of(folder)
    for left in (lambda each: each != "version", lambda each: each in ("id", "title")):
        rows = exported(folder)
        columns = [each for each in rows[0] if left(each)]
        table.write_bytes(as_table("csv", [columns, *([row[each] for each in columns] for row in rows)]))
        done = clew(folder, "import", "csv", str(table))
        assert "0 added, 0 changed, 2 unchanged" in done.stdout
        assert files_of(folder) == before


# Verifies: REQ-d00603-D
def test_a_column_that_is_not_read_empties_nothing_and_an_empty_cell_does(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "elspais")
    taken_in(folder, Exchange(items=(ROOM, SHELF)), "elspais")
    table = tmp_path / "table.csv"
    assert clew(folder, "export", "csv", "--output", str(table)).returncode == 0
    table.write_text(table.read_text().replace("Books lie around.", ""))
    before = (folder / "spec" / "source.md").read_text()
    done = clew(folder, "import", "csv", str(table), "--map", "criteria=-", "--map", "Owner=-")
    assert "1 changed, 1 unchanged" in done.stdout
    assert "Rationale" not in done.stdout
    after = (folder / "spec" / "source.md").read_text()
    assert after == before.replace("### Rationale\n\nBooks lie around.\n\n", "")
