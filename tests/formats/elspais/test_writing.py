"""Editing requirements: one thing changes, and every other byte stays."""

import pytest

from clew.formats.elspais.ids.grammar import IdGrammar, describe_labels, label_at, position_of
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.formats.elspais.settings import ElspaisSettings
from clew.formats.elspais.write.blocks import (
    NewRequirement,
    Style,
    requirement_text,
    section_depth,
    style_of,
    with_assertion,
    with_assertion_text,
    with_hash,
    with_id,
    with_labels,
    with_status,
    with_title,
    without_assertion,
)
from clew.formats.elspais.write.references import with_added, with_kind, with_removed, with_replaced, with_rewritten
from clew.trace.edit.text.renaming import with_reference

GRAMMAR = IdGrammar(ElspaisSettings())


def record(data: bytes) -> Requirement:
    (block,) = read(data, GRAMMAR).blocks
    assert isinstance(block, Requirement)
    return block


def written(metadata: str, body: str = "", end: str = "*End* *T* | **Hash**: 12345678\n") -> bytes:
    return f"## REQ-d00001: T\n\n{metadata}\n{body}\n{end}".encode()


# Verifies: REQ-d00048-A
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"## REQ-d00001: Old\n\n*End* *Old* | **Hash**: x\n", b"## REQ-d00001: New\n\n*End* *New* | **Hash**: x\n"),
        (b"###  REQ-d00001 :   Old  \r\n\r\n*End*  *Other*\r\n", b"###  REQ-d00001 :   New  \r\n\r\n*End*  *New*\r\n"),
        (b"## REQ-d00001:\n*End* damaged\n", b"## REQ-d00001: New\n*End* damaged\n"),
        (b"## JNY-Day-01: Old\r\r*End* *JNY-Day-01*", b"## JNY-Day-01: New\r\r*End* *JNY-Day-01*"),
    ],
)
def test_a_title_is_changed_in_the_header_and_the_end_marker(before: bytes, after: bytes) -> None:
    assert with_title(before, GRAMMAR, "New") == after


def test_an_id_is_changed_in_the_header_and_where_it_closes_the_block() -> None:
    data = b"## req-D1: About REQ-d00001\n\nSee REQ-d00001.\n"
    assert with_id(data, GRAMMAR, "REQ-d00009") == data.replace(b"req-D1", b"REQ-d00009")
    journey = b"## JNY-Day-01: A day\n\n*End* *JNY-Day-01*\n"
    assert with_id(journey, GRAMMAR, "JNY-Day-02") == journey.replace(b"Day-01", b"Day-02")


@pytest.mark.parametrize(
    ("metadata", "changed"),
    [
        (
            "**Level**: DEV | **Status**: Draft | **Implements**: -",
            "**Level**: DEV | **Status**: Active | **Implements**: -",
        ),
        ("Status = Draft\nLevel: dev", "Status = Active\nLevel: dev"),
        ("**Level**: DEV", "**Level**: DEV | **Status**: Active"),
        ("_Level_: DEV | _Implements_: REQ-d00002,", "_Level_: DEV | _Implements_: REQ-d00002,\n_Status_: Active"),
        ("**Implements**: REQ-d00002", "**Implements**: REQ-d00002\n**Status**: Active"),
    ],
)
def test_a_status_is_changed_where_it_stands_or_put_beside_the_other_fields(metadata: str, changed: str) -> None:
    after = with_status(written(metadata), GRAMMAR, "Active")
    assert after == written(changed)
    assert record(after).status == "Active"


def test_a_status_without_any_field_gets_a_line_of_its_own() -> None:
    after = with_status(b"## REQ-d00001: T\nText.\n", GRAMMAR, "Active")
    assert after == b"## REQ-d00001: T\n\n**Status**: Active\n\nText.\n"


# Verifies: REQ-d00048-B
@pytest.mark.parametrize(
    ("end", "changed"),
    [
        ("*End* *T* | **Hash**: 12345678\n", "*End* *T* | **Hash**: abcdef01\n"),
        ("*End* *T* | **hash**:   TODO  \n", "*End* *T* | **hash**:   abcdef01  \n"),
        ("*End* *T*", "*End* *T* | **Hash**: abcdef01"),
        ("*End* damaged | **Hash**: 1\n", "*End* damaged | **Hash**: abcdef01\n"),
        ("*End* damaged\n", "*End* damaged\n"),
    ],
)
def test_a_hash_is_exchanged_or_added_in_the_end_marker(end: str, changed: str) -> None:
    assert with_hash(written("", "", end), GRAMMAR, "abcdef01") == written("", "", changed)
    assert with_hash(b"## REQ-d00001: T\n\nNo end.\n", GRAMMAR, "abcdef01") == b"## REQ-d00001: T\n\nNo end.\n"
    assert with_hash(b"## REQ-d00001: T\n*End* *T*\n", GRAMMAR, "N/A") == b"## REQ-d00001: T\n*End* *T*\n"


LIST = "**Level**: DEV | **Implements**: {} | **Status**: Active"


@pytest.mark.parametrize(
    ("metadata", "changed"),
    [
        ("**Implements**: REQ-d00002, REQ-d00003", "**Implements**: REQ-d00003"),
        ("**Implements**: REQ-d00003, REQ-d00002-A, d2", "**Implements**: REQ-d00003"),
        (LIST.format("REQ-d00002"), LIST.format("-")),
        (
            "Implements: REQ-d00003,\n  REQ-d00002,\n  REQ-d00004 | Status: Active",
            "Implements: REQ-d00003, REQ-d00004 | Status: Active",
        ),
        ("**Implements**: REQ-d00002,\n  REQ-d00002-B", "**Implements**: -"),
        ("**Implements**: REQ-d00002\n**Implements**: REQ-d00003", "**Implements**: -\n**Implements**: REQ-d00003"),
        ("**Refines**: REQ-d00002", "**Refines**: REQ-d00002"),
    ],
)
def test_references_are_taken_out_of_their_lists(metadata: str, changed: str) -> None:
    assert with_removed(written(metadata), GRAMMAR, "implements", "REQ-d00002") == written(changed)


@pytest.mark.parametrize(
    ("metadata", "changed"),
    [
        ("**Level**: DEV", "**Level**: DEV | **Implements**: REQ-d00009"),
        (LIST.format("-"), LIST.format("REQ-d00009")),
        (LIST.format("n/a, none"), LIST.format("REQ-d00009")),
        (LIST.format("REQ-d00002"), LIST.format("REQ-d00002, REQ-d00009")),
        ("**Implements**:\n**Level**: DEV", "**Implements**: REQ-d00009\n**Level**: DEV"),
        ("Implements: REQ-d00002,\n  REQ-d00003", "Implements: REQ-d00002,\n  REQ-d00003, REQ-d00009"),
        ("**Refines**: REQ-d00002", "**Refines**: REQ-d00002\n**Implements**: REQ-d00009"),
    ],
)
def test_a_reference_is_added_to_the_last_list_of_its_kind_or_in_a_new_field(metadata: str, changed: str) -> None:
    after = with_added(written(metadata), GRAMMAR, "implements", "REQ-d00009")
    assert after == written(changed)
    assert ("implements", "REQ-d00009") in {(each.kind, each.target) for each in record(after).references}


@pytest.mark.parametrize(
    ("metadata", "changed"),
    [
        (
            LIST.format("REQ-d00002-A, REQ-d00002"),
            LIST.format("REQ-d00002-A, REQ-d00002").replace("Implements", "Refines"),
        ),
        ("IMPLEMENTS: REQ-d00002, REQ-d00003", "IMPLEMENTS: REQ-d00003\nRefines: REQ-d00002"),
        ("**Implements**: REQ-d00002\n**Refines**: -", "**Implements**: -\n**Refines**: REQ-d00002"),
    ],
)
def test_references_move_to_another_kind(metadata: str, changed: str) -> None:
    assert with_kind(written(metadata), GRAMMAR, "implements", "REQ-d00002", "refines") == written(changed)


def test_references_are_rewritten_wherever_they_stand() -> None:
    data = written(
        "**Implements**: REQ-d00002,\n  d2-A, REQ-d00020, nonsense | **Refines**: REQ-d00002", "See REQ-d00002.\n"
    )
    after = with_rewritten(data, GRAMMAR, lambda parsed: "REQ-d00009" if parsed.target == "REQ-d00002" else None)
    expected = "**Implements**: REQ-d00009,\n  REQ-d00009, REQ-d00020, nonsense | **Refines**: REQ-d00009"
    assert after == written(expected, "See REQ-d00002.\n")
    assert with_replaced(after, GRAMMAR, "implements", "nonsense", "REQ-d00008") == written(
        expected.replace("nonsense", "REQ-d00008"), "See REQ-d00002.\n"
    )


ENTRIES = "## Assertions\n\n{}\n## Rationale\n\nWhy.\n"


@pytest.mark.parametrize(
    ("entries", "changed"),
    [
        ("A. One.\nB. Two.\n", "A. One.\nB. Two.\nC. New.\n"),
        ("A. One.\n\nB. Two.\n", "A. One.\n\nB. Two.\n\nC. New.\n"),
        ("A. One\n   goes on.\n", "A. One\n   goes on.\nC. New.\n"),
        ("", "C. New.\n"),
        ("*Group*\n", "*Group*\n\nC. New.\n"),
    ],
)
def test_an_assertion_is_added_behind_the_last_as_the_others_stand(entries: str, changed: str) -> None:
    data = written("**Level**: DEV", ENTRIES.format(entries))
    after = with_assertion(data, GRAMMAR, record(data), "C", "New.")
    assert after == written("**Level**: DEV", ENTRIES.format(changed))


def test_the_first_assertion_gets_a_heading_before_the_other_sections() -> None:
    data = b"# REQ-d00001: T\r\n\r\nText.\r\n\r\n## Rationale\r\n\r\nWhy.\r\n"
    assert with_assertion(data, GRAMMAR, record(data), "A", "New,\nover two lines.") == (
        b"# REQ-d00001: T\r\n\r\nText.\r\n\r\n## Assertions\r\n\r\nA. New,\r\nover two lines.\r\n\r\n"
        b"## Rationale\r\n\r\nWhy.\r\n"
    )
    bare = b"## REQ-d00001: T"
    assert with_assertion(bare, GRAMMAR, record(bare), "A", "New.", depth=2) == (
        b"## REQ-d00001: T\n\n## Assertions\n\nA. New."
    )
    assert section_depth(b"x\n#### **Assertions**:\n") == 4
    assert section_depth(b"No such heading") is None


@pytest.mark.parametrize(
    ("entries", "changed"),
    [
        ("A. One.\nB. Two.\nC. Three.\n", "A. One.\nC. Three.\n"),
        ("A. One.\n\nB. Two\n   goes on.\n\nC. Three.\n", "A. One.\n\nC. Three.\n"),
        ("B. Two.\n\n*Group*\n\nC. Three.\n", "*Group*\n\nC. Three.\n"),
    ],
)
def test_an_assertion_is_removed_with_the_blank_line_behind_it(entries: str, changed: str) -> None:
    data = written("**Level**: DEV", ENTRIES.format(entries))
    (assertion,) = [each for each in record(data).assertions if each.label == "B"]
    assert without_assertion(data, GRAMMAR, assertion) == written("**Level**: DEV", ENTRIES.format(changed))


def test_texts_and_labels_are_exchanged_in_place() -> None:
    data = written("**Level**: DEV", ENTRIES.format("  A.  One\n      goes on.\nB. Two.\n"))
    first, second = record(data).assertions
    assert with_assertion_text(data, GRAMMAR, first, "New.") == written(
        "**Level**: DEV", ENTRIES.format("  A.  New.\nB. Two.\n")
    )
    assert with_assertion_text(data, GRAMMAR, second, "New,\nlonger,\nstill.") == written(
        "**Level**: DEV", ENTRIES.format("  A.  One\n      goes on.\nB. New,\nlonger,\nstill.\n")
    )
    assert with_labels(data, GRAMMAR, record(data), {"A": "B", "B": "A"}) == written(
        "**Level**: DEV", ENTRIES.format("  B.  One\n      goes on.\nA. Two.\n")
    )


def test_bytes_that_are_not_utf8_come_through() -> None:
    data = b"## REQ-d00001: caf\xe9\n\n**Level**: DEV | Implements: REQ-d00002 \xff\n"
    assert with_status(data, GRAMMAR, "Draft") == data[:-1] + b" | **Status**: Draft\n"


def test_a_new_requirement_is_written_in_the_style_of_another() -> None:
    style = style_of(b"#### REQ-d00001: T\r\n\r\nLevel: dev\r\n", GRAMMAR)
    assert style == Style(depth=4, upper_case_levels=False, line_end="\r\n")
    new = NewRequirement("REQ-d00002", "New", "dev", "Draft", ("refines", "REQ-d00001"))
    text = requirement_text(new, style)
    assert text == (
        b"#### REQ-d00002: New\r\n\r\n**Level**: dev | **Status**: Draft | **Refines**: REQ-d00001\r\n\r\n"
        b"*End* *New* | **Hash**: N/A\r\n"
    )
    assert (record(text).id, record(text).level) == ("REQ-d00002", "dev")


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("# Verifies: REQ-d1\n", "# Verifies: NEW\n"),
        (
            'x = "REQ-d1"  # Implements: REQ-d1, REQ-d12, REQ-d1-A\n',
            'x = "REQ-d1"  # Implements: NEW, REQ-d12, REQ-d1-A\n',
        ),
        (" * tests (REQ-d1)", " * tests (NEW)"),
        ("   REQ-d1,\r\n", "   NEW,\r\n"),
        ("# Verifies: REQ-d2", None),
        ("# Verifies: REQ-d1+A", None),
    ],
)
def test_a_reference_in_a_comment_is_exchanged_behind_its_keyword(line: str, changed: str | None) -> None:
    assert with_reference(line, "REQ-d1", "NEW") == changed


@pytest.mark.parametrize(
    ("style", "series", "described"),
    [
        ("uppercase", ["A", "B", "Z", None], "A to Z"),
        ("alphanumeric", ["0", "1", "P", "Q"], "0 to Z"),
        ("numeric", ["0", "1", "25", "26"], "0, 1 and so on"),
        ("numeric_1based", ["1", "2", "26", "27"], "1, 2 and so on"),
    ],
)
def test_labels_are_a_series(style: str, series: list[str | None], described: str) -> None:
    settings = ElspaisSettings(label_style=style)
    for position, label in zip((0, 1, 25, 26), series, strict=True):
        assert label_at(position, settings) == label
        assert label is None or position_of(label, settings) == position
    assert label_at(-1, settings) is None
    assert position_of("AA", settings) is None
    assert describe_labels(settings) == described
    padded = ElspaisSettings(label_style="numeric", label_zero_pad=True)
    assert label_at(7, padded) == "07"
    assert position_of("07", padded) == 7
