"""Answers are shortened by whole items until they fit."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import Refused
from clew.surfaces.mcp.budget import DEFAULT_TOKENS, HARD_TOKENS, Budget, fit
from clew.text.tokens import estimate_tokens


def tokens(data: object) -> int:
    return estimate_tokens(msgspec.json.encode(data).decode())


items = st.lists(st.fixed_dictionaries({"id": st.text(max_size=20), "title": st.text(max_size=200)}), max_size=80)


# Verifies: REQ-d00011-A
@given(items, st.text(max_size=3000), st.integers(200, 3000))
@settings(deadline=None, max_examples=150)
def test_an_answer_keeps_its_budget_by_dropping_whole_items_from_the_end(found: list, body: str, size: int) -> None:
    data = {"results": found, "body": body, "total": len(found), "truncated": False}
    fitted = fit(data, ("results", "body"), Budget.of(size))
    assert fitted["results"] == found[: len(fitted["results"])]
    assert body.startswith(fitted["body"])
    shortened = (fitted["results"], fitted["body"]) != (found, body)
    assert fitted["truncated"] is shortened
    if len(fitted["results"]) > 1:
        assert tokens(fitted) <= size * 1.02 + 8
    if tokens(data) <= size:
        assert not shortened


# Verifies: REQ-d00011-A, REQ-p00004-A
def test_no_answer_exceeds_the_hard_budget() -> None:
    huge = {"results": ["word " * 30_000], "truncated": False}
    with pytest.raises(Refused):
        fit(huge, ("results",), Budget.of(None))
    assert Budget.of(10**9).tokens == HARD_TOKENS
    assert Budget.of(None).tokens == DEFAULT_TOKENS


# Verifies: REQ-p00004-B
def test_one_item_is_kept_so_that_following_cursors_ends() -> None:
    data = {"results": ["word " * 1_000, "x"], "truncated": False}
    fitted = fit(data, ("results",), Budget.of(200))
    assert fitted["results"] == data["results"][:1]
    assert fitted["truncated"] is True
