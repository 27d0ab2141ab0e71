"""A sentence encoder: tokens in, one vector for each text out."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal, Protocol

from clew.errors import InvalidArgument

if TYPE_CHECKING:
    from clew.search.embed.embedder import Ids, Vectors

TOKENS_PER_BATCH = 256
"""Tokens of one batch. At its widest, with 1,536 numbers for each token, it stays in the processor's cache."""
_MOST_THREADS = 4

Pooling = Literal["mean", "first"]


class Tokenizer(Protocol):
    def encode(self, text: str, max_tokens: int) -> list[int]: ...


class Encoder(Protocol):
    @property
    def dimensions(self) -> int: ...

    def encode(self, ids: "Ids", mask: "Ids") -> "Vectors":
        """A vector for each token of each text, or one for each text where the model pools by itself."""
        ...


class SentenceEncoder:
    """Turns texts into vectors with a tokenizer and an encoder.

    Texts of like length share a batch, so that little is padded; batches run side by side, each on one processor,
    which is faster than all processors on one batch, and does not stall when another program takes one of them.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        encoder: Encoder,
        *,
        max_tokens: int,
        pooling: Pooling = "mean",
        threads: int | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._encoder = encoder
        self._max_tokens = max_tokens
        self._pooling = pooling
        self._pool = ThreadPoolExecutor(threads or _processors(), thread_name_prefix="clew-embed")

    def takes(self, text: str) -> bool:
        return len(self._tokenizer.encode(text, self._max_tokens + 1)) <= self._max_tokens

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        check_texts(texts)
        tokens = [self._tokenizer.encode(text, self._max_tokens) for text in texts]
        vectors = np.empty((len(texts), self._encoder.dimensions), np.float32)
        groups = list(batches([len(ids) for ids in tokens]))

        def run(group: list[int]) -> None:
            vectors[group] = self._vectors([tokens[index] for index in group])

        if len(groups) == 1:
            run(groups[0])
        else:
            for _ in self._pool.map(run, groups):
                pass
        return vectors

    def _vectors(self, batch: list[list[int]]) -> "Vectors":
        import numpy as np

        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        hidden = self._encoder.encode(ids, mask)
        if hidden.ndim == 2:
            return normalised(hidden)
        if self._pooling == "first":
            return normalised(hidden[:, 0])
        weights = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        return normalised(np.einsum("bsd,bs->bd", hidden, weights))


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions in groups of similar length, longest first, so that no long group is left to run alone at the end."""
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda position: -lengths[position]):
        if group and (len(group) + 1) * lengths[group[0]] > TOKENS_PER_BATCH:
            yield group
            group = []
        group.append(position)
    if group:
        yield group


def normalised(vectors: "Vectors") -> "Vectors":
    """Of length 1. A vector of zeros has no direction, and stays."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def check_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise InvalidArgument("A single text was passed where a list of texts belongs.", hint="Wrap it in a list.")
    for text in texts:
        if not isinstance(text, str):
            raise InvalidArgument(f"A text must be a string, not {type(text).__name__}.", hint="Pass strings only.")


def _processors() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _MOST_THREADS)
