"""The interface of an embedder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    Ids: TypeAlias = NDArray[np.int64]


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Vectors of embedders with the same name can be compared: it names the weights and the arithmetic."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The longest text in tokens; the rest of a longer one is ignored."""
        ...

    def takes(self, text: str) -> bool:
        """True if a text fits completely."""
        ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One vector of length 1 for each text, in order. Any text will do, the empty one too.

        Many texts at once are several times faster than one by one. A caller who wants to stop in between, or to keep
        what is done, hands over a few hundred at a time.
        """
        ...
