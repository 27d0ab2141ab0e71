"""Code inside a line of markdown: what stands between two runs of equally many backticks."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

_RUN = re.compile(r"`+")


class CodeSpan(NamedTuple):
    """text[start:end] with its backticks, and the code between them."""

    start: int
    end: int
    code: str


def code_spans(text: str) -> Iterator[CodeSpan]:
    """The code of each line, in order. Of a run that nothing closes, its last backticks may open what a shorter run
    closes. Each run is looked up by its length, so the time is linear however many runs are never closed."""
    if "`" not in text:
        return
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        yield from _of_line(text, position, end)
        position = end + 1


def replace_code(text: str, replaced: Callable[[CodeSpan], str]) -> str:
    """The text with something in place of each piece of code."""
    parts: list[str] = []
    position = 0
    for span in code_spans(text):
        parts += (text[position : span.start], replaced(span))
        position = span.end
    return "".join((*parts, text[position:]))


def _of_line(text: str, position: int, end: int) -> Iterator[CodeSpan]:
    runs = [match.span() for match in _RUN.finditer(text, position, end)]
    by_length: dict[int, list[int]] = {}
    for start, after in runs:
        by_length.setdefault(after - start, []).append(start)
    taken = position
    for start, after in runs:
        if start < taken:
            continue
        for length in range(after - start, 0, -1):
            closing = by_length.get(length, ())
            place = bisect_right(closing, start)
            if place < len(closing):
                taken = closing[place] + length
                yield CodeSpan(after - length, taken, text[after : closing[place]])
                break
