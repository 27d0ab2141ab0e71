"""Excerpts: bounded in either format, and together the whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import OverBudget
from clew.kb.answer.excerpts import MAX_BYTES, MAX_TOKENS, around, read, read_bullets
from clew.text.tokens import estimate_tokens

TEXT = """# Title

First sentence. Second sentence with `code` in it! Third?

- one item
- another item

```sh
app --margin 0.7
app --help
```

Last words.
"""

texts = st.text(alphabet=st.sampled_from("ab Zé日\n\n.?!-*#`0 \t😀_/"), max_size=400) | st.lists(
    st.sampled_from(TEXT.splitlines(keepends=True)), max_size=40
).map("".join)


# Verifies: REQ-d00173-A+B
@settings(max_examples=examples(300))
@given(text=texts, tokens=st.integers(3, 60))
def test_excerpts_give_the_whole_text_piece_by_piece(text: str, tokens: int) -> None:
    place: int | None = 0
    pieces = []
    while place is not None:
        piece = read(text, place, tokens)
        assert estimate_tokens(piece.text) <= tokens
        assert piece.text == text[piece.start : piece.end]
        assert text[place : piece.start].strip() == ""
        assert piece.next_start is None or piece.next_start > place
        pieces.append(piece.text)
        place = piece.next_start
    assert "".join("".join(pieces).split()) == "".join(text.split())


# Verifies: REQ-d00173-A+B
@settings(max_examples=examples(300))
@given(text=texts, tokens=st.integers(5, 60))
def test_bullets_stay_within_their_budget_and_cover_the_text(text: str, tokens: int) -> None:
    place: int | None = 0
    said = ""
    while place is not None:
        piece = read_bullets(text, place, tokens)
        assert estimate_tokens(piece.text) <= tokens
        assert piece.next_start is None or piece.next_start > place
        for line in piece.text.splitlines():
            assert line.startswith("- ")
            said += line[2:]
        place = piece.next_start
    assert "".join(said.split()) == "".join(text.split())


# Verifies: REQ-d00173-A+C
@settings(max_examples=examples(200))
@given(
    text=texts,
    start=st.integers(0, 500),
    length=st.integers(0, 500),
    before=st.integers(0, 40),
    after=st.integers(0, 40),
)
def test_what_stands_around_a_place_holds_the_place(
    text: str, start: int, length: int, before: int, after: int
) -> None:
    piece = around(text, (start, start + length), before, after)
    first, last = min(start, len(text)), min(start + length, len(text))
    assert piece.text == text[piece.start : piece.end]
    assert piece.start <= first
    assert piece.end >= last or not text[piece.end : last].strip()
    assert estimate_tokens(text[piece.start : first]) <= before
    assert estimate_tokens(text[last : piece.end]) <= after


# Verifies: REQ-d00173-A
def test_the_hard_limits_hold_for_any_text() -> None:
    for text in ("word " * 50_000, "日" * 50_000, "x" * 200_000, "😀" * 20_000):
        for piece in (
            read(text, 0, MAX_TOKENS),
            read_bullets(text, 0, MAX_TOKENS),
            around(text, (5, 90_000), 400, 400),
        ):
            assert estimate_tokens(piece.text) <= MAX_TOKENS
            assert len(piece.text.encode()) <= MAX_BYTES
            assert piece.text
    assert read("\n" * 100_000 + "end", 0, 5).text == "end"


# Verifies: REQ-d00173-B
def test_beyond_the_end_there_is_nothing_and_a_budget_for_nothing_is_refused() -> None:
    for start in (len(TEXT), len(TEXT) + 1, 10**9):
        assert read(TEXT, start, 10).text == read_bullets(TEXT, start, 10).text == ""
        assert read(TEXT, start, 10).next_start is None
    for reading in (read, read_bullets):
        with pytest.raises(OverBudget) as refused:
            reading("😀😀", 0, 1)
        assert refused.value.data["reason"] == "budget_too_small"


def test_bullets_are_the_spans_that_evidence_is_cut_into() -> None:
    assert read_bullets(TEXT, 0, 200).text.splitlines() == [
        "- # Title",
        "- First sentence.",
        "- Second sentence with `code` in it!",
        "- Third?",
        "- - one item",
        "- - another item",
        "- ```sh app --margin 0.7 app --help ```",
        "- Last words.",
    ]
