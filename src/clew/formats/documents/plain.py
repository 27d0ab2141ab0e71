"""Plain text cut into blocks: paragraphs, items of lists, indented text, and the few signs that make a heading."""

import re

from clew.formats.documents.lines import TextLines
from clew.formats.documents.model import Block, BlockKind

_UNDERLINE = re.compile(r"(=+|-+|~+|\*+)[ \t]*$")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,9}[.)])(?=[ \t])")
_CAPITALS = re.compile(r"(?=.*[^\W\d_]{3})[^a-z\n]{3,60}$")
_LEVELS = {"=": 1, "-": 2, "~": 3, "*": 3}
_SHORTEST = 3


def scan_plain(lines: TextLines) -> list[Block]:
    """The blocks of a text. A line that is underlined, or stands alone in capitals, is a heading."""
    blocks: list[Block] = []
    index = 0
    while index < len(lines):
        if lines.is_blank(index):
            index += 1
            continue
        level, after = _heading(lines, index)
        if level:
            title = lines.bare[index].strip()
            blocks.append(
                Block(
                    BlockKind.HEADING,
                    lines.starts[index],
                    lines.end(after - 1),
                    index + 1,
                    after,
                    level=level,
                    title=title,
                )
            )
        else:
            kind, after = _paragraph(lines, index)
            blocks.append(Block(kind, lines.starts[index], lines.end(after - 1), index + 1, after))
        index = after
    return blocks


def _heading(lines: TextLines, index: int) -> tuple[int, int]:
    """The level of the heading at a line, 0 for none, and the line after it."""
    line = lines.bare[index]
    if index + 1 < len(lines) and not line[:1].isspace():
        under = _UNDERLINE.match(lines.bare[index + 1])
        if under is not None and len(under[1]) >= max(_SHORTEST, len(line.strip()) - 2) and not _UNDERLINE.match(line):
            return _LEVELS[under[1][0]], index + 2
    alone = (index == 0 or lines.is_blank(index - 1)) and (index + 1 >= len(lines) or lines.is_blank(index + 1))
    if alone and not line[:1].isspace() and _CAPITALS.match(line) and line.upper() == line:
        return 2, index + 1
    return 0, index


def _paragraph(lines: TextLines, index: int) -> tuple[BlockKind, int]:
    is_item = _BULLET.match(lines.bare[index]) is not None
    indent = lines.indent(index)
    after = index + 1
    while after < len(lines) and not lines.is_blank(after):
        if _BULLET.match(lines.bare[after]) and (not is_item or lines.indent(after) <= indent):
            break
        if _heading(lines, after)[0]:
            break
        after += 1
    return BlockKind.ITEM if is_item else BlockKind.PROSE, after
