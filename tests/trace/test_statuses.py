"""What the status of a requirement, and the word RETIRED of an assertion, mean for figures, gaps and references."""

from pathlib import Path

import pytest
from tests.trace.conftest import Ask, Plant, block

from clew.project import Project
from clew.surfaces.cli.main import main

TEXTS = ("The clock SHALL ring.", "The clock SHALL shine.")
STATUSES = {"d00001": "Active", "d00002": "Draft", "d00003": "Deprecated", "d00004": "Idea"}
TESTS = "# Verifies: REQ-d00003-A\ndef test_a():\n    pass\n\n\n# Verifies: REQ-d00001-B\ndef test_b():\n    pass\n"


def spec(retired: str = "") -> str:
    return "".join(block(id, (), (TEXTS[0], f"{retired}{TEXTS[1]}"), status=status) for id, status in STATUSES.items())


@pytest.fixture
def project(plant: Plant) -> Project:
    return plant({}, files={"spec/all.md": spec("<Retired> See REQ-d00002. "), "tests/test_a.py": TESTS})


# Verifies: REQ-d00383-A, REQ-d00383-B, REQ-d00383-C
def test_only_active_requirements_and_live_assertions_count(project: Project, ask: Ask) -> None:
    summary = ask(project, "get_project_summary")
    assert summary["requirements_by_level"] == {"active": {"dev": 2}, "all": {"dev": 4}}
    assert summary["coverage"]["total"] == 1
    assert summary["coverage_by_level"][0]["assertions"] == 1
    assert summary["uncovered_assertion_count"] == 2
    gaps = ask(project, "get_uncovered_assertions")
    assert [each["id"] for each in gaps["assertions"]] == ["REQ-d00001-A", "REQ-d00002-A"]
    assert [each["status"] for each in gaps["requirements"]] == ["Active", "Draft"]
    detail = ask(project, "get_requirement", req_id="d1")
    assert [(each["label"], each["tested"], each["retired"]) for each in detail["assertions"]] == [
        ("A", False, False),
        ("B", False, True),
    ]
    assert detail["coverage"]["total_assertions"] == 1
    assert ask(project, "get_test_coverage", req_id="d1")["covered_assertions"] == []
    assert ask(project, "mutate_add_assertion", req_id="d1", text="The clock SHALL tick.")["label"] == "C"


# Verifies: REQ-d00383-D
def test_references_to_what_is_retired_are_findings(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", str(tmp_path)])
    shown = capsys.readouterr().out
    assert shown.count("trace.retired_reference") == 2
    assert "REQ-d00001-B, which is retired" in shown
    assert "REQ-d00003, whose status is Deprecated" in shown


# Verifies: REQ-d00383-A, REQ-d00383-D, REQ-o00044-C
def test_settings_say_which_statuses_count_and_how_references_are_reported(
    plant: Plant, ask: Ask, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = (
        "[statuses.Draft]\nexpects_implementation = true\n\n[statuses.Active]\nexpects_implementation = false\n\n"
        '[rules.references]\nretired = "error"\naspirational = "warning"\n'
    )
    tests = f"{TESTS}\n\n# Verifies: REQ-d00004-A\ndef test_c():\n    pass\n"
    project = plant({}, files={"spec/all.md": spec(), "tests/test_a.py": tests, ".elspais.toml": settings})
    assert ask(project, "get_project_summary")["coverage"]["total"] == 1
    main(["check", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "error trace.retired_reference" in shown
    assert "trace.unsettled_reference" in shown
    assert "No test verifies REQ-d00002-A" in shown
    assert "No test verifies REQ-d00001-A" not in shown


# Verifies: REQ-d00383-C
@pytest.mark.parametrize("mark", ["<RETIRED>", "[retired]", "{ Retired }", "[Removed - see B]", "[REMOVED]"])
def test_every_way_to_retire_an_assertion_is_known(plant: Plant, ask: Ask, mark: str) -> None:
    project = plant({"d00001": ()}, assertions={"d00001": (f"{mark} It SHALL be.", "<later> It SHALL be.")})
    assert [each["id"] for each in ask(project, "get_uncovered_assertions")["assertions"]] == ["REQ-d00001-B"]
