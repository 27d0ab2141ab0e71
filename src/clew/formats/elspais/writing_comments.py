"""Editing references in comments of code and tests, one line at a time."""

import re
from collections.abc import Iterator

_KEYWORD = re.compile(r"implements|refines|verifies|validates|tests", re.IGNORECASE)
_PART_OF_ID = re.compile(r"[\w-]")
_MORE_OF_ID = re.compile(r"[\w+]|-\w")


def with_reference(line: str, written: str, text: str) -> str | None:
    """The line with another reference in the place of one; None where the reference does not stand there.

    What stands before the keyword is code. A line without keyword continues the list of the line above.
    """
    keyword = _KEYWORD.search(line)
    done = keyword.end() if keyword is not None else 0
    pieces = [line[:done]]
    for start in _places(line, written, done):
        pieces += (line[done:start], text)
        done = start + len(written)
    return "".join((*pieces, line[done:])) if len(pieces) > 1 else None


def _places(line: str, written: str, first: int) -> Iterator[int]:
    """Where a reference stands by itself. A pattern for each reference would take longer to make than to use."""
    start = line.find(written, first)
    while start >= 0:
        end = start + len(written)
        is_whole = start == first or _PART_OF_ID.match(line, start - 1) is None
        if is_whole and _MORE_OF_ID.match(line, end) is None:
            yield start
        start = line.find(written, end)
