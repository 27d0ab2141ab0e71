"""Reading both dialects: what a file's requirements, journeys and free text become."""

from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest
from tests.formats.elspais.restoring import restored

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Block, FileRecords, Journey, Remainder, Requirement
from clew.formats.elspais.settings import ElspaisSettings, read_settings

ReadText = Callable[[str], FileRecords]
Kind = TypeVar("Kind", bound=Block)

LINE_ENDS = ["\n", "\r\n", "\r"]


def blocks_of(records: FileRecords, kind: type[Kind]) -> dict[str, Kind]:
    return {block.id: block for block in records.blocks if isinstance(block, kind)}  # type: ignore[union-attr]


def only(records: FileRecords) -> Requirement:
    (requirement,) = blocks_of(records, Requirement).values()
    return requirement


def requirement(body: str, header: str = "## REQ-d00001: The bell") -> str:
    return f"{header}\n\n{body}\n\n*End* *The bell*\n"


def references(found: Requirement | Journey) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(reference.kind, reference.target, reference.labels) for reference in found.references]


# Verifies: REQ-o00003-D
def test_the_source_document_is_read_whole(seed: bytes, grammar: IdGrammar) -> None:
    records = read(seed, grammar)
    requirements = blocks_of(records, Requirement)
    assert len(requirements) == 26
    assert sum(len(each.assertions) for each in requirements.values()) == 143
    assert records.diagnostics == ()
    assert restored(records, seed) == seed
    cited = {reference.target for each in requirements.values() for reference in each.references}
    assert cited - requirements.keys() == {"REQ-p00050", "REQ-o00065"}
    assert [
        id for id, each in requirements.items() if not {r.target for r in each.references} & requirements.keys()
    ] == ["REQ-p00060"]


# Verifies: REQ-o00003-B
def test_every_span_of_the_source_document_is_exact(seed: bytes, grammar: IdGrammar) -> None:
    assert max(seed) > 127, "the document must hold non-ASCII text for this to mean anything"
    for block in read(seed, grammar).blocks:
        assert seed[block.span.start : block.span.end].decode() == block.raw
        if isinstance(block, Requirement):
            for assertion in block.assertions:
                span = assertion.span
                assert seed[span.start : span.end].decode() == f"{assertion.label}. {assertion.text}"
                assert seed.count(b"\n", 0, span.start) + 1 == span.line


def test_blocks_of_the_sample(sample: bytes, grammar: IdGrammar) -> None:
    records = read(sample, grammar)
    assert [getattr(block, "id", "text") for block in records.blocks] == [
        "text",
        "REQ-p00001",
        "text",
        "REQ-o00001",
        "text",
        "JNY-Night-Watch-01",
        "text",
        "REQ-d00001",
        "text",
        "REQ-d00002",
        "text",
    ]
    assert [diagnostic.code for diagnostic in records.diagnostics] == ["elspais.bare_header", "elspais.reference_style"]


def test_a_requirement_of_august(sample: bytes, grammar: IdGrammar) -> None:
    found = blocks_of(read(sample, grammar), Requirement)["REQ-p00001"]
    assert (found.title, found.level, found.status, found.heading_depth) == ("Ships see the light", "prd", "Active", 2)
    assert found.references == ()
    assert found.preamble == "A ship that is in range sees the light, whatever the weather."
    assert [assertion.label for assertion in found.assertions] == ["A", "B", "C"]
    assert found.assertions[1].text == (
        "The lamp SHALL keep its rhythm\n   within a tolerance of\n   one tenth of a second."
    )
    assert found.assertions[2].text.endswith("   | two  | 5       |")
    assert [(section.heading, section.depth) for section in found.sections] == [
        ("When the lamp fails", 0),
        ("Rationale", 3),
    ]
    assert "## REQ-p00099" in found.sections[1].text
    assert [(entry.date, entry.change_order, entry.author_id, entry.line) for entry in found.changelog] == [
        ("2026-08-04", "CO-7", "ines@example.org", 42),
        ("2026-08-03", "", "ines@example.org", 43),
    ]
    assert found.changelog[0].reason == "Second lamp | and its table"
    assert (found.stored_hash, found.hash_line) == ("e34dde7e", 45)
    assert found.body.startswith("A ship that is in range")
    assert found.body.endswith("First version")


# Verifies: REQ-d00007-A
def test_a_list_goes_on_in_the_next_line_after_a_comma(sample: bytes, grammar: IdGrammar) -> None:
    found = blocks_of(read(sample, grammar), Requirement)["REQ-o00001"]
    assert (found.level, found.status, found.stored_hash) == ("ops", "Draft", "TODO")
    assert references(found) == [
        ("refines", "REQ-p00001", ("A", "C")),
        ("refines", "REQ-p00001", ("B",)),
        ("satisfies", "REQ-p00001", ()),
    ]
    assert [reference.line for reference in found.references] == [52, 53, 54]


def test_a_requirement_of_february(sample: bytes, grammar: IdGrammar) -> None:
    found = blocks_of(read(sample, grammar), Requirement)["REQ-d00001"]
    assert (found.heading_depth, found.level) == (0, "dev")
    assert references(found) == [
        ("implements", "REQ-o00001", ("A",)),
        ("implements", "REQ-p00001", ("A", "B", "C")),
        ("addresses", "JNY-Night-Watch-01", ()),
    ]
    assert found.preamble == "The bell rings where the keeper sleeps."


# Verifies: REQ-d00007-D
def test_a_journey(sample: bytes, grammar: IdGrammar) -> None:
    (journey,) = blocks_of(read(sample, grammar), Journey).values()
    assert (journey.title, journey.actor) == ("A night in the lamp room", "The keeper")
    assert journey.goal == "The light never goes out, and the log says so"
    assert journey.context == "It is November."
    assert references(journey) == [("validates", "REQ-p00001", ("A",)), ("validates", "REQ-o00001", ())]
    assert journey.steps == (
        (1, "The keeper lights the lamp.", 72),
        (2, "The lamp fails:\n   1. the bell rings,\n   2. the second lamp starts.", 73),
        (3, "The keeper writes the log.", 76),
    )
    assert [section.heading for section in journey.sections] == ["Steps", "Expected outcome"]


def test_a_requirement_ends_with_its_marker_and_the_rule_below_is_free_text(sample: bytes, grammar: IdGrammar) -> None:
    records = read(sample, grammar)
    found = blocks_of(records, Requirement)["REQ-p00001"]
    assert found.raw.endswith("| **Hash**: e34dde7e\n")
    following = records.blocks[records.blocks.index(found) + 1]
    assert isinstance(following, Remainder)
    assert following.raw == "---\n\n"


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("final", [True, False], ids=["final line end", "none"])
def test_line_ends_and_byte_order_marks_change_nothing_but_offsets(
    sample: bytes, grammar: IdGrammar, end: str, start: bytes, final: bool
) -> None:
    text = sample if final else sample.rstrip(b"\n")
    data = start + text.replace(b"\n", end.encode())
    records = read(data, grammar)
    assert restored(records, data) == data
    plain = [_without_places(block) for block in read(sample, grammar).blocks if not isinstance(block, Remainder)]
    assert [_without_places(block) for block in records.blocks if not isinstance(block, Remainder)] == plain
    for block in records.blocks:
        assert data[block.span.start : block.span.end].decode() == block.raw


def _without_places(block: Block) -> object:
    """A block without its offsets and raw text."""
    if isinstance(block, Remainder):
        return None
    fields = msgspec.to_builtins(msgspec.structs.asdict(block))
    fields["span"], fields["raw"] = fields["span"][2:], ""
    for part in (*fields.get("assertions", ()), *fields["sections"]):
        part[-1] = list(part[-1])[2:]
    return fields


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_line_feeds_and_carriage_returns_end_a_line(read_text: ReadText, separator: str) -> None:
    text = requirement(f"## Assertions\n\nA. It rings{separator}B. and rings.\nB. It stops.")
    found = only(read_text(text))
    assert [(assertion.label, assertion.span.line) for assertion in found.assertions] == [("A", 5), ("B", 6)]
    assert found.assertions[0].text == f"It rings{separator}B. and rings."


def test_a_requirement_in_the_first_line_starts_after_the_byte_order_mark(grammar: IdGrammar) -> None:
    data = b"\xef\xbb\xbf" + requirement("A bell.").encode()
    mark, found = read(data, grammar).blocks
    assert (mark.raw, mark.span.start, mark.span.end) == ("\ufeff", 0, 3)
    assert (found.span.start, found.raw[:2]) == (3, "##")


# Verifies: REQ-o00003-B
def test_spans_are_in_bytes(read_text: ReadText) -> None:
    text = requirement("## Assertions\n\nA. Die Glocke läutet für 5 €.\n\n  Zwei Zeilen: ✓\n\nB. Ende.")
    data = f"# Über\n\n{text}".encode()
    found = blocks_of(read_text(data.decode()), Requirement)["REQ-d00001"]
    first, second = found.assertions
    assert data[first.span.start : first.span.end].decode() == "A. Die Glocke läutet für 5 €.\n\n  Zwei Zeilen: ✓"
    assert data[second.span.start : second.span.end].decode() == "B. Ende."
    assert (first.span.line, first.span.end_line) == (7, 9)


# Verifies: REQ-d00007-A
@pytest.mark.parametrize(
    "line",
    [
        "**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001",
        "Level: DEV | Status: Draft | Implements: REQ-p00001",
        "level=dev | STATUS = Draft | implements REQ-p00001",
        "*Level*: d | _Status_: Draft | **Implements:** REQ-p00001",
        "**Implements**: REQ-p00001 | **Status**: Draft | **Level**: Dev",
        "**Level**: DEV\n**Status**: Draft\n**Implements**: REQ-p00001",
        "Level DEV\nStatus Draft\nImplements: p1",
        "**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001,",
        "**Level**: DEV | **Implements**: REQ-p00001, | **Status**: Draft",
    ],
)
def test_metadata_is_read_in_all_its_spellings(read_text: ReadText, line: str) -> None:
    found = only(read_text(requirement(f"{line}\n\nThe bell rings.")))
    assert (found.level, found.status) == ("dev", "Draft")
    assert references(found) == [("implements", "REQ-p00001", ())]
    assert found.preamble == found.body == "The bell rings."


@pytest.mark.parametrize("value", ["-", "null", "none", "None", "x", "X", "N/A", "n/a", ""])
def test_values_that_mean_no_reference(read_text: ReadText, value: str) -> None:
    found = only(read_text(requirement(f"**Level**: DEV | **Implements**: {value}")))
    assert found.references == ()
    assert found.body == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "Status quo is not enough for us.",
        "Level of detail matters.",
        "Implements the protocol that ships expect.",
        "Implements: whatever the harbour asks for",
        "Templates are kept elsewhere.",
    ],
)
def test_a_sentence_that_begins_like_a_field_is_prose(read_text: ReadText, sentence: str) -> None:
    found = only(read_text(requirement(f"**Level**: DEV | **Status**: Active\n\n{sentence}")))
    assert (found.level, found.status, found.references, found.template) == ("dev", "Active", (), False)
    assert found.preamble == sentence


def test_absent_and_unknown_metadata(read_text: ReadText) -> None:
    assert (only(read_text(requirement("Text."))).level, only(read_text(requirement("Text."))).status) == (
        "Unknown",
        "Unknown",
    )
    assert only(read_text(requirement("**Level**: Epic"))).level == "Epic"


# Verifies: REQ-d00007-A
def test_lists_on_several_lines_add_up(read_text: ReadText) -> None:
    found = only(
        read_text(
            requirement(
                "**Implements**: REQ-p00001\n**Refines**: REQ-p00002\n**Implements**: REQ-p00003-A | **Template**\n"
                "**Integrates**: REQ-p00004"
            )
        )
    )
    assert references(found) == [
        ("implements", "REQ-p00001", ()),
        ("refines", "REQ-p00002", ()),
        ("implements", "REQ-p00003", ("A",)),
        ("integrates", "REQ-p00004", ()),
    ]
    assert found.template


# Verifies: REQ-p00002-C
def test_a_reference_that_does_not_parse_is_kept_as_written(read_text: ReadText) -> None:
    found = only(read_text(requirement("**Implements**: REQ-x1, ../other, REQ-p00001-A")))
    assert [(each.written, each.target, each.malformed) for each in found.references] == [
        ("REQ-x1", "REQ-x1", True),
        ("../other", "../other", True),
        ("REQ-p00001-A", "REQ-p00001", False),
    ]


# Verifies: REQ-d00007-C
@pytest.mark.parametrize(
    "heading",
    ["# Assertions", "## Assertions", "###### ASSERTIONS", "## **Assertions**", "## assertions:", "## _Assertions_."],
)
def test_the_assertions_heading_in_all_its_spellings(read_text: ReadText, heading: str) -> None:
    assert [
        each.label for each in only(read_text(requirement(f"{heading}\nA. It rings.\nB. It stops."))).assertions
    ] == [
        "A",
        "B",
    ]


def test_another_heading_that_begins_with_assertions_is_a_section(read_text: ReadText) -> None:
    found = only(read_text(requirement("## Assertions about bells\n\nNone yet.")))
    assert found.assertions == ()
    assert [section.heading for section in found.sections] == ["Assertions about bells"]


# Verifies: REQ-d00007-C
def test_lists_inside_an_assertion_belong_to_it(read_text: ReadText) -> None:
    found = only(
        read_text(requirement("## Assertions\n\nA. It rings:\n1. once,\n2. twice.\n\n- and\n* again\n\nB. It stops."))
    )
    assert [(each.label, each.text) for each in found.assertions] == [
        ("A", "It rings:\n1. once,\n2. twice.\n\n- and\n* again"),
        ("B", "It stops."),
    ]


# Verifies: REQ-d00007-B+C
def test_a_code_block_inside_an_assertion_belongs_to_it(read_text: ReadText) -> None:
    found = only(
        read_text(
            requirement("## Assertions\n\nA. It answers:\n\n```\nB. not an entry\n# no heading\n```\n\nB. It stops.")
        )
    )
    assert found.assertions[0].text == "It answers:\n\n```\nB. not an entry\n# no heading\n```"
    assert len(found.assertions) == 2


# Verifies: REQ-d00007-B
def test_a_code_fence_toggles_whatever_follows_it(read_text: ReadText) -> None:
    records = read_text("```text\n## REQ-d00009: No\n```text\n\n" + requirement("A bell."))
    assert list(blocks_of(records, Requirement)) == ["REQ-d00001"]


def test_text_above_the_first_assertion_is_kept_as_a_section(read_text: ReadText) -> None:
    found = only(read_text(requirement("## Assertions\n\nAll of these hold at night.\n\n**By day**\n\nA. It rests.")))
    assert [(section.heading, section.text, section.depth) for section in found.sections] == [
        ("Assertions", "All of these hold at night.", 2),
        ("By day", "", 0),
    ]


def test_blank_lines_of_any_kind_are_trimmed_around_texts(read_text: ReadText) -> None:
    found = only(read_text(requirement("**Level**: DEV\n \t \n\nFirst.\n  \nLast.\n   \n## Notes\n  \nSome.\n \n")))
    assert (found.preamble, found.sections[0].text) == ("First.\n  \nLast.", "Some.")


def test_sections_without_text_are_left_out(read_text: ReadText) -> None:
    found = only(read_text(requirement("## Rationale\n\n## Notes\n\nSome.")))
    assert [section.heading for section in found.sections] == ["Notes"]


def test_a_requirement_without_end_marker_ends_at_the_next_header(read_text: ReadText) -> None:
    records = read_text("# REQ-d00001: One\n\nText.\n\n---\n\n# REQ-d00002: Two\n\nMore.\n\n\n")
    one, gap, two, rest = records.blocks
    assert (one.raw, gap.raw, two.raw, rest.raw) == (
        "# REQ-d00001: One\n\nText.\n",
        "\n---\n\n",
        "# REQ-d00002: Two\n\nMore.\n",
        "\n\n",
    )
    assert isinstance(one, Requirement)
    assert (one.stored_hash, one.hash_line) == (None, 0)


@pytest.mark.parametrize(
    ("marker", "stored"),
    [
        ("*End* *The bell* | **Hash**: 1234abcd", "1234abcd"),
        ("*End* *The bell*|**Hash**:TODO", "TODO"),
        ("*End*   *The bell*", None),
        ("*End* *The bell* | **Hash**: ________", "________"),
    ],
)
def test_end_markers(read_text: ReadText, marker: str, stored: str | None) -> None:
    records = read_text(f"# REQ-d00001: The bell\n\nText.\n\n{marker}\n")
    assert only(records).stored_hash == stored
    assert records.diagnostics == ()


def test_titles_may_hold_stars_and_bars(read_text: ReadText) -> None:
    records = read_text("# REQ-d00001: Use *args | **kwargs\n\n*End* *Use *args | **kwargs* | **Hash**: 1234abcd\n")
    assert (only(records).title, only(records).stored_hash) == ("Use *args | **kwargs", "1234abcd")
    assert records.diagnostics == ()


# Verifies: REQ-d00008-D
def test_other_grammars_are_read_the_same_way() -> None:
    settings, _ = read_settings(
        b"""
        [project]
        namespace = "EVS"
        [id-patterns]
        canonical = "{namespace}-{level.letter}-{component}"
        [id-patterns.component]
        style = "kebab-case"
        [id-patterns.assertions]
        label_style = "numeric"
        separator = "/"
        [levels.PRD]
        letter = "PRD"
        """
    )
    head = "# EVS-PRD-ingest: Ingest\n\n**Level**: PRD | **Refines**: EVS-PRD-charter/0+1\n\n"
    text = f"{head}## Assertions\n\n0. Zero.\n1. One.\n"
    found = only(read(text.encode(), IdGrammar(settings)))
    assert (found.id, found.level) == ("EVS-PRD-ingest", "PRD")
    assert references(found) == [("refines", "EVS-PRD-charter", ("0", "1"))]
    assert [each.label for each in found.assertions] == ["0", "1"]


def test_records_survive_encoding(sample: bytes, grammar: IdGrammar) -> None:
    for data in (sample, b"# REQ-d00001: \xff\xfe\n\nText \x80.\n"):
        records = read(data, grammar)
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(records), type=FileRecords)
        assert again == records
        assert restored(again, data) == data


def test_settings_decide_what_a_header_is(sample: bytes) -> None:
    other = IdGrammar(ElspaisSettings(namespace="OTHER"))
    assert blocks_of(read(sample, other), Requirement) == {}
