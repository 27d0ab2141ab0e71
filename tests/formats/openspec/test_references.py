"""Slugs, and references by them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.formats.openspec.names import Slugs, slug
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.references import (
    SpecReference,
    format_reference,
    parse_reference,
    requirement_id,
    scenario_id,
)


# Verifies: REQ-d00071-A
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Burn at night", "burn-at-night"),
        ("  Don't `rm -rf` it!  ", "don-t-rm-rf-it"),
        ("snake_case name", "snake-case-name"),
        ("Straße Ärger", "strasse-ärger"),
        ("夜の光", "夜の光"),
        ("हिन्दी नाम", "हिन्दी-नाम"),
        ("①", "1"),
        ("!!!", "thing"),
        ("", "thing"),
    ],
)
def test_a_slug_keeps_letters_and_digits_of_every_language(name: str, expected: str) -> None:
    assert slug(name, "thing") == expected


# Verifies: REQ-d00071-A
def test_the_same_name_again_gets_a_number_that_no_other_name_has() -> None:
    slugs = Slugs("x")
    assert [slugs.take(name) for name in ("A", "a", "A 2", "A!", "A")] == ["a", "a-2", "a-2-2", "a-3", "a-4"]


# Verifies: REQ-d00071-A
def test_a_stated_id_names_a_requirement_whatever_its_heading_becomes() -> None:
    spec = read_spec(b"## Requirements\n### Requirement: New heading\n**ID**: login\nMUST\n#### Scenario: S\n", "x")
    assert (spec.requirements[0].slug, spec.requirements[0].scenarios[0].slug) == ("login", "s")


# Verifies: REQ-d00071-A
@given(st.text(max_size=40))
def test_the_slug_of_a_slug_is_itself(name: str) -> None:
    once = slug(name, "")
    assert slug(once, "") == once


# Verifies: REQ-d00071-B
@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("auth/login#locked-out", SpecReference("auth", "login", ("locked-out",))),
        ("platform/auth/login#a+b", SpecReference("platform/auth", "login", ("a", "b"))),
        ("auth/login", SpecReference("auth", "login")),
        ("login#locked-out", SpecReference("", "login", ("locked-out",))),
        ("灯台/夜の光#日没", SpecReference("灯台", "夜の光", ("日没",))),
    ],
)
def test_references_are_read_and_written(text: str, reference: SpecReference) -> None:
    assert parse_reference(text) == reference
    assert format_reference(reference) == text


# Verifies: REQ-d00071-B
@pytest.mark.parametrize(
    "text",
    [
        "login",
        "",
        "#a",
        "a/#b",
        "/a/b",
        "a//b",
        "../a/b",
        "a/../b",
        "https://x/y#z",
        "src/clew.py",
        "a/B#c",
        "a b/c",
        "a/b#",
    ],
)
def test_words_paths_and_addresses_are_no_references(text: str) -> None:
    assert parse_reference(text) is None


# Verifies: REQ-d00071-B
def test_the_short_form_leaves_out_the_spec_of_a_scenario() -> None:
    reference = SpecReference("auth", "login", ("locked-out",))
    assert format_reference(reference, short=True) == "login#locked-out"
    assert format_reference(SpecReference("auth", "login"), short=True) == "auth/login"
    assert requirement_id("auth", "login") == "auth/login"
    assert scenario_id("auth", "login", "locked-out") == format_reference(reference)


@given(st.text(max_size=2_000))
def test_any_text_is_a_reference_or_none(text: str) -> None:
    reference = parse_reference(text)
    assert reference is None or parse_reference(format_reference(reference)) == reference
