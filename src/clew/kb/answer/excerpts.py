"""Excerpts: a bounded part of a text, and where the next one begins.

Places are counted in characters (Unicode code points) of the text as it is kept. An excerpt never takes more tokens
(`clew.text.tokens.estimate_tokens`) and bytes than allowed, however it is rendered. Pure, and linear in the size of the
text.
"""

from collections.abc import Iterator

import msgspec

from clew.errors import OverBudget
from clew.search.quote.evidence import fitting_end, window
from clew.text.sentences import plain_spans
from clew.text.tokens import estimate_tokens

MAX_TOKENS = 800
MAX_BYTES = 32_768
_BULLET = "- "


class Excerpt(msgspec.Struct, frozen=True):
    text: str
    start: int
    end: int
    """It was made of these characters."""
    next_start: int | None
    """The place at which the rest begins; None if only white space is left."""


def read(text: str, start: int, max_tokens: int) -> Excerpt:
    """The text from `start` on."""
    if start >= len(text):
        return Excerpt("", start, start, None)
    end = _fitting(text, start, len(text), max_tokens)
    if end == start:
        # Nothing but white space fitted, or not even that.
        start += len(text[start:]) - len(text[start:].lstrip())
        end = _fitting(text, start, len(text), max_tokens)
        if end == start < len(text):
            raise _too_small(max_tokens)
    return Excerpt(text[start:end], start, end, _next(text, end))


def read_bullets(text: str, start: int, max_tokens: int) -> Excerpt:
    """An excerpt with one line for each span of the text."""
    lines: list[str] = []
    end: int | None = None
    for first, last in _spans_from(text, start):
        line = _bullet(text, first, last)
        if not _fits("\n".join([*lines, line]), max_tokens):
            if lines:
                break
            last = _fitting_bullet(text, first, last, max_tokens)
            line = _bullet(text, first, last)
            lines.append(line)
            end = last
            break
        lines.append(line)
        end = last
    if end is None:
        return Excerpt("", start, start, None)
    return Excerpt("\n".join(lines), start, end, _next(text, end))


def around(text: str, anchor: tuple[int, int], before_tokens: int, after_tokens: int) -> Excerpt:
    """A span of the text with its surroundings."""
    first = min(max(anchor[0], 0), len(text))
    last = min(max(anchor[1], first), len(text))
    start, end = window(text, first, last, before_tokens, after_tokens)
    end = _fitting(text, start, end, MAX_TOKENS)
    return Excerpt(text[start:end], start, end, _next(text, end))


def _fits(shown: str, max_tokens: int) -> bool:
    return estimate_tokens(shown) <= max_tokens and len(shown.encode("utf-8", "surrogatepass")) <= MAX_BYTES


def _fitting(text: str, start: int, end: int, max_tokens: int) -> int:
    end = fitting_end(text, start, end, max_tokens=max_tokens, max_chars=MAX_BYTES)
    while len(text[start:end].encode("utf-8", "surrogatepass")) > MAX_BYTES:
        end = start + (end - start) * 3 // 4
    return end


def _fitting_bullet(text: str, start: int, end: int, max_tokens: int) -> int:
    """The place to cut a span so that it fits alone; rendering costs a little more than the text itself."""
    room = max_tokens
    while room > 0:
        cut = _fitting(text, start, end, room)
        if cut > start and _fits(_bullet(text, start, cut), max_tokens):
            return cut
        room -= 1
    raise _too_small(max_tokens)


def _spans_from(text: str, start: int) -> Iterator[tuple[int, int]]:
    for first, last in plain_spans(text):
        if last > start and text[max(first, start) : last].strip():
            yield max(first, start), last


def _bullet(text: str, start: int, end: int) -> str:
    return _BULLET + " ".join(text[start:end].split())


def _next(text: str, end: int) -> int | None:
    return end if text[end:].strip() else None


def _too_small(max_tokens: int) -> OverBudget:
    return OverBudget(
        f"Not even one character fits into {max_tokens} tokens.",
        hint="Pass a larger max_tokens.",
        data={"reason": "budget_too_small", "max_tokens": max_tokens},
    )
