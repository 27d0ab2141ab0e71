"""The rules for specs, and how each tool takes them."""

import pytest

from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.rules.rules import RULES, Dialect, IssueLevel, is_valid
from clew.formats.openspec.rules.spec import validate_spec

PURPOSE = "## Purpose\n\nA purpose that is long enough to tell somebody what this is for.\n\n"
SCENARIO = "#### Scenario: S\n- **WHEN** x\n- **THEN** y\n"


def broken(text: str, dialect: Dialect = Dialect.ALL) -> list[tuple[str, str, int]]:
    issues = validate_spec(read_spec(text.encode(), "x"), dialect)
    return [(issue.code, issue.level.value, issue.line) for issue in issues]


def levels(code: str, text: str) -> tuple[str | None, str | None, str | None]:
    """How severe Spec Oxide, OpenSpec and Clew take a rule that the text breaks."""
    found = []
    for dialect in (Dialect.SPOX, Dialect.OPENSPEC, Dialect.ALL):
        matching = {level for each, level, _ in broken(text, dialect) if each == code}
        found.append(matching.pop() if matching else None)
    return found[0], found[1], found[2]


# Verifies: REQ-d00073-A
def test_a_good_spec_breaks_no_rule(lamp: bytes) -> None:
    for dialect in Dialect:
        issues = validate_spec(read_spec(lamp, "lamp"), dialect)
        assert issues == ()
        assert is_valid(issues, strict=True)


# Verifies: REQ-d00073-A
@pytest.mark.parametrize(
    ("code", "text", "spox", "openspec", "clew"),
    [
        ("purpose_missing", "## Requirements\n", "error", "error", "error"),
        ("purpose_missing", "## Purpose\n\n## Requirements\n", "error", "error", "error"),
        ("purpose_short", "## Purpose\nShort.\n", "warning", "warning", "warning"),
        ("requirements_missing", PURPOSE, "error", "error", "error"),
        ("no_requirements", f"{PURPOSE}## Requirements\n", "warning", "error", "error"),
        ("requirement_empty", f"## Requirements\n### Requirement: A\n{SCENARIO}", "error", "error", "error"),
        ("not_normative", "## Requirements\n### Requirement: A\nIt may.\n", "warning", "warning", "warning"),
        ("not_normative", "## Requirements\n### Requirement: A\nIt must.\n", None, "warning", "warning"),
        ("not_normative", "## Requirements\n### Requirement: A\nIt SHALLOW.\n", None, "warning", "warning"),
        ("no_scenarios", "## Requirements\n### Requirement: A\nMUST\n", "warning", "error", "error"),
        ("purpose_unwritten", "## Purpose\nTODO write it\n", None, "warning", "warning"),
        ("purpose_unwritten", "## Purpose\ntbd.\n", None, "warning", "warning"),
        ("purpose_unwritten", "## Purpose\nTodo el mundo lo sabe.\n", None, None, None),
        ("no_scenarios", "## Requirements\n### Requirement: A\nMUST\n#### Scenario: S\n", None, "error", "error"),
        ("scenario_empty", "## Requirements\n### Requirement: A\nMUST\n#### Scenario: S\n", None, None, "warning"),
        (
            "scenario_without_when",
            f"## Requirements\n### Requirement: A\nMUST\n{SCENARIO[:17]}- **THEN** y\n",
            *("error", None, "error"),
        ),
        (
            "scenario_without_then",
            f"## Requirements\n### Requirement: A\nMUST\n{SCENARIO[:30]}",
            *("error", None, "error"),
        ),
        ("delta_header_in_spec", "## ADDED Requirements\n", None, "error", "error"),
        ("requirement_outside", "## Notes\n### Requirement: A\nMUST\n", None, "error", "error"),
        ("duplicate_requirement", "## Requirements\n### Requirement: A\n### Requirement: A\n", None, "error", "error"),
        ("duplicate_scenario", f"## Requirements\n### Requirement: A\n{SCENARIO}{SCENARIO}", None, None, "warning"),
        ("requirement_long", f"## Requirements\n### Requirement: A\n{'MUST ' * 101}\n", None, "info", "info"),
        ("unclosed_fence", "## Purpose\n```\n", None, None, "warning"),
    ],
)
def test_each_rule_has_the_level_of_each_tool(
    code: str, text: str, spox: str | None, openspec: str | None, clew: str | None
) -> None:
    assert levels(code, text) == (spox, openspec, clew)


# Verifies: REQ-d00073-A
def test_strict_fails_on_warnings_too() -> None:
    text = f"## Purpose\nShort.\n## Requirements\n### Requirement: A\nMUST\n{SCENARIO}"
    issues = validate_spec(read_spec(text.encode(), "x"))
    assert is_valid(issues)
    assert not is_valid(issues, strict=True)


# Verifies: REQ-d00073-A
def test_a_normative_word_only_in_the_name_is_said() -> None:
    text = f"## Requirements\n### Requirement: It SHALL\nYes.\n{SCENARIO}"
    (issue,) = (each for each in validate_spec(read_spec(text.encode(), "x")) if each.code == "not_normative")
    assert "Its name does" in issue.message
    assert issue.line == 2


def test_a_heading_of_level_four_that_is_no_scenario_needs_no_steps() -> None:
    text = "## Requirements\n### Requirement: A\nMUST\n#### Rationale\nBecause.\n"
    assert not {"scenario_without_when", "no_scenarios"} & {code for code, _, _ in broken(text)}


# Verifies: REQ-d00073-A
def test_every_rule_has_a_level_somewhere() -> None:
    assert all(rule.level(Dialect.ALL) in IssueLevel for rule in RULES.values())
