"""From how well a pair matches to a confidence.

Without answers of the project itself nobody knows how many of its pairs are links: in one project a hundredth, in
another a quarter. So at first one threshold on the scaled score holds everywhere, a confidence only orders suggestions,
and the answer says so. What the user accepts and rejects then fits the confidences to the project: from a handful of
decisions on, of suggestions at 0.8 about 80 % are right.
"""

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from clew.trace.links.match.matching import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

HIGH, MEDIUM = 0.8, 0.5
THRESHOLD = 0.7
"""The scaled score from which on a pair is suggested as a link."""
STEEPNESS = 8.0
"""The growth of the confidence around the threshold."""
SUREST = 4.0
SUGGESTED_FROM = 0.5
FEWEST_DECISIONS = 5

_PRIOR_SLOPE, _PRIOR_SHIFT = 16.0, 0.5
"""The inverse variances of slope and shift: the weight of the general values in a fit."""

IN_A_PROJECT: Mapping[str, float] = {
    "texts": 0.9,
    "named": 6.0,
    "same_file": 3.0,
    "same_folder": 1.2,
    "imports": 1.0,
    "calls": 1.5,
    "others_in_file": -1.0,
    "is_code": -1.5,
}
"""The weights of the surroundings, added to the similarity of the texts; code cites far more rarely than tests do. An
id in a comment weighs most. Only two projects are available for learning the rest, too few for a fit: the figures are
round, and smaller than a fit would make them. `make bench-links` measures them on both."""


def logits(comparison: Comparison) -> "Matrix":
    """The logarithm of the odds that each pair is a link, from the texts."""
    return np.asarray(STEEPNESS * (comparison.scores - THRESHOLD), np.float32)


def confidences(comparison: Comparison) -> "Matrix":
    """The confidence that each pair is a link, from the texts; 0.5 at the threshold."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits(comparison), -30, 30))), np.float32)


def in_a_project(texts: float, around: Mapping[str, float], *, candidates: int, is_code: bool) -> float:
    """The logarithm of the odds that a test or piece of code is linked to one of so many candidates, from its text and
    its surroundings. If the texts have nothing in common, all candidates are equally likely, and the best match is
    never certain."""
    weights = IN_A_PROJECT
    said = min(max(texts, _least(candidates)), SUREST)
    logit = weights["texts"] * said + weights["is_code"] * is_code
    return logit + sum(weights[name] * value for name, value in around.items())


def is_nothing(texts: float, candidates: int) -> bool:
    """True if the texts of a pair tell only that all candidates are equally likely."""
    return texts <= _least(candidates)


def _least(candidates: int) -> float:
    return -log(max(candidates, 2))


class Calibration(msgspec.Struct, frozen=True):
    """The adjustment of a project's confidences to the decisions of people."""

    slope: float = 1.0
    shift: float = 0.0
    decisions: int = 0
    """That it was fitted to."""

    @property
    def is_calibrated(self) -> bool:
        return self.decisions >= FEWEST_DECISIONS

    def confidence(self, logit: float) -> float:
        return 1 / (1 + exp(-max(-30.0, min(30.0, self.slope * logit + self.shift))))


def calibrated(judged: Sequence[tuple[float, bool]]) -> Calibration:
    """The calibration that fits the decisions best, given the logit of each pair and whether it was accepted;
    few decisions change little. Logistic regression by Newton's method."""
    if not judged:
        return Calibration()
    inputs = np.array([[logit, 1.0] for logit, _ in judged])
    right = np.array([float(accepted) for _, accepted in judged])
    prior, firmness = np.array([1.0, 0.0]), np.array([_PRIOR_SLOPE, _PRIOR_SHIFT])

    def misfit(fit: "NDArray[np.float64]") -> float:
        said = inputs @ fit
        return float(
            np.logaddexp(0, np.where(right > 0, -said, said)).sum() + (firmness * (fit - prior) ** 2).sum() / 2
        )

    found = prior.copy()
    for _ in range(50):
        said = 1 / (1 + np.exp(-np.clip(inputs @ found, -30, 30)))
        slope = inputs.T @ (right - said) - firmness * (found - prior)
        curve = (inputs * (said * (1 - said))[:, None]).T @ inputs + np.diag(firmness)
        step = np.linalg.solve(curve, slope)
        # A whole step may lead beyond the best fit, and away from it, where decisions are far from what was expected.
        while misfit(found + step) > misfit(found) and np.abs(step).max() > 1e-8:
            step /= 2
        found += step
        if np.abs(step).max() < 1e-8:
            break
    return Calibration(max(0.05, float(found[0])), float(found[1]), len(judged))


def band(confidence: float) -> str:
    return "high" if confidence >= HIGH else "medium" if confidence >= MEDIUM else "low"
