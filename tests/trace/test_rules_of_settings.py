"""Rules of `.elspais.toml`: what they demand, and that those which are not obeyed are said to be."""

from pathlib import Path

import pytest
from tests.trace.conftest import Plant, block

from clew.surfaces.cli.main import main

SPEC = (
    block("d00001", (), ("It SHALL ring.", "It shines."))
    + block("d00002", ("d00009", "d00001-Z"), ())
    + block("d00003", (), ("It SHALL be.",)).replace("*End*", "### Rationale\n\nSo.\n\n*End*")
)


def checked(plant: Plant, folder: Path, capsys: pytest.CaptureFixture[str], settings: str, spec: str = SPEC) -> str:
    plant({}, files={"spec/all.md": spec, ".elspais.toml": settings})
    capsys.readouterr()
    main(["check", str(folder)])
    return capsys.readouterr().out


# Verifies: REQ-d00394-A, REQ-o00044-C
def test_what_the_rules_demand_is_a_finding_where_it_lacks(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = """[rules.format]
require_rationale = true
require_shall = true
require_assertions = true
require_hash = true
no_assertions_severity = "warning"
"""
    shown = checked(plant, tmp_path, capsys, settings)
    assert "require_rationale: REQ-d00001 has no section" in shown
    assert "require_rationale: REQ-d00003" not in shown
    assert "require_shall: REQ-d00001 says no SHALL in assertion B" in shown
    assert "require_assertions: REQ-d00002" in shown
    assert "require_hash: REQ-d00001" in shown
    assert "warning trace.no_assertions: REQ-d00002" in shown


# Verifies: REQ-d00394-A
def test_nothing_is_demanded_without_rules(plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = checked(plant, tmp_path, capsys, "")
    assert "trace.format_rule" not in shown
    assert "trace.no_assertions" not in shown


# Verifies: REQ-d00394-B
def test_broken_references_have_the_severity_of_their_fault(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = '[rules.references]\nunknown_requirement = "info"\nunknown_assertion = "off"\n'
    shown = checked(plant, tmp_path, capsys, settings)
    assert "info trace.broken_reference: REQ-d00002 implements REQ-d00009" in shown
    assert "REQ-d00001-Z" not in shown


# Verifies: REQ-d00394-D
def test_coverage_is_reported_as_the_rules_ask_for_it(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = """[scanning.test]
enabled = true
[[scanning.test.targets]]
results = "report.xml"
[levels.prd]
rank = 1
letter = "p"
expects_validation = true
[levels.dev]
rank = 3
letter = "d"
[rules.coverage]
uncredited_evidence = "warning"
external_test_failure = "error"
[rules.coverage.implemented]
missing = "error"
[rules.coverage.tested]
full = "info"
partial = "warning"
missing = "off"
[rules.coverage.verified]
failing = "error"
[rules.coverage.uat_coverage]
missing = "warning"
"""
    tests = (
        "# Verifies: REQ-d00001-A\ndef test_a():\n    pass\n\n"
        "# Verifies: REQ-p00002-A\ndef test_b():\n    pass\n\n"
        "def test_c():\n    pass\n"
    )
    report = """<testsuite><testcase classname="tests.test_all" name="test_a"><failure/></testcase>
<testcase classname="tests.test_all" name="test_b"/>
<testcase classname="tests.test_all" name="test_c"><failure/></testcase></testsuite>"""
    files = {
        "spec/all.md": block("d00001", (), ("It SHALL ring.", "It SHALL shine."))
        + block("p00002", (), ("It SHALL be.",))
        + block("d00004", (), ("It SHALL wait.",), status="Draft"),
        ".elspais.toml": settings,
        "src/a.py": "# Implements: REQ-d00001\ndef a():\n    pass\n",
        "tests/test_all.py": tests,
        "report.xml": report,
    }
    plant({}, files=files)
    capsys.readouterr()
    main(["check", str(tmp_path)])
    shown = capsys.readouterr().out
    for expected in (
        "error trace.coverage_rule: REQ-p00002 is not implemented (rules.coverage.implemented.missing)",
        "warning trace.coverage_rule: REQ-d00001 is in part tested (rules.coverage.tested.partial)",
        "info trace.coverage_rule: REQ-p00002 is wholly tested",
        "error trace.coverage_rule: REQ-d00001 has failures where it should be proved by tests",
        "warning trace.coverage_rule: REQ-p00002 is not validated by user journeys",
        "warning trace.uncredited_evidence: test:tests/test_all.py::test_b tests assertion A of REQ-p00002",
        "error trace.external_test_failure: test:tests/test_all.py::test_c failed",
    ):
        assert expected in shown, shown
    assert shown.count("trace.coverage_rule") == 5, shown
    assert "REQ-d00004 is" not in shown


# Verifies: REQ-d00394-C, REQ-o00044-C
def test_rules_that_are_not_obeyed_are_reported(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = """[rules]
protected_branches = ["main"]
[rules.hierarchy]
allow_orphans = true
[rules.coverage.status_words]
implements = "built"
[scopes.board]
level = ["prd"]
"""
    plant({}, files={"spec/all.md": SPEC, ".elspais.toml": settings})
    capsys.readouterr()
    main(["status", str(tmp_path)])
    shown = capsys.readouterr().out
    assert (
        "Clew does not check 3 elspais rules: `rules.coverage.status_words`, `rules.hierarchy.allow_orphans`, "
        "`rules.protected_branches`."
    ) in shown
    assert "scopes" not in shown


# Verifies: REQ-d00391-C
def test_citations_that_templates_do_not_allow_are_findings(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def field(text: str, name: str, value: str = "") -> str:
        return text.replace("**Status**: Active", f"**Status**: Active | **{name}**{': ' + value if value else ''}")

    spec = (
        block("p00001", (), ("It SHALL be.",))
        + field(block("p00002", (), ("It SHALL log.",)), "Template")
        + field(block("d00001", (), ()), "Satisfies", "REQ-p00001")
        + field(block("d00002", (), ()), "Satisfies", "REQ-p00002")
        + block("d00003", ("refines p00002",), ())
        + field(block("d00004", ("refines p00001",), ()), "Template")
        + field(block("d00005", ("p00001",), ()), "Template")
    )
    shown = checked(plant, tmp_path, capsys, "", spec)
    assert shown.count("error trace.forbidden_reference") == 4
    assert "REQ-d00001 satisfies REQ-p00001, which is not marked as a template" in shown
    assert "REQ-d00002" not in shown
    shown = checked(plant, tmp_path, capsys, '[rules.references]\nforbidden = "off"\n', spec)
    assert "forbidden_reference" not in shown
