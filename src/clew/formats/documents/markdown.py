"""Markdown cut into blocks.

A line scanner, not a renderer: it tells headings, fenced and indented code, tables, items of lists, comments and prose
apart, in time linear in the text. Fences are taken at any indent, since examples are below bullets.
"""

import re
from typing import NamedTuple

from clew.formats.diagnostics import Diagnostic
from clew.formats.documents.model import Block, BlockKind
from clew.formats.documents.outline import plain_title
from clew.text.lines import TextLines
from clew.text.markdown import COMMONMARK

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|(\d{1,9})[.)])(?=[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_RULER = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_NAMED = re.compile(r"\{:?[ \t]*#([\w.:-]++)[^{}]*+\}[ \t]*$")
_TARGET = re.compile(r"<[a-zA-Z]\w*+[^<>]*?\s(?:id|name)=[\"']?([\w.:-]+)", re.IGNORECASE)
_CODE_INDENT = 4
_COMMENT_OPENS, _COMMENT_ENDS = "<!--", "-->"


class Scanned(NamedTuple):
    blocks: list[Block]
    diagnostics: list[Diagnostic]


def scan_markdown(lines: TextLines, first: int = 0) -> Scanned:
    """The blocks of a text, from its line `first` (counted from 0) on."""
    scan = _Scan(lines)
    index = first
    while index < len(lines):
        index = index + 1 if lines.is_blank(index) else scan.block(index)
    return Scanned(scan.blocks, scan.diagnostics)


class _Scan:
    """Each step takes the line at which a block may begin and returns the line after it; the same line for none."""

    def __init__(self, lines: TextLines) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.diagnostics: list[Diagnostic] = []
        self._comments_end = True
        """True if a comment that opens here is closed somewhere. Computed once, so that many open comments cost linear
        time."""

    def block(self, index: int) -> int:
        for step in (self._fence, self._heading, self._comment, self._table, self._item, self._indented):
            after = step(index)
            if after > index:
                return after
        return self._prose(index)

    def _fence(self, index: int) -> int:
        after = self._after_fence(index)
        if after > index:
            self._add(BlockKind.CODE, index, after)
        return after

    def _heading(self, index: int) -> int:
        match = _HEADING.match(self.lines.bare[index])
        if match is None:
            return index
        written = self.lines.bare[index][match.end() :].strip()
        self._add_heading(index, index + 1, len(match[1]), _without_closing_marks(written))
        return index + 1

    def _comment(self, index: int) -> int:
        if not self._comments_end or not self.lines.bare[index].lstrip().startswith(_COMMENT_OPENS):
            return index
        ends = self.lines.text.find(_COMMENT_ENDS, self.lines.starts[index])
        if ends < 0:
            self._comments_end = False
            return index
        after = index + 1
        while self.lines.starts[after] <= ends:
            after += 1
        self._add(BlockKind.COMMENT, index, after)
        return after

    def _table(self, index: int) -> int:
        bare = self.lines.bare
        if "|" not in bare[index] or index + 1 >= len(bare) or not _is_ruler(bare[index + 1]):
            return index
        after = index + 2
        while after < len(bare) and "|" in bare[after]:
            after += 1
        self._add(BlockKind.TABLE, index, after)
        return after

    def _item(self, index: int) -> int:
        if not self._begins_item(index):
            return index
        own = self.lines.indent(index)
        last = index
        after = index + 1
        while after < len(self.lines):
            if self.lines.is_blank(after):
                after += 1
                continue
            apart = after > last + 1
            if self.lines.indent(after) <= own and (apart or self._interrupts(after)):
                break
            # Code below the item is part of it, whatever is in it.
            after = max(self._after_fence(after), after + 1)
            last = after - 1
        self._add(BlockKind.ITEM, index, last + 1)
        return last + 1

    def _indented(self, index: int) -> int:
        if self.lines.indent(index) < _CODE_INDENT or (index > 0 and not self.lines.is_blank(index - 1)):
            return index
        last = after = index
        while after < len(self.lines) and (self.lines.is_blank(after) or self.lines.indent(after) >= _CODE_INDENT):
            last = last if self.lines.is_blank(after) else after
            after += 1
        self._add(BlockKind.CODE, index, last + 1)
        return last + 1

    def _prose(self, index: int) -> int:
        after = index + 1
        underline = _UNDERLINE.match(self.lines.bare[after]) if after < len(self.lines) else None
        if underline is not None and not _RULE.match(self.lines.bare[index]):
            level = 1 if underline[1].startswith("=") else 2
            self._add_heading(index, after + 1, level, self.lines.bare[index])
            return after + 1
        while after < len(self.lines) and not self.lines.is_blank(after) and not self._interrupts(after):
            after += 1
        self._add(BlockKind.PROSE, index, after)
        return after

    def _begins_item(self, index: int) -> bool:
        line = self.lines.bare[index]
        return _BULLET.match(line) is not None and not _RULE.match(line)

    def _interrupts(self, index: int) -> bool:
        """True if a line begins a block without a blank line before it."""
        line = self.lines.bare[index]
        following = self.lines.bare[index + 1] if index + 1 < len(self.lines) else ""
        return (
            _HEADING.match(line) is not None
            or COMMONMARK.opening.match(line) is not None
            or self._begins_item(index)
            or line.lstrip().startswith(_COMMENT_OPENS)
            or ("|" in line and _is_ruler(following))
        )

    def _after_fence(self, index: int) -> int:
        """The line after a fenced block that opens at a line; that line where none does."""
        bare = self.lines.bare
        closing = COMMONMARK.closing(bare, index)
        if closing is None:
            return index
        if closing < len(bare):
            return closing + 1
        fence = COMMONMARK.opened(bare[index])
        problem = f"The code block that opens with {fence} is never closed. Close it; all that follows is read as code."
        self.diagnostics.append(Diagnostic("documents.open_fence", "warning", problem, index + 1))
        return len(bare)

    def _add(self, kind: BlockKind, first: int, after: int) -> None:
        lines = self.lines
        self.blocks.append(Block(kind, lines.starts[first], lines.end(after - 1), first + 1, after))

    def _add_heading(self, first: int, after: int, level: int, written: str) -> None:
        lines = self.lines
        # The name is the last thing in braces; to look for it from the left would cost a square.
        braces = max(written.rfind("{"), 0)
        named = _NAMED.match(written, braces)
        labels = [named[1]] if named else []
        labels += _TARGET.findall(written)
        if self.blocks and self.blocks[-1].kind is BlockKind.PROSE:
            before = self.blocks[-1]
            labels += _TARGET.findall(lines.text, before.start, before.end)
        title = plain_title(written[:braces] if named else written)
        self.blocks.append(
            Block(
                BlockKind.HEADING,
                lines.starts[first],
                lines.end(after - 1),
                first + 1,
                after,
                level=level,
                title=title,
                labels=tuple(labels),
            )
        )


def without_name(heading: str) -> str:
    """The line of a heading without the name that its author gave it for links (`{#name}`), which no reader sees."""
    braces = heading.rfind("{")
    return heading[:braces].rstrip() if braces > 0 and _NAMED.match(heading.rstrip(), braces) else heading


def _without_closing_marks(written: str) -> str:
    """A heading without the marks that may end it; they stand apart from its text."""
    bare = written.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else written


def _is_ruler(line: str) -> bool:
    """The line between the head and the body of a table."""
    return "-" in line and "|" in line and _RULER.match(line) is not None
