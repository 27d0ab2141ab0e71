"""The wire format of protocol buffers, as far as model files need it."""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview, memoryview]]:
    """Number, value and raw bytes of each field in order. ValueError where the message is malformed."""
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        kind = key & 7
        value: int | memoryview
        if kind == VARINT:
            value, at = _varint(message, at)
        else:
            if kind == BYTES:
                size, at = _varint(message, at)
            elif kind in (FIXED64, FIXED32):
                size = 8 if kind == FIXED64 else 4
            else:
                raise ValueError(f"wire type {kind} is not known")
            value, at = message[at : at + size], at + size
            if at > len(message):
                raise ValueError("a field ends beyond its message")
        yield key >> 3, value, message[start:at]


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _encoded(number << 3 | VARINT) + _encoded(value)
    payload = value.encode() if isinstance(value, str) else value
    return head(number, len(payload)) + payload


def head(number: int, size: int) -> bytes:
    """What stands before a field of `size` bytes."""
    return _encoded(number << 3 | BYTES) + _encoded(size)


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    result = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
    raise ValueError("a number has no end")


def _encoded(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
