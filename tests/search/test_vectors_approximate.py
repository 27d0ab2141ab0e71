"""Large spaces are searched approximately: nearly the exact result, with deletions and filters."""

from pathlib import Path

import numpy as np
import pytest

from clew.search.dense import approximate as vectors_approximate
from clew.search.dense.vectors import VectorSpace

DIMENSIONS, COUNT = 32, 6000

needs_library = pytest.mark.skipif(vectors_approximate.library() is None, reason="faiss is not installed")


def clustered(count: int, seed: int = 0) -> np.ndarray:
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(120, DIMENSIONS))
    vectors = centres[chance.integers(0, 120, count)] + 0.5 * chance.normal(size=(count, DIMENSIONS))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.fixture
def space(tmp_path: Path) -> VectorSpace:
    made = VectorSpace(tmp_path / "space", "embedder", DIMENSIONS, approximate_from=1000)
    made.put(range(COUNT), clustered(COUNT))
    return made


def recall(space: VectorSpace, allowed: np.ndarray | None = None) -> float:
    """The share of the exact ten nearest that is found."""
    exact = VectorSpace(space.folder, space.name, DIMENSIONS)
    found = wanted = 0
    for query in clustered(40, seed=1):
        right = set(exact.search(query, 10, allowed)[0].tolist())
        found += len(right & set(space.search(query, 10, allowed)[0].tolist()))
        wanted += len(right)
    return found / wanted


# Verifies: REQ-d00031-F
def test_without_an_index_searches_are_exact_and_a_note_says_so(space: VectorSpace) -> None:
    assert recall(space) == 1
    assert "exactly" in space.notes()[0]


# Verifies: REQ-d00031-F
def test_a_small_space_has_nothing_to_note(tmp_path: Path) -> None:
    space = VectorSpace(tmp_path, "embedder", DIMENSIONS)
    space.put([1], clustered(1))
    assert space.notes() == ()
    assert not space.wants_approximate


# Verifies: REQ-d00031-F
@needs_library
def test_the_index_is_wanted_until_it_is_built(space: VectorSpace) -> None:
    assert space.wants_approximate
    assert space.build_approximate()
    assert not space.wants_approximate
    assert space.notes() == ()
    assert list(space.folder.glob("approximate-*"))


# Verifies: REQ-d00031-F
@needs_library
@pytest.mark.parametrize("share", [None, 0.5, 0.1, 0.001])
def test_nearly_the_exact_result_is_found_also_among_some(space: VectorSpace, share: float | None) -> None:
    space.build_approximate()
    allowed = None if share is None else np.random.default_rng(2).random(COUNT) < share
    assert recall(space, allowed) >= 0.95


# Verifies: REQ-d00031-F
@needs_library
def test_scores_are_exact(space: VectorSpace) -> None:
    space.build_approximate()
    vectors = clustered(COUNT)
    numbers, scores = space.search(vectors[17], 10)
    assert numbers[0] == 17
    assert np.allclose(scores, vectors[numbers] @ vectors[17], atol=1e-6)


# Verifies: REQ-d00031-F
@needs_library
def test_units_that_came_or_changed_or_went_since_are_right(space: VectorSpace) -> None:
    space.build_approximate()
    new, old = clustered(2, seed=5)
    space.put([COUNT, 3], [new, new])
    space.delete([4])
    assert space.search(new, 2)[0].tolist() == [3, COUNT]
    before = clustered(COUNT)
    assert 3 not in space.search(before[3], 1)[0]
    assert 4 not in space.search(before[4], 100)[0]
    assert len(space.search(old, 10)[0]) == 10


# Verifies: REQ-d00031-F
@needs_library
def test_more_than_the_index_finds_is_found_exactly(space: VectorSpace) -> None:
    space.build_approximate()
    assert len(space.search(clustered(1)[0], COUNT)[0]) == COUNT


# Verifies: REQ-d00031-F+G
@needs_library
@pytest.mark.parametrize("allowed", [None, range(250)])
def test_units_with_many_vectors_do_not_take_the_places_of_others(tmp_path: Path, allowed: range | None) -> None:
    space = VectorSpace(tmp_path, "embedder", DIMENSIONS, approximate_from=1000)
    space.put(np.repeat(np.arange(300), 20), np.repeat(clustered(300), 20, axis=0))
    assert space.build_approximate()
    for k in (10, 100, 250):
        assert len(space.search(clustered(1)[0], k, allowed)[0]) == k
    assert len(space.search(clustered(1)[0], 1000, allowed)[0]) == (300 if allowed is None else 250)


# Verifies: REQ-d00031-F
@needs_library
def test_another_reader_uses_the_index_and_writing_anew_drops_it(space: VectorSpace) -> None:
    space.build_approximate()
    other = VectorSpace(space.folder, space.name, DIMENSIONS, approximate_from=1000)
    assert not other.wants_approximate
    assert recall(other) >= 0.95
    space.compact()
    assert list(space.folder.glob("approximate-*")) == []
    assert recall(other) == 1


# Verifies: REQ-d00031-F
@needs_library
def test_a_damaged_index_is_not_used_and_can_be_built_anew(space: VectorSpace) -> None:
    space.build_approximate()
    (path,) = space.folder.glob("approximate-*")
    path.write_bytes(path.read_bytes()[:-100])
    again = VectorSpace(space.folder, space.name, DIMENSIONS, approximate_from=1000)
    assert "damaged" in again.notes()[0]
    assert recall(again) == 1
    assert again.build_approximate()
    assert VectorSpace(space.folder, space.name, DIMENSIONS, approximate_from=1000).notes() == ()
