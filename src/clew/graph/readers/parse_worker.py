"""A process that parses files for another: it gets readers and paths, and answers with records.

What this process cannot do, the other does itself.
"""

import sys
from pathlib import Path

import msgspec

from clew.errors import ClewError
from clew.graph.build.parse_messages import LargeFile, ParsedFile, Request, receive, send
from clew.graph.build.reading import Reader
from clew.text.hashing import content_hash
from clew.workspace.files import read_bytes


def parse(root: Path, reader: Reader | None, path: str, limit: int) -> ParsedFile | None:
    """The records of a file; None if anything unusual happens."""
    if reader is None:
        return None
    try:
        data = read_bytes(root, path, limit=limit)
    except ClewError:
        return None
    if b"\0" in data:
        return None
    try:
        return ParsedFile(content_hash(data), msgspec.msgpack.encode(reader.read(data, path)))
    except Exception:
        return None


def read_large(message: bytes) -> bytes:
    """The records of one file, for `clew.workspace.worker`."""
    request = msgspec.msgpack.decode(message, type=LargeFile)
    root = Path(request.root)
    reader = _readers(root).get(request.reader)
    return msgspec.msgpack.encode(parse(root, reader, request.path, request.max_file_bytes))


def _readers(root: Path) -> dict[str, Reader]:
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
