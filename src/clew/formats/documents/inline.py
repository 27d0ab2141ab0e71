"""Inline elements of a line of Markdown: code between backticks, and links to other places of the project."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from clew.formats.documents.model import Block, BlockKind, DocumentLink

_HIDDEN = str.maketrans("[]()<>", "\0\0\0\0\0\0")
_INLINE = re.compile(r"(?<!!)\[([^\[\]]{0,400})\]\(\s*(?:<([^<>\n]{1,800})>|([^()\s]{1,800}(?:\([^()\s]*\)[^()\s]*)?))")
_BY_NAME = re.compile(r"(?<!!)\[([^\[\]]{1,400})\]\[([^\[\]]{0,200})\]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]]{1,200})\]:[ \t]*<?([^\s<>]{1,800})", re.MULTILINE)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_LINKING = (BlockKind.PROSE, BlockKind.ITEM, BlockKind.TABLE, BlockKind.HEADING)
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


def markdown_links(text: str, blocks: Sequence[Block]) -> tuple[DocumentLink, ...]:
    """The links of a markdown text, in its order. Addresses of the web are none."""
    shown = [(block, _without_code(text[block.start : block.end])) for block in blocks if block.kind in _LINKING]
    targets: dict[str, str] = {}
    for _, piece in shown:
        for name, target in _DEFINITION.findall(piece):
            targets.setdefault(_name(name), target)
    found = [link for block, piece in shown for link in _of_block(text, block, piece, targets)]
    return tuple(sorted(found, key=lambda link: link.start))


def link_to(target: str, start: int, end: int, text: str) -> DocumentLink | None:
    """A link to a target as written; None where it leads out of the project."""
    target = target.strip()
    if not target or _SCHEME.match(target):
        return None
    path, _, label = target.partition("#")
    path = unquote(path.partition("?")[0])
    label = unquote(label)
    if not path and not label:
        return None
    return DocumentLink(start, end, " ".join(text.split()), path, label)


def _of_block(text: str, block: Block, piece: str, targets: dict[str, str]) -> Iterator[DocumentLink]:
    for match in _INLINE.finditer(piece):
        start, end = block.start + match.start(), block.start + match.end()
        inner = text[block.start + match.start(1) : block.start + match.end(1)]
        if link := link_to(match[2] or match[3], start, min(end + 1, block.end), inner):
            yield link
    for match in _BY_NAME.finditer(piece):
        target = targets.get(_name(match[2] or match[1]), "")
        start, end = block.start + match.start(), block.start + match.end()
        if link := link_to(target, start, end, text[block.start + match.start(1) : block.start + match.end(1)]):
            yield link


def _without_code(text: str) -> str:
    """The text with the brackets inside code hidden, everything at its place."""
    return replace_code(text, lambda span: text[span.start : span.end].translate(_HIDDEN))


def _name(written: str) -> str:
    return " ".join(written.casefold().split())
