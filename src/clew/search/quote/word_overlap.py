"""How much of a question stands in a text, by its words: the same word counts in full, one like it in part.

Words are the same when their stems are. How much others are alike, from 0 to 1, is what the vectors of words say;
without those no other word counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from clew.text.stem import stem
from clew.text.words import split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.embed.word_vectors import WordVectors

_ALMOST = 0.999
"""As much as another word can count: only the same one is the same."""


class Overlap(msgspec.Struct, frozen=True):
    """How much of a question stands in a text, from 0 to 1."""

    same: float
    """In its very words."""
    alike: float
    """In those and in words like them."""


class WordOverlap:
    """One question, for texts whose words are given beforehand."""

    def __init__(
        self,
        question: str,
        rarities: Mapping[str, float],
        words: Iterable[str],
        vectors: "WordVectors | None" = None,
    ) -> None:
        """`rarities` has the terms of the question that count, each with its weight; `words` are all that the texts
        have, as `split` gives them."""
        import numpy as np

        asked = {stem(word): word for word in reversed(split(question).words)}
        self._terms = {term: place for place, term in enumerate(rarities)}
        weights = np.fromiter(rarities.values(), np.float64, len(rarities))
        self._weights = weights / (weights.sum() or 1.0)
        self._place = {word: place for place, word in enumerate(dict.fromkeys(words))}
        self._alike = self._compared([asked.get(term, term) for term in rarities], [*self._place], vectors)

    def _compared(
        self, asked: Sequence[str], words: Sequence[str], vectors: "WordVectors | None"
    ) -> "NDArray[np.float32]":
        """A row for each word, a column for each term."""
        import numpy as np

        if vectors is None:
            alike = np.zeros((len(words), len(asked)), np.float32)
        else:
            alike = np.clip(vectors.of(words) @ vectors.of(asked).T, 0.0, _ALMOST)
        for row, word in enumerate(words):
            if (column := self._terms.get(stem(word))) is not None:
                alike[row, column] = 1.0
        return alike

    def best(self, words: Iterable[str]) -> "NDArray[np.float32]":
        """For each term of the question, how much the word counts that is most like it."""
        places = [self._place[word] for word in dict.fromkeys(words)]
        best: NDArray[np.float32] = self._alike[places].max(axis=0, initial=0.0)
        return best

    def share(self, best: "NDArray[np.float32]") -> Overlap:
        return Overlap(min(1.0, float(self._weights @ (best >= 1.0))), min(1.0, float(self._weights @ best)))
