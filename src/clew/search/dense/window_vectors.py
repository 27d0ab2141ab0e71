"""The vectors of the windows of units, a byte for each number: they tell the windows of a few units apart and are never
searched, so they are kept small and read on demand."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from clew.search.embed.embedder import Vectors

_LARGEST = 127


def packed(vectors: "Vectors") -> bytes:
    """Vectors as bytes: of each its scale, and then its numbers in steps of that scale."""
    import numpy as np

    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9) / _LARGEST
    rows = np.zeros(len(vectors), _row(vectors.shape[1]))
    rows["scale"] = scales
    rows["steps"] = np.rint(vectors / scales[:, None])
    return rows.tobytes()


def unpacked(data: bytes, dimensions: int) -> "Vectors":
    """ValueError where the bytes are no vectors of so many dimensions."""
    import numpy as np

    rows = np.frombuffer(data, _row(dimensions))
    return np.asarray(rows["steps"] * rows["scale"][:, None], np.float32)


def _row(dimensions: int) -> "np.dtype[np.void]":
    import numpy as np

    return np.dtype([("scale", "<f4"), ("steps", "i1", (dimensions,))])
