"""References in files of any content: odd encodings, line ends, and whatever chance writes."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.marking import GRAMMAR, cited, code, owners, suite

from clew.formats.code.markers import MarkerRecords, carried_by_none, cited_by, read_markers


def test_an_id_without_keyword_is_reported() -> None:
    records = code("# REQ-d00001-A: rings\n# Implements: REQ-d00002\n")
    assert [(each.code, each.line) for each in records.diagnostics] == [("markers.undeclared", 1)]
    assert "Write `Implements: REQ-d00001-A`" in records.diagnostics[0].message
    (of_a_test,) = suite("# REQ-d00001-A: rings\n# Verifies: REQ-d00002\n").diagnostics
    assert "Write `Verifies: REQ-d00001-A`" in of_a_test.message


def test_binary_and_other_encodings_are_diagnostics() -> None:
    binary = read_markers(b"# Implements: REQ-d00001\n\0\1", "a.py", GRAMMAR, is_test=False)
    assert [each.code for each in binary.diagnostics] == ["markers.binary"]
    assert binary.citations == ()
    latin = read_markers(b"# caf\xe9\n# Implements: REQ-d00001\n", "a.py", GRAMMAR, is_test=False)
    assert [(each.code, each.line) for each in latin.diagnostics] == [("markers.not_utf8", 1)]
    assert cited(latin.citations) == [("implements", "REQ-d00001", "")]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(latin), type=MarkerRecords) == latin


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_and_a_byte_order_mark(end: str) -> None:
    data = ("\ufeff# x\n# Implements: REQ-d00001\ndef f():\n    pass\n").replace("\n", end).encode()
    records = read_markers(data, "a.py", GRAMMAR, is_test=False)
    assert owners(records) == [(2, "f")]


def test_files_of_no_interest_give_nothing() -> None:
    assert read_markers(b"x = 1\n" * 10, "a.py", GRAMMAR, is_test=False) == MarkerRecords()
    assert read_markers(b"# Implements: REQ-d00001", "a.unknown", GRAMMAR, is_test=False) == MarkerRecords()


PIECES = [
    "# Implements: ",
    "REQ-d00001",
    "-A",
    ", ",
    "\n",
    "def test_x():",
    "class TestY:",
    "    ",
    '"""',
    "'",
    "(",
    ")",
    "@a",
]
PIECES += ["// Verifies ", "{", "}", "/*", "*/", "function f() ", "\r", "\0", "é", "Tests:", "IMPLEMENTS REQUIREMENTS:"]
PIECES += [
    "it('x', ",
    "it 'x' do",
    "end",
    "() => ",
    ".each([",
    "])('",
    "TEST(",
    ") ",
    "`",
    "${",
    "<<A",
    "A\n",
    ": ",
    "= ",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.sampled_from(["a.py", "a.js", "a.rb", "a.kt", "a.cs", "a.sh", "a.cpp", "a.rs", "a.php"]),
    st.booleans(),
)
def test_any_file_is_read_and_every_owner_holds_its_lines(source: str, path: str, is_test: bool) -> None:
    records = read_markers(source.encode(), path, GRAMMAR, is_test=is_test)
    last = max(1, len(source.encode().splitlines()) + 1)
    for each in (*records.citations, *records.defaults):
        assert 1 <= each.line <= last
        assert (each.owner is None) == (each.owner_line == 0)
        assert each.owner_line <= each.owner_end_line <= last
    carried = [citation for test in records.tests for citation in cited_by(test, records)]
    assert {*carried, *carried_by_none(records)} == (
        {*records.citations, *records.defaults} if is_test else set(records.citations)
    )


@given(st.binary(max_size=200), st.sampled_from(["a.py", "a.js", "Makefile", "a.html"]), st.booleans())
def test_any_bytes_are_read(data: bytes, path: str, is_test: bool) -> None:
    records = read_markers(b"# Tests: x\n" + data, path, GRAMMAR, is_test=is_test)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(records), type=MarkerRecords) == records
