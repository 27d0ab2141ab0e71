"""Reads model.safetensors: a JSON header of names, types and places, then the numbers."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ConfigError

if TYPE_CHECKING:
    from clew.search.embed.embedder import Vectors

_LARGEST_HEADER = 100_000_000


class _Entry(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def read_tensors(path: Path, content: bytes) -> "dict[str, Vectors]":
    """Every floating-point tensor by name, as 32-bit floats."""
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > min(_LARGEST_HEADER, len(content) - 8):
        raise _refusal(path, "its header does not fit into it")
    try:
        raw: dict[str, msgspec.Raw] = msgspec.json.decode(content[8 : 8 + size], type=dict[str, msgspec.Raw])
        entries = {
            name: msgspec.json.decode(entry, type=_Entry) for name, entry in raw.items() if name != "__metadata__"
        }
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refusal(path, f"its header is damaged ({error})") from error
    body = memoryview(content)[8 + size :]
    return {name: _tensor(path, name, entry, body) for name, entry in entries.items() if entry.dtype in _WIDTHS}


_WIDTHS = {"F32": 4, "F16": 2, "BF16": 2}


def _tensor(path: Path, name: str, entry: _Entry, body: memoryview) -> "Vectors":
    import numpy as np

    start, stop = entry.data_offsets
    count = 1
    for length in entry.shape:
        count *= length
    if not 0 <= start <= stop <= len(body) or stop - start != count * _WIDTHS[entry.dtype]:
        raise _refusal(path, f"the tensor '{name}' does not lie where the header says")
    data = body[start:stop]
    if entry.dtype == "BF16":
        # The upper half of a 32-bit float.
        numbers = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = np.frombuffer(data, "<f4" if entry.dtype == "F32" else "<f2").astype(np.float32)
    return numbers.reshape(entry.shape)


def _refusal(path: Path, cause: str) -> ConfigError:
    return ConfigError(f"{path} cannot be used: {cause}.", hint="Copy the file again from where it came.")
