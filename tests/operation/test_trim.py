"""The first items that fit into a budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import InvalidArgument
from clew.operation.budget import Reason, trim
from clew.text.tokens import estimate_tokens


# Verifies: REQ-d00034-A
def test_trimming_keeps_whole_items_until_the_first_that_does_not_fit() -> None:
    words = ["one two", "three four five six seven eight nine ten", "eleven"]
    kept = trim(words, str, max_tokens=5)
    assert kept.items == ("one two",)
    assert kept.limit_reason is Reason.TOKENS
    assert kept.truncated
    by_bytes = trim(["ab", "灯", "c"], str, max_bytes=5)
    assert (by_bytes.items, by_bytes.bytes, by_bytes.limit_reason) == (("ab", "灯"), 5, Reason.BYTES)
    everything = trim(words, str, max_tokens=1_000, max_bytes=1_000)
    assert everything.items == tuple(words)
    assert (everything.limit_reason, everything.truncated) == (Reason.NONE, False)
    with pytest.raises(InvalidArgument, match="max_tokens is -1"):
        trim(words, str, max_tokens=-1)


# Verifies: REQ-d00034-A
@settings(max_examples=examples(200))
@given(
    st.lists(st.text(alphabet=st.characters(exclude_categories=[]), max_size=40), max_size=12),
    st.integers(0, 60),
    st.integers(0, 200),
)
def test_budgets_are_kept_used_up_and_accounted_for(texts: list[str], max_tokens: int, max_bytes: int) -> None:
    kept = trim(texts, str, max_tokens=max_tokens, max_bytes=max_bytes)
    count = len(kept.items)
    assert kept.items == tuple(texts[:count])
    assert kept.tokens == sum(map(estimate_tokens, kept.items)) <= max_tokens
    assert kept.bytes == sum(len(text.encode("utf-8", "surrogatepass")) for text in kept.items) <= max_bytes
    assert kept.truncated == (count < len(texts))
    if kept.truncated:
        further = texts[count]
        assert (
            kept.tokens + estimate_tokens(further) > max_tokens
            or kept.bytes + len(further.encode("utf-8", "surrogatepass")) > max_bytes
        )
