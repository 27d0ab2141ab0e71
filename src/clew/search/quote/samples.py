"""Documents inside of a document: fenced blocks in a markup language, such as the example of a page in a manual.

What such a block says is about its own subject. Somebody who asks for bread is not answered by a manual that shows how
a bakery would write its requirements.
"""

import re
from collections.abc import Iterator

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*\{?\.?"
    r"(?:markdown|md|mdx|rst|rest|restructuredtext|asciidoc|adoc|html)\b[^\n`]*\n"
    r"(?P<inside>.*?)(?:^[ \t]*(?P=mark)|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)


def samples(text: str) -> list[tuple[int, int]]:
    """Where the documents stand that a text shows."""
    return [found.span("inside") for found in _FENCE.finditer(text)]


def without(spans: list[tuple[int, int]], text: str, start: int, end: int) -> str:
    """text[start:end] without what stands in the spans, which are in order."""
    return "".join(_outside(spans, text, start, end))


def _outside(spans: list[tuple[int, int]], text: str, start: int, end: int) -> Iterator[str]:
    for first, last in spans:
        if first < end and start < last:
            yield text[start : max(start, first)]
            start = min(end, last)
    yield text[start:end]
