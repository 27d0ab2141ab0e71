"""The first source document, REQ-d00074: link suggestion tools.

Each test is named after the assertion of the source that it proves.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.elspais import picture

from clew.project import Project

Ask = Callable[..., Any]


@pytest.fixture
def project(opened: Callable[[Path], Project], demo: Path) -> Project:
    toml = demo / "clew.toml"
    toml.write_text(f'{toml.read_text()}\n[embedder]\nkind = "none"\n')
    return opened(demo)


# Verifies: REQ-o00023-A
def test_d00074_A_suggestions_have_source_target_confidence_and_reason(ask: Ask) -> None:
    found = ask("suggest_links", limit=3)
    assert found["count"] == len(found["suggestions"]) == 3
    for suggestion in found["suggestions"]:
        assert suggestion["source_id"].startswith(("test:", "code:"))
        assert suggestion["requirement_title"]
        assert 0 < suggestion["confidence"] <= 1
        assert suggestion["reason"]
    one = ask("suggest_links", file_path="src/fairwater/curve.py")
    assert {suggestion["file"] for suggestion in one["suggestions"]} == {"src/fairwater/curve.py"}
    assert one["suggestions"][0]["requirement_id"] == "REQ-d00002"


# Verifies: REQ-d00057-A+F
def test_d00074_B_a_comment_is_inserted_and_the_graph_refreshed(ask: Ask, demo: Path) -> None:
    source = demo / "src" / "fairwater" / "curve.py"
    before = source.read_text().splitlines()
    line = next(number for number, text in enumerate(before, start=1) if text.startswith("def moment_at"))

    done = ask("apply_link", file_path="src/fairwater/curve.py", line=line, requirement_id="REQ-d00002-B")

    assert (done["success"], done["comment"]) == (True, "# Implements: REQ-d00002-B")
    assert (done["file"], done["line"], done["requirement_id"]) == ("src/fairwater/curve.py", line, "REQ-d00002-B")
    assert source.read_text().splitlines() == [*before[: line - 1], "# Implements: REQ-d00002-B", *before[line - 1 :]]
    detail = ask("get_requirement", req_id="REQ-d00002")
    assert f"code:src/fairwater/curve.py:{line}" in {child["id"] for child in detail["children"]}
    again = ask("suggest_links", file_path="src/fairwater/curve.py")
    assert "moment_at" not in {suggestion["source_label"] for suggestion in again["suggestions"]}


# Verifies: REQ-o00023-C
def test_d00074_C_the_tools_leave_the_graph_as_it_is(ask: Ask) -> None:
    before = picture(ask)
    ask("suggest_links")
    assert picture(ask) == before


# Verifies: REQ-d00058-A
def test_d00074_D_the_requirement_must_exist_before_a_file_is_modified(ask: Ask, demo: Path) -> None:
    source = demo / "src" / "fairwater" / "curve.py"
    before = source.read_bytes()
    for unknown in ("REQ-d09999", "REQ-d00002-Z", "no id at all"):
        done = ask("apply_link", file_path="src/fairwater/curve.py", line=18, requirement_id=unknown)
        assert (done["is_error"], done["code"]) == (True, "not_found")
        assert source.read_bytes() == before


# Verifies: REQ-d00059-A
def test_a_suggestion_is_rejected_through_the_same_tool(ask: Ask) -> None:
    found = ask("suggest_links", file_path="src/fairwater/curve.py")["suggestions"][0]

    place = {"file_path": found["file"], "line": found["line"], "requirement_id": found["requirement_id"]}
    assert ask("apply_link", **place, decision="reject")["success"]

    left = ask("suggest_links", file_path="src/fairwater/curve.py")
    pairs = [(each["source_id"], each["requirement_id"]) for each in left["suggestions"]]
    assert (found["source_id"], found["requirement_id"]) not in pairs
    assert left["rejected"] == 1
