"""Whatever is done to a vector space, it holds and finds what a dictionary of lists would."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from clew.search.dense.vectors import VectorSpace

DIMENSIONS = 4
NUMBERS = st.lists(st.integers(0, 30), max_size=12)
SEEDS = st.integers(0, 10_000)


def vectors_from(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)


class SpaceMachine(RuleBasedStateMachine):
    @initialize()
    def create(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.held: dict[int, list[np.ndarray]] = {}
        self.space = VectorSpace(self.folder, "embedder", DIMENSIONS)
        self.reader = VectorSpace(self.folder, "embedder", DIMENSIONS)
        self.seldom = VectorSpace(self.folder, "embedder", DIMENSIONS)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule(numbers=NUMBERS, seed=SEEDS)
    def put(self, numbers: list[int], seed: int) -> None:
        vectors = vectors_from(seed, len(numbers))
        self.space.put(numbers, vectors)
        self.held.update({number: [] for number in numbers})
        for number, vector in zip(numbers, vectors, strict=True):
            self.held[number].append(vector)

    @rule(numbers=NUMBERS)
    def delete(self, numbers: list[int]) -> None:
        present = set(numbers) & self.held.keys()
        assert self.space.delete(numbers) == len(present)
        for number in present:
            del self.held[number]

    @rule()
    def look_after_many_writes(self) -> None:
        assert self.seldom.numbers().tolist() == sorted(self.held)

    @rule()
    def compact(self) -> None:
        self.space.compact()

    @rule()
    def reopen(self) -> None:
        self.space = VectorSpace(self.folder, "embedder", DIMENSIONS)

    @rule()
    def let_another_write(self) -> None:
        self.space, self.reader = self.reader, self.space

    @rule()
    def rebuild(self) -> None:
        batches = [([number] * len(vectors), vectors) for number, vectors in self.held.items()]
        self.space = VectorSpace.rebuild(self.folder, "embedder", DIMENSIONS, batches)

    @rule(rubbish=st.binary(min_size=1, max_size=200))
    def leave_the_remains_of_a_stopped_writer(self, rubbish: bytes) -> None:
        for path in (*self.folder.glob("vectors-*"), *self.folder.glob("journal-*")):
            with path.open("ab") as file:
                file.write(rubbish)

    @rule(seed=SEEDS, k=st.integers(1, 8), allowed=st.none() | NUMBERS, as_mask=st.booleans())
    def search(self, seed: int, k: int, allowed: list[int] | None, as_mask: bool) -> None:
        query = vectors_from(seed, 1)[0]
        candidates = self.held if allowed is None else {n: v for n, v in self.held.items() if n in allowed}
        given: object = allowed
        if allowed is not None and as_mask:
            given = np.isin(np.arange(31), allowed)
        numbers, scores = self.reader.search(query, k, given)  # type: ignore[arg-type]
        nearest = {number: max(float(vector @ query) for vector in own) for number, own in candidates.items()}
        best = sorted(nearest.values(), reverse=True)[:k]
        assert np.allclose(scores, best, rtol=1e-4, atol=1e-5)
        assert set(numbers.tolist()) <= candidates.keys()
        assert len(set(numbers.tolist())) == len(numbers)
        assert np.allclose(scores, [nearest[int(n)] for n in numbers], rtol=1e-4, atol=1e-5)

    @invariant()
    def it_holds_what_a_dictionary_holds(self) -> None:
        if not hasattr(self, "space"):
            return
        for space in (self.space, self.reader):
            assert space.numbers().tolist() == sorted(self.held)
            numbers, vectors = space.get(sorted(self.held))
            for number, vector in zip(numbers.tolist(), vectors, strict=True):
                assert np.array_equal(vector, self.held[number][0])


SpaceMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=25)
test_a_space_behaves_like_a_dictionary = SpaceMachine.TestCase
