"""Executed lines, from coverage.py and LCOV; and any bytes at all."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.formats.results.reader import read_results
from clew.formats.results.records import ResultRecords


# Verifies: REQ-d00040-C
def test_the_report_of_coverage_py_gives_executed_and_missing_lines() -> None:
    files = {
        "src/bell.py": {"executed_lines": [3, 1, 2], "missing_lines": [5], "excluded_lines": [], "summary": {"x": 1}},
        "src/rope.py": {"executed_lines": [], "missing_lines": [1]},
    }
    records = read_results(json.dumps({"meta": {"format": 3}, "files": files, "totals": {}}).encode())
    assert records.format == "coverage-json"
    assert [(each.path, each.executed, each.missing, each.by_test) for each in records.lines] == [
        ("src/bell.py", (1, 2, 3), (5,), ()),
        ("src/rope.py", (), (1,), ()),
    ]


# Verifies: REQ-d00040-C
def test_contexts_say_which_test_executed_a_line() -> None:
    contexts = {
        "1": [""],
        "2": ["tests/test_bell.py::test_rings|run", "tests/test_bell.py::test_rings|setup"],
        "3": ["tests/test_bell.py::test_rings|run", "tests.test_bell.test_hangs"],
    }
    files = {"src/bell.py": {"executed_lines": [1, 2, 3], "missing_lines": [], "contexts": contexts}}
    (lines,) = read_results(json.dumps({"files": files}).encode()).lines
    assert lines.by_test == (("tests.test_bell.test_hangs", (3,)), ("tests/test_bell.py::test_rings", (2, 3)))


# Verifies: REQ-d00040-C
def test_lcov_gives_executed_and_missing_lines_and_adds_up_repeated_records() -> None:
    records = read_results(
        b"TN:first\nSF:src/bell.c\nFN:1,ring\nFNDA:2,ring\nDA:1,2\nDA:2,0,checksum\nDA:3,0\nBRDA:1,0,0,-\nLF:3\nLH:1\n"
        b"end_of_record\nTN:second\nSF:src/bell.c\nDA:2,1e3\nend_of_record\nSF:src/rope.c\nDA:7,-1\nend_of_record\n"
    )
    assert records.format == "lcov"
    assert [(each.path, each.executed, each.missing) for each in records.lines] == [
        ("src/bell.c", (1, 2), (3,)),
        ("src/rope.c", (), (7,)),
    ]
    assert records.diagnostics == ()


# Verifies: REQ-d00040-D
def test_lines_of_lcov_that_make_no_sense_are_reported_and_the_others_read() -> None:
    records = read_results(b"TN:\nDA:1,1\nSF:a.c\nDA:one,1\nDA:2\nDA:3,1\n")
    assert [(each.path, each.executed) for each in records.lines] == [("a.c", (3,))]
    assert [(each.code, each.line) for each in records.diagnostics] == [
        ("results.stray_line", 2),
        ("results.unreadable_line", 4),
        ("results.unreadable_line", 5),
        ("results.cut_off", 6),
    ]


# Verifies: REQ-d00040-D
@pytest.mark.parametrize(
    "data",
    [b'{"files": {"a.py": {"executed_lines": [1, "x"]}}}', b'{"files": {"a.py": {"executed_lines": [1'],
)
def test_a_broken_report_of_coverage_py_gives_a_diagnostic(data: bytes) -> None:
    records = read_results(data)
    assert records.lines == ()
    assert [each.code for each in records.diagnostics] == ["results.broken"]


SHAPES = st.sampled_from(
    [
        b"<testsuite>%b</testsuite>",
        b'{"tests": [%b]}',
        b'{"$report_type": "TestReport"}\n%b',
        b"SF:a\n%b",
        b"[%b]",
        b"%b",
    ]
)


# Verifies: REQ-d00040-D
@given(SHAPES, st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_content_makes_reading_fail(shape: bytes, content: bytes) -> None:
    records = read_results(shape.replace(b"%b", content))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(records), type=ResultRecords) == records
    assert all(each.code.startswith("results.") and each.line >= 0 for each in records.diagnostics)
