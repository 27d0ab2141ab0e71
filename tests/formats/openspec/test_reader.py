"""Reading specs: what is found, where it stands, and what is said about the rest."""

from clew.formats.openspec.reader import read_spec, write
from clew.formats.openspec.records import Requirement, SectionKind, Spec


def spec_of(text: str) -> Spec:
    spec = read_spec(text.encode(), "x")
    assert write(spec.document) == text.encode()
    return spec


def only(text: str) -> Requirement:
    (requirement,) = spec_of(f"## Requirements\n{text}").requirements
    return requirement


def codes(spec: Spec) -> list[str]:
    return [diagnostic.code.removeprefix("openspec.") for diagnostic in spec.document.diagnostics]


# Verifies: REQ-d00070-A
def test_a_spec_gives_title_purpose_requirements_and_scenarios(lamp: bytes) -> None:
    spec = read_spec(lamp, "lamp")
    assert (spec.id, spec.title) == ("lamp", "Lamp Specification")
    assert spec.purpose is not None
    assert spec.purpose.text.startswith("The lamp shows ships")
    assert [each.name for each in spec.requirements] == ["Burn at night", "Stop at dawn", "Sound in fog"]
    burn = spec.requirements[0]
    assert burn.text == "The lamp SHALL burn from dusk to dawn."
    assert burn.is_normative
    (dusk,) = burn.scenarios
    assert (dusk.given, dusk.when) == (("a filled tank",), ("the sun sets",))
    assert dusk.then == ("the lamp burns", "the keeper is told")
    assert [(step.keyword, step.role) for step in dusk.steps][-1] == ("AND", "then")
    assert spec.document.diagnostics == ()


# Verifies: REQ-d00070-B
def test_everything_has_its_lines_and_its_bytes(lamp: bytes) -> None:
    burn = read_spec(lamp, "lamp").requirements[0]
    assert lamp[burn.span.start : burn.span.end].decode() == burn.raw
    assert (burn.span.line, burn.span.end_line) == (9, 17)
    (dusk,) = burn.scenarios
    assert dusk.span.line == 12
    assert [step.span.line for step in dusk.steps] == [13, 14, 15, 16]
    for step in dusk.steps:
        assert lamp[step.span.start : step.span.end].decode() == step.raw


# Verifies: REQ-d00070-C
def test_headings_in_any_case_and_without_a_space_are_read_and_named() -> None:
    spec = spec_of("## REQUIREMENTS\n###requirement: A\nIt MUST.\n#### SCENARIO: B ####\n- **when** x\n- **Then** y\n")
    (requirement,) = spec.requirements
    assert (requirement.name, requirement.scenarios[0].name) == ("A", "B")
    assert requirement.scenarios[0].then == ("y",)
    assert codes(spec) == ["header_style", "header_style"]


# Verifies: REQ-d00070-C
def test_nothing_in_a_code_block_is_a_heading_or_a_step() -> None:
    requirement = only(
        "### Requirement: A\nIt MUST.\n\n~~~md\n### Requirement: Not\n```\n~~~\n\n#### Scenario: S\n- **WHEN** x\n"
        "  ```json\n  - **THEN** no\n  ```\n- **THEN** y\n"
    )
    (scenario,) = requirement.scenarios
    assert scenario.then == ("y",)
    assert scenario.steps[0].code == ("  - **THEN** no",)


# Verifies: REQ-d00070-C
def test_a_fence_is_closed_only_by_as_many_signs_of_its_own_kind() -> None:
    spec = spec_of("## Requirements\n````\n```\n### Requirement: Not\n~~~~\n````\n### Requirement: Yes\nMUST\n")
    assert [each.name for each in spec.requirements] == ["Yes"]


# Verifies: REQ-d00070-C+D
def test_an_open_fence_swallows_the_rest_and_is_reported() -> None:
    spec = spec_of("## Requirements\n### Requirement: A\n```\n### Requirement: B\n")
    assert [each.name for each in spec.requirements] == ["A"]
    assert codes(spec) == ["unclosed_fence"]


# Verifies: REQ-d00070-C
def test_byte_order_mark_and_foreign_line_ends_do_not_disturb() -> None:
    data = "\ufeff# T\r\n\r\n## Purpose\r\nWarum.\r\n## Requirements\r\n### Requirement: Ä\r\nMUST\r\n".encode()
    spec = read_spec(data, "x")
    assert (spec.title, spec.requirements[0].name) == ("T", "Ä")
    assert write(spec.document) == data
    old = b"# T\r## Requirements\r### Requirement: A\rMUST\r"
    assert read_spec(old, "x").requirements[0].name == "A"
    assert write(read_spec(old, "x").document) == old


# Verifies: REQ-d00070-A+C
def test_plain_steps_several_steps_on_a_line_and_steps_in_bullets_are_read() -> None:
    plain = only("### Requirement: A\nMUST\n#### Scenario: S\n- GIVEN a\n- AND b\n- WHEN c\n- BUT d\n- THEN e\n")
    scenario = plain.scenarios[0]
    assert (scenario.given, scenario.when, scenario.then) == (("a", "b"), ("c", "d"), ("e",))
    bold = only("### Requirement: A\nMUST\n#### Scenario: S\n**GIVEN** a **WHEN** b **THEN** c `**AND** d`\n")
    scenario = bold.scenarios[0]
    assert (scenario.given, scenario.when, scenario.then) == (("a",), ("b",), ("c `**AND** d`",))
    one = only("### Requirement: A\nMUST\n#### Scenario: S\nWHEN the sun sets THEN the lamp burns\n")
    assert (one.scenarios[0].when, one.scenarios[0].then) == (("the sun sets",), ("the lamp burns",))
    title = only("### Requirement: A\nMUST\n#### Scenario: S\n* When a\n* Then b\n  - And not a step\n1. **THEN**: c\n")
    assert title.scenarios[0].then == ("b", "c")


# Verifies: REQ-d00070-A
def test_bullets_wrapped_lines_and_code_belong_to_their_step() -> None:
    requirement = only(
        "### Requirement: A\nMUST\n#### Scenario: S\nSome words first.\n\n- **WHEN** a very\n  long line\n"
        "  - first\n    wrapped\n  - second\n\n  A paragraph.\n"
        "  ```\n  code\n  ```\n  ```\n  more\n  ```\n- **THEN** b\n"
    )
    scenario = requirement.scenarios[0]
    step = scenario.steps[0]
    assert scenario.text == "Some words first."
    assert step.text == "a very long line"
    assert step.children == ("first wrapped", "second", "A paragraph.")
    assert step.code == ("  code", "  more")


# Verifies: REQ-d00070-A
def test_metadata_is_kept_beside_the_statement() -> None:
    requirement = only("### Requirement: A\n**Priority**: high\n- **Owner:** Ann\n\nIt SHALL.\n\n```\ncode\n```\n")
    assert requirement.metadata == (("Priority", "high"), ("Owner", "Ann"))
    assert requirement.statement == "It SHALL."
    assert requirement.stated("owner") == "Ann"
    assert "code" in requirement.text
    assert only("### Requirement: A\n**Reason**: gone\n").statement == "**Reason**: gone"


# Verifies: REQ-d00070-A
def test_other_sections_stay_and_text_of_every_language_is_read() -> None:
    spec = spec_of(
        "# 灯台\n\n## Purpose\n夜に光る。\n\n## Why\nPorque sí.\n\n## Requirements\nIntro.\n\n"
        "### Requirement: 夜の光\nランプは SHALL 光る。\n#### Scenario: 日没\n- **WHEN** 日が沈む\n- **THEN** 光る\n"
    )
    kinds = [section.kind for section in spec.document.sections]
    assert kinds == [SectionKind.HEAD, SectionKind.PURPOSE, SectionKind.OTHER, SectionKind.REQUIREMENTS]
    assert spec.document.sections[3].text == "Intro."
    assert (spec.requirements[0].slug, spec.requirements[0].scenarios[0].when) == ("夜の光", ("日が沈む",))


# Verifies: REQ-d00070-D
def test_what_was_meant_as_a_heading_and_is_none_is_named() -> None:
    spec = spec_of(
        "## Requirements\n### Divider\n#### Scenario: early\n### Requirement: A\nMUST\n  #### Scenario: indented\n"
        "- **Scenario:** bold\n##### Scenario: deep\n- **AND** x\n#### Example\n### Notes\n### Requirement:\n"
    )
    assert codes(spec) == [
        "foreign_heading",
        "stray_heading",
        "indented_header",
        "scenario_not_header",
        "scenario_depth",
        "step_order",
        "unlabelled_scenario",
        "foreign_heading",
        "empty_name",
    ]
    first = spec.requirements[0]
    assert [(each.name, each.labelled) for each in first.scenarios] == [("deep", True), ("Example", False)]
    assert [aside.heading for aside in first.asides] == ["Notes"]


# Verifies: REQ-d00070-D
def test_a_requirement_in_the_wrong_place_is_still_a_requirement() -> None:
    spec = spec_of(
        "### Requirement: A\nMUST\n## Notes\n### Requirement: B\nMUST\n## ADDED Requirements\n### Requirement: C\n"
    )
    assert [each.name for each in spec.requirements] == ["A", "B", "C"]


# Verifies: REQ-d00070-D
def test_purpose_of_another_level_and_repeated_sections_are_read_and_reported() -> None:
    spec = spec_of(
        "# T\n### Purpose\nWhy.\n## Requirements\n### Requirement: A\nMUST\n## Requirements\n### Requirement: B\n"
    )
    assert spec.purpose is not None
    assert spec.purpose.text == "Why."
    assert [each.name for each in spec.requirements] == ["A", "B"]
    assert codes(spec) == ["section_depth", "duplicate_section"]


# Verifies: REQ-d00070-D
def test_bytes_that_are_no_text_are_kept_and_reported() -> None:
    data = b"## Requirements\n### Requirement: A\xff\nMUST\n"
    spec = read_spec(data, "x")
    assert write(spec.document) == data
    assert spec.requirements[0].name == "A\ufffd"
    assert [(each.code, each.line) for each in spec.document.diagnostics] == [("openspec.not_utf8", 2)]


def test_an_empty_file_is_a_spec_without_anything() -> None:
    spec = spec_of("")
    assert (spec.title, spec.purpose, spec.requirements, spec.document.sections) == ("", None, (), ())
