"""Vectors are kept, found, replaced and deleted; what is found is exactly what is nearest."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.search.vector_spaces import FILE, Space, mask, opened

from clew.errors import InvalidArgument
from clew.search.dense import view

DIMENSIONS = 16
COUNT = 600


def some_vectors(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


NUMBERS = list(range(1, COUNT + 1))
VECTORS = some_vectors(COUNT)
QUERY = some_vectors(1, seed=9)[0]


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Space]:
    with opened(tmp_path, DIMENSIONS, COUNT) as made:
        yield made


def nearest(query: np.ndarray, k: int, among: list[int]) -> list[int]:
    return sorted(among, key=lambda number: (-float(VECTORS[number - 1] @ query), number))[:k]


# Verifies: REQ-d00031-F
@pytest.mark.parametrize("folded", [0, COUNT // 2, COUNT], ids=["in the table", "half in the file", "in the file"])
def test_the_nearest_units_come_first_with_their_scores(space: Space, folded: int) -> None:
    space.put(NUMBERS[:folded], VECTORS[:folded])
    space.vectors.fold()
    space.put(NUMBERS[folded:], VECTORS[folded:])
    numbers, scores = space.search(QUERY, 10)
    assert numbers == nearest(QUERY, 10, NUMBERS)
    assert np.allclose(scores, [VECTORS[number - 1] @ QUERY for number in numbers], atol=1e-6)
    assert len(space.view().newer.numbers) == COUNT - folded


def test_an_empty_space_finds_nothing(space: Space) -> None:
    space.vectors.fold()
    numbers, scores = space.search(np.ones(DIMENSIONS), 5)
    assert (len(numbers), len(scores), space.units()) == (0, 0, [])


def test_fewer_units_than_asked_for_are_all_there_are(space: Space) -> None:
    space.put([7, 3], some_vectors(2))
    assert sorted(space.search(np.ones(DIMENSIONS), 100)[0]) == [3, 7]


# Verifies: REQ-d00031-F
def test_equal_scores_are_ordered_by_number(space: Space) -> None:
    space.put([9, 2], np.tile(some_vectors(1), (2, 1)))
    space.vectors.fold()
    space.put([5, 1], np.tile(some_vectors(1), (2, 1)))
    assert space.search(some_vectors(1)[0], 3)[0] == [1, 2, 5]


# Verifies: REQ-d00031-F
@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_only_allowed_units_are_found(space: Space, share: float) -> None:
    space.put(NUMBERS[:400], VECTORS[:400])
    space.vectors.fold()
    space.put(NUMBERS[400:], VECTORS[400:])
    space.delete(*NUMBERS[::5])
    allowed = np.sort(np.random.default_rng(1).permutation(NUMBERS)[: int(COUNT * share)])
    there = [int(number) for number in allowed if (number - 1) % 5]
    expected = nearest(QUERY, 20, there)
    assert space.search(QUERY, 20, mask(there))[0] == expected
    both = np.zeros(COUNT + 1, bool)
    both[allowed] = True
    assert space.search(QUERY, 20, both & np.pad(space.allowed(), (0, COUNT + 1))[: COUNT + 1])[0] == expected


def test_a_vector_that_is_put_again_replaces_the_old_one(space: Space) -> None:
    first, second = some_vectors(2)
    space.put([4], [first])
    for fold in (False, True):
        if fold:
            space.vectors.fold()
            space.search(first, 1)
        space.put([4], [second])
        assert space.units() == [4]
        assert np.isclose(space.search(second, 1)[1][0], 1, atol=1e-6)
        assert np.array_equal(space.get([4])[1], [second])
        first, second = second, first


# Verifies: REQ-d00031-F+G
@pytest.mark.parametrize("fold", [False, True])
def test_a_unit_with_several_vectors_is_as_near_as_the_nearest_of_them(space: Space, fold: bool) -> None:
    vectors = some_vectors(6)
    space.put([4, 5, 4, 4], vectors[:4])
    if fold:
        space.vectors.fold()
    assert space.units() == [4, 5]
    numbers, first = space.get([5, 4, 6])
    assert numbers == [5, 4]
    assert np.array_equal(first, vectors[[1, 0]])
    for number, vector in ((4, 0), (5, 1), (4, 2), (4, 3)):
        found, scores = space.search(vectors[vector], 2)
        assert sorted(found) == [4, 5]
        assert found[0] == number
        assert np.isclose(scores[0], 1, atol=1e-6)
        assert space.search(vectors[vector], 2, mask([4]))[0] == [4]
    space.put([4], vectors[4:5])
    assert space.units() == [4, 5]
    assert space.search(vectors[3], 2)[1].max() < 0.999


# Verifies: REQ-d00030-C
def test_vectors_of_units_that_are_gone_are_not_put_and_not_let_through(space: Space) -> None:
    space.put([1, 2, 3], VECTORS[:3])
    space.delete(2)
    space.put([2, 3], VECTORS[:2])
    assert space.units() == [1, 3]
    assert 2 not in space.search(VECTORS[1], 5, space.allowed())[0]


def test_everything_is_there_after_reopening(space: Space) -> None:
    space.put(NUMBERS, VECTORS)
    space.vectors.fold()
    space.put([3, 4], VECTORS[:2])
    with opened(space.folder, DIMENSIONS) as again:
        assert again.units() == space.units() == NUMBERS
        assert again.search(QUERY, 10)[0] == space.search(QUERY, 10)[0]


def test_an_odd_number_of_dimensions_works_too(tmp_path: Path) -> None:
    vectors = some_vectors(200, dimensions=3)
    with opened(tmp_path, 3, 200) as space:
        space.put(range(1, 201), vectors)
        space.vectors.fold()
        space.view().check()
        assert space.search(vectors[123], 1)[0] == [1 + int((vectors @ vectors[123]).argmax())]


def test_a_reader_sees_what_another_one_wrote_and_folded(space: Space) -> None:
    with opened(space.folder, DIMENSIONS) as reader:
        for start in range(0, COUNT, 200):
            space.put(NUMBERS[start : start + 200], VECTORS[start : start + 200])
            assert reader.search(VECTORS[start + 199], 1)[0] == [start + 200]
            assert reader.units() == NUMBERS[: start + 200]
            space.vectors.fold()
        space.put([1], VECTORS[:1])
        assert reader.view().filed == COUNT


# Verifies: REQ-d00035-B
def test_two_writers_lose_nothing(space: Space) -> None:
    with opened(space.folder, DIMENSIONS) as other:
        for number in range(2, 42, 2):
            space.put([number], VECTORS[number - 1 : number])
            other.put([number + 1], VECTORS[number : number + 1])
        assert space.units() == other.units() == list(range(2, 42))


# Verifies: REQ-d00035-B
def test_threads_search_while_one_writes_and_folds(space: Space) -> None:
    space.put(NUMBERS[:200], VECTORS[:200])
    finished = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        while not finished.is_set():
            numbers, scores = space.search(VECTORS[4], 5)
            if numbers[0] != 5 or not np.isclose(scores[0], 1, atol=1e-5):
                wrong.append(numbers)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for start in range(200, COUNT, 20):
        space.put(NUMBERS[start : start + 20], VECTORS[start : start + 20])
        space.delete(start - 100)
        if start % 100 == 0:
            space.vectors.fold()
    finished.set()
    for reader in readers:
        reader.join()
    assert wrong == []


# Verifies: REQ-d00031-F
def test_many_threads_that_search_at_once_find_what_each_would_find_alone(space: Space) -> None:
    space.put(NUMBERS, VECTORS)
    space.vectors.fold()
    queries = some_vectors(64, seed=3)
    alone = [space.search(query, 7) for query in queries]
    together: dict[int, tuple[list[int], np.ndarray]] = {}
    start = threading.Barrier(16)

    def run(first: int) -> None:
        start.wait()
        for place in range(first, len(queries), 16):
            together[place] = space.search(queries[place], 7)

    threads = [threading.Thread(target=run, args=(first,)) for first in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place, (numbers, scores) in enumerate(alone):
        assert together[place][0] == numbers
        assert np.array_equal(together[place][1], scores)


# Verifies: REQ-d00031-F
def test_queries_that_are_asked_together_have_the_scores_of_each() -> None:
    waiting = [view._Request(VECTORS, query) for query in some_vectors(view._MOST_TOGETHER, seed=5)]
    view._answer(waiting)
    for asked in waiting:
        assert np.allclose(asked.scores, VECTORS @ asked.query, atol=1e-5)


READER = """
import sys
from pathlib import Path
import numpy as np
from tests.search.vector_spaces import Space

space = Space(Path(sys.argv[1]), 16)
query = np.zeros(16, np.float32)
query[0] = 1
print("ready", flush=True)
seen = 0
while seen < 600:
    numbers, scores = space.search(query, 10_000)
    # The vector of n is n times the first axis, so that a row that is read by half shows.
    assert np.array_equal(scores, np.array(numbers, np.float32)), (numbers, scores)
    assert len(numbers) >= seen or sys.exit("units went missing")
    seen = len(numbers)
space.close()
print("done")
"""


# Verifies: REQ-d00035-B
def test_another_process_reads_whole_vectors_while_they_are_written(space: Space) -> None:
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(space.folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    for start in range(0, COUNT, 20):
        vectors = np.zeros((20, DIMENSIONS), np.float32)
        vectors[:, 0] = np.arange(start + 1, start + 21)
        space.put(range(start + 1, start + 21), vectors)
        if start % 100 == 0:
            space.vectors.fold()
    out, problems = reader.communicate(timeout=300)
    assert (out, problems) == ("done\n", "")


def test_a_file_of_another_embedder_or_index_is_not_taken(space: Space, tmp_path: Path) -> None:
    space.put([1], some_vectors(1))
    space.vectors.fold()
    with opened(tmp_path / "other", DIMENSIONS, 3) as other:
        (tmp_path / "other" / FILE).write_bytes((space.folder / FILE).read_bytes())
        assert other.units() == []
        other.put([2], some_vectors(1))
        assert other.search(np.ones(DIMENSIONS), 3)[0] == [2]


@pytest.mark.parametrize(
    ("numbers", "vectors"),
    [
        ([1], np.ones((1, DIMENSIONS + 1))),
        ([1, 2], np.ones((1, DIMENSIONS))),
        ([-1], np.ones((1, DIMENSIONS))),
        ([2**62], np.ones((1, DIMENSIONS))),
        ([1.5], np.ones((1, DIMENSIONS))),
        ([[1]], np.ones((1, DIMENSIONS))),
        ([1], np.full((1, DIMENSIONS), np.nan)),
        ([1], np.full((1, DIMENSIONS), 1e39)),
    ],
)
def test_bad_numbers_and_vectors_are_refused_and_change_nothing(
    space: Space, numbers: list[int], vectors: np.ndarray
) -> None:
    space.put([1], some_vectors(1))
    with pytest.raises(InvalidArgument):
        space.put(numbers, vectors)
    assert np.array_equal(space.get([1])[1], some_vectors(1))
    assert space.units() == [1]


@pytest.mark.parametrize(
    ("query", "k"),
    [
        (np.ones(DIMENSIONS - 1), 5),
        (np.full(DIMENSIONS, np.inf), 5),
        (np.ones(DIMENSIONS), 0),
        (np.ones(DIMENSIONS), -3),
        (np.ones(DIMENSIONS), 10**6),
    ],
)
def test_bad_queries_are_refused(space: Space, query: np.ndarray, k: int) -> None:
    space.put([1], some_vectors(1))
    with pytest.raises(InvalidArgument):
        space.search(query, k)


def test_a_space_of_no_dimensions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument), opened(tmp_path, 0):
        pass
