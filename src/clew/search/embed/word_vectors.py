"""Vectors of single words: the token table of the encoder that comes with Clew.

The encoder refines these vectors by what is around a token, which takes milliseconds for a text. The table alone
takes microseconds for a word, and already holds that `remove` is near to `delete`.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from clew.search.embed.minilm import WEIGHTS, vocabulary
from clew.search.embed.onnx_graph import read_model
from clew.search.embed.wordpiece import LONGEST_WORD, WordPiece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.embed.embedder import Vectors

_MARKED = 3
"""The pieces of a text of one piece, with the markers around it."""
_STEPS = "inner.embeddings.word_embeddings.weight_q"
_SCALES = "inner.embeddings.word_embeddings.weight_scale"


class WordVectors:
    def __init__(self, pieces: WordPiece, steps: "NDArray[np.int8]", scales: "Vectors") -> None:
        """A token's vector is its row of `steps` times its scale."""
        self._pieces = pieces
        self._steps = steps
        self._scales = scales.copy()
        # What the vocabulary lacks is like nothing, least of all like everything else that it lacks.
        self._scales[pieces.unknown] = 0

    @classmethod
    def load(cls) -> "WordVectors":
        """Load the word vectors. Raises ConfigError if the encoder's files are missing or have another checksum."""
        import numpy as np

        constants = read_model(WEIGHTS.read()).constants
        steps, scales = constants[_STEPS], constants[_SCALES]
        return cls(
            WordPiece(vocabulary()),
            # A copy, since a view would keep the whole file in memory.
            np.frombuffer(steps.values, np.int8).reshape(steps.shape).copy(),
            np.frombuffer(scales.values, np.float32),
        )

    def knows(self, word: str) -> bool:
        """True if the word is in common use, rather than a name that few texts use."""
        return len(self._pieces.encode(word, LONGEST_WORD + 2)) == _MARKED

    def of(self, words: Sequence[str]) -> "Vectors":
        """A vector of length 1 for each word, the direction of the sum of its pieces; zeros for an unknown word."""
        import numpy as np

        from clew.search.embed.sentence import normalised

        if not words:
            return np.empty((0, self._steps.shape[1]), np.float32)
        # The pieces of a word are between two markers.
        ids = [self._pieces.encode(word, LONGEST_WORD + 2)[1:-1] or [self._pieces.unknown] for word in words]
        flat = np.concatenate([np.asarray(each) for each in ids])
        rows = self._steps[flat] * self._scales[flat, None]
        starts = [0, *accumulate(len(each) for each in ids[:-1])]
        return normalised(np.add.reduceat(rows, starts, axis=0))
