"""Where a piece of text stands in a file."""

import msgspec


class Span(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A half-open range of bytes, with the lines it covers (first line is 1)."""

    start: int
    end: int
    line: int
    end_line: int
