"""Which lines of a text stand in another."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from clew.text.lines import matched

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=12)


# Verifies: REQ-d00601-J
@given(LINES, LINES)
def test_the_parts_are_the_whole_of_both_texts(before: list[str], after: list[str]) -> None:
    parts = matched(before, after)
    assert [line for _, (start, end, _, _) in parts for line in before[start:end]] == before
    assert [line for _, (_, _, begin, until) in parts for line in after[begin:until]] == after
    assert all(before[start:end] == after[begin:until] for same, (start, end, begin, until) in parts if same)
    # One that stays and one that changes follow one another.
    assert all(first != second for (first, _), (second, _) in pairwise(parts))
    assert matched(before, before) == ([(True, (0, len(before), 0, len(before)))] if before else [])


# Verifies: REQ-d00601-J
def test_lines_that_are_alike_stay_around_those_that_changed() -> None:
    before = ["x"] * 1_000
    after = [*before[:300], "y", *before[:400], "z", *before[:298]]
    assert matched(before, after) == [
        (True, (0, 300, 0, 300)),
        (False, (300, 301, 300, 301)),
        (True, (301, 701, 301, 701)),
        (False, (701, 702, 701, 702)),
        (True, (702, 1000, 702, 1000)),
    ]


# Verifies: REQ-d00601-J
def test_lines_that_stand_once_show_where_others_belong() -> None:
    before = ["", "one", "", "two", "", "three", ""]
    after = ["", "new", "", "one", "", "", "three", "", "two"]
    assert [part for same, part in matched(before, after) if same] == [(0, 1, 0, 1), (1, 3, 3, 5), (4, 7, 5, 8)]
