"""Embeddings that several servers share: the vectors of texts by embedder and hash of the text."""

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
    """The vectors of its windows, packed; only of a quoted unit."""


class Claim(Protocol):
    @property
    def known(self) -> Mapping[str, Embedding]:
        """Embeddings of the claimed texts that others made in the meantime."""
        ...

    def put(self, made: Mapping[str, Embedding]) -> None: ...


class Sharing(Protocol):
    def number_of(self, name: str, dimensions: int) -> int:
        """The number of an embedder."""
        ...

    def get(self, embedder: int, hashes: Sequence[str]) -> dict[str, Embedding]:
        """The shared embeddings of these texts; texts without one are left out."""
        ...

    def claimed(self, embedder: int, hashes: Sequence[str]) -> AbstractContextManager[tuple[Claim, frozenset[str]]]:
        """Claim texts to encode: yields the claim and the hashes that fell to the caller. Nobody else encodes these
        until the block ends. Embeddings that the caller puts are there for all when the block ends well."""
        ...

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete the embeddings of purged texts for good."""
        ...

    def close(self) -> None: ...
