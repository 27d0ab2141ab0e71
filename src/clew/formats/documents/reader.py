"""A document's bytes to its text, its sections and its links. No document is refused: what is odd is a diagnostic."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.documents.decoding import decoded
from clew.formats.documents.docstrings import read_docstrings
from clew.formats.documents.front_matter import read_front_matter
from clew.formats.documents.html import HtmlPage
from clew.formats.documents.inline import markdown_links
from clew.formats.documents.markdown import scan_markdown
from clew.formats.documents.model import Block, BlockKind, Document, DocumentLink, Format
from clew.formats.documents.notebook import read_notebook
from clew.formats.documents.outline import LONGEST_TITLE, first_title, outline
from clew.formats.documents.page import Page
from clew.formats.documents.reference.graphql import read_graphql
from clew.formats.documents.reference.manual import read_manual
from clew.formats.documents.reference.openapi import is_openapi, read_openapi
from clew.formats.documents.rst import docinfo, rst_links, scan_rst
from clew.formats.documents.rst_readable import placed_links, readable
from clew.text.lines import TextLines

VERSION = 10
"""Changes when the same bytes would be read in another way."""

FORMATS: Mapping[str, Format] = {
    "md": Format.MARKDOWN,
    "markdown": Format.MARKDOWN,
    "mdx": Format.MARKDOWN,
    "rst": Format.RST,
    "rest": Format.RST,
    "html": Format.HTML,
    "htm": Format.HTML,
    "xhtml": Format.HTML,
    "ipynb": Format.NOTEBOOK,
    "py": Format.PYTHON,
    "pyi": Format.PYTHON,
    **dict.fromkeys(("yaml", "yml", "json"), Format.OPENAPI),
    **dict.fromkeys(("graphql", "graphqls", "gql"), Format.GRAPHQL),
}
"""By the ending of the file's name, in lower case; any other is plain text."""
_CHAPTERS = frozenset("12345678")

_UNDERLINE = re.compile(r"(=+|-+|~+|\*+)[ \t]*$")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,9}[.)])(?=[ \t])")
_CAPITALS = re.compile(r"(?=.*[^\W\d_]{3})[^a-z\n]{3,60}$")
_LEVELS = {"=": 1, "-": 2, "~": 3, "*": 3}
_SHORTEST = 3


def format_of(path: str) -> Format:
    ending = PurePosixPath(path).suffix.lstrip(".").lower()
    if ending in _CHAPTERS and any(part == "man" or part == f"man{ending}" for part in path.split("/")[:-1]):
        return Format.MANUAL
    return FORMATS.get(ending, Format.PLAIN)


def read_document(data: bytes, path: str) -> Document:
    """Document from the bytes of the file at `path`, relative to the project. Takes time linear in its length."""
    text, problems = decoded(data)
    read = _READERS[format_of(path)]
    document = read(text, path)
    return msgspec.structs.replace(document, diagnostics=(*problems, *document.diagnostics))


def _markdown(text: str, path: str) -> Document:
    lines = TextLines(text)
    front = read_front_matter(lines)
    blocks, problems = scan_markdown(lines, front.after)
    links = markdown_links(text, blocks)
    return _assembled(Format.MARKDOWN, text, path, front.values, blocks, links, (*front.diagnostics, *problems))


def _rst(text: str, path: str) -> Document:
    lines = TextLines(text)
    front, after = docinfo(lines)
    written = scan_rst(lines, after)
    shown, blocks = readable(lines, written)
    links = placed_links(lines, shown, rst_links(text, written))
    return _assembled(Format.RST, shown.text, path, front, blocks, links, ())


def _html(text: str, path: str) -> Document:
    page = HtmlPage(text)
    return _assembled(Format.HTML, page.text, path, page.properties, page.blocks, page.links, ())


def _plain(text: str, path: str) -> Document:
    return _assembled(Format.PLAIN, text, path, {}, scan_plain(TextLines(text)), (), ())


def _notebook(text: str, path: str) -> Document:
    page, metadata, problems = read_notebook(text)
    shown = page.text()
    links = markdown_links(shown, page.blocks)
    return _assembled(Format.NOTEBOOK, shown, path, metadata, page.blocks, links, problems)


def _python(text: str, path: str) -> Document:
    page, problems = read_docstrings(text, _module_name(path))
    return _assembled(Format.PYTHON, page.text(), path, {}, page.blocks, (), problems)


def _manual(text: str, path: str) -> Document:
    return _of_page(Format.MANUAL, read_manual(text), path)


def _openapi(text: str, path: str) -> Document:
    if not is_openapi(text):
        return _plain(text, path)
    page = read_openapi(text, PurePosixPath(path).stem)
    return _of_page(Format.OPENAPI, page, path) if page.blocks else _plain(text, path)


def _graphql(text: str, path: str) -> Document:
    page = read_graphql(text, PurePosixPath(path).stem)
    return _of_page(Format.GRAPHQL, page, path) if page.blocks else _plain(text, path)


def _of_page(kind: Format, page: Page, path: str) -> Document:
    return _assembled(kind, page.text(), path, {}, page.blocks, (), ())


_READERS: Mapping[Format, Callable[[str, str], Document]] = {
    Format.MARKDOWN: _markdown,
    Format.RST: _rst,
    Format.HTML: _html,
    Format.PLAIN: _plain,
    Format.NOTEBOOK: _notebook,
    Format.PYTHON: _python,
    Format.MANUAL: _manual,
    Format.OPENAPI: _openapi,
    Format.GRAPHQL: _graphql,
}


def _assembled(
    kind: Format,
    text: str,
    path: str,
    front: Mapping[str, Any],
    blocks: Sequence[Block],
    links: tuple[DocumentLink, ...],
    problems: tuple[Diagnostic, ...],
) -> Document:
    given = front.get("title")
    title = given.strip() if isinstance(given, str) else ""
    title = (title or first_title(blocks) or PurePosixPath(path).stem)[:LONGEST_TITLE]
    return Document(kind, title, text, front, outline(blocks, title), links, problems)


def _module_name(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[1:] if parts[:1] == ("src",) and len(parts) > 1 else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def scan_plain(lines: TextLines) -> list[Block]:
    """The blocks of a text. A line that is underlined, or is alone in capitals, is a heading."""
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
