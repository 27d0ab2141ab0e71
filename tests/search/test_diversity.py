"""Variety and size of what is shown."""

import pytest

from clew.errors import InvalidArgument
from clew.search.rank.fuse import at_most_per_document, spread


# Verifies: REQ-d00032-C
def test_a_document_appears_at_most_so_often_and_the_order_stays() -> None:
    items = ["a1", "a2", "b1", "a3", "c1", "b2"]
    assert at_most_per_document(items, lambda item: item[0], 1) == ("a1", "b1", "c1")
    assert at_most_per_document(items, lambda item: item[0], 2) == ("a1", "a2", "b1", "c1", "b2")
    assert at_most_per_document(items, lambda item: item[0], None) == tuple(items)
    with pytest.raises(InvalidArgument, match="max_per_document is 0"):
        at_most_per_document(items, lambda item: item[0], 0)


RELEVANCE = {"a1": 1.0, "a2": 0.9, "b1": 0.5}


def alike(one: str, other: str) -> float:
    return 1.0 if one[0] == other[0] else 0.0


# Verifies: REQ-d00032-C
@pytest.mark.parametrize(
    ("novelty", "expected"),
    [(0.0, ("a1", "a2", "b1")), (0.5, ("a1", "b1", "a2")), (1.0, ("a1", "b1", "a2"))],
)
def test_novelty_moves_what_is_like_the_best_further_down(novelty: float, expected: tuple[str, ...]) -> None:
    assert spread(["a1", "a2", "b1"], RELEVANCE.__getitem__, alike, novelty=novelty, limit=3) == expected


# Verifies: REQ-d00032-C
def test_spreading_takes_no_more_than_asked_for_and_compares_no_more_than_needed() -> None:
    asked: list[tuple[str, str]] = []

    def similarity(one: str, other: str) -> float:
        asked.append((one, other))
        return alike(one, other)

    assert spread(list(RELEVANCE), RELEVANCE.__getitem__, similarity, novelty=0.5, limit=2) == ("a1", "b1")
    assert asked == [("a1", "a2"), ("a1", "b1")]
    assert spread(list(RELEVANCE), RELEVANCE.__getitem__, similarity, novelty=0.5, limit=0) == ()
    assert spread([], RELEVANCE.__getitem__, similarity, novelty=0.5, limit=3) == ()


# Verifies: REQ-d00032-C
@pytest.mark.parametrize("wrong", [{"novelty": 1.1, "limit": 1}, {"novelty": 0.5, "limit": -1}])
def test_impossible_spreads_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument, match="must be"):
        spread(["a1"], RELEVANCE.__getitem__, alike, **wrong)  # type: ignore[arg-type]
