"""Fitting the confidence of link suggestions, so that whoever changes what speaks for a link can fit it anew.

Logistic regression by Newton's method. Texts are divided into folds, and what is reported of a text comes from weights
that were fitted without its fold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.trace.links.match.matching import Candidates
from clew.trace.links.match.meaning import Vectors
from clew.trace.links.measure import LinkSet

FOLDS = 5
RIDGE = 1.0
WEIGHT_OF_A_SET = 100.0
"""Every set counts as much as one of so many links, whatever its size."""
WEIGHTS = {"warc": 4.0}
"""The one set that was linked by hand, as what users measure on will be, and with gaps, as such links have them."""
SEED = 7

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Observed:
    """All pairs of one set, in one direction."""

    name: str
    links: LinkSet
    reversed: bool
    features: Matrix
    """Sources, targets and features."""
    labels: NDArray[np.bool_]
    folds: NDArray[np.int64]
    """Of the sources."""


def observe(sets: Mapping[str, LinkSet], vectors: Vectors | None) -> tuple[list[str], list[Observed]]:
    """The names of the features, and what is seen of the sets in both directions."""
    names: list[str] = []
    found: list[Observed] = []
    draws = np.random.default_rng(SEED)
    for name, forward in sets.items():
        for is_reversed in (False, True):
            links = forward.reversed() if is_reversed else forward
            comparison = Candidates(links.targets, links.sources, vectors).compare(links.sources)
            named = list(comparison.features())
            names = [feature for feature, _ in named]
            values = np.stack([matrix for _, matrix in named], axis=-1).astype(np.float64)
            folds = draws.integers(0, FOLDS, len(links.sources))
            found.append(Observed(name, links, is_reversed, values, links.labels(), folds))
    return names, found


def fit(observed: Sequence[Observed], leave_out: int | None = None) -> Matrix:
    """The weights of the features, the bias last; without the texts of one fold."""
    pairs, labels, weights = [], [], []
    for each in observed:
        kept = each.folds != leave_out
        own = each.labels[kept].ravel()
        pairs.append(each.features[kept].reshape(len(own), -1))
        labels.append(own)
        weights.append(np.full(len(own), WEIGHT_OF_A_SET * WEIGHTS.get(each.name, 1.0) / max(int(own.sum()), 1)))
    return regression(np.concatenate(pairs), np.concatenate(labels).astype(float), np.concatenate(weights))


def held_out(observed: Sequence[Observed]) -> dict[tuple[str, bool], NDArray[np.float32]]:
    """The confidences of every set and direction, each row from weights that never saw its text."""
    found = {(each.name, each.reversed): np.zeros(each.labels.shape, np.float32) for each in observed}
    for fold in range(FOLDS):
        weights = fit(observed, leave_out=fold)
        for each in observed:
            rows = each.folds == fold
            logits = each.features[rows] @ weights[:-1] + weights[-1]
            found[each.name, each.reversed][rows] = 1 / (1 + np.exp(-logits))
    return found


def regression(pairs: Matrix, labels: Matrix, weights: Matrix) -> Matrix:
    mean, spread = pairs.mean(axis=0), pairs.std(axis=0) + 1e-9
    inputs = np.column_stack([(pairs - mean) / spread, np.ones(len(pairs))])
    ridge = np.eye(inputs.shape[1]) * RIDGE
    ridge[-1, -1] = 0
    found = np.zeros(inputs.shape[1])
    for _ in range(50):
        said = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (weights * (labels - said)) - ridge @ found
        curve = (inputs * (weights * said * (1 - said))[:, None]).T @ inputs + ridge
        step = np.linalg.solve(curve, slope)
        found += step
        if np.abs(step).max() < 1e-8:
            break
    scaled = found[:-1] / spread
    return np.append(scaled, found[-1] - mean @ scaled)
