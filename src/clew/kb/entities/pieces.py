"""The text of each chunk, cut by what it is: prose, code, and code that stands below an item of a list."""

import re
from collections.abc import Iterator, Sequence

from clew.formats.documents import Block, BlockKind, Chunk, Document

Piece = tuple[BlockKind, str]

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_OPENED = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*\{?\.?([\w+-]*)[^\n]*\n?|\s*\.\. [\w-]+::[ \t]*([\w+-]*)[^\n]*\n?")


def pieces_of(document: Document, chunks: Sequence[Chunk]) -> Iterator[list[Piece]]:
    """The blocks of each chunk, or the parts of them that are in it. Both are in the order of the text."""
    blocks = [block for section in document.sections for block in section.blocks]
    first = 0
    for chunk in chunks:
        while blocks[first].end <= chunk.start:
            first += 1
        last = first
        while last < len(blocks) and blocks[last].start < chunk.end:
            last += 1
        yield [piece for block in blocks[first:last] for piece in _of_block(document.text, block, chunk)]


def code_of(text: str) -> tuple[str, str]:
    """The language of a code block, and its code without fences."""
    opened = _OPENED.match(text)
    if opened is None:
        return "", text
    return (opened[1] or opened[2] or "").lower(), text[opened.end() :].rstrip().rstrip("`~")


def _of_block(text: str, block: Block, chunk: Chunk) -> Iterator[Piece]:
    shown = text[max(block.start, chunk.start) : min(block.end, chunk.end)]
    if block.kind is not BlockKind.ITEM:
        yield block.kind, shown
        return
    position = 0
    for code in _FENCED.finditer(shown):
        yield BlockKind.ITEM, shown[position : code.start()]
        yield BlockKind.CODE, code[0]
        position = code.end()
    yield BlockKind.ITEM, shown[position:]
