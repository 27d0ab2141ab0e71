"""From what speaks for a link to a confidence that means something: of links suggested at 0.8, about 80 % are right.

The weights are those of a logistic regression. `python -m benchmarks.links --fit` computes them anew from the sets it
names, and `make bench-links` shows how well they hold on links that they were not fitted to.
"""

from collections.abc import Mapping
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from clew.trace.links.match.matching import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

HIGH, MEDIUM = 0.8, 0.5

WITH_MEANING: Mapping[str, float] = {
    "score": 0.404,
    "lead": 1.981,
    "lead_of_candidate": 0.886,
    "place": -0.807,
    "place_of_candidate": -0.708,
    "choice": -1.268,
    "bias": 6.385,
}
BY_WORDS_ALONE: Mapping[str, float] = {
    "score": 2.087,
    "lead": 1.289,
    "lead_of_candidate": 0.282,
    "place": -0.584,
    "place_of_candidate": -0.702,
    "choice": -1.264,
    "bias": 5.125,
}


IN_A_PROJECT: Mapping[str, float] = {
    "texts": 0.9,
    "same_file": 3.0,
    "same_folder": 1.2,
    "imports": 1.0,
    "calls": 1.5,
    "others_in_file": -1.0,
    "is_code": -1.5,
    "bias": -0.5,
}
"""What the surroundings add to what the texts say, and that of code much less has to cite anything than of tests. Two
projects are at hand to learn this from, too few for a fit: the figures are round, and smaller than a fit would have
them. `make bench-links` shows how they do on both."""


def logits(comparison: Comparison, *, with_meaning: bool) -> "Matrix":
    """How much the texts speak for each pair, as the logarithm of the odds."""
    weights = WITH_MEANING if with_meaning else BY_WORDS_ALONE
    total = np.full_like(comparison.scores, weights["bias"])
    for name, values in comparison.features():
        total += np.float32(weights[name]) * values
    return total


def confidences(comparison: Comparison, *, with_meaning: bool) -> "Matrix":
    """The probability that each pair is a link, as far as the texts tell."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits(comparison, with_meaning=with_meaning), -30, 30))), np.float32)


def in_a_project(texts: float, around: Mapping[str, float], *, is_code: bool) -> float:
    """The confidence in a link of a test or piece of code, from what its text says (as the logarithm of the odds) and
    what stands around it."""
    weights = IN_A_PROJECT
    logit = weights["bias"] + weights["texts"] * texts + weights["is_code"] * is_code
    logit += sum(weights[name] * value for name, value in around.items())
    return 1 / (1 + exp(-max(-30.0, min(30.0, logit))))


def band(confidence: float) -> str:
    return "high" if confidence >= HIGH else "medium" if confidence >= MEDIUM else "low"


def worth_suggesting(found: "Matrix") -> float:
    """The confidence from which on links are suggested, so that the expected F1 is highest.

    With k links suggested of which the sum of their confidences is expected to be right, and the sum of all confidences
    expected to exist, F1 is 2 * right / (k + existing).
    """
    ordered = np.sort(found, axis=None)[::-1].astype(np.float64)
    if not len(ordered):
        return 1.0
    right = np.cumsum(ordered)
    expected = 2 * right / (np.arange(1, len(ordered) + 1) + right[-1])
    return float(ordered[int(expected.argmax())])
