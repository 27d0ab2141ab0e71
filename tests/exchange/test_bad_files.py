"""Files that are broken, hostile or too large: refused by name, and nothing is changed."""

import json
from pathlib import Path

import pytest
from tests.exchange.conftest import Clew, files_of

from clew.exchange.formats import FORMATS
from clew.exchange.sources import MOST_BYTES

BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]>
<REQ-IF>&lol2;</REQ-IF>"""
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><REQ-IF/>'


def line(**item: object) -> str:
    return json.dumps({"item": item}) + "\n"


def refused(clew: Clew, folder: Path, form: str, data: bytes | str, *words: str) -> str:
    """What an import says that is refused; the project stays as it is."""
    file = folder.parent / f"bad.{form}"
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    before = files_of(folder)
    done = clew(folder, "import", form, str(file), *words)
    assert done.returncode > 1
    assert done.stdout == ""
    assert files_of(folder) == before
    return " ".join(done.stderr.split())


# Verifies: REQ-d00602-A
# Verifies: REQ-d00602-E
@pytest.mark.parametrize(
    ("form", "data", "told"),
    [
        ("jsonl", line(id="A") + '{"item": {"id": "B"', "Line 2 of 'bad.jsonl' is not valid JSON"),
        ("jsonl", '{"item": {"id": 7}}', "Line 1: Expected `str`, got `int`"),
        ("jsonl", '{"thing": {}}', "Line 1 has the unknown key 'thing'"),
        ("jsonl", '{"clew": {"version": 99}}', "version 99 of the format"),
        ("jsonl", b'{"item": {"id": "\xff"}}', "Line 1 of 'bad.jsonl' is not valid JSON"),
        ("needs", '{"versions": ', "'bad.needs' is not valid JSON"),
        ("needs", '{"needs": {}}', "has no 'versions'"),
        ("needs", '{"versions": {"1": {"needs": [1]}}}', "'needs' of version '1' is [1], not an object"),
        ("needs", "[" * 100_000, "'bad.needs' is not valid JSON"),
        ("needs", '{"versions": {"1": {"needs": {"A": {}, "A": {}}}}}', "has the key 'A' more than once"),
        ("jsonl", line(id="A") + '{"item": {"id": "B", "id": "C"}}', "line 2 of 'bad.jsonl' has the key 'id'"),
        ("github", '[{"number": 1, "title": "Gr\xfcn"}]'.encode("latin-1"), "is not UTF-8: byte 27 in line 1"),
        ("lobster", '{"schema": "x"}', "The schema of 'bad.lobster' is 'x'"),
        ("csv", b"id,title\nA,caf\xe9\n", "is not UTF-8: byte 14 in line 2"),
        ("csv", 'id,title\nA,"open\n', "is not valid CSV"),
        ("csv", b"id,title\nA,\0\n", "holds NUL characters"),
    ],
)
def test_broken_files_are_refused_with_the_place_of_the_fault(
    clew: Clew, empty: Path, form: str, data: bytes | str, told: str
) -> None:
    assert told in refused(clew, empty, form, data)


# Verifies: REQ-d00602-A
# Verifies: REQ-d00602-B
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (BOMB, "has a document type or entities in line 2"),
        (OUTSIDE, "has a document type or entities in line 1"),
        (b"<REQ-IF><A></REQ-IF>", "is not valid XML: mismatched tag in line 1"),
        (b"<REQ-IF/>", "has no REQ-IF-CONTENT"),
        (b"PK\x03\x04nothing", "cannot be unpacked"),
    ],
)
def test_hostile_xml_is_refused_before_anything_is_expanded(clew: Clew, empty: Path, data: bytes, told: str) -> None:
    pytest.importorskip("reqif")
    assert told in refused(clew, empty, "reqif", data)


# Verifies: REQ-d00602-C
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (line(id="A") + line(id="A"), "The id 'A' is used by more than one item"),
        (line(id=" ", title="No id"), "The item 'No id' has no id"),
        (line(id="A", parent="B") + line(id="B", parent="A"), "is below itself: "),
        (
            line(id="A", relations=[{"kind": "refines", "target": "B"}])
            + line(id="B", relations=[{"kind": "refines", "target": "A"}]),
            "refines itself: A -> B -> A",
        ),
    ],
)
def test_doubled_ids_and_circles_are_refused_by_name(clew: Clew, empty: Path, data: str, told: str) -> None:
    assert told in refused(clew, empty, "jsonl", data)


# Verifies: REQ-d00602-D
def test_a_file_that_is_too_large_is_refused_unread(clew: Clew, empty: Path, tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    with file.open("wb") as opened:
        opened.truncate(MOST_BYTES + 1)
    done = clew(empty, "import", "jsonl", str(file))
    assert done.returncode > 1
    assert "files over 134,217,728 bytes are not imported" in " ".join(done.stderr.split())


# Verifies: REQ-d00602-D
def test_a_file_of_fifty_megabytes_is_read(clew: Clew, empty: Path, tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    text = "word " * 200_000
    file.write_text("id,kind,text\n" + "".join(f"N-{number},note,{text}\n" for number in range(50)))
    assert file.stat().st_size > 50_000_000
    done = clew(empty, "import", "csv", str(file), "--dry-run")
    assert done.returncode == 0
    assert "note: 50 (N-0, N-1, N-2)" in done.stdout


def test_a_source_that_is_not_there_and_a_format_that_is_none_are_told(clew: Clew, empty: Path) -> None:
    assert "There is no file or folder 'none.csv'" in clew(empty, "import", "csv", "none.csv").stderr
    told = clew(empty, "import", "doors", "x").stderr
    assert all(name in told for name in FORMATS)


# Verifies: REQ-d00603-B
@pytest.mark.parametrize(
    ("data", "words", "told"),
    [
        ("Name,Text\nA,B\n", (), "has no column for ids"),
        ("id,x,x\n1,2,3\n", (), "more than one column 'x'"),
        ("id,title\n1,2,3\n", (), "Row 2 of 'bad.csv' has 3 cells; there are 2 columns"),
        ("id,title\n1,2\n", ("--map", "None=text"), "has no column 'None', which the mapping names"),
        (
            "id,A,B\n1,2,3\n",
            ("--map", "A=text", "--map", "B=text"),
            "The columns 'A' and 'B' of 'bad.csv' both mean text",
        ),
        ("id,Note,note\n1,2,\n2,3,4\n", (), "Row 3 of 'bad.csv' has a 'Note' and a 'note', which are one attribute"),
        ("id,implements,Implements\n1,2,3\n", (), "Row 2 of 'bad.csv' has a 'implements' and a 'Implements'"),
        ("id,text,B\n1,2,3\n", ("--map", "B=text"), "The columns 'text' and 'B' of 'bad.csv' both mean text"),
        ("id,kept\n1,{\n", (), "Row 2 of 'bad.csv': the field 'kept' is '{'"),
    ],
)
def test_a_table_that_cannot_be_understood_is_refused_with_its_columns(
    clew: Clew, empty: Path, data: str, words: tuple[str, ...], told: str
) -> None:
    assert told in refused(clew, empty, "csv", data, *words)
