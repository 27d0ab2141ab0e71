"""Ids of requirements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.formats.register.ids import MENTION, format_id, in_order, nearest, normalise, number_of


# Verifies: REQ-d00083-B
@pytest.mark.parametrize("written", ["REQ-0001", "req-1", "REQ-1", "1", " 0001 ", "req_1", "Req 00001", "req1"])
def test_every_spelling_of_an_id_is_understood(written: str) -> None:
    assert normalise(written) == "REQ-0001"


@pytest.mark.parametrize("written", ["", "REQ-", "HAZ-0001", "one", "REQ-1-2", "-1", "REQ-x1", "١"])
def test_text_that_is_no_id_comes_back_as_it_is(written: str) -> None:
    assert normalise(written) == written.strip()


# Verifies: REQ-d00083-A
@given(st.integers(min_value=1, max_value=10**17))
def test_ids_of_any_length_lead_back_to_their_number(number: int) -> None:
    id = format_id(number)
    assert number_of(id) == number
    assert normalise(str(number)) == normalise(id.lower()) == id
    assert MENTION.findall(f"see {id}.") == [id]


# Verifies: REQ-d00083-A
@pytest.mark.parametrize("text", ["XREQ-0001", "REQ-0001a", "REQ-001", "MY-REQ-0001", "REQ-0001_x"])
def test_part_of_a_longer_word_is_no_mention(text: str) -> None:
    assert MENTION.findall(text) == []


# Verifies: REQ-d00083-A
def test_a_long_id_is_no_mention_of_a_short_one() -> None:
    assert MENTION.findall("// REQ-10000, REQ-1000") == ["REQ-10000", "REQ-1000"]
    assert in_order(["REQ-10000", "REQ-9999", "REQ-1000"]) == ["REQ-1000", "REQ-9999", "REQ-10000"]


# Verifies: REQ-d00083-B
def test_the_nearest_id_within_reach_is_suggested() -> None:
    known = ["REQ-0001", "REQ-0010", "REQ-0014"]
    assert nearest("REQ-0012", known) == "REQ-0010"
    assert nearest("REQ-0013", known) == "REQ-0014"
    assert nearest("REQ-0050", known) is None
    assert nearest("nonsense", known) is None
