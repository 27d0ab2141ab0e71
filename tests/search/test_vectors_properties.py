"""Whatever is done to a vector space, it holds and finds what a dictionary of lists would."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.properties import examples
from tests.search.vector_spaces import FILE, Space, mask

DIMENSIONS, UNITS = 4, 30
NUMBERS = st.lists(st.integers(1, UNITS), max_size=12)
SEEDS = st.integers(0, 10_000)


def vectors_from(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)


class SpaceMachine(RuleBasedStateMachine):
    @initialize()
    def create(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.held: dict[int, list[np.ndarray]] = {}
        self.there = set(range(1, UNITS + 1))
        self.space = Space(self.folder, DIMENSIONS, UNITS)
        self.reader = Space(self.folder, DIMENSIONS)
        self.seldom = Space(self.folder, DIMENSIONS)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            for space in (self.space, self.reader, self.seldom):
                space.close()
            shutil.rmtree(self.folder)

    @rule(numbers=NUMBERS, seed=SEEDS)
    def put(self, numbers: list[int], seed: int) -> None:
        vectors = vectors_from(seed, len(numbers))
        self.space.put(numbers, vectors)
        self.held.update({number: [] for number in numbers if number in self.there})
        for number, vector in zip(numbers, vectors, strict=True):
            if number in self.there:
                self.held[number].append(vector)

    @rule(number=st.integers(1, UNITS))
    def delete(self, number: int) -> None:
        self.space.delete(number)
        self.there.discard(number)
        self.held.pop(number, None)

    @rule()
    def look_after_many_writes(self) -> None:
        assert self.seldom.units() == sorted(self.held)

    @rule()
    def fold(self) -> None:
        self.space.vectors.fold()

    @rule()
    def lose_the_file(self) -> None:
        (self.folder / FILE).unlink(missing_ok=True)

    @rule()
    def reopen(self) -> None:
        self.space.close()
        self.space = Space(self.folder, DIMENSIONS)

    @rule()
    def let_another_write(self) -> None:
        self.space, self.reader = self.reader, self.space

    @rule(seed=SEEDS, k=st.integers(1, 8), allowed=st.none() | NUMBERS)
    def search(self, seed: int, k: int, allowed: list[int] | None) -> None:
        query = vectors_from(seed, 1)[0]
        candidates = self.held if allowed is None else {n: v for n, v in self.held.items() if n in allowed}
        numbers, scores = self.reader.search(query, k, mask(list(candidates)))
        nearest = {number: max(float(vector @ query) for vector in own) for number, own in candidates.items()}
        best = sorted(nearest.values(), reverse=True)[:k]
        assert np.allclose(scores, best, rtol=1e-4, atol=1e-5)
        assert set(numbers) <= candidates.keys()
        assert len(set(numbers)) == len(numbers)
        assert np.allclose(scores, [nearest[number] for number in numbers], rtol=1e-4, atol=1e-5)

    @invariant()
    def it_holds_what_a_dictionary_holds(self) -> None:
        if not hasattr(self, "space"):
            return
        for space in (self.space, self.reader):
            assert space.units() == sorted(self.held)
            numbers, vectors = space.get(sorted(self.held))
            assert numbers == sorted(self.held)
            for number, vector in zip(numbers, vectors, strict=True):
                assert np.array_equal(vector, self.held[number][0])


SpaceMachine.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)
test_a_space_behaves_like_a_dictionary = SpaceMachine.TestCase
