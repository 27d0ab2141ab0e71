"""Embeddings that several servers share: what an embedder made of a text, by the hash of the text."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedding(NamedTuple):
    vectors: "Vectors"
    """One row for a text, or several."""
    windows: bytes | None
    """Those of its windows, packed, where the unit is quoted."""


class Claim(Protocol):
    @property
    def known(self) -> Mapping[str, Embedding]:
        """What others made of the claimed texts in the meantime."""
        ...

    def put(self, made: Mapping[str, Embedding]) -> None: ...


class Sharing(Protocol):
    def number_of(self, name: str, dimensions: int) -> int:
        """The number of an embedder."""
        ...

    def get(self, embedder: int, hashes: Sequence[str]) -> dict[str, Embedding]:
        """What is known of these texts."""
        ...

    def claimed(self, embedder: int, hashes: Sequence[str]) -> AbstractContextManager[tuple[Claim, frozenset[str]]]:
        """Those of the texts that the caller is to encode: nobody else does until the block ends. What it puts is there
        for all when the block ends well."""
        ...

    def forget(self, hashes: Sequence[str]) -> None:
        """Take out for good what was made of texts that are purged."""
        ...

    def close(self) -> None: ...
