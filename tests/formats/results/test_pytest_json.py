"""JSON that pytest plugins write."""

import json
from typing import Any

import pytest

from clew.formats.results.pytest_json import split_nodeid
from clew.formats.results.reader import read_results
from clew.formats.results.records import Outcome, ResultRecords


def document(*tests: dict[str, Any], **others: Any) -> ResultRecords:
    return read_results(json.dumps({"created": 1.5, "root": "/elsewhere", "tests": tests, **others}, indent=1).encode())


def log(*reports: dict[str, Any]) -> ResultRecords:
    lines = [{"pytest_version": "9.2.0", "$report_type": "SessionStart"}, *reports]
    return read_results(("\n".join(map(json.dumps, lines)) + "\n").encode())


def report(nodeid: str, when: str, outcome: str, **others: Any) -> dict[str, Any]:
    location = [nodeid.partition("::")[0], 4, nodeid.partition("::")[2]]
    fields = {"nodeid": nodeid, "location": location, "when": when, "outcome": outcome, "duration": 0.25, **others}
    return {**fields, "$report_type": "TestReport"}


def brief(outcome: Outcome) -> tuple[str, str, str, str, str]:
    return outcome.file, outcome.classname, outcome.name, outcome.parameters, outcome.status


# Verifies: REQ-d00040-B
def test_pytest_json_report_gives_every_test_with_place_and_reason() -> None:
    crash = {"path": "/x", "lineno": 3, "message": "AssertionError: assert 1 == 2\n  because"}
    records = document(
        {"nodeid": "tests/test_bell.py::test_rings", "lineno": 2, "outcome": "passed", "call": {"duration": 0.5}},
        {
            "nodeid": "tests/test_bell.py::TestNight::test_is_quiet[a::b]",
            "lineno": 9,
            "outcome": "failed",
            "keywords": ["x"],
            "setup": {"duration": 0.25, "outcome": "passed"},
            "call": {"duration": 0.5, "outcome": "failed", "crash": crash, "longrepr": "long"},
        },
    )
    assert records.format == "pytest-json"
    assert [brief(each) for each in records.outcomes] == [
        ("tests/test_bell.py", "", "test_rings", "", "passed"),
        ("tests/test_bell.py", "TestNight", "test_is_quiet", "[a::b]", "failed"),
    ]
    assert [each.test_line for each in records.outcomes] == [3, 10]
    assert records.outcomes[1].message == "AssertionError: assert 1 == 2"
    assert [each.seconds for each in records.outcomes] == [0.5, 0.75]


# Verifies: REQ-d00040-B
def test_results_of_a_document_have_their_lines() -> None:
    records = document(
        {"nodeid": "a.py::test_one", "outcome": "passed"}, {"nodeid": "a.py::test_two", "outcome": "passed"}
    )
    assert [each.line for each in records.outcomes] == [6, 10]


# Verifies: REQ-d00040-B
@pytest.mark.parametrize(
    ("written", "status"),
    [("xfailed", "skipped"), ("xpassed", "passed"), ("error", "error"), ("skipped", "skipped"), ("PASSED", "passed")],
)
def test_words_of_pytest_are_understood(written: str, status: str) -> None:
    assert document({"nodeid": "a.py::test", "outcome": written}).outcomes[0].status == status


# Verifies: REQ-d00040-B
def test_a_word_that_nobody_knows_is_neither_passed_nor_failed() -> None:
    records = document({"nodeid": "a.py::test_rings", "outcome": "wobbly"})
    assert records.outcomes[0].status == "unknown"
    assert [each.code for each in records.diagnostics] == ["results.unknown_status"]
    assert "'a.py::test_rings' ended as 'wobbly'" in records.diagnostics[0].message


# Verifies: REQ-d00040-B, REQ-d00041-D
def test_a_file_that_could_not_be_collected_is_an_error_of_the_whole_file() -> None:
    broken = {"nodeid": "tests/test_broken.py", "outcome": "failed", "longrepr": "x\nE   SyntaxError: invalid syntax"}
    (outcome,) = document(collectors=[{"nodeid": "", "outcome": "passed"}, broken]).outcomes
    assert (outcome.file, outcome.status, outcome.whole_file) == ("tests/test_broken.py", "error", True)
    assert outcome.message == "SyntaxError: invalid syntax"


# Verifies: REQ-d00040-B
def test_a_plain_list_of_outcomes_is_read() -> None:
    tests = [
        {"name": "test_rings[2]", "classname": "tests.test_bell", "status": "passed"},
        {"name": "b", "outcome": "failed"},
    ]
    records = read_results(json.dumps(tests).encode())
    assert [brief(each) for each in records.outcomes] == [
        ("", "tests.test_bell", "test_rings", "[2]", "passed"),
        ("", "", "b", "", "failed"),
    ]


# Verifies: REQ-d00040-B
def test_the_phases_of_a_log_become_one_outcome() -> None:
    name = "tests/test_bell.py::test_rings"
    skipped = {"longrepr": ["tests/test_bell.py", 3, "Skipped: no bell"]}
    failed = {"longrepr": {"reprcrash": {"path": "x", "lineno": 1, "message": "assert 0"}, "reprtraceback": {}}}
    records = log(
        *(report(f"{name}_well", when, "passed") for when in ("setup", "call", "teardown")),
        report(f"{name}_badly", "setup", "passed"),
        report(f"{name}_badly", "call", "failed", **failed),
        report(f"{name}_badly", "teardown", "passed"),
        report(f"{name}_never", "setup", "skipped", **skipped),
        report(f"{name}_not", "setup", "failed", longrepr="E   fixture"),
        report(f"{name}_then", "call", "passed"),
        report(f"{name}_then", "teardown", "failed"),
    )
    assert records.format == "pytest-reportlog"
    assert [(each.name.removeprefix("test_rings_"), each.status) for each in records.outcomes] == [
        ("well", "passed"),
        ("badly", "failed"),
        ("never", "skipped"),
        ("not", "error"),
        ("then", "error"),
    ]
    assert [each.message for each in records.outcomes] == ["", "assert 0", "Skipped: no bell", "fixture", ""]
    assert records.outcomes[0].seconds == 0.75
    assert records.outcomes[1].line == 6
    assert records.outcomes[0].test_line == 5


# Verifies: REQ-d00040-B
def test_a_test_that_was_run_again_is_judged_by_its_last_run() -> None:
    phases = [("setup", "passed"), ("call", "failed"), ("teardown", "passed")]
    again = [("setup", "passed"), ("call", "passed"), ("teardown", "passed")]
    (outcome,) = log(*(report("a.py::test", when, how) for when, how in (*phases, *again))).outcomes
    assert outcome.status == "passed"


# Verifies: REQ-d00040-D
def test_a_log_that_was_cut_off_keeps_its_whole_lines() -> None:
    data = (json.dumps(report("a.py::test", "call", "passed")) + '\n{"$report_type": "TestRe').encode()
    records = read_results(data)
    assert [each.name for each in records.outcomes] == ["test"]
    assert [(each.code, each.line) for each in records.diagnostics] == [("results.broken", 2)]


# Verifies: REQ-d00040-D
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "results.empty"),
        ("[]", "results.empty"),
        ('{"tests": []}', "results.empty"),
        ("{", "results.broken"),
        ('{"tests": 3}', "results.broken"),
        ("[1, 2]", "results.broken"),
        ("[" * 100_000, "results.broken"),
        ("{}", "results.unknown_format"),
        ('{"name": "package"}', "results.unknown_format"),
        ("hello", "results.unknown_format"),
        ('[{"outcome": "passed"}]', "results.unnamed"),
    ],
)
def test_what_is_no_report_gives_a_diagnostic(text: str, code: str) -> None:
    records = read_results(text.encode())
    assert records.outcomes == ()
    assert [each.code for each in records.diagnostics] == [code]


# Verifies: REQ-d00040-B
@pytest.mark.parametrize(
    ("nodeid", "expected"),
    [
        ("a.py::test", ("", "test", "")),
        ("a.py::A::B::test[x::y]", ("A.B", "test", "[x::y]")),
        ("a.py", ("", "a.py", "")),
    ],
)
def test_a_name_of_pytest_is_taken_apart(nodeid: str, expected: tuple[str, str, str]) -> None:
    assert split_nodeid(nodeid) == expected
