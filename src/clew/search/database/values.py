"""Values as PostgreSQL takes and sends them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_KINDS = {20: ">i8", 21: ">i2", 23: ">i4", 700: ">f4", 701: ">f8"}
"""Of numbers, by the number of their type."""
_HEADER = 5
"""Four-byte numbers before the first of an array: dimensions, whether one is null, their type, how many, from where."""


def array(numbers: Iterable[float]) -> str:
    """Numbers as an array, each with all its digits."""
    return f"{{{','.join(map(repr, numbers))}}}"


def texts(values: Iterable[str]) -> str:
    """Texts as an array."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in values)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"


def numbers_in(sent: bytes | None) -> "NDArray[Any]":
    """The numbers of an array that came as bytes. An aggregate of no rows is null."""
    import numpy as np

    if sent is None or len(sent) < 4 * _HEADER:
        return np.empty(0, np.int64)
    kind = np.dtype(_KINDS[int.from_bytes(sent[8:12])])
    # Before each number stands how long it is.
    each = np.dtype([("size", ">i4"), ("number", kind)])
    return np.frombuffer(sent, each, offset=4 * _HEADER)["number"].astype(kind.newbyteorder("="))


def vector_as_text(vector: "Vector") -> str:
    return msgspec.json.encode(vector.tolist()).decode()


def packed_vector(vector: "Vector") -> bytes:
    """Four bytes about its dimensions, then its numbers in two bytes each."""
    return len(vector).to_bytes(2) + bytes(2) + vector.astype(">f2").tobytes()


def unpacked_vector(sent: bytes) -> "Vector":
    import numpy as np

    return np.frombuffer(sent, ">f2", offset=4).astype(np.float32)
