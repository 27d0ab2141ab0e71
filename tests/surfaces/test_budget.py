"""Answers are shortened by whole items until they fit."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import Refused
from clew.operation.budget import DEFAULT_TOKENS, HARD_BYTES, HARD_TOKENS, Budget, fit, fits
from clew.text.tokens import estimate_tokens


def tokens(data: object) -> int:
    return estimate_tokens(msgspec.json.encode(data).decode())


items = st.lists(st.fixed_dictionaries({"id": st.text(max_size=20), "title": st.text(max_size=200)}), max_size=80)


# Verifies: REQ-d00011-A
@given(items, st.text(max_size=3000), st.integers(200, 3000))
@settings(max_examples=examples(150))
def test_an_answer_keeps_its_budget_by_dropping_whole_items_from_the_end(found: list, body: str, size: int) -> None:
    data = {"results": found, "body": body, "total": len(found), "truncated": False}
    fitted = fit(data, ("results", "body"), Budget(size), paged="results")
    assert fitted["results"] == found[: len(fitted["results"])]
    assert body.startswith(fitted["body"])
    shortened = (fitted["results"], fitted["body"]) != (found, body)
    assert fitted["truncated"] is shortened
    if len(fitted["results"]) > 1:
        assert tokens(fitted) <= size * 1.02 + 8
    if tokens(data) <= size:
        assert not shortened


# Verifies: REQ-d00011-A, REQ-p00004-A
def test_no_answer_exceeds_the_hard_budget_with_both_copies() -> None:
    assert Budget.of(10**9).tokens * 2 == HARD_TOKENS
    assert Budget.of(None).tokens * 2 == DEFAULT_TOKENS
    with pytest.raises(Refused) as refused:
        fit({"numbers": list(range(100_000)), "truncated": False}, (), Budget.of(None))
    assert "max_tokens" in refused.value.hint


# Verifies: REQ-d00011-A
def test_an_answer_of_few_tokens_keeps_its_bytes_too() -> None:
    data = {"results": ["word" * 25] * 900, "truncated": False}
    size = len(msgspec.json.encode(data))
    assert tokens(data) < HARD_TOKENS
    assert fits(data, Budget(HARD_TOKENS, size))
    assert not fits(data, Budget(HARD_TOKENS, size - 1))
    assert size > HARD_BYTES // 2
    fitted = fit(data, ("results",), Budget(HARD_TOKENS), paged="results")
    assert fitted["truncated"] is True
    assert len(msgspec.json.encode(fitted)) <= HARD_BYTES // 2


# Verifies: REQ-d00011-A
def test_an_answer_of_signs_that_cost_more_than_a_token_keeps_its_tokens() -> None:
    data = {"results": ["😀" * 100] * 10, "truncated": False}
    assert len(msgspec.json.encode(data).decode()) < 1_500 < tokens(data)
    assert not fits(data, Budget(1_500))


# Verifies: REQ-p00004-B
def test_of_a_page_one_item_is_kept_with_its_texts_cut_so_that_following_cursors_ends() -> None:
    data = {"results": [{"title": "word " * 10_000}, {"title": "x"}], "truncated": False}
    fitted = fit(data, ("results",), Budget(200), paged="results")
    assert len(fitted["results"]) == 1
    assert fitted["results"][0]["title"].startswith("word word")
    assert fitted["results"][0]["title"].endswith("...")
    assert fitted["truncated"] is True
    assert tokens(fitted) <= 200


def test_a_field_of_a_field_is_shortened() -> None:
    data = {"outer": {"inner": "line\n" * 5_000, "other": 1}, "truncated": False}
    fitted = fit(data, ("outer.inner",), Budget(300))
    assert fitted["outer"]["other"] == 1
    assert data["outer"]["inner"].startswith(fitted["outer"]["inner"].removesuffix("..."))
    assert tokens(fitted) <= 300
