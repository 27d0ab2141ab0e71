"""A process that parses files for another: it gets readers and paths, and answers with records.

A message is its length in four bytes and then msgpack. A request is a list of tasks, the answer a list of as many
records. What this process cannot do, the other does itself.
"""

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.text.hashing import content_hash
from clew.workspace.files import read_bytes

if TYPE_CHECKING:
    from clew.graph.build.reading import Reader

_LENGTH_BYTES = 4


class Task(msgspec.Struct, frozen=True, gc=False, array_like=True):
    reader: str
    """The name under which its records are cached, which names the settings as well."""
    path: str


class Parsed(msgspec.Struct, frozen=True, gc=False, array_like=True):
    content_hash: str
    payload: bytes
    """The records, as they are cached."""


class Request(msgspec.Struct, frozen=True, array_like=True):
    tasks: tuple[Task, ...]
    max_file_bytes: int


Answer = tuple[Parsed | None, ...]


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


def parse(root: Path, reader: "Reader | None", path: str, limit: int) -> Parsed | None:
    """The records of a file; None where anything is out of the ordinary."""
    if reader is None:
        return None
    try:
        data = read_bytes(root, path, limit=limit)
    except ClewError:
        return None
    if b"\0" in data:
        return None
    try:
        return Parsed(content_hash(data), msgspec.msgpack.encode(reader.read(data, path)))
    except Exception:
        return None


def read_large(message: bytes) -> bytes:
    """The records of one file, for `clew.workspace.worker`."""
    request = msgspec.msgpack.decode(message, type=LargeFile)
    root = Path(request.root)
    reader = _readers(root).get(request.reader)
    return msgspec.msgpack.encode(parse(root, reader, request.path, request.max_file_bytes))


def _readers(root: Path) -> "dict[str, Reader]":
    from clew.config import load
    from clew.formats.elspais.ids.grammar import IdGrammar
    from clew.graph.build.reading import cache_name
    from clew.graph.readers.project import readers_for

    config = load(root)
    return {cache_name(reader): reader for reader in readers_for(config, IdGrammar(config.elspais))}


def main() -> None:
    root = Path(sys.argv[1])
    readers = _readers(root)
    while (message := receive(sys.stdin.buffer)) is not None:
        request = msgspec.msgpack.decode(message, type=Request)
        answer = (parse(root, readers.get(task.reader), task.path, request.max_file_bytes) for task in request.tasks)
        send(sys.stdout.buffer, tuple(answer))


if __name__ == "__main__":
    main()
