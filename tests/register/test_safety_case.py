"""The safety part of a register: read, shown, checked, and kept to the byte by every write."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.mcp_client import McpClient, Options, ToolFailed
from tests.register.shell import ADD, Shell

from clew.project import Project
from clew.register.change.transaction import RegisterFile

AT = "2026-06-01T00:00:00Z"
COMMON = {"tags": [], "created": AT, "updated": AT, "history": []}
HAZARDS: dict[str, dict[str, Any]] = {
    "HAZ-0001": {
        "id": "HAZ-0001",
        "title": "The door opens",
        "harm": "Somebody falls",
        "status": "Assessed",
        "links": [],
        "consequence": "C_C",
        "frequency": "F_B",
        "avoidance": "P_B",
        "probability": "W3",
        "later_key": {"z": 1, "a": [2]},
        **COMMON,
    }
}
FUNCTIONS = {
    "SF-0001": {
        "id": "SF-0001",
        "title": "Keep it shut",
        "safe_state": "shut",
        "status": "Allocated",
        "links": [{"kind": "Mitigates", "target": "HAZ-0001"}],
        **COMMON,
    }
}
REQUIREMENTS = {
    "SR-0001": {
        "id": "SR-0001",
        "title": "Bolt the door",
        "statement": "The bolt shall hold the door shut.",
        "rationale": "Shut is the safe state.",
        "acceptance": ["A pull of 500 N does not open it"],
        "priority": "Must",
        "status": "Approved",
        "links": [{"kind": "Realizes", "target": "SF-0001"}],
        "tests": [],
        **COMMON,
    }
}


@pytest.fixture
def guarded(shell: Shell, tmp_path: Path) -> Path:
    """A register with a safety case."""
    shell.run("add", *ADD)
    place = tmp_path / "project.req"
    parts = {"hazards": HAZARDS, "safety_functions": FUNCTIONS, "safety_requirements": REQUIREMENTS}
    register = msgspec.structs.replace(RegisterFile(place).read().register, **parts, next_haz_id=2)
    RegisterFile(place).create(register, force=True)
    return place


def safety_part(place: Path) -> list[str]:
    """The bytes of the safety part."""
    text = place.read_text(encoding="utf-8")
    keys = ("hazards", "safety_functions", "safety_requirements", "next_haz_id")
    return [re.search(rf'(?s)\n  "{key}": .*?(?=\n  "|\n}})', text)[0] for key in keys]  # type: ignore[index]


# Verifies: REQ-d00396-A
def test_the_safety_case_is_shown_with_derived_levels(shell: Shell, guarded: Path) -> None:
    shown = shell.run("safety")
    assert "HAZ-0001  assessed  SIL3  The door opens  by SF-0001" in shown
    assert "SF-0001  allocated  SIL3  Keep it shut  mitigates HAZ-0001  by SR-0001" in shown
    assert "SR-0001  approved  SIL3  Bolt the door  realizes SF-0001" in shown
    one = shell.json("safety", "HAZ-0001")
    assert one["artefact"] == HAZARDS["HAZ-0001"]
    assert one["artefacts"][0]["level"] == "SIL3"
    assert "clew req safety SR-0001" in shell.run("show", "SR-0001", code=1)
    assert "There are: HAZ-0001" in shell.run("safety", "HAZ-0009", code=1)


# Verifies: REQ-d00396-B
def test_no_write_changes_a_byte_of_the_safety_case(shell: Shell, guarded: Path) -> None:
    before = safety_part(guarded)
    title = ("--title", "Close the gate")
    shell.run(
        "add",
        *title,
        "--statement",
        "The gate shall close behind every cow.",
        "--rationale",
        "Cows walk away.",
        "--acceptance",
        "Nothing opens it again",
    )
    shell.run("update", "REQ-0001", "--status", "proposed", "--reason", "ready")
    shell.run("link", "REQ-0002", "REQ-0001", "--kind", "depends-on")
    shell.run("purpose", "Keep doors safe", "--reason", "we build doors")
    shell.run("verify", "REQ-0001", "--by", "inspection", "--notes", "seen")
    shell.run("delete", "REQ-0002", "--hard", "--reason", "sold")
    assert safety_part(guarded) == before


# Verifies: REQ-d00396-C
def test_the_tools_of_req_read_the_safety_case(guarded: Path, opened: Callable[[Path], Project]) -> None:
    with McpClient(opened(guarded.parent), Options(profile="req-safety")) as agent:
        hazard = {"id": "HAZ-0001", "title": "The door opens", "status": "assessed", "required_sil": "SIL3"}
        for fitting in ({}, {"sil": "sil3"}, {"status": "assessed"}):
            assert agent("req_hazard_list", **fitting) == {"count": 1, "hazards": [hazard]}
        for other in ({"sil": "SIL1"}, {"status": "verified"}, {"unmitigated": True}):
            assert agent("req_hazard_list", **other) == {"count": 0, "hazards": []}
        shown = {"hazard": HAZARDS["HAZ-0001"], "required_sil": "SIL3", "mitigated_by": ["SF-0001"]}
        for spelled in ("HAZ-0001", "haz-1", "1"):
            assert agent("req_hazard_show", id=spelled) == shown
        function = {"id": "SF-0001", "title": "Keep it shut", "status": "allocated", "allocated_sil": "SIL3"}
        assert agent("req_sf_list") == {"count": 1, "safety_functions": [function]}
        assert agent("req_sf_list", unrealized=True)["count"] == 0
        assert agent("req_sf_show", id="1") == {
            "safety_function": FUNCTIONS["SF-0001"],
            "allocated_sil": "SIL3",
            "realized_by": ["SR-0001"],
        }
        requirement = {"id": "SR-0001", "title": "Bolt the door", "status": "approved", "inherited_sil": "SIL3"}
        assert agent("req_sreq_list", unverified=True) == {"count": 1, "safety_requirements": [requirement]}
        assert agent("req_sreq_list", status="verified")["count"] == 0
        assert agent("req_sreq_show", id="1") == {
            "safety_requirement": REQUIREMENTS["SR-0001"],
            "inherited_sil": "SIL3",
        }
        with pytest.raises(ToolFailed, match="There are: SF-0001"):
            agent("req_sf_show", id="SF-0009")


# Verifies: REQ-d00396-C
def test_the_case_of_a_hazard_says_what_it_lacks(
    shell: Shell, guarded: Path, opened: Callable[[Path], Project]
) -> None:
    realizing = {"id": "SR-0001", "title": "Bolt the door", "status": "approved", "inherited_sil": "SIL3"}
    case = {
        "hazard": {"id": "HAZ-0001", "title": "The door opens", "status": "assessed", "harm": "Somebody falls"},
        "required_sil": "SIL3",
        "allocated_sil": "SIL3",
        "adequate": True,
        "complete": False,
        "safety_requirements": {"total": 1, "verified": 0},
        "safety_functions": [
            {
                "id": "SF-0001",
                "title": "Keep it shut",
                "status": "allocated",
                "allocated_sil": "SIL3",
                "safety_requirements": [{**realizing, "evidence": None}],
            }
        ],
        "blocking": ["SR-0001 not verified"],
    }
    with McpClient(opened(guarded.parent), Options(profile="req-safety")) as agent:
        for id in ("HAZ-0001", "sf-1", "SR-0001"):
            assert agent("req_trace", id=id) == {"cases": [case]}
    assert shell.json("trace", "HAZ-0001") == {"cases": [case]}
    assert "missing: SR-0001 not verified" in shell.run("trace", "SF-0001")
    assert "HAZ-0001  assessed  SIL3  The door opens" in shell.run("hazard", "list")
    assert shell.json("sreq", "show", "1")["inherited_sil"] == "SIL3"


# Verifies: REQ-d00396-C
def test_what_is_not_assessed_has_no_level(shell: Shell, guarded: Path, opened: Callable[[Path], Project]) -> None:
    register = RegisterFile(guarded).read().register
    hazard = {**HAZARDS["HAZ-0001"], "status": "Identified", "probability": None}
    lonely = {**HAZARDS["HAZ-0001"], "id": "HAZ-0002"}
    changed = msgspec.structs.replace(register, hazards={"HAZ-0001": hazard, "HAZ-0002": lonely}, next_haz_id=3)
    RegisterFile(guarded).create(changed, force=True)
    with McpClient(opened(guarded.parent), Options(profile="req-safety")) as agent:
        assert agent("req_sf_show", id="SF-0001")["allocated_sil"] is None
        assert agent("req_sreq_show", id="SR-0001")["inherited_sil"] is None
        (case,) = agent("req_trace", id="HAZ-0002")["cases"]
        assert (case["adequate"], case["blocking"]) == (False, ["no mitigating safety function"])
        assert [each["id"] for each in agent("req_hazard_list", unmitigated=True)["hazards"]] == ["HAZ-0002"]


# Verifies: REQ-d00396-A, REQ-d00396-C
@pytest.mark.parametrize(("key", "spelled"), [("HAZ-2", "HAZ-2"), ("HAZ-2", "haz-0002"), ("HAZ-2", "2"), ("h2", "h2")])
def test_an_id_that_a_register_writes_otherwise_is_found(shell: Shell, guarded: Path, key: str, spelled: str) -> None:
    register = RegisterFile(guarded).read().register
    hazards = {**HAZARDS, key: {**HAZARDS["HAZ-0001"], "id": key, "title": "The lid opens"}}
    RegisterFile(guarded).create(msgspec.structs.replace(register, hazards=hazards), force=True)
    assert f"{key}  assessed" in shell.run("safety")
    assert shell.json("hazard", "show", spelled)["hazard"] == hazards[key]
    if spelled != "2":
        assert shell.json("safety", spelled)["artefact"] == hazards[key]


# Verifies: REQ-d00396-C
@pytest.mark.parametrize(
    ("tests", "evidence"),
    [
        (["x"], None),
        ({"kind": "Inspection"}, None),
        ([{"kind": "Analysis"}, {"kind": "Inspection"}], "inspection"),
        ([{}], "automated"),
    ],
)
def test_a_record_of_a_test_counts_where_it_is_one(shell: Shell, guarded: Path, tests: Any, evidence: Any) -> None:
    register = RegisterFile(guarded).read().register
    requirements = {"SR-0001": {**REQUIREMENTS["SR-0001"], "tests": tests}}
    RegisterFile(guarded).create(msgspec.structs.replace(register, safety_requirements=requirements), force=True)
    (case,) = shell.json("trace", "HAZ-0001")["cases"]
    assert case["safety_functions"][0]["safety_requirements"][0]["evidence"] == evidence
