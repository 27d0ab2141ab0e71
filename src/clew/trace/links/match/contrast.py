"""What sets texts apart: vectors in which little counts what all texts of a project have in common.

To an encoder all texts about one subject are alike, and those that speak in the most general terms are near to all
others. As a word that stands everywhere says little about what belongs together, so does a direction in which all texts
lie, or in which they differ most. The mean of both sides is taken away, and every direction is shortened by the root of
how far the texts differ along it: half of the way to a space in which they differ alike in all directions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from clew.trace.links.match.meaning import Progress, Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_MOST_TEXTS = 500
"""Of each side, spread over all of it: more would say the same."""
_HALF = 0.25
"""The variance to this power is the root of the standard deviation."""


class Contrast:
    """The vectors of texts, seen beside those of two sides that are compared. Both sides count alike."""

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
