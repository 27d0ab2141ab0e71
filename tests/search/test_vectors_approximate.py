"""Large spaces are searched approximately: nearly the exact result, with deletions and filters."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.search.vector_spaces import Space, mask, opened

from clew.search.dense import approximate

DIMENSIONS, COUNT = 32, 3000
NUMBERS = range(1, COUNT + 1)

needs_library = pytest.mark.skipif(approximate.library() is None, reason="faiss is not installed")


def clustered(count: int, seed: int = 0) -> np.ndarray:
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(120, DIMENSIONS))
    vectors = centres[chance.integers(0, 120, count)] + 0.5 * chance.normal(size=(count, DIMENSIONS))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Space]:
    with opened(tmp_path, DIMENSIONS, COUNT + 2, approximate_from=1000) as made:
        made.put(NUMBERS, clustered(COUNT))
        made.vectors.fold()
        yield made


def build(space: Space) -> bool:
    return space.vectors.build_approximate(space.view())


def spread_out(count: int, seed: int = 0) -> np.ndarray:
    """Without clusters, so that the nearest lie in many cells."""
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def notes(space: Space) -> tuple[str, ...]:
    with space.index.reading() as connection:
        return space.vectors.notes(connection)


def recall(space: Space, allowed: np.ndarray | None = None, asked: np.ndarray | None = None) -> float:
    """The share of the exact ten nearest that is found."""
    found = wanted = 0
    with opened(space.folder, DIMENSIONS) as exact:
        for query in clustered(40, seed=1) if asked is None else asked:
            right = set(exact.search(query, 10, allowed)[0])
            found += len(right & set(space.search(query, 10, allowed)[0]))
            wanted += len(right)
    return found / wanted


# Verifies: REQ-d00031-F
def test_without_an_index_searches_are_exact_and_a_note_says_so(space: Space) -> None:
    assert recall(space) == 1
    assert "exactly" in notes(space)[0]


# Verifies: REQ-d00031-F
def test_a_small_space_has_nothing_to_note(tmp_path: Path) -> None:
    with opened(tmp_path, DIMENSIONS, 1) as space:
        space.put([1], clustered(1))
        space.vectors.fold()
        assert notes(space) == ()
        assert not space.vectors.wants_approximate(space.view())


# Verifies: REQ-d00031-F
@needs_library
def test_the_index_is_wanted_until_it_is_built(space: Space) -> None:
    assert space.vectors.wants_approximate(space.view())
    assert build(space)
    assert not space.vectors.wants_approximate(space.view())
    assert notes(space) == ()
    assert list(space.folder.glob("*.index"))


# Verifies: REQ-d00031-F
@needs_library
@pytest.mark.parametrize("share", [None, 0.5, 0.1, 0.001])
def test_nearly_the_exact_result_is_found_also_among_some(space: Space, share: float | None) -> None:
    build(space)
    allowed = None if share is None else np.random.default_rng(2).random(COUNT) < share
    assert recall(space, allowed) >= 0.95


# Verifies: REQ-d00031-F
@needs_library
def test_vectors_that_lie_far_apart_are_looked_for_in_more_places(tmp_path: Path) -> None:
    with opened(tmp_path, DIMENSIONS, COUNT, approximate_from=1000) as space:
        space.put(NUMBERS, spread_out(COUNT))
        space.vectors.fold()
        assert build(space)
        assert recall(space, asked=spread_out(40, seed=1)) >= 0.9


# Verifies: REQ-d00031-F
@needs_library
def test_scores_are_exact(space: Space) -> None:
    build(space)
    vectors = clustered(COUNT)
    numbers, scores = space.search(vectors[17], 10)
    assert numbers[0] == 18
    assert np.allclose(scores, [vectors[number - 1] @ vectors[17] for number in numbers], atol=1e-6)


# Verifies: REQ-d00031-F
@needs_library
def test_units_that_came_or_changed_or_went_since_are_right(space: Space) -> None:
    build(space)
    new, old = clustered(2, seed=5)
    space.put([COUNT + 1, 3], [new, new])
    space.delete(4)
    before = clustered(COUNT)
    assert space.search(new, 2)[0] == [3, COUNT + 1]
    assert 3 not in space.search(before[2], 1)[0]
    assert 4 not in space.search(before[3], 100, space.allowed())[0]
    assert len(space.search(old, 10)[0]) == 10


# Verifies: REQ-d00031-F
@needs_library
def test_more_than_the_index_finds_is_found_exactly(space: Space) -> None:
    build(space)
    assert len(space.search(clustered(1)[0], COUNT)[0]) == COUNT


# Verifies: REQ-d00031-F+G
@needs_library
@pytest.mark.parametrize("allowed", [None, range(1, 251)])
def test_units_with_many_vectors_do_not_take_the_places_of_others(tmp_path: Path, allowed: range | None) -> None:
    among = None if allowed is None else mask(list(allowed))
    with opened(tmp_path, DIMENSIONS, 300, approximate_from=1000) as space:
        space.put(np.repeat(np.arange(1, 301), 20), np.repeat(clustered(300), 20, axis=0))
        space.vectors.fold()
        assert build(space)
        for k in (10, 100, 250):
            assert len(space.search(clustered(1)[0], k, among)[0]) == k
        assert len(space.search(clustered(1)[0], 1000, among)[0]) == (300 if allowed is None else 250)


# Verifies: REQ-d00031-F
@needs_library
def test_another_reader_uses_the_index_and_writing_anew_ends_it(space: Space) -> None:
    build(space)
    with opened(space.folder, DIMENSIONS, approximate_from=1000) as other:
        assert not other.vectors.wants_approximate(other.view())
        assert recall(other) >= 0.95
        space.put([COUNT + 2], clustered(1, seed=7))
        space.vectors.fold()
        assert other.vectors.wants_approximate(other.view())
        assert recall(other) == 1
        assert build(other)
        assert len(list(space.folder.glob("*.index"))) == 1


# Verifies: REQ-d00031-F
@needs_library
def test_a_damaged_index_is_not_used_and_can_be_built_anew(space: Space) -> None:
    build(space)
    (path,) = space.folder.glob("*.index")
    path.write_bytes(path.read_bytes()[:-100])
    with opened(space.folder, DIMENSIONS, approximate_from=1000) as again:
        assert "damaged" in notes(again)[0]
        assert recall(again) == 1
        assert again.vectors.wants_approximate(again.view())
        assert build(again)
        assert notes(again) == ()
