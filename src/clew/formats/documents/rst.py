"""reStructuredText cut into blocks.

Docutils says where the titles are. Like the scanner of markdown, this tells apart what else may not be cut: literal and
code blocks, tables, items of lists and comments. What is in an admonition or another directive is read like the
text around it.

The rules for titles are many: over- and underlines, their length in columns, lines that belong to a paragraph, a
literal block or a table. So docutils finds them. Only its block structure is used: no directive runs, so no file is
read, no address is asked and nothing is registered, and no inline markup is parsed. It is given only the parts of a
text in which a line could underline a title, one by one, because its time grows with the square of a text's length.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from clew.formats.documents.model import Block, BlockKind, DocumentLink
from clew.formats.documents.outline import plain_title
from clew.text.lines import TextLines

SIMPLE_TABLE = re.compile(r"[ \t]*={2,}(?:[ \t]+={2,})+[ \t]*$")
"""The ruler of a table without a frame."""

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
_RULER = re.compile(r"([ \t]*)([!-/:-@\[-`{-~])\2{3,}[ \t]*$")
"""Of at least four signs: fewer are text where a longer title would need more."""
_NO_TITLE = re.compile(r"\s*$|[-*+•‣][ \t]|\.\.[ \t]")
"""A blank line, an item of a list or explicit markup."""
_QUOTE = re.compile(r"[!-/:-@\[-`{-~]")
_SPACES = re.compile(r"[\v\f]")
_MOST_LINES = 1_000
"""Of a part; a longer one is cut, since nobody writes a paragraph of that length."""


class Title(NamedTuple):
    text: int
    """The line of the title itself; all lines count from 0."""
    after: int
    style: str
    """The sign below the title, twice where it also is above."""


def find_titles(lines: TextLines) -> Mapping[int, Title]:
    """The titles of a text, by their first lines."""
    parts = [part for part in _parts(lines) if any(_may_underline(lines, number) for number in part)]
    if not parts:
        return {}
    from docutils.parsers.rst.states import RSTStateMachine
    from docutils.statemachine import StringList
    from docutils.utils import new_document

    titles: dict[int, Title] = {}
    document: Any = new_document("", _settings())
    machine: Any = RSTStateMachine(state_classes=_states(), initial_state="Body")
    for part in parts:
        document.clew_titles, document.clew_offset = titles, part.start
        # Tabs and white space as docutils reads them, but with our count of lines.
        plain = [_SPACES.sub(" ", lines.bare[number]).expandtabs(8).rstrip() for number in part]
        with suppress(Exception):  # whatever a file holds, it is never refused; what was found until then counts
            machine.run(StringList(plain, ""), document, inliner=_NoInliner())
    return titles


def _may_underline(lines: TextLines, index: int) -> bool:
    bare = lines.bare
    return index > 0 and _ADORNMENT.match(bare[index]) is not None and _NO_TITLE.match(bare[index - 1]) is None


def _parts(lines: TextLines) -> Iterator[range]:
    """The text cut before every line that is not indented and follows a blank line: each title is in one part."""
    first, index = 0, 1
    while index < len(lines):
        if SIMPLE_TABLE.match(lines.bare[index - 1]) and index - 1 == first:
            index = after_simple_table(lines, first)
        elif index - first >= _MOST_LINES or (_begins(lines, index) and not _is_quoted(lines, index)):
            yield range(first, index)
            first = index
        index += 1
    yield range(first, len(lines))


def after_simple_table(lines: TextLines, index: int) -> int:
    """The line after a table: the last of its rulers has a blank line, or the end of the text, after it."""
    index += 1
    while index < len(lines):
        index += 1
        if SIMPLE_TABLE.match(lines.bare[index - 1]) and (index == len(lines) or lines.is_blank(index)):
            break
    return index


def _begins(lines: TextLines, index: int) -> bool:
    return lines.is_blank(index - 1) and not lines.bare[index][:1].isspace() and not lines.is_blank(index)


def _is_quoted(lines: TextLines, index: int) -> bool:
    """True if a line may belong to a literal block whose lines begin with a sign instead of being indented."""
    before = index - 1
    while before > 0 and lines.is_blank(before):
        before -= 1
    return lines.bare[before].rstrip().endswith("::") and _QUOTE.match(lines.bare[index]) is not None


class _NoInliner:
    def init_customizations(self, settings: Any) -> None:
        """Inline markup is not parsed, so nothing has to be prepared for it."""


@cache
def _settings() -> Any:
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser

    settings = get_default_settings(Parser)
    settings.report_level, settings.halt_level, settings.warning_stream = 5, 6, False
    settings.file_insertion_enabled = settings.raw_enabled = False
    return settings


@cache
def _states() -> tuple[type, ...]:
    """The states of the parser of docutils, which note titles and skip directives, inner blocks and inline markup."""
    from docutils.parsers.rst import states

    class Structure(states.RSTState):
        document: Any
        state_machine: Any

        def section(self, title: str, source: str, style: Any, lineno: int, messages: Any) -> None:
            after = self.document.clew_offset + self.state_machine.abs_line_number()
            first = after - source.count("\n") - 1
            self.document.clew_titles[first] = Title(first + (len(style) > 1), after, "".join(style))

        def nested_parse(self, block: Any, input_offset: int, *args: Any, **more: Any) -> int:
            return int(input_offset) + len(block)  # nothing that is indented holds a title

        def inline_text(self, text: str, lineno: int) -> tuple[list[Any], list[Any]]:
            return [], []

        def directive(self, match: Any, **presets: Any) -> tuple[list[Any], bool]:
            *_, blank_finish = self.state_machine.get_first_known_indented(match.end(), strip_top=0)
            return [], blank_finish

    return tuple(type(state.__name__, (Structure, state), {}) for state in states.state_classes)


_DIRECTIVE = re.compile(r"[ \t]*\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w:+.-]*?)::(?:[ \t]|$)")
_LABEL = re.compile(r"[ \t]*\.\.[ \t]+_`?([^`:\n]+)`?:[ \t]*$")
_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]|$)")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣]|(?:\d{1,9}|#|[a-zA-Z])[.)]|\((?:\d{1,9}|[a-zA-Z])\))(?=[ \t]|$)")
_GRID = re.compile(r"[ \t]*\+(?:[-=]+\+)+[ \t]*$")
_FIELD = re.compile(r":([A-Za-z][^:\n]{0,60}):(?:[ \t]+(.*))?$")
_OPTION = re.compile(r"[ \t]*:[\w-]+:")
_CODE_NAMES = """
    code code-block sourcecode literalinclude parsed-literal doctest testcode testoutput prompt raw math
"""
_CODE = frozenset(_CODE_NAMES.split())
_UNSEEN_NAMES = """
    toctree contents index include highlight currentmodule module py:currentmodule py:module meta image figure-md
    default-domain sectnum tabularcolumns role default-role unicode replace date testsetup testcleanup
"""
_UNSEEN = frozenset(_UNSEEN_NAMES.split())
"""Directives of which a reader sees nothing, or only what is not text."""
_SHOWN_NAMES = """
    note warning tip hint important caution danger error attention seealso todo admonition topic sidebar
    versionadded versionchanged deprecated versionremoved rubric centered figure container rst-class cssclass class only
    ifconfig function method classmethod staticmethod property attribute data exception decorator decoratormethod type
    describe object option envvar
"""
_SHOWN = frozenset(_SHOWN_NAMES.split())
"""Directives that are about themselves or the text around them, also without text of their own before a title. So are
those of a domain (`py:function`) and those that quote docstrings (`autofunction`)."""
_DEEPEST = 16
_TABLES = frozenset({"table", "list-table", "csv-table"})
_ROLE = re.compile(r":(doc|ref|term|any|download):`([^`<>]*?)(?:\s*<([^<>`]+)>)?`")
_NAMED_TARGET = re.compile(r"`([^`<>]+?)\s*<([^<>`]+)>`_")


def docinfo(lines: TextLines) -> tuple[dict[str, Any], int]:
    """The fields at the very beginning of a text, and the line after them, counted from 0."""
    values: dict[str, Any] = {}
    index = 0
    while index < len(lines) and (match := _FIELD.match(lines.bare[index])) is not None:
        values[match[1].strip().lower()] = (match[2] or "").strip()
        index += 1
    return values, index


def scan_rst(lines: TextLines, first: int = 0) -> list[Block]:
    """The blocks of a text, from its line `first` (counted from 0) on."""
    scan = _Scan(lines)
    scan.run(first, len(lines))
    return scan.blocks


class _Scan:
    """Each step takes the line at which a block may begin and returns the line after it; the same line for none."""

    def __init__(self, lines: TextLines) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self._titles = find_titles(lines)
        self._styles: list[str] = []
        """In the order of their first use, which is the order of levels."""
        self._labels: list[str] = []
        self._names = (0, -1)
        """The lines of names, comments and blanks that were looked at last, which many directives may ask about."""
        self._literal_follows = False
        self._depth = 0

    def run(self, index: int, stop: int) -> None:
        steps = (self._literal, self._explicit, self._title, self._table, self._item, self._doctest)
        while index < stop:
            if self.lines.is_blank(index):
                index += 1
                continue
            after = next((after for step in steps if (after := step(index)) > index), index)
            index = after if after > index else self._prose(index)

    def _title(self, index: int) -> int:
        found = self._titles.get(index)
        if found is None:
            return index
        if found.style not in self._styles:
            self._styles.append(found.style)
        lines = self.lines
        self.blocks.append(
            Block(
                BlockKind.HEADING,
                lines.starts[index],
                lines.end(found.after - 1),
                index + 1,
                found.after,
                level=self._styles.index(found.style) + 1,
                title=plain_title(lines.bare[found.text]),
                labels=tuple(self._labels),
            )
        )
        self._labels = []
        return found.after

    def _explicit(self, index: int) -> int:
        line = self.lines.bare[index]
        if not _EXPLICIT.match(line):
            return index
        after = self._after_indented(index + 1, self.lines.indent(index))
        if label := _LABEL.match(line):
            self._labels.append(label[1].strip())
            self._add(BlockKind.COMMENT, index, index + 1)
            return index + 1
        directive = _DIRECTIVE.match(line)
        if directive is None or directive[1].lower() in _UNSEEN:
            self._add(BlockKind.COMMENT, index, after)
        elif (named := _named(line, directive)) and after == index + 1 and self._before_title(after):
            self._labels.append(named)
            self._add(BlockKind.COMMENT, index, after)
        elif (name := directive[1].lower()) in _CODE:
            self._add(BlockKind.CODE, index, after)
        elif name in _TABLES:
            self._add(BlockKind.TABLE, index, after)
        else:
            inner = index + 1
            while inner < after and not self.lines.is_blank(inner) and _OPTION.match(self.lines.bare[inner]):
                inner += 1
            self._add(BlockKind.PROSE, index, inner)
            self._inside(inner, after)
        return after

    def _before_title(self, index: int) -> bool:
        """True if only names, comments and blank lines lie between a line and the next title."""
        first, after = self._names
        if not first <= index <= after:
            first = after = index
            while after < len(self.lines) and (self.lines.is_blank(after) or _EXPLICIT.match(self.lines.bare[after])):
                after += 1
            self._names = first, after
        return after in self._titles

    def _inside(self, first: int, stop: int) -> None:
        if self._depth >= _DEEPEST:
            if first < stop:
                self._add(BlockKind.PROSE, first, stop)
            return
        self._depth += 1
        self.run(first, stop)
        self._depth -= 1

    def _literal(self, index: int) -> int:
        follows, self._literal_follows = self._literal_follows, False
        before = self.blocks[-1].end_line - 1 if self.blocks else 0
        if not follows or self.lines.indent(index) <= self.lines.indent(before):
            return index
        after = self._after_indented(index, self.lines.indent(before))
        self._add(BlockKind.CODE, index, after)
        return after

    def _table(self, index: int) -> int:
        bare = self.lines.bare
        after = index + 1
        if _GRID.match(bare[index]):
            while after < len(bare) and bare[after].lstrip()[:1] in ("+", "|"):
                after += 1
        elif SIMPLE_TABLE.match(bare[index]):
            after = after_simple_table(self.lines, index)
        else:
            return index
        self._add(BlockKind.TABLE, index, after)
        return after

    def _item(self, index: int) -> int:
        if not _BULLET.match(self.lines.bare[index]):
            return index
        after = self._after_indented(index + 1, self.lines.indent(index))
        self._add(BlockKind.ITEM, index, after)
        return after

    def _doctest(self, index: int) -> int:
        if not self.lines.bare[index].lstrip().startswith(">>> "):
            return index
        after = index
        while after < len(self.lines) and not self.lines.is_blank(after):
            after += 1
        self._add(BlockKind.CODE, index, after)
        return after

    def _prose(self, index: int) -> int:
        after = index + 1
        if self._depth and underlines(self.lines.bare[after : after + 1], self.lines.bare[index]):
            self._add(BlockKind.PROSE, index, after + 1)
            return after + 1
        while after < len(self.lines) and not self.lines.is_blank(after) and after not in self._titles:
            after += 1
        self._add(BlockKind.PROSE, index, after)
        self._literal_follows = self.lines.bare[after - 1].rstrip().endswith("::")
        return after

    def _after_indented(self, index: int, indent: int) -> int:
        """The line after those that are indented deeper, blank ones between them included."""
        last = index
        while index < len(self.lines):
            if not self.lines.is_blank(index):
                if self.lines.indent(index) <= indent:
                    break
                last = index + 1
            index += 1
        return last

    def _add(self, kind: BlockKind, first: int, after: int) -> None:
        lines = self.lines
        self.blocks.append(Block(kind, lines.starts[first], lines.end(after - 1), first + 1, after))


def _named(line: str, directive: re.Match[str]) -> str:
    """Name that a directive gives to a title after it: a setting, a signal; empty if the directive shows something
    itself."""
    name = directive[1].lower()
    return "" if name in _SHOWN or ":" in name or name.startswith("auto") else line[directive.end() :].strip()


def underlines(ruler: Sequence[str], title: str) -> bool:
    """True if the line after a text makes it a title. Inside of a directive, such as `automodule`, a title begins no
    section of the document, but ends a paragraph like one."""
    found = _RULER.match(ruler[0]) if ruler else None
    return found is not None and found[1] == title[: len(title) - len(title.lstrip())]


def rst_links(text: str, blocks: list[Block]) -> tuple[DocumentLink, ...]:
    """References to other documents and to labels, in the order of the text."""
    found: list[DocumentLink] = []
    for block in blocks:
        if block.kind in (BlockKind.CODE, BlockKind.COMMENT):
            continue
        for match in _ROLE.finditer(text, block.start, block.end):
            role, written, target = match[1], match[2].strip(), (match[3] or match[2]).strip()
            whole = role in ("doc", "download")
            path, label = (target, "") if whole else ("", target)
            found.append(DocumentLink(match.start(), match.end(), written, path, label, anywhere=not whole))
        for match in _NAMED_TARGET.finditer(text, block.start, block.end):
            if "://" not in match[2] and not match[2].startswith("mailto:"):
                path, _, label = match[2].partition("#")
                found.append(DocumentLink(match.start(), match.end(), match[1], path, label))
    return tuple(sorted(found, key=lambda link: link.start))
