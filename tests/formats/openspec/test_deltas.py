"""Reading deltas: the four operations in both dialects."""

import pytest

from clew.formats.openspec.reader import read_delta, write
from clew.formats.openspec.records import Delta


def delta_of(text: str) -> Delta:
    delta = read_delta(text.encode(), "lamp")
    assert write(delta.document) == text.encode()
    return delta


def codes(delta: Delta) -> list[str]:
    return [diagnostic.code.removeprefix("openspec.") for diagnostic in delta.document.diagnostics]


# Verifies: REQ-d00070-E
def test_the_four_operations_are_read_without_a_title() -> None:
    delta = delta_of(
        "## ADDED Requirements\n### Requirement: A\nMUST\n#### Scenario: S\n- **WHEN** x\n- **THEN** y\n"
        "## Modified requirements\n### Requirement: B\nMUST\n"
        "## REMOVED Requirements\n- `### Requirement: C`\n### Requirement: D\n**Reason**: old\n**Migration**: use A\n"
        "## RENAMED Requirements\n- FROM: `### Requirement: E`\n- TO: `### Requirement: F`\n"
    )
    assert [each.name for each in delta.added] == ["A"]
    assert [each.name for each in delta.modified] == ["B"]
    assert [(each.name, each.reason, each.migration) for each in delta.removed] == [
        ("C", "", ""),
        ("D", "old", "use A"),
    ]
    assert [(each.old, each.new) for each in delta.renamed] == [("E", "F")]
    assert delta.count == 5
    assert codes(delta) == []


# Verifies: REQ-d00070-E
@pytest.mark.parametrize(
    "pair",
    [
        "- FROM: `### Requirement: Old name`\n- TO: `### Requirement: New name`\n",
        "FROM: ### Requirement: Old name\nTO: ### Requirement: New name\n",
        "* **FROM:** Old name\n\n* **TO:** New name\n",
        "- from: `Old name`\n- to: `New name`\n",
        "### Requirement: Old name → New name\n",
        "### Requirement: Old name -> New name\nBecause.\n",
        "### Requirement: Old name\n- FROM: `### Requirement: Old name`\n- TO: `### Requirement: New name`\n",
    ],
)
def test_renames_are_read_in_both_dialects(pair: str) -> None:
    delta = delta_of(f"## RENAMED Requirements\n\n{pair}")
    assert [(each.old, each.new) for each in delta.renamed] == [("Old name", "New name")]
    assert codes(delta) == []


# Verifies: REQ-d00070-E
@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("- FROM: A\n- FROM: B\n- TO: C\n", "unpaired_rename", 2),
        ("- TO: C\n", "unpaired_rename", 2),
        ("- FROM: A\n", "unpaired_rename", 2),
        ("- FROM: A\n### Requirement: B → C\n- TO: D\n", "unpaired_rename", 2),
        ("### Requirement: A\n", "unreadable_rename", 2),
        ("A becomes B.\n", "unreadable_rename", 1),
    ],
)
def test_half_a_rename_is_an_error_and_never_paired_with_another(text: str, code: str, line: int) -> None:
    delta = delta_of(f"## RENAMED Requirements\n{text}")
    found = [(each.code, each.severity, each.line) for each in delta.document.diagnostics]
    assert (f"openspec.{code}", "error", line) in found
    assert ("A", "C") not in [(each.old, each.new) for each in delta.renamed]


# Verifies: REQ-d00070-D+E
def test_a_header_that_only_resembles_an_operation_is_an_error() -> None:
    delta = delta_of("## New Requirements\n### Requirement: A\nMUST\n## Notes\nx\n")
    assert delta.count == 0
    assert codes(delta) == ["delta_header"]


# Verifies: REQ-d00070-E
def test_sections_of_the_same_operation_are_all_read() -> None:
    delta = delta_of(
        "## ADDED Requirements\n### Requirement: A\nMUST\n## ADDED Requirements\n### Requirement: B\nMUST\n"
    )
    assert [each.name for each in delta.added] == ["A", "B"]
    assert codes(delta) == ["duplicate_section"]
