"""Measures of ranking quality and speed, on examples computed by hand."""

import math
import random

import pytest
from benchmarks.retrieval import paired_bootstrap
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InvalidArgument
from clew.search.eval.metrics import (
    Gain,
    bootstrap,
    latency,
    ndcg,
    percentile,
    recall,
    reciprocal_rank,
)

GRADES = {"a": 3, "b": 2, "c": 1, "d": 0}


def test_binary_ndcg_by_hand() -> None:
    # Found at ranks 1 and 3 of three relevant: (1 + 1/2) / (1 + 1/log2(3) + 1/2)
    assert ndcg(["a", "x", "c"], GRADES, 10) == pytest.approx(1.5 / (1.5 + 1 / math.log2(3)))
    assert ndcg(["c", "b", "a"], GRADES, 10) == 1.0
    assert ndcg(["x", "d"], GRADES, 10) == 0.0


def test_graded_ndcg_by_hand() -> None:
    # Gains 1, 3 against the ideal 3, 2 (linear), and 1, 7 against 7, 3 (exponential), at depth 2.
    discount = 1 / math.log2(3)
    assert ndcg(["c", "a"], GRADES, 2, Gain.LINEAR) == pytest.approx((1 + 3 * discount) / (3 + 2 * discount))
    assert ndcg(["c", "a"], GRADES, 2, Gain.EXPONENTIAL) == pytest.approx((1 + 7 * discount) / (7 + 3 * discount))
    assert ndcg(["a", "b", "c"], GRADES, 3, Gain.EXPONENTIAL) == 1.0


def test_ndcg_looks_at_k_results_and_counts_each_id_once() -> None:
    assert ndcg(["x", "a"], GRADES, 1) == 0.0
    assert ndcg(["a", "a", "b"], {"a": 1, "b": 1}, 2) == 1.0


def test_recall_by_hand() -> None:
    assert recall(["a", "x", "b"], {"a", "b", "c"}, 2) == pytest.approx(1 / 3)
    assert recall(["a", "x", "b"], ["a", "b", "c"], 3) == pytest.approx(2 / 3)
    assert recall(["a", "b"], {"a", "b", "c"}, 2, capped=True) == 1.0


def test_reciprocal_rank_by_hand() -> None:
    assert reciprocal_rank(["x", "y", "a", "b"], {"a", "b"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "y", "a"], {"a"}, k=2) == 0.0
    assert reciprocal_rank([], {"a"}) == 0.0


def test_a_query_without_relevant_documents_has_no_value() -> None:
    for measure in (
        lambda: ndcg(["a"], {"a": 0}, 10),
        lambda: recall(["a"], set(), 10),
        lambda: reciprocal_rank(["a"], ()),
    ):
        with pytest.raises(InvalidArgument, match="Nothing is relevant"):
            measure()


def test_no_results_are_not_counted_to_no_depth() -> None:
    with pytest.raises(InvalidArgument, match="k is 0"):
        ndcg(["a"], {"a": 1}, 0)
    with pytest.raises(InvalidArgument, match="k is -1"):
        recall(["a"], {"a"}, -1)


@given(
    st.lists(st.integers(0, 20), unique=True),
    st.dictionaries(st.integers(0, 20), st.integers(1, 3), min_size=1),
    st.integers(1, 25),
    st.sampled_from(Gain),
)
def test_measures_lie_between_nothing_and_one(ranked: list[int], grades: dict[int, int], k: int, gain: Gain) -> None:
    ideal = sorted(grades, key=lambda item: -grades[item])
    assert 0.0 <= ndcg(ranked, grades, k, gain) <= 1.0 + 1e-12
    assert ndcg(ideal, grades, k, gain) == pytest.approx(1.0)
    assert 0.0 <= recall(ranked, grades, k) <= recall(ranked, grades, k, capped=True) <= 1.0


def test_the_interval_has_the_mean_inside_and_is_the_same_for_the_same_seed() -> None:
    values = [0.0] * 40 + [1.0] * 60
    interval = bootstrap(values, seed=3)
    assert interval.mean == 0.6
    # The standard error is sqrt(.6 * .4 / 100) = .049, so 95 % of the means lie within about .096.
    assert interval.low == pytest.approx(0.504, abs=0.015)
    assert interval.high == pytest.approx(0.696, abs=0.015)
    assert interval == bootstrap(values, seed=3)
    narrow = bootstrap(values, seed=3, confidence=0.5)
    assert interval.low < narrow.low < narrow.high < interval.high
    uneven = [math.sqrt(value) for value in range(50)]
    assert bootstrap(uneven, seed=3) != bootstrap(uneven, seed=4)


def test_pairing_sees_a_small_gain_that_unpaired_intervals_hide() -> None:
    draws = random.Random(1)
    before = [draws.random() for _ in range(100)]
    after = [value + 0.02 + draws.gauss(0, 0.02) for value in before]
    gain = paired_bootstrap(before, after)
    assert 0.01 < gain.low < gain.mean < gain.high < 0.03
    assert bootstrap(before, seed=1).high > bootstrap(after, seed=1).low
    same = paired_bootstrap(before, before)
    assert (same.low, same.mean, same.high) == (0.0, 0.0, 0.0)


def test_what_cannot_be_averaged_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no values"):
        bootstrap([], seed=1)
    with pytest.raises(InvalidArgument, match="0 resamples"):
        bootstrap([1.0], seed=1, resamples=0)
    with pytest.raises(InvalidArgument, match="percentile 2"):
        percentile([1.0], 2)
    with pytest.raises(InvalidArgument, match="0 values"):
        latency([])


def test_percentiles_are_values_that_were_measured() -> None:
    values = [15.0, 20.0, 35.0, 40.0, 50.0]
    assert [percentile(values, share) for share in (0.05, 0.3, 0.4, 0.5, 1.0)] == [15.0, 20.0, 20.0, 35.0, 50.0]
    assert percentile(values, 0.0) == 15.0


def test_latency_of_a_hundred_calls() -> None:
    measured = latency([float(value) for value in range(100, 0, -1)])
    assert (measured.p50, measured.p95, measured.p99, measured.most, measured.count) == (50.0, 95.0, 99.0, 100.0, 100)
    assert latency([float(value) for value in range(1, 21)]).p95 == 19.0
