"""What opens the gate for memories that nobody asked for, and what does not."""

from collections.abc import Iterable, Sequence

import pytest

from clew.memory.recall.gate import GateDecision, GateHit, can_pass, passes

LAMPS = "The harbour lamps are lit at dusk by the keeper."


def rarities(terms: Iterable[str]) -> dict[str, float]:
    """In a memory in which "harbour" stands everywhere, and everything else in one memory at most."""
    return {term: 0.3 if term == "harbour" else 5.0 for term in terms}


def asked(query: str, cosine: float | None, text: str = LAMPS, beside: str = "") -> GateDecision:
    return passes(query, [GateHit("lamps", text, cosine)], rarities, lambda ids: dict.fromkeys(ids, beside))


# Verifies: REQ-d00305-B
def test_words_and_meaning_together_open_the_gate() -> None:
    assert asked("When does the keeper light the harbour lamps?", 0.6).passed
    assert not asked("When does the keeper light the harbour lamps?", 0.6, "Ropes are dried on deck.").passed
    assert not asked("Which paint do the buoys need?", 0.4).passed


# Verifies: REQ-d00305-F
@pytest.mark.parametrize(
    "more",
    [
        *(" in August 2023", " on 8 May, 2023", " on December 1st, 2023", " last week", " recently"),
        *(" as mentioned on Tuesday", ", as often described", " in early March", " in mid-June", " on the 3rd of June"),
        *(", April 2023", " by July", " since Sep 4"),
    ],
)
def test_words_that_say_when_or_belong_to_asking_are_not_looked_for(more: str) -> None:
    plain = asked("Who lit the harbour lamps", 0.4)
    assert asked(f"Who lit the harbour lamps{more}?", 0.4).score == plain.score


# Verifies: REQ-d00305-F
def test_may_is_a_month_only_where_it_is_written_as_one() -> None:
    assert asked("Who may lit the lamps", 0.4).score == asked("Who lit the lamps in May", 0.4).score


# Verifies: REQ-d00305-F
def test_a_prompt_of_few_words_needs_more_than_those() -> None:
    few, more = asked("lamps", 0.28), asked("keeper lit lamps at dusk", 0.28)
    assert few.score < more.score
    assert (few.passed, more.passed) == (False, True)
    assert not asked("harbour", 0.3).passed


# Verifies: REQ-d00305-F
def test_without_vectors_one_shared_word_is_chance() -> None:
    assert not asked("lamps", None).passed
    assert asked("Who lit the lamps?", None).passed


# Verifies: REQ-d00305-F
@pytest.mark.parametrize("query", ["Quiescence?", "What is quiescence?", "explain quiescence", "`quiescence`"])
def test_without_vectors_a_word_that_is_asked_for_alone_and_that_one_memory_has_is_no_chance(query: str) -> None:
    text = "Quiescence is when no crane moves."
    assert asked(query, None, text).passed
    assert not asked(query, None).passed
    hits = [GateHit("one", text), GateHit("other", "Wait for quiescence before dusk.")]
    assert not passes(query, hits, rarities, lambda ids: {}).passed


# Verifies: REQ-d00305-F
def test_without_vectors_another_id_of_the_same_kind_is_no_answer() -> None:
    text = "REQ-d00012 was split because the crane is another matter."
    assert asked("REQ-d00012", None, text).passed
    assert asked("What became of REQ-d00012?", None, text).passed
    assert not asked("What became of REQ-d00013?", None, text).passed


# Verifies: REQ-d00305-F
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Explain parse_config", "parse_config must never raise: callers ignore it."),
        ("Explain getUserById", "getUserById is slow."),
        ("What is Jan's hobby?", "Jan's hobby is sailing."),
        ("When does April deploy?", "April may deploy on Fridays."),
    ],
)
def test_without_vectors_an_identifier_or_a_name_with_one_more_word_is_no_chance(query: str, text: str) -> None:
    assert asked(query, None, text).passed
    assert not asked(query, None).passed


# Verifies: REQ-d00305-B
def test_what_stands_beside_a_memory_counts_half_of_what_it_says_itself() -> None:
    own = asked("keeper of lamps at dusk", 0.4).score
    shared = asked("keeper of lamps at dusk", 0.4, "At dusk.", "The keeper has lamps.").score
    without = asked("keeper of lamps at dusk", 0.4, "At dusk.").score
    assert without < shared < own


# Verifies: REQ-d00305-B
def test_what_is_far_in_meaning_is_not_read() -> None:
    assert not can_pass(0.1)
    assert can_pass(0.5)
    assert can_pass(None)
    assert not passes("Who lit the lamps?", [], rarities, lambda ids: {}).passed


# Verifies: REQ-d00305-B
def test_what_stands_beside_a_memory_is_read_only_where_it_can_decide() -> None:
    hits = [GateHit("near", LAMPS, 0.5), GateHit("far", "Ropes.", 0.2), GateHit("words", "Ropes and lamps.", None)]
    read: list[str] = []

    def beside(ids: Sequence[str]) -> dict[str, str]:
        read.extend(ids)
        return {}

    passes("When does the keeper light lamps at dusk?", hits, rarities, beside)
    assert read == ["near", "words"]
