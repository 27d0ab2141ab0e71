"""Matching two sides: the scores of each text of one side with each of the other, by words and by meaning.

Rows are the texts that ask, columns are the candidates. Ten signals look at a pair in different ways, and the score is
the mean of all, each on the same scale:

- shared words, where names and comments count more; shared words, all alike, where long texts are held back less;
  shared words and pairs of neighbours; BM25 in both directions;
- names of functions and classes that one side defines and the other mentions;
- how near the beginnings and passages of both are in meaning; how well the sentences of a requirement are met by what
  names and comments of a piece of code say, and the other way round; how well they are met by its methods.

No weight of a signal is fitted and none is left out: projects differ so much that what was chosen on some of them does
not carry over to others, while signals that fail in different ways make up for each other. In which order the
candidates of one text come is decided by the signals on the scale of that text, and how near the best of them is by the
scale of what the best matches of the whole comparison reach: so rows can be compared with each other. Where both sides
turn out to tell of things in the same order, what neighbours match counts too. A candidate then shares a little in what
candidates like it, and its neighbours in the given order, score. That many texts want the same candidate is never held
against it: in some projects one file answers a quarter of the requirements.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from clew.trace.links.match.index import Counts, NameIndex, TermIndex
from clew.trace.links.match.meaning import MeaningIndex, Progress, StatementIndex, Vectors
from clew.trace.links.match.texts import (
    LinkableText,
    fielded_counts,
    method_texts,
    names,
    pair_counts,
    passages,
    spoken_parts,
    statements,
    term_counts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Signal = Callable[[Sequence[LinkableText], Progress | None], Matrix]


BEST_PARTS = 3
"""So many methods of a file count where code is held against a requirement: the others of a large file are about
something else."""
LENGTH_SHARE = 0.7
"""The weight of the candidates' own length in one of the comparisons by words. The others hold long texts back in full,
which is right if each text is about one thing, and wrong if one file of many lines does the work of many."""
LIKE_CANDIDATES = 3
LIKE_SHARE = 0.2
"""The share of its score that a candidate gets from each of its most similar neighbours, scaled by their similarity."""
NEIGHBOUR_SHARE = 0.1
FEWEST_IN_ORDER = 20
"""With fewer texts on one of the sides, nobody can tell whether they have an order."""
NEAR_IN_ORDER = 6
"""So many neighbours on each side of a text say where its matches are likely to stand, the nearest most."""
OUTSTANDING = 1.5
"""Standard deviations above the mean of its row, from which on a match says something about its neighbours."""
MOST_COMPARED_AMONG_THEMSELVES = 2_000
"""With more candidates than this, looking for those alike would take longer than everything else."""

_MOST_TEXTS = 500
"""Of each side, spread over all of it: more would say the same."""
_HALF = 0.25
"""The variance to this power is the root of the standard deviation."""


class Candidates:
    """One side, ready to be asked."""

    def __init__(
        self,
        artefacts: Sequence[LinkableText],
        others: Sequence[LinkableText],
        vectors: Vectors | None = None,
        progress: Progress | None = None,
        *,
        state: bool | None = None,
    ) -> None:
        """`others` are texts of the kind that will ask. `state` says whether the candidates are the requirements, which
        make statements that the other side has to meet; None where that is not known: then the shorter texts do."""
        self.artefacts = artefacts
        self._state = _length(artefacts) <= _length(others) if state is None else state
        self.index = TermIndex(
            *([term_counts(each) for each in side] for side in (artefacts, others)), length_share=LENGTH_SHARE
        )
        self._by_words: list[tuple[TermIndex, Callable[[LinkableText], Counts]]] = [
            (TermIndex(*([counted(each) for each in side] for side in (artefacts, others))), counted)
            for counted in (fielded_counts, pair_counts)
        ]
        self._signals = list(self._by_names(others))
        if vectors is not None:
            self._signals += self._by_meaning(vectors, others, progress)
        self.with_meaning = vectors is not None
        self._alike: Matrix | None = None
        self._neighbour_share = 0.0
        if 1 < len(artefacts) <= MOST_COMPARED_AMONG_THEMSELVES:
            own = self._fused(artefacts)
            self._neighbour_share = NEIGHBOUR_SHARE * _likeness_of_neighbours(own)
            self._alike = _nearest(own)

    def __len__(self) -> int:
        return len(self.artefacts)

    def compare(self, asking: Sequence[LinkableText], progress: Progress | None = None) -> "Comparison":
        scores = in_order(self._fused(asking, progress))
        if self._alike is not None and len(asking):
            scores = scores @ self._alike
            scores = _shared_with_neighbours(scores, self._neighbour_share)
        return Comparison(_scaled(np.asarray(scores, np.float32)), [term_counts(artefact) for artefact in asking])

    def _fused(self, asking: Sequence[LinkableText], progress: Progress | None = None) -> "Matrix":
        counts = [term_counts(artefact) for artefact in asking]
        signals = [
            self.index.cosines(counts),
            self.index.bm25(counts, documents=self._state),
            self.index.bm25(counts, documents=not self._state),
            *(index.cosines([counted(artefact) for artefact in asking]) for index, counted in self._by_words),
            *(signal(asking, progress) for signal in self._signals),
        ]
        return _fused(signals)

    def _by_names(self, others: Sequence[LinkableText]) -> "Iterator[Signal]":
        sides = [[names(each) for each in side] for side in (self.artefacts, others)]
        # Two sides of prose define nothing.
        if any(each.defined for side in sides for each in side):
            index = NameIndex(*sides)
            yield lambda asking, _: index.cosines([names(each) for each in asking])

    def _by_meaning(
        self, vectors: Vectors, others: Sequence[LinkableText], progress: Progress | None
    ) -> "Iterator[Signal]":
        sides = ((self.artefacts, self._state), (others, not self._state))
        texts = [[text for each in side for text in encoded_texts(each, states=state)] for side, state in sides]
        if not any(texts):
            return
        space = Contrast(vectors, texts, progress)
        beginnings = MeaningIndex(space, [passages(each) for each in self.artefacts], progress)
        yield lambda asking, waiting: beginnings.cosines([passages(each) for each in asking], waiting)
        for parts, state, best in (
            (spoken_parts, self._state, None),
            (method_texts, self._state, None),
            (spoken_parts, not self._state, BEST_PARTS),
        ):
            here, there = (statements, parts) if self._state else (parts, statements)
            told = [here(each) for each in self.artefacts]
            yield _signal(StatementIndex(space, told, state=state, best=best, progress=progress), there)


class Comparison:
    """The scores of all pairs: 0 is the mean of all pairs, 1 the mean of the best pair of each text."""

    def __init__(self, scores: "Matrix", counts: Sequence[Counts]) -> None:
        self.scores = scores
        self.counts = counts
        """The terms of those who asked."""


def encoded_texts(artefact: LinkableText, *, states: bool) -> tuple[str, ...]:
    """The texts of an artefact that are compared by meaning: those of its statements, or those that meet statements."""
    own = statements(artefact) if states else (*spoken_parts(artefact), *method_texts(artefact))
    return (*passages(artefact), *own)


def _signal(index: StatementIndex, parts: Callable[[LinkableText], Sequence[str]]) -> "Signal":
    return lambda asking, progress: index.means([parts(each) for each in asking], progress)


def _length(artefacts: Sequence[LinkableText]) -> float:
    return sum(len(each.text) for each in artefacts) / max(1, len(artefacts))


def _fused(signals: "Sequence[Matrix]") -> "Matrix":
    """The mean of all signals: each row ordered by the mean of the signals on their own scales, and then spread from
    the mean to the best of the row on the common scale."""
    overall = np.mean([_scaled(signal) for signal in signals], axis=0)
    if not overall.size:
        return np.asarray(overall, np.float32)
    own = np.mean([_within_rows(signal) for signal in signals], axis=0)
    mean = overall.mean(axis=1, keepdims=True)
    reach = (overall.max(axis=1, keepdims=True) - mean) / np.maximum(own.max(axis=1, keepdims=True), 1e-6)
    return np.asarray(mean + own * reach, np.float32)


def _within_rows(values: "Matrix") -> "Matrix":
    """The distance of each pair from the mean of its row, in standard deviations."""
    apart = values - values.mean(axis=1, keepdims=True)
    return np.asarray(apart / np.maximum(apart.std(axis=1, keepdims=True), 1e-6), np.float32)


def _scaled(values: "Matrix") -> "Matrix":
    """The scores on a scale from the mean of all pairs (0) to the mean of the best pairs (1)."""
    if not values.size:
        return values
    mean = values.mean()
    reach = (_mean_of_best(values, axis=1) + _mean_of_best(values, axis=0)) / 2 - mean
    return np.asarray((values - mean) / max(float(reach), 1e-6), np.float32)


def _mean_of_best(values: "Matrix", axis: int) -> float:
    """The mean of the best scores among the texts that a signal covers. If few texts mention names, the best of those
    few would otherwise outweigh every other signal."""
    best = values.max(axis=axis)
    told = best[best > values.min(axis=axis)]
    return float((told if told.size else best).mean())


def _nearest(own: "Matrix") -> "Matrix":
    """The shares in which each candidate takes scores from its most similar neighbours; a column for each."""
    itself = np.maximum(own.diagonal(), 1e-6)
    np.fill_diagonal(own, -np.inf)
    shares = np.eye(len(own), dtype=np.float32)
    count = min(LIKE_CANDIDATES, len(own) - 1)
    near = np.argpartition(-own, count - 1, axis=1)[:, :count]
    for row, columns in enumerate(near):
        shares[columns, row] = LIKE_SHARE * np.clip(own[row, columns] / itself[row], 0, 1)
    return np.asarray(shares / shares.sum(axis=0), np.float32)


def _likeness_of_neighbours(own: "Matrix") -> float:
    """From 0, where neighbours in the given order are as unlike as any two, to 1."""
    apart = own[~np.eye(len(own), dtype=bool)]
    beside = np.concatenate([own.diagonal(1), own.diagonal(-1)])
    spread = float(apart.std())
    return min(1.0, max(0.0, float(beside.mean() - apart.mean()) / spread / 1.5)) if spread > 0 else 0.0


def _shared_with_neighbours(scores: "Matrix", share: float) -> "Matrix":
    spread = scores.copy()
    spread[:, 1:] += share * scores[:, :-1]
    spread[:, :-1] += share * scores[:, 1:]
    return spread / np.float32(1 + 2 * share)


def in_order(scores: "Matrix") -> "Matrix":
    """Add the order of both sides to the scores: if both sides are in the same order, the matches of a text's
    neighbours tell where its own are likely to be. The weight is measured: it is the agreement between the neighbours'
    scores and the texts' own. Where the order means nothing they do not agree, and nothing changes."""
    if min(scores.shape) < FEWEST_IN_ORDER:
        return scores
    own = _within_rows(scores)
    outstanding = np.maximum(own - OUTSTANDING, 0)
    outstanding /= np.maximum(outstanding.sum(axis=1, keepdims=True), 1e-6)
    around = _near(outstanding, itself=True)
    # That all texts want a candidate says nothing about an order.
    said = _near(around.T, itself=False).T - around.mean(axis=0, keepdims=True)
    spread = float(own.std() * said.std())
    agreement = max(0.0, float((own * said).mean() - own.mean() * said.mean()) / spread) if spread > 0 else 0.0
    reach = scores.std(axis=1, keepdims=True)
    return np.asarray(scores + 2 * agreement**2 * reach * _within_rows(said), np.float32)


def _near(values: "Matrix", *, itself: bool) -> "Matrix":
    """For each column of a row the mean of its neighbours, the nearest weighted most; with or without itself."""
    columns = values.shape[1]
    added = values.copy() if itself else np.zeros_like(values)
    weights = np.full(columns, float(itself), np.float32)
    for away in range(1, min(NEAR_IN_ORDER, columns - 1) + 1):
        weight = 1 - away / (NEAR_IN_ORDER + 1)
        added[:, away:] += weight * values[:, :-away]
        added[:, :-away] += weight * values[:, away:]
        weights[away:] += weight
        weights[:-away] += weight
    return added / weights


class Contrast:
    """Vectors in which the part common to all texts of a project counts little.

    To an encoder all texts about one subject are alike, and those that speak in the most general terms are near to all
    others. As a word that stands everywhere says little about what belongs together, so does a direction in which all
    texts lie, or in which they differ most. The mean of both sides, which count alike, is taken away, and every
    direction is shortened by the root of how far the texts differ along it: half of the way to a space in which they
    differ alike in all directions.
    """

    def __init__(self, vectors: Vectors, sides: Sequence[Sequence[str]], progress: Progress | None = None) -> None:
        self._vectors = vectors
        seen = [vectors.of(_some(list(dict.fromkeys(texts))), progress) for texts in sides if texts]
        self._mean = np.mean([side.mean(axis=0) for side in seen], axis=0)
        apart = np.concatenate([(side - self._mean) / np.sqrt(len(side) * len(seen)) for side in seen])
        _, spread, self._directions = np.linalg.svd(apart, full_matrices=False)
        variances = spread**2
        # Directions in which nothing differs yet are as open as the mean of all.
        mean = max(float(variances.sum()) / apart.shape[1], 1e-9)
        self._elsewhere = np.float32(mean**-_HALF)
        self._shares = np.asarray((variances + mean) ** -_HALF, np.float32) - self._elsewhere

    def of(self, texts: Sequence[str], progress: Progress | None = None) -> "Matrix":
        """One row of length 1 for each text."""
        apart = self._vectors.of(texts, progress) - self._mean
        found = self._elsewhere * apart + ((apart @ self._directions.T) * self._shares) @ self._directions
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6), np.float32)


def _some(texts: Sequence[str]) -> list[str]:
    if len(texts) <= _MOST_TEXTS:
        return list(texts)
    return [texts[number * len(texts) // _MOST_TEXTS] for number in range(_MOST_TEXTS)]
