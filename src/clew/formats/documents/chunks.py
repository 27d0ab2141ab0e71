"""Sections cut into chunks: pieces of a size that is worth finding and cheap to read.

A heading is always a boundary. Inside a section whole blocks are gathered up to the target; a code block, a table or
an item of a list is cut only when it alone is larger than a chunk may be, and then at its own seams: blank lines,
lines, sentences, words. A remainder below the minimum joins the chunk before it where both fit into one.

A chunk is named by its section and its place in it, so an edit elsewhere in the document changes neither its name nor
its version.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from clew.formats.documents.model import Block, BlockKind, Document, Section
from clew.text.hashing import content_hash
from clew.text.sentences import is_term, sentences
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens


class ChunkSizes(msgspec.Struct, frozen=True):
    """In tokens."""

    least: int = 100
    target: int = 400
    most: int = 512


class Chunk(msgspec.Struct, frozen=True):
    """document.text[start:end], a piece of one section."""

    section: int
    """Index of its section in the document."""
    ordinal: int
    """Number of the piece in its section, from 1."""
    start: int
    end: int
    line: int
    end_line: int
    tokens: int
    version: str
    """Names the text: equal versions are equal texts."""
    kinds: tuple[BlockKind, ...]
    """Kinds of its blocks, each once."""


class _Piece(NamedTuple):
    start: int
    end: int
    line: int
    end_line: int
    kind: BlockKind
    tokens: int
    """At most so many, next to other pieces too."""


_USUAL = ChunkSizes()
_EMPTY_LINE = 2
_BLANK_LINES = re.compile(r"\n[ \t]*\r?\n")
_LINE_END = re.compile(r"\r\n?|\n")
_SPACE = re.compile(r"\s+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_LISTED_ROW = re.compile(r"(?<=\n)[ \t]*\*[ \t]+[-*][ \t]")
_NESTED = re.compile(r"(?<=\n)(?=[ \t]*(?:[-*+•‣◦]|\d{1,9}[.)])[ \t])")

_Cut = Callable[[str, int, int], Iterator[int]]
"""The places between two where a text may be cut."""


def chunks_of(document: Document, sizes: ChunkSizes = _USUAL) -> tuple[Chunk, ...]:
    """The chunks of a document in its order. Together they hold all of its text but the space between blocks."""
    return tuple(
        _chunk(document.text, number, ordinal, pieces)
        for number, section in enumerate(document.sections)
        for ordinal, pieces in enumerate(_packed(document.text, section, sizes), start=1)
    )


def _chunk(text: str, section: int, ordinal: int, pieces: Sequence[_Piece]) -> Chunk:
    start, end = pieces[0].start, pieces[-1].end
    return Chunk(
        section=section,
        ordinal=ordinal,
        start=start,
        end=end,
        line=pieces[0].line,
        end_line=pieces[-1].end_line,
        tokens=estimate_tokens(text[start:end]),
        version=version_of(text[start:end]),
        kinds=tuple(dict.fromkeys(piece.kind for piece in pieces)),
    )


def version_of(text: str) -> str:
    """Names a text."""
    return content_hash(text.encode("utf-8", "surrogatepass"))


def _packed(text: str, section: Section, sizes: ChunkSizes) -> list[list[_Piece]]:
    """The pieces of a section in groups."""
    groups: list[list[_Piece]] = []
    total = 0
    for piece in _pieces(text, section.blocks, sizes):
        wider = total + _gap(text, groups[-1][-1], piece) + piece.tokens if groups else 0
        # A heading belongs to what it announces, and what is too small alone takes one more.
        if groups and wider <= (sizes.most if total < sizes.least else sizes.target):
            groups[-1].append(piece)
            total = wider
        else:
            groups.append([*_announcing(text, groups, piece, sizes), piece])
            total = _size(text, groups[-1])
    if len(groups) > 1 and total < sizes.least:
        before = [_size(text, groups[-2]), _gap(text, groups[-2][-1], groups[-1][0])]
        if total + sum(before) <= sizes.most:
            groups[-2:] = [groups[-2] + groups[-1]]
    return groups


def _announcing(text: str, groups: Sequence[list[_Piece]], piece: _Piece, sizes: ChunkSizes) -> Iterator[_Piece]:
    """The name at the end of what was gathered, which the next piece explains: it goes with that where both fit."""
    if not groups or len(groups[-1]) == 1:
        return
    last = groups[-1][-1]
    if is_term(text, last.start, last.end) and _size(text, (last, piece)) <= sizes.most:
        yield groups[-1].pop()


def _size(text: str, group: Sequence[_Piece]) -> int:
    return sum(piece.tokens for piece in group) + sum(_gap(text, one, other) for one, other in pairwise(group))


def _gap(text: str, one: _Piece, other: _Piece) -> int:
    """The tokens of the space between two pieces, where that is more than an empty line."""
    return estimate_tokens(text[one.end : other.start]) if other.start - one.end > _EMPTY_LINE else 0


def _pieces(text: str, blocks: Iterable[Block], sizes: ChunkSizes) -> Iterator[_Piece]:
    for block in blocks:
        tokens = _tokens(text, block.start, block.end)
        if tokens <= sizes.most:
            yield _Piece(block.start, block.end, block.line, block.end_line, block.kind, tokens)
        else:
            yield from _parts(text, block, sizes)


def _parts(text: str, block: Block, sizes: ChunkSizes) -> Iterator[_Piece]:
    """A block that is too large, in pieces."""
    # The text may have other lines than the file; then all pieces have those of the block.
    same_lines = block.end_line - block.line == _line_ends(text, block.start, block.end)
    line, end_line, counted = block.line, block.end_line, block.start
    for start, end in _cut(text, block.start, block.end, _SEAMS[block.kind], sizes):
        if same_lines:
            line += _line_ends(text, counted, start)
            end_line = line + _line_ends(text, start, end)
            counted = start
        yield _Piece(start, end, line, end_line, block.kind, _tokens(text, start, end))


def _tokens(text: str, start: int, end: int) -> int:
    """At most so many, whatever is around it: a line end is the dearest that can."""
    return estimate_tokens("\n" + text[start:end] + "\n")


def _line_ends(text: str, start: int, end: int) -> int:
    return len(_LINE_END.findall(text, start, end))


def _cut(text: str, start: int, end: int, seams: Sequence[_Cut], sizes: ChunkSizes) -> Iterator[tuple[int, int]]:
    """A range in pieces that are not too large, cut at the first kind of seam; what is still too large, at the next."""
    if not seams:
        yield from _hard(text, start, end, sizes)
        return
    places = [start, *seams[0](text, start, end), end]
    first = 0
    while first < len(places) - 1:
        last = _furthest(text, places, first, sizes.target)
        if last > first + 1 or _tokens(text, places[first], places[last]) <= sizes.most:
            yield from _trimmed(text, places[first], places[last])
        else:
            yield from _cut(text, places[first], places[last], seams[1:], sizes)
        first = last


def _furthest(text: str, places: Sequence[int], first: int, tokens: int) -> int:
    """The last place up to which a piece that begins at `first` has no more than so many tokens; at least the next."""
    begun = places[first]
    beyond = bisect_right(places, begun + tokens * CHARACTERS_PER_TOKEN_AT_MOST, lo=first + 1)
    low, high = first + 1, max(first + 1, beyond - 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _tokens(text, begun, places[middle]) <= tokens else (low, middle - 1)
    return low


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The range without the empty lines and the space around it; nothing where that is all."""
    piece = text[start:end]
    kept = piece.strip()
    if kept:
        # The indent of the first line is part of it.
        lead = piece[: len(piece) - len(piece.lstrip())]
        begun = start + max(lead.rfind("\n"), lead.rfind("\r")) + 1
        yield begun, start + len(piece.rstrip())


def _hard(text: str, start: int, end: int, sizes: ChunkSizes) -> Iterator[tuple[int, int]]:
    """Pieces of a text that has no seams at all."""
    while start < end:
        size = sizes.most * CHARACTERS_PER_TOKEN_AT_MOST
        while _tokens(text, start, start + size) > sizes.most and size > 1:
            size //= 2
        yield start, min(start + size, end)
        start += size


def _at_blank_lines(text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in _BLANK_LINES.finditer(text, start, end))


def _at_lines(text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in _LINE_END.finditer(text, start, end) if match.end() < end)


def _at_rows(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets at which a row begins of a table that is written as a list of lists."""
    return (match.start() for match in _LISTED_ROW.finditer(text, start, end) if match.start() > start)


def _at_sentences(text: str, start: int, end: int) -> Iterator[int]:
    return (start + piece.start for piece in sentences(text[start:end])[1:])


def _at_spaces(text: str, start: int, end: int) -> Iterator[int]:
    return (match.end() for match in _SPACE.finditer(text, start, end) if match.end() < end)


def _at_nested_items(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets at which an inner item begins outside of code."""
    fenced = False
    position = start
    for match in _LINE_END.finditer(text, start, end):
        fenced ^= _FENCE.match(text, position, match.start()) is not None
        position = match.end()
        if not fenced and _NESTED.match(text, position, end):
            yield position


_CODE_SEAMS: tuple[_Cut, ...] = (_at_blank_lines, _at_lines, _at_spaces)
_PROSE_SEAMS: tuple[_Cut, ...] = (_at_sentences, _at_lines, _at_spaces)
_SEAMS: dict[BlockKind, tuple[_Cut, ...]] = {
    BlockKind.HEADING: (_at_spaces,),
    BlockKind.PROSE: _PROSE_SEAMS,
    BlockKind.COMMENT: _PROSE_SEAMS,
    BlockKind.CODE: _CODE_SEAMS,
    BlockKind.OUTPUT: _CODE_SEAMS,
    BlockKind.TABLE: (_at_rows, _at_lines, _at_spaces),
    BlockKind.ITEM: (_at_nested_items, _at_blank_lines, *_PROSE_SEAMS),
}
