"""Blocks of a text that belong together: paragraphs, items, definitions, fields, tables, code and directives.

A scanner of lines, for the text of one section in markdown or in reStructuredText as it is read. A block of another
block is found when that one is looked into. Directives and definitions of any kind are told by their form: a line with
what is below it at a deeper indent, or a fence with a name in braces.
"""

# Implements: REQ-d00402-L

import re
from enum import StrEnum
from itertools import pairwise

import msgspec

from clew.text.lines import TextLines
from clew.text.markdown import COMMONMARK


class BlockForm(StrEnum):
    HEADING = "heading"
    PROSE = "prose"
    ITEM = "item"
    DEFINITION = "definition"
    """A term, a field, a setting or a directive with what explains it."""
    TABLE = "table"
    CODE = "code"


class TextBlock(msgspec.Struct, frozen=True, gc=False):
    form: BlockForm
    first: int
    """Its lines, counted from 0; `after` is the line behind the last."""
    after: int
    inner: int
    """The line from which on it can be looked into; `after` where it has nothing inside."""


_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_UNDERLINE = re.compile(r" {0,3}(?:={3,}|-{3,})[ \t]*$")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,9}[.)])(?=[ \t]+\S)")
_FIELD = re.compile(r"[ \t]*:[A-Za-z][\w .*-]{0,40}:(?=[ \t]|$)")
_EXPLAINS = re.compile(r"[ \t]*:[ \t]+\S")
_NAMED_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*\{(?P<name>[\w:+.-]+)\}")
_COLONS = re.compile(r"[ \t]*(?P<mark>:{3,})[ \t]*\{?[\w:+.-]+\}?")
_OF_CODE = re.compile(
    r"(?:code|literal|highlight|parsed-literal|math|mermaid|doctest|prompt|eval-rst|raw)", re.IGNORECASE
)
_RULER = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_SIMPLE, _GRID = re.compile(r"[ \t]*=+(?:[ \t]+=+)+[ \t]*$"), re.compile(r"[ \t]*\+[-=+]{3,}\+[ \t]*$")
_TARGET = re.compile(r"\([\w/.:-]+\)=[ \t]*$")
_LONGEST_TERM = 200
_FEWEST_DEEPER = 2


def blocks_of(lines: TextLines, first: int, after: int) -> list[TextBlock]:
    """The outermost blocks of some lines."""
    scan = _Blocks(lines, after)
    at = first
    while at < after:
        at = at + 1 if lines.is_blank(at) else scan.take(at)
    return scan.found


def table_rows(lines: TextLines, table: TextBlock) -> tuple[tuple[int, int] | None, list[tuple[int, int]]]:
    """The lines of a table's head, and of each of its rows."""
    bare = lines.bare
    if _SIMPLE.match(bare[table.first]):
        return _between(lines, table, _SIMPLE, _SIMPLE)
    if _GRID.match(bare[table.first]):
        return _between(lines, table, _GRID, re.compile(r"[ \t]*\+[=+]{3,}\+[ \t]*$"))
    rows = [(at, at + 1) for at in range(table.first + 2, table.after) if not lines.is_blank(at)]
    return (table.first, table.first + 1), rows


def _between(
    lines: TextLines, table: TextBlock, ruler: re.Pattern[str], below_head: re.Pattern[str]
) -> tuple[tuple[int, int] | None, list[tuple[int, int]]]:
    """Rows of a table that lines are drawn in. Those of a simple table are lines that begin in its first column."""
    rulers = [at for at in range(table.first, table.after) if ruler.match(lines.bare[at])]
    parts = [(one + 1, other) for one, other in pairwise(rulers) if other > one + 1]
    if not parts:
        return None, []
    has_head = below_head.match(lines.bare[parts[0][1]]) is not None and len(parts) > 1
    head = parts[0] if has_head else None
    rest = parts[1:] if has_head else parts
    if ruler is not _SIMPLE:
        return head, rest
    margin = min(lines.indent(at) for at in range(table.first, table.after) if not lines.is_blank(at))
    rows: list[tuple[int, int]] = []
    for start, end in rest:
        for at in range(start, end):
            if lines.is_blank(at):
                continue
            if rows and lines.indent(at) > margin and rows[-1][0] >= start:
                rows[-1] = (rows[-1][0], at + 1)
            else:
                rows.append((at, at + 1))
    return head, rows


class _Blocks:
    """Each step takes the line at which a block may begin and returns the line after it; the same line for none."""

    def __init__(self, lines: TextLines, after: int) -> None:
        self._lines = lines
        self._after = after
        self.found: list[TextBlock] = []

    def take(self, at: int) -> int:
        if _TARGET.match(self._lines.bare[at]):
            return at + 1
        steps = (self._fence, self._colons, self._heading, self._table, self._item, self._field, self._definition)
        return next((after for step in steps if (after := step(at)) > at), 0) or self._prose(at)

    def _add(self, form: BlockForm, first: int, after: int, inner: int | None = None) -> int:
        while after > first + 1 and self._lines.is_blank(after - 1):
            after -= 1
        self.found.append(TextBlock(form, first, after, after if inner is None else min(inner, after)))
        return after

    def _fence(self, at: int) -> int:
        closing = COMMONMARK.closing(self._lines.bare, at)
        if closing is None:
            return at
        after = min(closing + 1, self._after)
        named = _NAMED_FENCE.match(self._lines.bare[at])
        if named is None or _OF_CODE.match(named["name"]):
            return self._add(BlockForm.CODE, at, after)
        return self._add(BlockForm.DEFINITION, at, after, at + 1)

    def _colons(self, at: int) -> int:
        opened = _COLONS.match(self._lines.bare[at])
        if opened is None:
            return at
        for place in range(at + 1, self._after):
            if self._lines.bare[place].strip() == opened["mark"]:
                return self._add(BlockForm.DEFINITION, at, place + 1, at + 1)
        return at

    def _heading(self, at: int) -> int:
        if _HEADING.match(self._lines.bare[at]):
            return self._add(BlockForm.HEADING, at, at + 1)
        following = at + 1 < self._after and _UNDERLINE.match(self._lines.bare[at + 1])
        if following and not _BULLET.match(self._lines.bare[at]) and "|" not in self._lines.bare[at]:
            return self._add(BlockForm.HEADING, at, at + 2)
        return at

    def _table(self, at: int) -> int:
        bare = self._lines.bare
        if _GRID.match(bare[at]):
            after = at + 1
            while after < self._after and bare[after].lstrip().startswith(("|", "+")):
                after += 1
            return self._add(BlockForm.TABLE, at, after)
        if _SIMPLE.match(bare[at]):
            rulers = [place for place in range(at, self._after) if _SIMPLE.match(bare[place])][:3]
            # Its head may be missing; a table ends with the ruler before an empty line.
            last = next((each for each in rulers[1:] if each + 1 >= self._after or self._lines.is_blank(each + 1)), at)
            return self._add(BlockForm.TABLE, at, last + 1) if last > at else at
        if "|" in bare[at] and at + 1 < self._after and "|" in bare[at + 1] and _RULER.match(bare[at + 1]):
            after = at + 2
            while after < self._after and "|" in bare[after]:
                after += 1
            return self._add(BlockForm.TABLE, at, after)
        return at

    def _item(self, at: int) -> int:
        if not _BULLET.match(self._lines.bare[at]):
            return at
        return self._add(BlockForm.ITEM, at, self._after_deeper(at, lazy=True), at + 1)

    def _field(self, at: int) -> int:
        if not _FIELD.match(self._lines.bare[at]):
            return at
        return self._add(BlockForm.DEFINITION, at, self._after_deeper(at, lazy=False), at + 1)

    def _definition(self, at: int) -> int:
        """A line that what is below it explains: at a deeper indent, or behind a colon."""
        lines = self._lines
        if len(lines.bare[at]) > _LONGEST_TERM or at + 1 >= self._after:
            return at
        below = at + 1
        if not lines.is_blank(below) and _EXPLAINS.match(lines.bare[below]):
            after = below + 1
            while after < self._after and (
                lines.is_blank(after) or lines.indent(after) > lines.indent(at) or _EXPLAINS.match(lines.bare[after])
            ):
                after += 1
            return self._add(BlockForm.DEFINITION, at, after, below)
        while below < self._after and lines.is_blank(below):
            below += 1
        is_deeper = below < self._after and lines.indent(below) >= lines.indent(at) + _FEWEST_DEEPER
        if not is_deeper or _BULLET.match(lines.bare[below]):
            return at
        return self._add(BlockForm.DEFINITION, at, self._after_deeper(at, lazy=False), at + 1)

    def _prose(self, at: int) -> int:
        after = at + 1
        while after < self._after and not self._lines.is_blank(after) and not self._begins(after):
            after += 1
        return self._add(BlockForm.PROSE, at, after)

    def _begins(self, at: int) -> bool:
        """True if a line begins a block without an empty line before it."""
        line = self._lines.bare[at]
        following = self._lines.bare[at + 1] if at + 1 < self._after else ""
        return (
            _HEADING.match(line) is not None
            or _BULLET.match(line) is not None
            or COMMONMARK.opening.match(line) is not None
            or _COLONS.match(line) is not None
            or ("|" in line and "|" in following and _RULER.match(following) is not None)
        )

    def _after_deeper(self, at: int, *, lazy: bool) -> int:
        """The line behind a line and all that is below it. The text of an item may go on without an indent."""
        lines, own = self._lines, self._lines.indent(at)
        last, after = at, at + 1
        while after < self._after:
            if lines.is_blank(after):
                after += 1
                continue
            is_apart = after > last + 1
            if lines.indent(after) <= own and (
                not lazy or is_apart or self._begins(after) or _FIELD.match(lines.bare[after])
            ):
                break
            closing = COMMONMARK.closing(lines.bare, after)
            after = after + 1 if closing is None else min(closing + 1, self._after)
            last = after - 1
        return last + 1
