"""Logs of test runs as they come out of terminals, build servers and test runners."""

import json
from pathlib import Path

import pytest
from tests.register.served import Served, make_project
from tests.register.shell import ADD, Shell

from clew.errors import FormatError
from clew.register.change.evidence import read_log

COLOURED = "test tests::req_0001_locks ... \x1b[32mok\x1b(B\x1b[m\ntest req_0002_mail ... \x1b[31mFAILED\x1b[0m\n"
SEVERAL = """[gw0] [ 25%] PASSED tests/test_a.py::test_req_0001_locks
[gw1] [ 50%] FAILED tests/test_a.py::test_req_0002_mail[two words]
"""
SPACES = """tests/test_a.py::test_req_0001_locks[an owner] PASSED                    [ 50%]
tests/test_a.py::test_req_0002_mail[a PASSED b] FAILED                   [100%]
"""
PRINTING = """<testsuite><testcase name="req_0001_locks"/><testcase name="REQ-0002 tells the owner"><failure/>
<system-out>
test req_0003_inner ... ok
</system-out></testcase></testsuite>"""


# Verifies: REQ-d00086-D
@pytest.mark.parametrize(
    "log", [COLOURED, SEVERAL, SPACES, PRINTING], ids=["coloured", "several", "spaces", "printing"]
)
def test_outcomes_are_found_as_programs_really_print_them(log: str) -> None:
    tallies = read_log(log.encode())
    assert tallies.keys() == {"REQ-0001", "REQ-0002"}
    assert (len(tallies["REQ-0001"].passed), len(tallies["REQ-0001"].failed)) == (1, 0)
    assert (len(tallies["REQ-0002"].passed), len(tallies["REQ-0002"].failed)) == (0, 1)


# Verifies: REQ-d00086-D
def test_lines_of_colons_and_blanks_are_passed_over() -> None:
    """Each of them would take a second if it were tried in every way in which it can be taken apart."""
    assert read_log((("a::" * 200 + " " * 800 + "x\n") * 200 + SPACES).encode()) == read_log(SPACES.encode())


# Verifies: REQ-d00086-D
@pytest.mark.parametrize(
    "report",
    [
        '<testsuite><testcase name="req_0001_locks"/><testcase name="req_0001_other"><fail',
        '{"tests": [{"nodeid": "tests/test_a.py::test_req_0001_locks", "outcome": "passed"}, {"nod',
        '<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="req_0001_&a;"/></testsuite>',
    ],
    ids=["xml", "json", "entities"],
)
def test_a_report_that_is_not_whole_is_no_evidence(tmp_path: Path, report: str) -> None:
    served = make_project(tmp_path / "project")
    served.add()
    served.move("1", "approved", "implemented")
    served.commit()
    served.write("report", report)

    refused = served.error("req_test_run", from_file="report", promote=True)

    assert "cannot be used" in refused["message"]
    assert served.call("req_show", id="1")["tests"] == []
    served.close()


# Verifies: REQ-d00171-E
def test_a_map_names_tests_of_a_report_too(shell: Shell, tmp_path: Path) -> None:
    shell.run("add", *ADD)
    (tmp_path / "map.json").write_text(json.dumps({"locks after five": ["REQ-0001"]}))
    (tmp_path / "junit.xml").write_text(
        '<testsuite><testcase name="locks after five"><failure/></testcase><testcase name="other"/></testsuite>'
    )
    done = shell.json("test", "run", "--from-file", "junit.xml", "--map", "map.json")
    assert [(row["req_id"], row["outcome"]) for row in done["results"]] == [("REQ-0001", "fail")]


# Verifies: REQ-d00086-D
def test_lines_of_a_log_that_only_look_like_a_report_are_read() -> None:
    assert read_log(b"[INFO] start\ntest req_0001_a ... ok\n").keys() == {"REQ-0001"}
    with pytest.raises(FormatError):
        read_log(b'[\n {"nodeid": ')


# Verifies: REQ-d00236-A
def test_a_folder_that_is_not_there_is_told_instead_of_found_empty(tmp_path: Path) -> None:
    served: Served = make_project(tmp_path / "project")
    served.add()
    served.commit()
    for tool, more in (
        *(("req_coverage", {}), ("req_stale", {}), ("req_lint", {})),
        *(("req_check", {"base": "HEAD"}), ("req_review", {"base": "HEAD"})),
    ):
        refused = served.error(tool, path="no/such", **more)
        assert (refused["code"], "no/such" in refused["message"]) == ("REQ-E-NOT-FOUND", True), tool
    served.close()
