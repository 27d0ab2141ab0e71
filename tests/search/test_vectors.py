"""Vectors are kept, found, replaced and deleted; what is found is exactly what is nearest."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from clew.errors import Conflict, InvalidArgument, StoreBusy
from clew.search.dense.lock import writing
from clew.search.dense.vectors import VectorSpace

DIMENSIONS = 16


def some_vectors(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.fixture
def space(tmp_path: Path) -> VectorSpace:
    return VectorSpace(tmp_path / "space", "embedder", DIMENSIONS)


def reopened(space: VectorSpace) -> VectorSpace:
    return VectorSpace(space.folder, space.name, space.dimensions)


def nearest(vectors: dict[int, np.ndarray], query: np.ndarray, k: int) -> list[int]:
    return sorted(vectors, key=lambda number: (-float(vectors[number] @ query), number))[:k]


# Verifies: REQ-d00031-F
def test_the_nearest_units_come_first_with_their_scores(space: VectorSpace) -> None:
    vectors = some_vectors(3000)
    space.put(range(3000), vectors)
    query = some_vectors(1, seed=9)[0]
    numbers, scores = space.search(query, 10)
    expected = nearest(dict(enumerate(vectors)), query, 10)
    assert numbers.tolist() == expected
    assert np.allclose(scores, [vectors[number] @ query for number in expected], atol=1e-6)


def test_an_empty_space_finds_nothing(space: VectorSpace) -> None:
    numbers, scores = space.search(np.ones(DIMENSIONS), 5)
    assert (len(numbers), len(scores), len(space)) == (0, 0, 0)


def test_fewer_units_than_asked_for_are_all_there_are(space: VectorSpace) -> None:
    space.put([7, 3], some_vectors(2))
    assert sorted(space.search(np.ones(DIMENSIONS), 100)[0]) == [3, 7]


# Verifies: REQ-d00031-F
def test_equal_scores_are_ordered_by_number(space: VectorSpace) -> None:
    space.put([9, 2, 5, 1], np.tile(some_vectors(1), (4, 1)))
    assert space.search(some_vectors(1)[0], 3)[0].tolist() == [1, 2, 5]


# Verifies: REQ-d00031-F
@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_only_allowed_units_are_found(space: VectorSpace, share: float) -> None:
    count = 5000
    vectors = some_vectors(count)
    numbers = np.arange(count) * 3
    space.put(numbers, vectors)
    space.delete(numbers[::5])
    allowed = np.sort(np.random.default_rng(1).permutation(numbers)[: int(count * share)])
    mask = np.zeros(allowed.max(initial=0) + 1, bool)
    mask[allowed] = True
    query = some_vectors(1, seed=2)[0]
    gone = set(numbers[::5].tolist())
    expected = nearest({int(n): vectors[n // 3] for n in allowed if int(n) not in gone}, query, 20)
    assert space.search(query, 20, mask)[0].tolist() == expected
    assert space.search(query, 20, allowed)[0].tolist() == expected
    assert space.search(query, 20, allowed[::-1].tolist())[0].tolist() == expected


def test_numbers_that_are_far_apart_or_unknown_may_be_allowed(space: VectorSpace) -> None:
    far = 2**62 - 1
    space.put([1, far], some_vectors(2))
    assert set(space.search(np.ones(DIMENSIONS), 5, [1, far, 77])[0].tolist()) == {1, far}
    assert space.search(np.ones(DIMENSIONS), 5, np.array([True, True]))[0].tolist() == [1]
    many = np.concatenate([np.arange(2000), [far]])
    assert set(space.search(np.ones(DIMENSIONS), 5, many)[0].tolist()) == {1, far}


def test_a_vector_that_is_put_again_replaces_the_old_one(space: VectorSpace) -> None:
    first, second = some_vectors(2)
    space.put([4], [first])
    space.put([4], [second])
    assert len(space) == 1
    assert np.isclose(space.search(second, 1)[1][0], 1, atol=1e-6)


# Verifies: REQ-d00031-F
def test_a_unit_with_several_vectors_is_as_near_as_the_nearest_of_them(space: VectorSpace) -> None:
    vectors = some_vectors(6)
    space.put([4, 5, 4, 4], vectors[:4])
    assert len(space) == 2
    numbers, first = space.get([4, 5, 6])
    assert numbers.tolist() == [4, 5]
    assert np.array_equal(first, vectors[[0, 1]])
    for number, vector in ((4, 0), (5, 1), (4, 2), (4, 3)):
        found, scores = space.search(vectors[vector], 2)
        assert sorted(found.tolist()) == [4, 5]
        assert found[0] == number
        assert np.isclose(scores[0], 1, atol=1e-6)
        assert space.search(vectors[vector], 2, [4])[0].tolist() == [4]
    space.compact()
    assert reopened(space).search(vectors[3], 1)[0].tolist() == [4]
    space.put([4], vectors[4:5])
    assert len(space) == 2
    assert space.search(vectors[3], 2)[1].max() < 0.999
    space.put([5, 5], vectors[2:4])
    assert space.delete([5]) == 1
    assert space.numbers().tolist() == [4]


# Verifies: REQ-d00031-F
def test_a_deleted_unit_is_gone_and_can_come_back(space: VectorSpace) -> None:
    vectors = some_vectors(5)
    space.put(range(5), vectors)
    assert space.delete([1, 3, 3, 99]) == 2
    assert space.numbers().tolist() == [0, 2, 4]
    assert 1 not in space.search(vectors[1], 5)[0]
    space.put([1], [vectors[0]])
    assert reopened(space).numbers().tolist() == [0, 1, 2, 4]


def test_deleting_nothing_writes_nothing(space: VectorSpace) -> None:
    space.put([1], some_vectors(1))
    before = {path.name: path.stat().st_mtime_ns for path in space.folder.iterdir() if path.name != "writer.lock"}
    assert space.delete([]) == space.delete([8, 9]) == 0
    space.put([], np.empty((0, DIMENSIONS)))
    after = {path.name: path.stat().st_mtime_ns for path in space.folder.iterdir() if path.name != "writer.lock"}
    assert before == after


def test_everything_is_there_after_reopening(space: VectorSpace) -> None:
    vectors = some_vectors(2500)
    space.put(range(2500), vectors)
    space.delete(range(0, 2500, 7))
    query = vectors[3]
    again = reopened(space)
    assert again.numbers().tolist() == space.numbers().tolist()
    assert again.search(query, 10)[0].tolist() == space.search(query, 10)[0].tolist()


def size(space: VectorSpace) -> int:
    """The bytes that the vectors take, those of dead rows among them."""
    return sum(path.stat().st_size for path in space.folder.glob("vectors-*"))


def test_dead_rows_are_given_back_by_themselves_when_there_are_many(space: VectorSpace) -> None:
    vectors = some_vectors(5000)
    space.put(range(5000), vectors)
    space.delete(range(2000))
    assert len(space) == 3000
    assert size(space) == 3000 * DIMENSIONS * 4
    assert space.search(vectors[4000], 1)[0].tolist() == [4000]
    assert reopened(space).numbers().tolist() == list(range(2000, 5000))


def test_compacting_changes_no_result(space: VectorSpace) -> None:
    vectors = some_vectors(300)
    space.put(range(300), vectors)
    space.delete(range(0, 300, 3))
    before = space.search(vectors[7], 20)[0].tolist()
    space.compact()
    assert size(space) == 200 * DIMENSIONS * 4
    assert space.search(vectors[7], 20)[0].tolist() == before


def test_an_odd_number_of_dimensions_works_too(tmp_path: Path) -> None:
    space = VectorSpace(tmp_path, "embedder", 3)
    vectors = some_vectors(2000, dimensions=3)
    space.put(range(2000), vectors)
    reader = VectorSpace(tmp_path, "embedder", 3)
    reader.check()
    assert reader.search(vectors[1234], 1)[0].tolist() == [int((vectors @ vectors[1234]).argmax())]


def test_a_reader_sees_what_another_one_wrote(space: VectorSpace) -> None:
    reader = reopened(space)
    vectors = some_vectors(2000)
    space.put(range(1500), vectors[:1500])
    assert len(reader) == 1500
    space.put(range(1500, 2000), vectors[1500:])
    space.delete([0])
    assert reader.search(vectors[1999], 1)[0].tolist() == [1999]
    assert len(reader) == 1999
    space.compact()
    assert reader.search(vectors[1999], 1)[0].tolist() == [1999]


# Verifies: REQ-d00035-B
def test_two_writers_take_turns_and_lose_nothing(space: VectorSpace) -> None:
    other = reopened(space)
    for number in range(0, 40, 2):
        space.put([number], some_vectors(1, seed=number))
        other.put([number + 1], some_vectors(1, seed=number + 1))
    assert space.numbers().tolist() == other.numbers().tolist() == list(range(40))


def test_a_writer_that_waits_too_long_says_so_and_writes_nothing(space: VectorSpace) -> None:
    impatient = VectorSpace(space.folder, space.name, DIMENSIONS, patience=0.0)
    with writing(space.folder, 1.0), pytest.raises(StoreBusy):
        impatient.put([1], some_vectors(1))
    impatient.put([1], some_vectors(1))
    assert len(space) == 1


# Verifies: REQ-d00035-B
def test_threads_search_while_one_writes(space: VectorSpace) -> None:
    vectors = some_vectors(4000)
    space.put(range(1000), vectors[:1000])
    finished = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        while not finished.is_set():
            numbers, scores = space.search(vectors[5], 5)
            if numbers[0] != 5 or not np.isclose(scores[0], 1, atol=1e-5):
                wrong.append(numbers)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for start in range(1000, 4000, 100):
        space.put(range(start, start + 100), vectors[start : start + 100])
        space.delete(range(start - 900, start - 850))
    finished.set()
    for reader in readers:
        reader.join()
    assert wrong == []


READER = """
import sys
from pathlib import Path
import numpy as np
from clew.search.dense.vectors import VectorSpace

space = VectorSpace(Path(sys.argv[1]), "embedder", 16)
query = np.zeros(16, np.float32)
query[0] = 1
print("ready", flush=True)
seen = 0
while seen < 2000:
    numbers, scores = space.search(query, 10_000)
    # Vector n is (n + 1) times the first axis, so that a row that is read by half shows.
    assert np.array_equal(scores, numbers.astype(np.float32) + 1), (numbers, scores)
    assert len(numbers) >= seen or sys.exit("units went missing")
    seen = len(numbers)
print("done")
"""


# Verifies: REQ-d00035-B
def test_another_process_reads_whole_vectors_while_they_are_written(space: VectorSpace) -> None:
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(space.folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    for start in range(0, 2000, 50):
        vectors = np.zeros((50, DIMENSIONS), np.float32)
        vectors[:, 0] = np.arange(start + 1, start + 51)
        space.put(range(start, start + 50), vectors)
        if start % 500 == 0:
            space.compact()
    out, problems = reader.communicate(timeout=300)
    assert (out, problems) == ("done\n", "")


def test_rebuilding_replaces_everything(space: VectorSpace) -> None:
    vectors = some_vectors(30)
    space.put(range(30), vectors)
    reader = reopened(space)
    again = VectorSpace.rebuild(
        space.folder, space.name, DIMENSIONS, (([number], vectors[number : number + 1]) for number in (3, 1, 2))
    )
    assert again.numbers().tolist() == reader.numbers().tolist() == [1, 2, 3]
    assert len(list(space.folder.glob("vectors-*"))) == 1


def test_a_space_can_be_rebuilt_for_another_embedder(space: VectorSpace) -> None:
    space.put([1], some_vectors(1))
    again = VectorSpace.rebuild(space.folder, "other", 4, [([5], np.ones((1, 4)))])
    assert again.numbers().tolist() == [5]


@pytest.mark.parametrize(("name", "dimensions"), [("other", DIMENSIONS), ("embedder", DIMENSIONS + 1)])
def test_vectors_of_another_embedder_are_a_conflict(space: VectorSpace, name: str, dimensions: int) -> None:
    space.put([1], some_vectors(1))
    with pytest.raises(Conflict, match="embedder"):
        VectorSpace(space.folder, name, dimensions)


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
    space: VectorSpace, numbers: list[int], vectors: np.ndarray
) -> None:
    space.put([1], some_vectors(1))
    with pytest.raises(InvalidArgument):
        space.put(numbers, vectors)
    assert np.array_equal(space.get([1])[1], some_vectors(1))
    assert len(space) == 1


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
def test_bad_queries_are_refused(space: VectorSpace, query: np.ndarray, k: int) -> None:
    space.put([1], some_vectors(1))
    with pytest.raises(InvalidArgument):
        space.search(query, k)


def test_a_space_of_no_dimensions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        VectorSpace(tmp_path, "embedder", 0)
