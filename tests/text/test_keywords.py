"""Keywords of a text."""

from hypothesis import given
from hypothesis import strategies as st

from clew.text.keywords import STOP_WORDS, keywords


def test_keywords_are_lower_case_and_in_order_of_appearance() -> None:
    assert keywords("Server answers the Client; the server waits.") == ("server", "answers", "client", "waits")


def test_inner_hyphens_and_underscores_stay_and_other_punctuation_separates() -> None:
    text = "A read-only `get_graph_status()` call -- never/written, (twice)!"
    assert keywords(text) == ("read-only", "get_graph_status", "call", "written", "twice")


def test_apostrophes_are_dropped_without_cutting_the_word() -> None:
    assert keywords("The agent's token isn\u2019t valid") == ("agents", "token", "valid")


def test_shorter_words_are_left_out() -> None:
    assert keywords("go to lamp 42 now-or-never") == ("lamp", "now-or-never")


@given(st.text(max_size=300))
def test_keywords_never_repeat_and_hold_no_stop_word(text: str) -> None:
    found = keywords(text)
    assert len(found) == len(set(found))
    assert not STOP_WORDS & set(found)
