"""Documents in pieces of a useful size."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.formats.documents.chunks import ChunkSizes, chunks_of
from clew.formats.documents.model import BlockKind, Document
from clew.formats.documents.reader import read_document
from clew.text.tokens import estimate_tokens

SENTENCE = "The harbour office mails a table of every turn of the tide to all who ask for it. "


def read(text: str, name: str = "a.md") -> Document:
    return read_document(text.encode(), name)


def texts(document: Document) -> list[str]:
    return [document.text[chunk.start : chunk.end] for chunk in chunks_of(document)]


# Verifies: REQ-d00091-A
def test_a_heading_begins_a_chunk_and_a_short_section_is_one() -> None:
    document = read("# A\n\nshort\n\n## B\n\nalso\n")
    assert texts(document) == ["# A\n\nshort", "## B\n\nalso"]


# Verifies: REQ-d00091-A
def test_a_long_section_is_cut_between_paragraphs_near_the_target() -> None:
    document = read("# A\n\n" + "\n\n".join(SENTENCE * 5 for _ in range(20)))
    chunks = chunks_of(document)
    assert len(chunks) > 3
    assert all(100 <= chunk.tokens <= 512 for chunk in chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(1, len(chunks) + 1))
    assert all(text.rstrip().endswith(".") for text in texts(document))


# Verifies: REQ-d00091-B
def test_code_tables_and_items_stay_whole_as_long_as_they_fit() -> None:
    code = "```python\n" + "\n\n".join(f"value_{number} = compute({number})" for number in range(28)) + "\n```"
    table = "| key | value |\n|---|---|\n" + "\n".join(f"| row {number} | {SENTENCE}|" for number in range(18))
    item = "- " + SENTENCE * 8 + "\n  - inner\n\n    ```\n    code\n    ```"
    text = "# A\n\n" + "\n\n".join([SENTENCE * 12, code, SENTENCE * 12, table, SENTENCE * 12, item, SENTENCE * 12])
    found = texts(read(text))
    for whole in (code, table, item):
        assert sum(whole in chunk for chunk in found) == 1


# Verifies: REQ-d00091-B
def test_a_code_block_that_is_too_large_is_cut_at_its_blank_lines_and_knows_its_lines() -> None:
    code = "\n\n".join("\n".join(f"line_{part}_{n} = {n}" for n in range(9)) for part in range(40))
    document = read(f"# A\n\n```\n{code}\n```\n")
    chunks = chunks_of(document)
    lines = document.text.splitlines()
    assert max(chunk.tokens for chunk in chunks) <= 512
    for chunk in chunks[1:]:
        assert lines[chunk.line - 1].startswith("line_")
        assert lines[chunk.line - 1].endswith("_0 = 0")
        assert document.text[chunk.start : chunk.end] == "\n".join(lines[chunk.line - 1 : chunk.end_line])


# Verifies: REQ-d00091-B
def test_a_list_item_that_is_too_large_is_cut_where_inner_items_begin() -> None:
    inner = "".join(f"  - inner {number}: {SENTENCE}\n" for number in range(60))
    found = texts(read(f"- outer\n{inner}"))
    assert len(found) > 2
    assert all(re.match(r"- outer|  - inner", chunk) for chunk in found)


# Verifies: REQ-d00091-C
def test_a_remainder_joins_the_chunk_before_it() -> None:
    document = read("# A\n\n" + SENTENCE * 17 + "\n\n" + "Only a few words are left for the last paragraph of it. " * 2)
    assert len(chunks_of(document)) == 1
    assert chunks_of(document)[0].tokens > 320


# Verifies: REQ-d00091-D
def test_names_and_versions_stay_when_another_part_of_the_file_changes() -> None:
    def named(document: Document) -> dict[str, str]:
        return {f"{document.sections[c.section].key}~{c.ordinal}": c.version for c in chunks_of(document)}

    long = "\n\n".join(SENTENCE * 4 for _ in range(9))
    before = named(read(f"# T\n\n## One\n\n{long}\n\n## Two\n\n{long}\n"))
    after = named(read(f"# T\n\nNew words.\n\n## Zero\n\nNew.\n\n## One\n\n{long}\n\nMore.\n\n## Two\n\n{long}\n"))
    assert {name for name in before if name.startswith("two")} == {name for name in after if name.startswith("two")}
    assert len([name for name in before if name.startswith("two")]) > 1
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed == {"t~1", max(name for name in before if name.startswith("one"))}


# Verifies: REQ-d00091-A
def test_a_text_without_any_seam_is_cut_all_the_same() -> None:
    document = read("A" * 50_000)
    chunks = chunks_of(document)
    assert max(chunk.tokens for chunk in chunks) <= 512
    assert "".join(texts(document)) == document.text


_PARTS = st.lists(
    st.sampled_from(["# H", "## Deep", SENTENCE * 3, SENTENCE * 30, "word " * 700, "x" * 5000])
    | st.integers(1, 120).map(lambda n: "```\n" + "code = 1\n\n" * n + "```")
    | st.integers(1, 60).map(lambda n: "| a | b |\n|---|---|\n" + f"| {SENTENCE} | 1 |\n" * n)
    | st.integers(1, 60).map(lambda n: "- item\n" + f"  - {SENTENCE}\n" * n),
    max_size=8,
)


# Verifies: REQ-d00091-A+B
@settings(max_examples=examples(60))
@given(parts=_PARTS, sizes=st.sampled_from([ChunkSizes(), ChunkSizes(20, 60, 90)]))
def test_every_sign_is_in_one_chunk_and_nothing_small_is_cut(parts: list[str], sizes: ChunkSizes) -> None:
    document = read("\n\n".join(parts))
    chunks = chunks_of(document, sizes)
    covered = 0
    for chunk in chunks:
        assert not document.text[covered : chunk.start].strip()
        assert chunk.tokens <= sizes.most
        covered = chunk.end
    assert not document.text[covered:].strip()
    for section in document.sections:
        for block in section.blocks:
            if block.kind in (BlockKind.CODE, BlockKind.TABLE, BlockKind.ITEM):
                touching = [chunk for chunk in chunks if chunk.start < block.end and block.start < chunk.end]
                size = estimate_tokens(f"\n{document.text[block.start : block.end]}\n")
                assert len(touching) == 1 or size > sizes.most


_HEADINGS = st.sampled_from(["# One", "# Two", "## A", "## B", "### Deep", "## A {#named}"])
_SECTIONS = st.lists(
    st.tuples(_HEADINGS, st.sampled_from(["Some words.", SENTENCE * 40, "- item\n- item", "```\ncode\n```"])),
    min_size=1,
    max_size=6,
)


# Verifies: REQ-d00091-D, REQ-d00095-A
@settings(max_examples=examples(150))
@given(sections=_SECTIONS, added=_SECTIONS)
def test_what_is_added_at_the_end_changes_no_name_and_no_version_above(
    sections: list[tuple[str, str]], added: list[tuple[str, str]]
) -> None:
    def named(parts: list[tuple[str, str]]) -> list[tuple[str, int, str]]:
        document = read("".join(f"{heading}\n\n{body}\n\n" for heading, body in parts))
        return [(document.sections[each.section].key, each.ordinal, each.version) for each in chunks_of(document)]

    before, after = named(sections), named([*sections, *added])
    assert after[: len(before)] == before
    assert len({(key, ordinal) for key, ordinal, _ in after}) == len(after)


_ODD = ("    indented", "::", ".. note:: x", "é 中 \U0001f600", "\x0c", "<p>x</p>", "word " * 600, SENTENCE * 12)
_FILES = st.lists(
    st.sampled_from(
        ["# H", "Title\n-----", "- one\n  - two", "1. a\n2. b", "| a |\n|---|\n| 1 |", "```\nx\n\ny\n```", *_ODD]
    ),
    max_size=12,
)


_MARKUP = (
    ".. code-block:: python\n   :linenos:\n\n   x = 1",
    "See::\n\n   y",
    ".. _here:",
    "``a`` :ref:`b\n<c>`",
    ">>> z",
)


# Verifies: REQ-d00401-A
@settings(max_examples=examples(150))
@given(
    parts=st.lists(st.sampled_from(["Title\n=====", "Some words.", "- an item", *_MARKUP, *_ODD]), max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_a_line_of_restructured_text_stays_the_line_it_was(parts: list[str], end: str) -> None:
    text = "\n\n".join(parts).replace("\n", end)
    document = read_document(text.encode(), "a.rst")
    written, shown = text.split(end), document.text.split("\n")
    assert shown[len(written) :] in ([], [""])
    for place, line in enumerate(written):
        if line in ("Some words.", "- an item", "Title", "x = 1"):
            assert line in shown[place]
    covered = 0
    for chunk in chunks_of(document):
        assert covered <= chunk.start < chunk.end
        covered = chunk.end
        assert document.text[chunk.start : chunk.end].strip() in "\n".join(shown[chunk.line - 1 : chunk.end_line])


# Verifies: REQ-d00090-A, REQ-d00091-A
@settings(max_examples=examples(150))
@given(
    parts=_FILES,
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    name=st.sampled_from(["a.md", "a.txt"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_a_chunk_is_what_the_file_holds_at_its_characters_and_lines(
    parts: list[str], end: str, name: str, encoding: str
) -> None:
    text = "\n\n".join(parts).replace("\n", end)
    document = read_document(text.encode(encoding), name)
    assert document.text == text
    lines = text.split(end)
    for chunk in chunks_of(document):
        shown = end.join(lines[chunk.line - 1 : chunk.end_line])
        assert text[chunk.start : chunk.end] in shown
        # Whole lines, unless a single line is too long for one chunk.
        if max(map(len, lines[chunk.line - 1 : chunk.end_line])) < 1000:
            assert text[chunk.start : chunk.end].strip() == shown.strip()


# Verifies: REQ-d00402-E
def test_a_name_begins_the_chunk_of_the_text_that_explains_it() -> None:
    filled = "\n\n".join(SENTENCE * 6 for _ in range(3))
    document = read(f"# A\n\n{filled}\n\n`pause`\n\n   {SENTENCE * 3}\n\n   {SENTENCE * 6}\n")
    (holder,) = [text for text in texts(document) if "`pause`" in text]
    assert SENTENCE.strip() in holder.partition("`pause`")[2]


# Verifies: REQ-d00091-A, REQ-d00402-E
def test_a_name_before_a_text_that_fills_a_chunk_stays_with_what_came_before() -> None:
    name = "`pause_between_two_tries_in_seconds`"
    explained = "word"
    while estimate_tokens(explained) < ChunkSizes().most - 8:
        explained += " word"
    document = read(f"# A\n\n{SENTENCE * 6}\n\n{name}\n\n  {explained}\n")
    before, after = texts(document)
    assert (before.endswith(name), after.strip()) == (True, explained)
