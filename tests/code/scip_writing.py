"""Writes index files in the SCIP format for tests: messages of Protocol Buffers."""

from collections.abc import Iterable, Mapping, Sequence

Place = tuple[int, int, int, str, int]
"""Line and columns as the format has them, from 0, then symbol and roles."""


def index(documents: Mapping[str, Sequence[Place]], texts: Mapping[str, str] | None = None, encoding: int = 0) -> bytes:
    tool = _field(1, b"test-indexer") + _field(2, b"7")
    found = _field(1, _field(2, tool) + _field(3, b"file:///project"))
    for path, places in documents.items():
        text = (texts or {}).get(path)
        parts = [_field(1, path.encode()), *(_field(2, _occurrence(place)) for place in places)]
        parts += [_field(5, text.encode())] if text is not None else []
        parts += [_number(6, encoding)] if encoding else []
        found += _field(2, b"".join(parts))
    return found


def symbol(path: str, *names: str) -> str:
    *classes, last = names
    return f"test . bells 1 `{path}`/{''.join(f'{each}#' for each in classes)}{last}"


def _occurrence(place: Place) -> bytes:
    line, first, last, named, roles = place
    range_ = b"".join(map(_varint, (line, first, last)))
    return _field(1, range_) + _field(2, named.encode()) + _number(3, roles)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def places(text: str, word: str, named: str, roles: Iterable[int]) -> list[Place]:
    """The places of a word in a text, with the roles of each in turn."""
    wanted = iter(roles)
    found = []
    for number, line in enumerate(text.split("\n")):
        at = line.find(word)
        while at >= 0:
            found.append((number, at, at + len(word), named, next(wanted)))
            at = line.find(word, at + 1)
    return found
