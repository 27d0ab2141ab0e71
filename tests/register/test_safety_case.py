"""The safety part of a register: read, shown, checked, and kept to the byte by every write."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.register.shell import ADD, Shell

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
