"""Descriptions in a schema of GraphQL: one section for each definition, named like it, with its description."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.formats.documents.model import BlockKind
from clew.formats.documents.page import Page

_TOKEN = re.compile(r'#[^\r\n]*|"""|"|[{}()]|[_A-Za-z]\w*|\r\n?|\n')
_KEYWORDS = frozenset(
    ("type", "interface", "input", "enum", "union", "scalar", "directive", "schema", "extend", "query", "mutation")
)
_STRING = re.compile(r'(?:[^"\\\r\n]|\\.)*"?')
_HEAD = re.compile(r"(?:extend\s+)?(\w+)\s*@?(\w*)")
_LONGEST_HEAD = 300
_MOST = 20_000
"""Definitions of one file that are read."""


class _Definition(NamedTuple):
    start: int
    """Of its keyword."""
    description: str
    line: int


def read_graphql(text: str, title: str) -> Page:
    """The definitions of a schema as one page. Takes time linear in its length."""
    page = Page()
    found = list(_definitions(text))
    if not found:
        return page
    page.add(BlockKind.HEADING, title, 1, 1, level=1, title=title)
    for definition, end, end_line in found[:_MOST]:
        source = text[definition.start : end].rstrip()
        head = _HEAD.match(source[:_LONGEST_HEAD])
        name = " ".join(filter(None, head.groups())) if head is not None else source.partition("\n")[0]
        page.add(BlockKind.HEADING, name, definition.line, definition.line, level=2, title=name)
        page.add(BlockKind.PROSE, definition.description, definition.line, definition.line)
        page.add(BlockKind.CODE, source, definition.line, end_line)
    return page


def _definitions(text: str) -> Iterator[tuple[_Definition, int, int]]:
    """Definitions with the offset and line after each."""
    depth, line, at = 0, 1, 0
    description, opened = "", None
    end, end_line = 0, 1
    previous = ""
    while (found := _TOKEN.search(text, at)) is not None:
        sign, at = found[0], found.end()
        if sign[0] in "\r\n":
            line += 1
            continue
        if sign[0] == "#":
            continue
        first = line
        said = ""
        if sign[0] == '"':
            said, at = _string(text, sign, at)
            line += len(re.findall(r"\r\n?|\n", text[found.start() : at]))
        elif sign in "{(":
            depth += 1
        elif sign in "})":
            depth = max(depth - 1, 0)
        if depth == 0 and (said or (sign in _KEYWORDS and previous != "extend" and previous != "on")):
            if opened is not None:
                yield opened, end, end_line
                opened = None
            if said:
                description = said
            else:
                opened, description = _Definition(found.start(), description, first), ""
        end, end_line, previous = at, line, sign
    if opened is not None:
        yield opened, end, end_line


def _string(text: str, quote: str, at: int) -> tuple[str, int]:
    """A string that begins before this place, and the place after it."""
    if quote == '"':
        found = _STRING.match(text, at)
        end = found.end() if found is not None else at
        return text[at:end].removesuffix('"'), end
    end = text.find('"""', at)
    while end > 0 and text[end - 1] == "\\":
        end = text.find('"""', end + 3)
    end = len(text) if end < 0 else end
    lines = (each.strip() for each in text[at:end].splitlines())
    return "\n".join(lines).strip(), min(end + 3, len(text))
