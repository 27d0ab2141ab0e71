"""A table goes out and comes back while both sides go on: nothing is dropped, doubled or passed over in silence."""

import csv
import io
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.exchange.conftest import Clew, files_of
from tests.exchange.test_fewer_columns import ROOM, SHELF, as_table
from tests.exchange.test_same_graph import given_out, started, taken_in

from clew.errors import WouldCycle
from clew.exchange.formats import FORMATS, WRITTEN
from clew.exchange.model import Exchange
from clew.exchange.results import ImportReport
from clew.exchange.service import ExchangeService, ImportRequest
from clew.exchange.sources import ImportSource
from clew.operation.call import Call
from clew.project import Project

Rows = list[dict[str, str]]


def rows_of(folder: Path) -> Rows:
    data = WRITTEN["csv"].write(Exchange(items=tuple(given_out(folder).values())), "project")
    return list(csv.DictReader(io.StringIO(data.decode())))


def came(folder: Path, rows: Rows, name: str = "a.csv", left: Callable[[str], bool] = lambda _: True) -> ImportReport:
    columns = [each for each in dict.fromkeys(name for row in rows for name in row) if left(each)]
    data = as_table("csv", [columns, *([row.get(each, "") for each in columns] for row in rows)])
    with closing(Project.open(folder, drafts=False)) as project:
        exchange = FORMATS["csv"].read(ImportSource(Path(name), data))
        wishes = ImportRequest(format="csv", name=name)
        return ExchangeService(Call(project, (), surface="cli")).take_in(exchange, wishes)


def shelves(clew: Clew, folder: Path, into: str) -> Path:
    started(clew, folder, into)
    taken_in(folder, Exchange(items=(SHELF, ROOM)), into)
    (folder / "clew.imports.jsonl").unlink()
    return folder


def done(report: ImportReport) -> tuple[int, int, int, list[str]]:
    return len(report.added), len(report.changed), report.unchanged, [each.id for each in report.conflicts]


def edited(folder: Path, old: str, new: str) -> None:
    (spec,) = (folder / "spec").glob("*.md")
    assert old in spec.read_text()
    spec.write_text(spec.read_text().replace(old, new))


# Verifies: REQ-d00601-E
@pytest.mark.parametrize("into", ["elspais", "register"])
def test_what_the_last_of_several_imports_kept_is_exported(clew: Clew, tmp_path: Path, into: str) -> None:
    folder = shelves(clew, tmp_path / "first", into)
    for name, status, further in (("b.csv", "Foo", {}), ("c.csv", "Bar", {"parent": "room"}), ("a.csv", "Baz", {})):
        rows = rows_of(folder)
        rows[0] |= {"status": status, **further}
        assert done(came(folder, rows, name)) == (0, 0, 2, [])
        assert rows_of(folder)[0]["status"] == status
    assert rows_of(folder)[0]["parent"] == "room"
    # An export of any of these names, unchanged, leaves all as it is.
    before = files_of(folder)
    for name in ("a.csv", "b.csv", "c.csv", "d.csv"):
        assert done(came(folder, rows_of(folder), name)) == (0, 0, 2, [])
        assert files_of(folder) == before


# Verifies: REQ-d00600-A
@pytest.mark.parametrize("into", ["elspais", "register"])
@pytest.mark.parametrize("column", ["title", "text", "status"])
def test_a_row_without_version_makes_no_second_requirement(clew: Clew, tmp_path: Path, column: str, into: str) -> None:
    folder = shelves(clew, tmp_path / "first", into)
    before, rows = files_of(folder), rows_of(folder)
    status = "Deprecated" if into == "elspais" else "approved"
    rows[1][column] = {"title": "Hold one shelf", "text": "The room shall hold two.", "status": status}[column]
    for left in (None, ("id", "title", "text"), ("id", "status")):
        report = came(folder, rows, left=lambda each: each != "version" if left is None else each in left)  # noqa: B023
        # The shelf, which cites the room, is not concerned.
        differs = left is None or column in left
        assert done(report) == ((0, 0, 1, [rows[1]["id"]]) if differs else (0, 0, 2, []))
        assert all("without its version" in each.reason for each in report.conflicts)
        assert files_of(folder) == before


# Verifies: REQ-d00600-A
def test_another_requirement_of_the_same_id_gets_a_new_one(clew: Clew, tmp_path: Path) -> None:
    folder = shelves(clew, tmp_path / "first", "elspais")
    rows = rows_of(folder)
    rows[1] |= {"title": "Ring the bell", "text": "The bell shall ring."}
    report = came(folder, rows, left=lambda each: each != "version")
    # What says what it says here cites what is here.
    assert done(report) == (1, 0, 1, [])
    assert [(each.id, each.as_) for each in report.mapped] == [(rows[1]["id"], "REQ-p00003")]


# Verifies: REQ-d00600-E
def test_what_goes_back_in_the_source_and_on_here_is_a_conflict(clew: Clew, tmp_path: Path) -> None:
    folder = shelves(clew, tmp_path / "first", "elspais")
    rows = rows_of(folder)
    other = [{**rows[0], "title": "Hold all the books"}, rows[1]]
    assert done(came(folder, other)) == (0, 1, 1, [])
    edited(folder, "Hold all the books", "Hold some books")
    after = files_of(folder)
    report = came(folder, rows)
    assert done(report) == (0, 0, 1, [rows[0]["id"]])
    assert report.conflicts[0].reason == "It changed in the source and here since the last import; what is here stays."
    assert files_of(folder) == after
    # A conflict leaves no trace: where only the source went back, it is followed.
    edited(folder, "Hold some books", "Hold all the books")
    assert done(came(folder, rows)) == (0, 1, 1, [])


# Verifies: REQ-d00600-C
# Verifies: REQ-d00600-E
def test_an_export_under_the_name_of_an_earlier_import_is_compared_with_that_export(clew: Clew, tmp_path: Path) -> None:
    folder = shelves(clew, tmp_path / "first", "elspais")
    rows = rows_of(folder)
    former = [{**rows[0], "title": "Hold all the books"}, rows[1]]
    came(folder, former)
    edited(folder, "Hold all the books", "Hold some books")
    after = files_of(folder)
    again = rows_of(folder)
    for _ in range(2):
        assert done(came(folder, again)) == (0, 0, 2, [])
        assert files_of(folder) == after
    # What the import before said is a change against the export.
    assert done(came(folder, [{**again[0], "title": "Hold all the books"}, again[1]])) == (0, 1, 1, [])
    edited(folder, "Hold all the books", "Hold no books")
    report = came(folder, [{**rows_of(folder)[0], "title": "Hold a book", "version": again[0]["version"]}, again[1]])
    assert done(report) == (0, 0, 1, [rows[0]["id"]])


# Verifies: REQ-d00600-E
def test_a_conflict_writes_no_record(clew: Clew, tmp_path: Path) -> None:
    folder = shelves(clew, tmp_path / "first", "elspais")
    rows = rows_of(folder)
    edited(folder, "Hold the books", "Hold some books")
    after = files_of(folder)
    for title, conflicts in (("Hold all the books", [rows[0]["id"]]), (rows[0]["title"], [])):
        report = came(folder, [{**rows[0], "title": title}, rows[1]])
        assert [each.id for each in report.conflicts] == conflicts
        assert files_of(folder) == after


CIRCLES = """## REQ-p00001: One

**Level**: PRD | **Status**: Draft | **Refines**: REQ-p00001, REQ-p00002

*End* *One* | **Hash**: 00000000

## REQ-p00002: Two

**Level**: PRD | **Status**: Draft | **Refines**: REQ-p00001

*End* *Two* | **Hash**: 00000000

## REQ-p00003: Three

**Level**: PRD | **Status**: Draft | **Refines**: REQ-p00001

*End* *Three* | **Hash**: 00000000

## REQ-p00004: Four

**Level**: PRD | **Status**: Draft

*End* *Four* | **Hash**: 00000000
"""


# Verifies: REQ-d00602-C
def test_a_circle_that_is_here_already_blocks_no_import_and_a_new_one_does(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "elspais")
    (folder / "spec").mkdir()
    (folder / "spec" / "one.md").write_text(CIRCLES)
    before, rows = files_of(folder), rows_of(folder)
    assert done(came(folder, rows)) == (0, 0, 4, [])
    assert files_of(folder) == before
    # Through a circle that is here, and beside it.
    for number, target in ((0, "REQ-p00003"), (1, "REQ-p00003"), (3, "REQ-p00004")):
        other = [dict(row) for row in rows]
        other[number]["refines"] = ", ".join(filter(None, (other[number]["refines"], target)))
        with pytest.raises(WouldCycle, match="refines itself"):
            came(folder, other)
        assert files_of(folder) == before
    rows[3]["refines"] = "REQ-p00001"
    assert done(came(folder, rows)) == (0, 1, 3, [])


# Verifies: REQ-d00603-D
@pytest.mark.parametrize(
    ("into", "columns"), [("elspais", ["level", "status"]), ("register", ["Rationale", "priority", "status"])]
)
def test_a_cell_that_cannot_be_empty_is_told(clew: Clew, tmp_path: Path, into: str, columns: list[str]) -> None:
    folder = shelves(clew, tmp_path / "first", into)
    before, rows = files_of(folder), rows_of(folder)
    for title in (rows[0]["title"], "Hold all the books"):
        rows[0] |= {**dict.fromkeys(columns, ""), "title": title}
        report = came(folder, rows)
        assert report.notes == tuple(f"{each} cannot be empty here; it stays: 1 ({rows[0]['id']})." for each in columns)
        assert (files_of(folder) == before) == (title != "Hold all the books")
    assert came(folder, rows_of(folder)).notes == ()


# Verifies: REQ-d00600-A
@pytest.mark.parametrize("into", ["elspais", "register"])
def test_an_id_that_comes_back_in_another_spelling_is_the_same(clew: Clew, tmp_path: Path, into: str) -> None:
    folder = shelves(clew, tmp_path / "first", into)
    before, rows = files_of(folder), rows_of(folder)
    column = next(name for name in ("refines", "depends_on") if rows[0].get(name))
    assert rows[0][column] == rows[1]["id"]
    small = [{**row, "id": row["id"].lower(), column: row[column].lower()} for row in rows]
    assert done(came(folder, small)) == (0, 0, 2, [])
    assert files_of(folder) == before
    small[1]["title"] = "Hold one shelf"
    report = came(folder, small)
    assert [(each.as_, each.title) for each in report.changed] == [(rows[1]["id"], "Hold one shelf")]


# Verifies: REQ-d00603-D
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_a_title_that_is_emptied_stays_and_is_told(clew: Clew, tmp_path: Path, into: str) -> None:
    folder = shelves(clew, tmp_path / "first", into)
    before, rows = files_of(folder), rows_of(folder)
    rows[0]["title"] = ""
    report = came(folder, rows)
    assert (done(report), report.notes) == (
        (0, 0, 2, []),
        (f"title cannot be empty here; it stays: 1 ({rows[0]['id']}).",),
    )
    assert {path: text for path, text in files_of(folder).items() if path in before} == before


# Verifies: REQ-d00600-E
@pytest.mark.parametrize("into", ["elspais", "register"])
def test_a_file_of_an_earlier_export_takes_nothing_back(clew: Clew, tmp_path: Path, into: str) -> None:
    folder = shelves(clew, tmp_path / "first", into)
    first = rows_of(folder)
    for title in ("Hold many books", "Hold all the books"):
        rows = rows_of(folder)
        rows[0]["title"] = title
        assert done(came(folder, rows)) == (0, 1, 1, [])
    before = files_of(folder)
    first[0]["text"] = "The shelf shall hold maps."
    assert done(came(folder, first)) == (0, 0, 1, [first[0]["id"]])
    assert files_of(folder) == before


# Verifies: REQ-d00600-J
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_two_criteria_of_one_label_are_refused(clew: Clew, tmp_path: Path, into: str) -> None:
    folder = shelves(clew, tmp_path / "first", into)
    before, rows = files_of(folder), rows_of(folder)
    label, _, _ = rows[0]["criteria"].partition(".")
    rows[0]["criteria"] += f"\n{label}. It shall hold maps."
    report = came(folder, rows)
    assert [each.id for each in report.rejected] == [rows[0]["id"]]
    assert f"has one label, '{label}', for" in report.rejected[0].reason
    assert {path: text for path, text in files_of(folder).items() if path in before} == before
