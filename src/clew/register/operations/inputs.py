"""Files that a command line names: they may lie anywhere, and `-` is standard input."""

import sys
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import InvalidArgument


def read_input(source: str) -> bytes:
    """A file, or standard input for `-`."""
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InvalidArgument(f"'{source}' cannot be read: {error.strerror}.", hint="Check the path.") from error


def read_json(source: str) -> Any:
    """The document in a file, or on standard input."""
    try:
        return msgspec.json.decode(read_input(source))
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument(f"'{source}' is not valid JSON: {error}.", hint="See `clew req schema`.") from error
