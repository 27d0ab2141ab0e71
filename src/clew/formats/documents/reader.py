"""A document's bytes to its text, its sections and its links. No document is refused: what is odd is a diagnostic."""

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
from clew.formats.documents.lines import TextLines
from clew.formats.documents.markdown import scan_markdown
from clew.formats.documents.model import Block, Document, DocumentLink, Format
from clew.formats.documents.notebook import read_notebook
from clew.formats.documents.outline import LONGEST_TITLE, first_title, outline
from clew.formats.documents.plain import scan_plain
from clew.formats.documents.rst import docinfo, rst_links, scan_rst
from clew.formats.documents.rst_readable import placed_links, readable

VERSION = 5
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
}
"""By the ending of the file's name, in lower case; any other is plain text."""


def format_of(path: str) -> Format:
    return FORMATS.get(PurePosixPath(path).suffix.lstrip(".").lower(), Format.PLAIN)


def read_document(data: bytes, path: str) -> Document:
    """What the file at `path`, relative to the project, says. Takes time linear in its length."""
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


_READERS: Mapping[Format, Callable[[str, str], Document]] = {
    Format.MARKDOWN: _markdown,
    Format.RST: _rst,
    Format.HTML: _html,
    Format.PLAIN: _plain,
    Format.NOTEBOOK: _notebook,
    Format.PYTHON: _python,
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
