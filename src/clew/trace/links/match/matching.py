"""Matching two sides: how strongly each text of one side belongs to each of the other, by words and by meaning.

Rows are the texts that ask, columns are the candidates. What is compared is never one pair alone:

- scores are put on the scale of what the best matches of this very comparison reach, so that they mean the same for
  short requirements and long files;
- a candidate shares in what candidates like it score, and, as far as neighbours in the given order resemble each
  other, in what its neighbours score: documents and folders are written in some order;
- a candidate that suits everybody is held back by what it scores with others.

The figures were chosen on the sets of `benchmarks/links_sets.py`; `make bench-links` measures what they give.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from clew.trace.links.match.index import Counts, TermIndex
from clew.trace.links.match.meaning import MeaningIndex, Progress, Vectors
from clew.trace.links.match.texts import Artefact, passages, term_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

MEANING_WEIGHT = 0.8
"""Of meaning, where words weigh 1."""
LIKE_CANDIDATES = 3
LIKE_SHARE = 0.2
NEIGHBOUR_SHARE = 0.1
CROWD = 5
CROWD_SHARE = 0.45
"""How much of a candidate's mean score with the five it suits best is taken from its scores."""

MOST_COMPARED_AMONG_THEMSELVES = 2_000
"""With more candidates than this, looking for those alike would take longer than everything else."""
_ROWS_AT_ONCE = 256


class Candidates:
    """One side, ready to be asked."""

    def __init__(
        self,
        artefacts: Sequence[Artefact],
        others: Sequence[Artefact],
        vectors: Vectors | None = None,
        progress: Progress | None = None,
    ) -> None:
        """`others` are texts of the kind that will ask."""
        self.artefacts = artefacts
        self.counts: Sequence[Counts] = [term_counts(artefact) for artefact in artefacts]
        self.index = TermIndex(self.counts, [term_counts(other) for other in others])
        texts = [] if vectors is None else [passages(artefact) for artefact in artefacts]
        self._meaning = None if vectors is None else MeaningIndex(vectors, texts, progress)
        self._alike: Matrix | None = None
        self._neighbour_share = 0.0
        if 1 < len(artefacts) <= MOST_COMPARED_AMONG_THEMSELVES:
            own = self._scores(self.counts, texts)
            self._neighbour_share = NEIGHBOUR_SHARE * _likeness_of_neighbours(own)
            self._alike = _nearest(own)

    def __len__(self) -> int:
        return len(self.artefacts)

    @property
    def with_meaning(self) -> bool:
        return self._meaning is not None

    def compare(self, asking: Sequence[Artefact], progress: Progress | None = None) -> "Comparison":
        counts = [term_counts(artefact) for artefact in asking]
        texts = [passages(artefact) for artefact in asking] if self.with_meaning else []
        scores = self._scores(counts, texts, progress)
        if self._alike is not None and len(asking):
            scores = (1 - LIKE_SHARE) * scores + LIKE_SHARE * (scores @ self._alike)
            scores = _shared_with_neighbours(scores, self._neighbour_share)
        return Comparison(np.asarray(scores, np.float32), counts)

    def _scores(
        self, counts: Sequence[Counts], texts: Sequence[Sequence[str]], progress: Progress | None = None
    ) -> "Matrix":
        words = _scaled(self.index.cosines(counts))
        if self._meaning is None:
            return words
        meaning = _scaled(self._meaning.cosines(texts, progress))
        return np.asarray((words + MEANING_WEIGHT * meaning) / (1 + MEANING_WEIGHT), np.float32)


class Comparison:
    """The scores of all pairs, and what sets a pair apart."""

    def __init__(self, scores: "Matrix", counts: Sequence[Counts]) -> None:
        self.scores = scores
        self.counts = counts
        """The terms of those who asked."""

    def features(self) -> "Iterator[tuple[str, Matrix]]":
        """What speaks for a pair, one matrix after the other: there may be millions of pairs."""
        scores = self.scores
        yield "score", scores
        held_back = scores - CROWD_SHARE * _best(scores, CROWD)
        # By how much a pair is ahead of the best other candidate, and of the best other text for this candidate.
        yield "lead", held_back - _best_other(held_back)
        yield "lead_of_candidate", held_back - _best_other(held_back.T).T
        yield "place", _log_ranks(held_back)
        yield "place_of_candidate", _log_ranks(held_back.T).T
        # Nearly everything belongs somewhere: the more there is to choose from, the less likely is any one pair, and
        # the side that has fewer decides.
        yield "choice", np.full_like(scores, np.log(max(min(scores.shape), 1)))


def _scaled(values: "Matrix") -> "Matrix":
    """On a scale where 0 is the mean of all pairs and 1 what the best pairs reach on average."""
    if not values.size:
        return values
    mean = values.mean()
    reach = (values.max(axis=1).mean() + values.max(axis=0).mean()) / 2 - mean
    return np.asarray((values - mean) / max(float(reach), 1e-6), np.float32)


def _nearest(own: "Matrix") -> "Matrix":
    """For each candidate the shares of those most like it; a column for each."""
    np.fill_diagonal(own, -np.inf)
    shares = np.zeros_like(own)
    count = min(LIKE_CANDIDATES, len(own) - 1)
    for row, near in enumerate(np.argpartition(-own, count - 1, axis=1)[:, :count]):
        likeness = np.maximum(own[row, near], 0)
        if likeness.sum() > 0:
            shares[near, row] = likeness / likeness.sum()
        else:
            shares[row, row] = 1
    return shares


def _likeness_of_neighbours(own: "Matrix") -> float:
    """From 0, where neighbours in the given order are as unlike as any two, to 1."""
    size = len(own)
    apart = own[~np.eye(size, dtype=bool)]
    beside = np.concatenate([own.diagonal(1), own.diagonal(-1)])
    spread = float(apart.std())
    return min(1.0, max(0.0, float(beside.mean() - apart.mean()) / spread / 1.5)) if spread > 0 else 0.0


def _shared_with_neighbours(scores: "Matrix", share: float) -> "Matrix":
    spread = scores.copy()
    spread[:, 1:] += share * scores[:, :-1]
    spread[:, :-1] += share * scores[:, 1:]
    return spread / np.float32(1 + 2 * share)


def _best(scores: "Matrix", count: int) -> "Matrix":
    """The mean of the best scores of each column."""
    count = min(count, len(scores))
    return np.asarray(np.partition(scores, len(scores) - count, axis=0)[len(scores) - count :].mean(axis=0))


def _best_other(scores: "Matrix") -> "Matrix":
    """For each pair the best score of its row without it; where there is no other, its own."""
    if scores.shape[1] < 2:
        return scores
    best = scores.argmax(axis=1)
    rows = np.arange(len(scores))
    first = scores[rows, best]
    others = scores.copy()
    others[rows, best] = -np.inf
    found = np.repeat(first[:, None], scores.shape[1], axis=1)
    found[rows, best] = others.max(axis=1)
    return found


def _log_ranks(scores: "Matrix") -> "Matrix":
    """log(1 + rank) of each pair in its row, 0 for the first."""
    found = np.empty(scores.shape, np.float32)
    places = np.log1p(np.arange(scores.shape[1], dtype=np.float32))
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        order = np.argsort(-scores[start : start + _ROWS_AT_ONCE], axis=1, kind="stable")
        np.put_along_axis(found[start : start + _ROWS_AT_ONCE], order, places[None], axis=1)
    return found
