"""CSV and Excel: columns of other tools, and cells that a spreadsheet would calculate."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.exchange.conftest import Clew

from clew.exchange.both import csv as csv_format
from clew.exchange.model import Exchange, Item
from clew.exchange.sources import ImportSource

DOORS = """Object Identifier;Object Heading;Object Text;Satisfies;Owner;Ignore
SR-1;Time;"The clock shall keep time.
Always.";;Ada;x
SR-2;Hour;The clock shall show the hour.;SR-1;Ben;y
"""


# Verifies: REQ-d00603-A
def test_columns_are_mapped_by_options_and_the_mapping_can_be_kept(clew: Clew, empty: Path, tmp_path: Path) -> None:
    file, saved = tmp_path / "doors.csv", tmp_path / "columns.json"
    file.write_text(DOORS)
    words = ("--map", "Satisfies=implements", "--map", "Ignore=-", "--save-columns", str(saved))
    done = clew(empty, "import", "csv", str(file), *words)
    assert done.returncode == 0, done.stderr
    text = (empty / "spec" / "doors.md").read_text()
    assert "## REQ-p00002: Hour\n\n**Level**: PRD | **Status**: Draft | **Implements**: REQ-p00001\n" in text
    assert "The clock shall keep time.\nAlways.\n" in text
    assert "- Owner: Ben\n" in text
    assert "Ignore" not in text
    kept = json.loads(saved.read_text())
    assert kept["columns"] == {"Satisfies": "implements", "Ignore": "-"}
    again = clew(empty, "import", "csv", str(file), "--columns", str(saved))
    assert "0 added, 0 changed, 2 unchanged" in again.stdout


# Verifies: REQ-d00603-C
def test_a_column_that_is_called_like_a_relation_cites_whatever_its_case(
    clew: Clew, empty: Path, tmp_path: Path
) -> None:
    file = tmp_path / "parts.csv"
    file.write_text("ID,Title,Text,Implements,Depends On\nA,One,It shall run.,,\nB,Two,It shall stop.,A,A\n")
    done = clew(empty, "import", "csv", str(file))
    assert "relation depends_on: 1 (B)" in done.stdout
    text = (empty / "spec" / "parts.md").read_text()
    assert "## REQ-p00002: Two\n\n**Level**: PRD | **Status**: Draft | **Implements**: REQ-p00001\n" in text


# Verifies: REQ-d00601-A
def test_an_attribute_that_is_called_like_a_relation_stays_an_attribute() -> None:
    items = (Item(id="A", attributes={"Implements": "nothing, really"}),)
    data = csv_format.write(Exchange(items=items), "project")
    assert csv_format.read(ImportSource(Path("x.csv"), data)).items[0].attributes == {"Implements": "nothing, really"}


# Verifies: REQ-d00601-D
@pytest.mark.parametrize("text", ["=1+1", "+1", "-2", "@SUM(A1)", "'quoted", "'=1", "\t=1", "＝1"])
def test_no_cell_is_calculated_and_all_are_read_back_as_they_were(text: str) -> None:
    items = (Item(id="A", title=text, attributes={"note": text}),)
    data = csv_format.write(Exchange(items=items), "project")
    cells = next(iter(list(csv.DictReader(io.StringIO(data.decode())))))
    assert cells["title"].startswith("'")
    again = csv_format.read(ImportSource(Path("x.csv"), data)).items[0]
    assert (again.title, again.attributes["note"]) == (text, text)


# Verifies: REQ-d00601-D
def test_a_formula_of_a_workbook_is_its_text_and_what_is_written_is_a_text(
    clew: Clew, empty: Path, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["ID", "Title", "Size"], ["A-1", '=HYPERLINK("http://example.org","Click")', 3.0]):
        book.active.append(row)
    file = tmp_path / "formulas.xlsx"
    book.save(file)
    assert clew(empty, "import", "excel", str(file)).returncode == 0
    text = (empty / "spec" / "formulas.md").read_text()
    assert '## REQ-p00001: =HYPERLINK("http://example.org","Click")' in text
    assert "- Size: 3\n" in text
    out = tmp_path / "out.xlsx"
    assert clew(empty, "export", "excel", "--output", str(out)).returncode == 0
    sheet = openpyxl.load_workbook(out).active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value is not None} == {"s"}
    assert "is not text" in clew(empty, "export", "excel").stderr
