"""Cursors lead to the next page of the same question and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InvalidCursor
from clew.operation.paging import Cursors

CURSORS = Cursors(b"k" * 32)


# Verifies: REQ-d00011-B
@given(st.integers(0, 2**40), st.dictionaries(st.text(max_size=5), st.integers(), max_size=3), st.text(max_size=40))
def test_a_cursor_gives_back_its_offset_to_the_same_question(offset: int, arguments: dict, state: str) -> None:
    cursor = CURSORS.issue("search", arguments, state, offset)
    assert CURSORS.redeem(cursor, "search", arguments, state) == offset


# Verifies: REQ-d00011-B
@pytest.mark.parametrize(
    ("cursors", "tool", "arguments"),
    [
        (CURSORS, "search", {"query": "b"}),
        (CURSORS, "other", {"query": "a"}),
        (Cursors(b"another key"), "search", {"query": "a"}),
    ],
)
def test_a_cursor_of_another_question_or_project_is_refused(cursors: Cursors, tool: str, arguments: dict) -> None:
    cursor = CURSORS.issue("search", {"query": "a"}, "s", 50)
    with pytest.raises(InvalidCursor):
        cursors.redeem(cursor, tool, arguments, "s")


# Verifies: REQ-d00011-B
@given(st.data())
def test_a_tampered_cursor_is_refused(data: st.DataObject) -> None:
    cursor = CURSORS.issue("search", {}, "s", 50)
    place = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(st.sampled_from("ABCabc019_-"))
    tampered = cursor[:place] + letter + cursor[place + 1 :]
    if tampered != cursor:
        with pytest.raises(InvalidCursor):
            CURSORS.redeem(tampered, "search", {}, "s")


# Verifies: REQ-d00011-B
@given(st.text(max_size=60))
def test_any_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        CURSORS.redeem(text, "search", {}, "s")


# Verifies: REQ-d00011-C
def test_a_cursor_from_before_a_change_says_so() -> None:
    cursor = CURSORS.issue("search", {}, "before", 50)
    with pytest.raises(InvalidCursor) as refused:
        CURSORS.redeem(cursor, "search", {}, "after")
    assert "changed" in refused.value.message
