"""Properties of the reader that hold for every file, and how its work grows with the file."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.elspais.restoring import restored

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.formats.elspais.settings import ElspaisSettings

FRAGMENTS = [
    "# REQ-d00001: The bell",
    "## REQ-p00002: Ärger mit Öl €",
    "### REQ-d00001: Again",
    "REQ-o00003: Bare",
    "# REQ-bell: odd",
    "# REQ-d00004:",
    "# JNY-Night-01: Watch",
    "**Level**: DEV | **Status**: Active | **Implements**: REQ-p00001-A+B",
    "Level: ops",
    "Implements: REQ-p00001,",
    "  REQ-p00002-A-B",
    "Validates: REQ-d00001",
    "**Actor**: Keeper",
    "## Assertions",
    "#### **Assertions**:",
    "A. It SHALL ring.",
    "B. It SHALL stop",
    "  C. indented ✓",
    "AA. longer",
    "1. numbered",
    "2) other",
    "   continuation",
    "*Group*",
    "## Rationale",
    "## Steps",
    "## Changelog",
    "- 2026-01-01 | abcd1234 | - | N (<n@x>) | r",
    "```text",
    "```",
    "   ```python",
    "*End* *The bell* | **Hash**: 1234abcd",
    "*End* *The bell* | **Hash**:",
    "*End*",
    "---",
    "",
    "   ",
    "\t",
    "plain text",
    "\ufeff",
    "\x0c",
    "a\u2028b",
    "\x00",
    "日本語",
]
line_ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
documents = st.lists(st.tuples(st.sampled_from(FRAGMENTS), line_ends), max_size=40).map(
    lambda parts: "".join(line + end for line, end in parts).encode()
)
damaged = st.tuples(documents, st.binary(max_size=20), documents).map(b"".join)
with_bom = documents.map(lambda data: b"\xef\xbb\xbf" + data)
files = st.one_of(documents, damaged, with_bom, st.binary(max_size=400))


@pytest.fixture(scope="module")
def plain() -> IdGrammar:
    return IdGrammar(ElspaisSettings())


# Verifies: REQ-o00003-A
@given(data=files)
def test_a_file_is_written_back_byte_for_byte(plain: IdGrammar, data: bytes) -> None:
    assert restored(read(data, plain), data) == data


# Verifies: REQ-o00003-A+B
@given(data=files)
def test_blocks_cover_the_file_without_gap_or_overlap(plain: IdGrammar, data: bytes) -> None:
    position, line = 0, 1
    for block in read(data, plain).blocks:
        assert block.span.start == position
        assert block.span.line in (line, line - 1)  # a byte order mark shares its line with what follows
        assert data[block.span.start : block.span.end].decode("utf-8", "replace") == block.raw
        position, line = block.span.end, block.span.end_line + 1
    assert position == len(data)


# Verifies: REQ-o00003-B
@given(data=files)
def test_parts_lie_inside_their_block_and_in_order(plain: IdGrammar, data: bytes) -> None:
    for block in read(data, plain).blocks:
        if not isinstance(block, Requirement):
            continue
        position = block.span.start
        for assertion in block.assertions:
            span = assertion.span
            assert position <= span.start < span.end <= block.span.end
            assert block.span.line < span.line <= span.end_line <= block.span.end_line
            assert data[span.start : span.end].decode("utf-8", "replace").startswith(f"{assertion.label}.")
            position = span.end
        for section in block.sections:
            assert block.span.start < section.span.start < section.span.end <= block.span.end


@given(data=files)
def test_reading_is_deterministic_and_texts_are_valid_unicode(plain: IdGrammar, data: bytes) -> None:
    records = read(data, plain)
    assert records == read(data, IdGrammar(ElspaisSettings()))
    for block in records.blocks:
        block.raw.encode()


def work(action: Callable[[], object]) -> int:
    """How many calls an action makes: a measure of work that no other process disturbs."""
    calls = 0

    def count(_frame: object, _event: str, _argument: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


SHAPES: dict[str, Callable[[int], str]] = {
    "requirements": lambda n: "# REQ-d00001: T\n\nLevel: DEV\n\n## Assertions\n\nA. x\n\n*End* *T*\n\n" * n,
    "headers without end": lambda n: "# REQ-d00001: T\n" * n,
    "fences": lambda n: "```\n" * n,
    "end markers": lambda n: "*End* *T*\n" * n,
    "bare ids": lambda n: "REQ-d00001: T\n\n" * n + "\n" * n,
    "assertions": lambda n: "# REQ-d00001: T\n## Assertions\n" + "A. x\n" * n,
    "indented labels": lambda n: "# REQ-d00001: T\n## Assertions\n" + "  A. x.\n" * n,
    "blank lines": lambda n: "# REQ-d00001: T\n" + "\n" * n + "x\n" + "\n" * n,
    "sections": lambda n: "# REQ-d00001: T\n" + "## S\n\nImplements: REQ-d00002\n" * n,
    "one long list": lambda n: "# REQ-d00001: T\nImplements: " + "REQ-d00002, " * n + "\n",
    "continued list": lambda n: "# REQ-d00001: T\nImplements: REQ-d00001,\n" + "REQ-d00002,\n" * n,
    "bars": lambda n: "# REQ-d00001: T\nLevel: DEV " + "| x " * n + "\n",
    "groups": lambda n: "# REQ-d00001: T\n## Assertions\n" + "*g*\n" * n,
    "steps": lambda n: "# JNY-X-01: T\n## Steps\n" + "1. x\n" * n,
    "journey fields": lambda n: "# JNY-X-01: T\n" + "Goal: x\n" * n,
    "changelog": lambda n: "# REQ-d00001: T\n## Changelog\n" + "- x\n" * n,
}


# Verifies: REQ-d00007-F
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_file_is_at_most_twice_the_work(plain: IdGrammar, shape: str) -> None:
    once, twice = (SHAPES[shape](size).encode() for size in (400, 800))
    read(once, plain)  # the grammar remembers ids; both measurements start with the same memory
    assert work(lambda: read(twice, plain)) <= 2.1 * work(lambda: read(once, plain)) + 500


# Verifies: REQ-d00007-F
@pytest.mark.parametrize(
    "text",
    [
        "# " + "REQ-d" * 200_000,
        "# REQ-d00001: " + "*" * 1_000_000,
        "# REQ-d00001: T\n" + "**" * 500_000,
        "# REQ-d00001: T\n## Assertions\n" + "*" * 999_999 + "x",
        "# REQ-d00001: T\n## Assertions\n" + " " * 1_000_000 + "A. x",
        "# REQ-d00001: T\nLevel" + " " * 1_000_000 + "x",
        "# REQ-d00001: T\nImplements:" + "," * 1_000_000,
        "*End*" + " " * 500_000 + "*" + "|" * 500_000,
        "#" * 1_000_000,
        "# JNY-" + "1-" * 500_000 + ": x",
        "_" * 1_000_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_hostile_lines_are_read(plain: IdGrammar, text: str) -> None:
    for data in (text.encode(), f"# REQ-d00001: T\n\n{text}\n{text}\n".encode()):
        assert restored(read(data, plain), data) == data
