"""What the reader says about text that it cannot take as meant; nothing is ever lost in silence."""

import re
from collections.abc import Callable

import pytest
from tests.formats.elspais.restoring import restored

import clew.formats.elspais
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords, Journey, Requirement

ReadText = Callable[[str], FileRecords]

DOCUMENTED = dict(re.findall(r"^\| `(elspais\.\w+)` \| (\w+) \|", clew.formats.elspais.__doc__ or "", re.MULTILINE))
TOP = "# REQ-d00001: The bell\n\n"
END = "\n\n*End* *The bell*\n"

CASES = {
    "assertions_without_heading": (f"{TOP}It does this:\n\nA. It rings.{END}", 5),
    "bare_header": ("REQ-d00001: The bell\n\n**Level**: DEV\n\n*End* *The bell*\n", 1),
    "bare_id_line": (f"{TOP}See below.\n\nREQ-d00002: what follows\nis prose.{END}", 5),
    "changelog_entry": (f"{TOP}## Changelog\n\n- yesterday, by me{END}", 5),
    "duplicate_id": (f"{TOP}Text.{END}\n# REQ-d1: The bell\n\nText.{END}", 7),
    "duplicate_label": (f"{TOP}## Assertions\n\nA. It rings.\nA. It stops.{END}", 6),
    "empty_assertion": (f"{TOP}## Assertions\n\nA.\nB. It stops.{END}", 5),
    "empty_title": ("# REQ-d00001:\n\nText.\n\n*End* **\n", 1),
    "end_title": (f"{TOP}Text.\n\n*End* *The horn*\n", 5),
    "field_value": (f"{TOP}**Status**: In review by all{END}", 3),
    "foreign_header": ("# ADR-0007: We ring bells\n", 1),
    "id_style": ("# REQ-D1: The bell\n\nText." + END, 1),
    "label_in_text": (f"{TOP}## Assertions\n\nA. It calls the\nUI. Then it rings.{END}", 6),
    "label_style": (f"{TOP}## Assertions\n\nA. It rings.\n  B. It stops.\nCC. It rests.{END}", 6),
    "late_metadata": (f"{TOP}## Rationale\n\n**Implements**: REQ-p00001{END}", 5),
    "malformed_end": (f"{TOP}Text.\n\n*End* The bell | **Hash**: 1234abcd\n", 5),
    "malformed_header": ("# REQ-bell: The bell\n\nText.\n", 1),
    "missing_end": (f"{TOP}Text.\n", 1),
    "reference_style": (f"{TOP}**Implements**: REQ-p1{END}", 3),
    "repeated_field": (f"{TOP}**Level**: DEV\n**Level**: OPS{END}", 4),
    "repeated_reference": (f"{TOP}**Implements**: REQ-p00001, REQ-p00001{END}", 3),
    "repeated_step": ("# JNY-X-01: Go\n\n## Steps\n\n1. One.\n1. Two.\n\n*End* *Go*\n", 6),
    "stray_end": ("*End* *Nothing*\n", 1),
    "too_many_assertions": (f"{TOP}## Assertions\n\n" + "A. It rings.\n" * 27 + END, 31),
    "trailing_comma": (f"{TOP}**Implements**: REQ-p00001,\n\nText.{END}", 3),
    "unclosed_fence": (f"{TOP}```\n## REQ-d00002: Hidden\n", 3),
    "unknown_field": (f"{TOP}**Level**: DEV | **Owner**: Ines{END}", 3),
    "unknown_level": (f"{TOP}**Level**: Epic{END}", 1),
    "validates_in_section": ("# JNY-X-01: Go\n\n## Steps\n\nValidates: REQ-d00001\n\n*End* *Go*\n", 5),
}
OTHERWISE_TESTED = {
    "elspais.changelog_incomplete",
    "elspais.changelog_missing",
    "elspais.changelog_stale",
    "elspais.more",
    "elspais.not_utf8",
    "elspais.setting_not_obeyed",
    "elspais.shared_letter",
    "elspais.unknown_setting",
}


# Verifies: REQ-d00007-E
def test_every_documented_code_is_tried() -> None:
    assert {f"elspais.{code}" for code in CASES} | OTHERWISE_TESTED == set(DOCUMENTED)


# Verifies: REQ-d00007-E, REQ-p00002-C
@pytest.mark.parametrize("code", CASES)
def test_each_oddity_has_its_code_severity_and_line(read_text: ReadText, code: str) -> None:
    text, line = CASES[code]
    records = read_text(text)
    found = [each for each in records.diagnostics if each.code == f"elspais.{code}"]
    assert [each.line for each in found][:1] == [line]
    assert {each.severity for each in found} == {DOCUMENTED[f"elspais.{code}"]}
    assert all(each.message for each in found)
    assert restored(records, text.encode()) == text.encode()


def only(records: FileRecords) -> Requirement:
    (found,) = (block for block in records.blocks if isinstance(block, Requirement))
    return found


# Verifies: REQ-p00002-C
def test_bytes_that_are_not_utf8_are_reported_and_kept(grammar: IdGrammar) -> None:
    data = f"{TOP}## Assertions\n\nA. It rings ".encode() + b"\xe2\x82 and \xff." + END.encode()
    records = read(data, grammar)
    assert [(each.code, each.line) for each in records.diagnostics] == [("elspais.not_utf8", 5)]
    assert restored(records, data) == data
    (assertion,) = only(records).assertions
    assert assertion.text == "It rings \ufffd and \ufffd."
    assert data[assertion.span.start : assertion.span.end].endswith(b"\xff.")


def test_duplicate_labels_and_ids_are_all_kept(read_text: ReadText) -> None:
    assert [each.text for each in only(read_text(CASES["duplicate_label"][0])).assertions] == ["It rings.", "It stops."]
    both = [block for block in read_text(CASES["duplicate_id"][0]).blocks if isinstance(block, Requirement)]
    assert [(each.id, each.written_id) for each in both] == [("REQ-d00001", "REQ-d00001"), ("REQ-d00001", "REQ-d1")]


# Verifies: REQ-d00007-C
def test_lenient_labels_are_accepted(read_text: ReadText) -> None:
    found = only(read_text(CASES["label_style"][0]))
    assert [(each.label, each.text) for each in found.assertions] == [
        ("A", "It rings."),
        ("B", "It stops."),
        ("CC", "It rests."),
    ]


def test_a_wrapped_sentence_is_not_taken_for_a_label(read_text: ReadText) -> None:
    (assertion,) = only(read_text(CASES["label_in_text"][0])).assertions
    assert assertion.text == "It calls the\nUI. Then it rings."


def test_numbered_assertions_are_accepted_where_no_letters_are_used(read_text: ReadText) -> None:
    records = read_text(f"{TOP}## Assertions\n\n1. It rings.\n2. It stops.{END}")
    assert [each.label for each in only(records).assertions] == ["1", "2"]
    assert [each.code for each in records.diagnostics] == ["elspais.label_style"] * 2


def test_a_header_without_a_title_still_begins_a_requirement(read_text: ReadText) -> None:
    found = only(read_text(CASES["empty_title"][0]))
    assert (found.id, found.title) == ("REQ-d00001", "")


def test_a_damaged_end_marker_still_ends_the_requirement(read_text: ReadText) -> None:
    records = read_text(CASES["malformed_end"][0] + "\nAfter.\n")
    assert only(records).stored_hash == "1234abcd"
    assert records.blocks[-1].raw == "\nAfter.\n"


def test_a_late_field_stays_text(read_text: ReadText) -> None:
    found = only(read_text(CASES["late_metadata"][0]))
    assert found.references == ()
    assert found.sections[0].text == "**Implements**: REQ-p00001"


def test_a_value_of_several_words_is_kept_as_written(read_text: ReadText) -> None:
    assert only(read_text(CASES["field_value"][0])).status == "In review by all"


def test_a_late_validates_binds_nothing(read_text: ReadText) -> None:
    (journey,) = (block for block in read_text(CASES["validates_in_section"][0]).blocks if isinstance(block, Journey))
    assert journey.references == ()


@pytest.mark.parametrize("heading", ["# REQ-d00001", "# REQ-d00001 The bell", "# REQ-d1x: The bell", "# req-bell"])
def test_headings_that_begin_like_an_id(read_text: ReadText, heading: str) -> None:
    records = read_text(f"{heading}\n")
    assert [each.code for each in records.diagnostics] == ["elspais.malformed_header"]
    assert len(records.blocks) == 1


def test_a_flood_of_oddities_is_counted_not_listed(read_text: ReadText) -> None:
    records = read_text("*End* *Nothing*\n" * 5000)
    assert len(records.diagnostics) == 101
    assert records.diagnostics[-1].code == "elspais.more"
    assert "4900" in records.diagnostics[-1].message
