"""Estimates of tokens: compared with counts of the o200k vocabulary, which were made once and written down here."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.tokens import estimate_tokens, is_surely_within

PROSE = (
    "The keeper of the lighthouse climbs the stairs every evening, trims the lamp and writes the hour into the log. "
    "When fog comes in from the sea, the bell rings every thirty seconds, and nobody in the village sleeps well. "
    "A requirement says what must be true; a test shows that it is. Between the two lies the work of the day, which "
    "nobody writes down, although it is what the next keeper would want to read. So the log has a second column."
)
CODE = '''def visible_range(height: float, eye: float = 3.0) -> float:
    """Nautical miles at which a light of this height is seen."""
    if height < 0 or eye < 0:
        raise ValueError(f"heights must not be negative: {height}, {eye}")
    return 2.03 * (math.sqrt(height) + math.sqrt(eye))


class Lamp:
    def __init__(self, rhythm: tuple[int, ...]) -> None:
        self._rhythm = rhythm
        self._is_lit = False

    def flash(self, count: int) -> Iterator[float]:
        for index in range(count):
            yield self._rhythm[index % len(self._rhythm)] / 1000
'''
DATA = json.dumps(
    [
        {"id": f"REQ-d{number:05d}", "title": "The bell rings until answered", "level": "dev", "hash": "9ccab1e4"}
        for number in range(20)
    ]
)


@pytest.mark.parametrize(("text", "tokens"), [(PROSE, 95), (CODE, 161), (DATA, 722)], ids=["prose", "code", "json"])
def test_estimate_is_within_ten_percent_of_the_real_count(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == pytest.approx(tokens, rel=0.10)


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=300))
def test_estimate_is_deterministic_and_never_below_a_token_for_six_characters(text: str) -> None:
    estimate = estimate_tokens(text)
    assert estimate == estimate_tokens(text)
    assert estimate * 6 >= len(text)


# Verifies: REQ-d00011-A
@given(st.text(alphabet="aZ0 \n.,\té€漢𝒳", max_size=60), st.integers(0, 80))
def test_what_is_surely_within_a_budget_is_within_it(text: str, tokens: int) -> None:
    if is_surely_within(text.encode(), tokens):
        assert estimate_tokens(text) <= tokens


# Verifies: REQ-d00011-A
@pytest.mark.parametrize("text", ["a0", "A0", "😀", "漢", "aZ.0", " A", ".0"])
@pytest.mark.parametrize("times", [1, 50, 3_000])
def test_what_costs_most_for_its_length_is_never_surely_within_less_than_it_is(text: str, times: int) -> None:
    assert not is_surely_within((text * times).encode(), estimate_tokens(text * times) - 1)


def test_plain_prose_needs_no_estimate() -> None:
    assert is_surely_within(PROSE.encode(), 2 * estimate_tokens(PROSE))
    assert not is_surely_within(PROSE.encode(), estimate_tokens(PROSE) - 1)


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_longer_text_never_costs_less_than_its_beginning(start: str, end: str) -> None:
    assert estimate_tokens(start + end) >= estimate_tokens(start) - 1
