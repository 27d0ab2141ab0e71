"""Documents inside of a document: fenced blocks in a markup language, such as the example of a page in a manual.

What such a block says is about its own subject. Somebody who asks for bread is not answered by a manual that shows how
a bakery would write its requirements.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*\{?\.?"
    r"(?:markdown|md|mdx|rst|rest|restructuredtext|asciidoc|adoc|html)\b[^\n`]*\n"
    r"(?P<inside>.*?)(?:^[ \t]*(?P=mark)|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)


def samples(text: str) -> list[tuple[int, int]]:
    """The spans of sample documents in a text."""
    return [found.span("inside") for found in _FENCE.finditer(text)]


def without(spans: list[tuple[int, int]], text: str, start: int, end: int) -> str:
    """text[start:end] without the spans, which are in order."""
    return "".join(text[first:last] for first, last in outside(spans, start, end))


def stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the space at its ends; empty, or with its end before its start, if nothing else is in it."""
    said = text[start:end]
    return start + len(said) - len(said.lstrip()), start + len(said.rstrip())


def outside(spans: list[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between `start` and `end` that lie outside the spans, which are in order."""
    for place in range(bisect_right(spans, start, key=itemgetter(1)), len(spans)):
        first, last = spans[place]
        if first >= end:
            break
        yield start, max(start, first)
        start = min(end, last)
    yield start, end
