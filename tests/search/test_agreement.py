"""Agreement: what the nearest results say of a result, when it counts, and that every score still explains itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.properties import examples

from clew.search.lexical.query import parse_query
from clew.search.rank.fuse import Fused, fuse
from clew.search.rank.ranking import agree, asks_around
from clew.search.rank.recipes import Agreement, Recipe, Signal

Vectors = dict[int, NDArray[np.float32]]

ONE = Recipe("r", 1, (Signal("lexical"),), rrf_k=0)
RESULTS = 30


def ranking(count: int = RESULTS) -> tuple[Fused[int], ...]:
    return fuse({"lexical": [(number, float(-number)) for number in range(count)]}, ONE)


def pointing(directions: list[int]) -> Vectors:
    """Vectors by unit; those that point in one direction are alike, others have nothing in common."""
    return {number: np.eye(max(directions) + 1, dtype=np.float32)[way] for number, way in enumerate(directions)}


def places(results: tuple[Fused[int], ...]) -> dict[int, int]:
    return {result.id: place for place, result in enumerate(results)}


# Verifies: REQ-d00032-A
def test_a_result_like_the_best_overtakes_one_that_resembles_nothing() -> None:
    directions = list(range(RESULTS))
    directions[12] = directions[0]
    before, after = ranking(), agree(ranking(), pointing(directions), Agreement(neighbours=1))
    assert places(before)[12] == 12
    assert places(after)[12] == 2
    assert places(after).keys() == places(before).keys()


# Verifies: REQ-d00032-B
def test_a_changed_score_explains_itself() -> None:
    (best, *_) = agree(ranking(), pointing([0] * RESULTS), Agreement(neighbours=1, share=0.25))
    assert best.id == 0
    assert best.explain() == "0.8750 = lexical 0.7500 (rank 1, score 0) + agreement 0.1250 (rank 30, score 0.5)"


def test_a_result_without_a_vector_and_one_beyond_reach_keep_their_scores() -> None:
    vectors = pointing([0] * RESULTS)
    del vectors[3]
    after = {result.id: result for result in agree(ranking(), vectors, Agreement(among=20))}
    before = {result.id: result for result in ranking()}
    assert after[3] == before[3]
    assert [after[number] for number in range(20, RESULTS)] == [before[number] for number in range(20, RESULTS)]
    assert after[4] != before[4]


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_handful_of_results_is_left_alone(count: int) -> None:
    assert agree(ranking(count), pointing([0] * (count or 1)), Agreement()) == ranking(count)


def test_what_resembles_nothing_is_left_to_itself() -> None:
    after = agree(ranking(), pointing(list(range(RESULTS))), Agreement())
    assert [result.score for result in after] == pytest.approx([result.score for result in ranking()])


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(0, 4), min_size=10, max_size=40),
    st.integers(1, 6),
    st.floats(0, 1),
    st.integers(1, 40),
)
def test_nothing_is_lost_values_add_up_and_the_same_gives_the_same(
    directions: list[int], neighbours: int, share: float, among: int
) -> None:
    before, vectors = ranking(len(directions)), pointing(directions)
    agreement = Agreement(neighbours=neighbours, share=share, among=among)
    after = agree(before, vectors, agreement)
    assert places(after).keys() == places(before).keys()
    assert [result.score for result in after] == sorted((result.score for result in after), reverse=True)
    for result in after:
        assert result.score == pytest.approx(math.fsum(part.value for part in result.contributions))
    assert agree(before, vectors, agreement) == after


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("how does heat conduct through composite slabs", True),
        ("what similarity laws must be obeyed when constructing aeroelastic models", True),
        ("heat slabs", False),
        ("REQ-d00062 retries", False),
        ("which river flows through the town where Otto Bergmann was born", False),
        ("what does getUserById return when the user is gone", False),
        ("", False),
    ],
)
def test_only_a_query_about_a_subject_asks_around(query: str, asks: bool) -> None:
    assert asks_around(parse_query(query), Agreement()) is asks
