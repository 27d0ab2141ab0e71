"""Where the section titles of reStructuredText stand, as docutils reads it.

The rules are many: over- and underlines, their length in columns, lines that belong to a paragraph, a literal block or
a table. So docutils finds them. Only its block structure is used: no directive runs, so no file is read, no address is
asked and nothing is registered, and no inline markup is parsed. It is given only the parts of a text in which a line
could underline a title, one by one, because its time grows with the square of a text's length.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from clew.formats.documents.lines import TextLines

SIMPLE_TABLE = re.compile(r"[ \t]*={2,}(?:[ \t]+={2,})+[ \t]*$")
"""The ruler of a table without a frame."""

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
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
    """The sign below the title, twice where it also stands above."""


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
    """The text cut before every line that is not indented and follows a blank line: each title stands in one part."""
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
    """Whether a line may belong to a literal block whose lines begin with a sign instead of being indented."""
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
