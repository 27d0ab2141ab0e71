"""Messages between a process and another that parses files for it.

A message is its length in four bytes and then msgpack. A request is a list of tasks, the answer a list of as many
records.
"""

from typing import IO

import msgspec

_LENGTH_BYTES = 4


class ParseTask(msgspec.Struct, frozen=True, gc=False, array_like=True):
    reader: str
    """The name under which its records are cached, which names the settings as well."""
    path: str


class ParsedFile(msgspec.Struct, frozen=True, gc=False, array_like=True):
    content_hash: str
    payload: bytes
    """The records, as they are cached."""


class Request(msgspec.Struct, frozen=True, array_like=True):
    tasks: tuple[ParseTask, ...]
    max_file_bytes: int


Answer = tuple[ParsedFile | None, ...]


class LargeFile(msgspec.Struct, frozen=True, array_like=True):
    """The task of a process that reads one file and ends."""

    root: str
    reader: str
    path: str
    max_file_bytes: int


def send(stream: IO[bytes], message: Request | Answer) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message; None at the end."""
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(length, "big")
    data = stream.read(size)
    return data if len(data) == size else None
