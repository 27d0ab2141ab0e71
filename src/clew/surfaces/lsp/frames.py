"""Framing of an editor's messages: a head with the length of the body, and the body.

The library behind the language server would make room for as many bytes as a head announces, and would end with a
number that it cannot read. It is given only heads and bodies that are in order; what else comes is left out.
"""

# Implements: REQ-d00663

import logging
from typing import BinaryIO

log = logging.getLogger(__name__)

LARGEST_MESSAGE = 32 * 1024 * 1024
_LONGEST_LINE = 8 * 1024
_MOST_DIGITS = 18
_PIECE = 1024 * 1024


class Frames:
    """The messages on standard input; everything else is skipped."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._lines: list[bytes] = []
        self._body = b""

    def readline(self) -> bytes:
        """A line of the head of the next message; empty at the end."""
        if not self._lines:
            body = self._next()
            if body is None:
                return b""
            self._body = body
            self._lines = [b"Content-Length: %d\r\n" % len(body), b"\r\n"]
        return self._lines.pop(0)

    def read(self, size: int) -> bytes:
        """The body, after its head."""
        body, self._body = self._body[:size], b""
        return body

    def _next(self) -> bytes | None:
        while (size := self._length()) is not None:
            if size > LARGEST_MESSAGE:
                log.error("A message of %d bytes was left out; at most %d are read.", size, LARGEST_MESSAGE)
                self._skip(size)
            elif size:
                body = self._source.read(size)
                return body if len(body) == size else None
        return None

    def _length(self) -> int | None:
        """The length in the header lines; 0 if none of them can be read, None at the end of the input."""
        size = 0
        while line := self._source.readline(_LONGEST_LINE):
            if not line.strip():
                return size
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                digits = value.strip()
                size = int(digits) if digits.isdigit() and len(digits) <= _MOST_DIGITS else 0
        return None

    def _skip(self, size: int) -> None:
        while size > 0 and (piece := self._source.read(min(size, _PIECE))):
            size -= len(piece)
