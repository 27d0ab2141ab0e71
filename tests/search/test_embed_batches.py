"""Texts of like length are worked on together."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from clew.search.embed.sentence import TOKENS_PER_BATCH, batches


@given(st.lists(st.integers(2, 256), max_size=300))
def test_every_text_is_in_one_batch_and_no_batch_is_too_large(lengths: list[int]) -> None:
    groups = list(batches(lengths))
    assert sorted(position for group in groups for position in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[position] for position in group) <= TOKENS_PER_BATCH


@given(st.lists(st.integers(2, 256), min_size=1, max_size=300))
def test_little_is_padded(lengths: list[int]) -> None:
    groups = [[lengths[position] for position in group] for group in batches(lengths)]
    assert all(min(group) >= max(later) for group, later in pairwise(groups))


def test_texts_of_one_length_fill_their_batches() -> None:
    assert [len(group) for group in batches([64] * 18)] == [4, 4, 4, 4, 2]
