"""A document's bytes to its text, its sections and its links. No document is refused: what is odd is a diagnostic.

Blocks gathered into sections, each with a name that lasts.

What an author says about a document before it begins: YAML between `---`, TOML between `+++`.

Of YAML this reads what front matter is made of: keys at the left margin with a text, a number or a truth value, lists
in both spellings, and folded or literal text below a key. A deeper structure is kept as the text it was written in.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec

from clew.errors import ConfigError
from clew.formats.diagnostics import Diagnostic
from clew.formats.documents.decoding import decoded
from clew.formats.documents.docstrings import read_docstrings
from clew.formats.documents.html import HtmlPage
from clew.formats.documents.lines import TextLines
from clew.formats.documents.links import markdown_links
from clew.formats.documents.markdown import scan_markdown
from clew.formats.documents.model import Block, BlockKind, Document, DocumentLink, Format, Section
from clew.formats.documents.notebook import read_notebook
from clew.formats.documents.plain import scan_plain
from clew.formats.documents.rst import docinfo, rst_links, scan_rst
from clew.formats.documents.slugs import rendered_label, slug
from clew.formats.elspais.toml_values import parse_toml
from clew.text.shortening import shortened

VERSION = 4
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
    blocks = scan_rst(lines, after)
    return _assembled(Format.RST, text, path, front, blocks, rst_links(text, blocks), ())


def _html(text: str, path: str) -> Document:
    page = HtmlPage(text)
    return _assembled(Format.HTML, page.text, path, page.properties, page.blocks, page.links, ())


def _plain(text: str, path: str) -> Document:
    return _assembled(Format.PLAIN, text, path, {}, scan_plain(TextLines(text)), (), ())


def _notebook(text: str, path: str) -> Document:
    page, told, problems = read_notebook(text)
    shown = page.text()
    links = markdown_links(shown, page.blocks)
    return _assembled(Format.NOTEBOOK, shown, path, told, page.blocks, links, problems)


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


PREAMBLE = "preamble"
LONGEST_TITLE = 500
"""Every piece of a section carries its title, so a longer one is cut: nobody reads it."""
LONGEST_ANCHOR = 200


def outline(blocks: Sequence[Block], title: str) -> tuple[Section, ...]:
    """The sections of a document: one for each heading, and one for what stands before the first."""
    groups = list(_groups(blocks))
    headings = [group[0] for group in groups if group[0].kind is BlockKind.HEADING]
    # Not whether it stands above all others: a heading that comes later would rename what is above it.
    title_heading = headings[0] if headings else None
    sections: list[Section] = []
    names = _Names()
    open_sections: list[int] = []
    for group in groups:
        head = group[0]
        is_heading = head.kind is BlockKind.HEADING
        level = head.level if is_heading else 0
        while open_sections and sections[open_sections[-1]].level >= level:
            open_sections.pop()
        parent = open_sections[-1] if open_sections else -1
        above = () if parent < 0 or head is title_heading else _names_above(sections[parent], title_heading)
        anchor = (head.labels or (slug(head.title),))[0] if is_heading else PREAMBLE
        anchor = names.unused(above, anchor[:LONGEST_ANCHOR])
        own_title = head.title if is_heading else title
        sections.append(
            Section(
                title=(own_title or title)[:LONGEST_TITLE],
                level=level,
                anchor=anchor,
                path=(*above, anchor),
                labels=_labels(anchor, head) if is_heading else (),
                start=head.start,
                end=group[-1].end,
                line=head.line,
                end_line=group[-1].end_line,
                blocks=tuple(group),
                parent=parent,
            )
        )
        if is_heading:
            open_sections.append(len(sections) - 1)
    return tuple(sections)


def first_title(blocks: Sequence[Block]) -> str:
    """The title that a document gives itself: its first heading."""
    return next((block.title for block in blocks if block.kind is BlockKind.HEADING), "")


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING and group:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _names_above(parent: Section, title_heading: Block | None) -> tuple[str, ...]:
    return () if parent.blocks[0] is title_heading else parent.path


class _Names:
    """Which anchors are taken, and how often each was asked for."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, ...], int] = {}

    def unused(self, above: tuple[str, ...], anchor: str) -> str:
        """The anchor, or with the lowest number that makes it unique among its siblings."""
        # A slash separates the parts of a path, and a tilde the number of a piece.
        anchor = anchor.replace("/", "-").replace("~", "-") or "section"
        asked = self._asked.get((*above, anchor), 0) + 1
        unique = anchor
        while asked > 1 and (*above, unique := f"{anchor}-{asked}") in self._asked:
            asked += 1
        self._asked[(*above, anchor)] = asked
        self._asked.setdefault((*above, unique), 1)
        return unique


def _labels(anchor: str, heading: Block) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*heading.labels, anchor, rendered_label(heading.title))))


_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t](.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_NUMBER = re.compile(r"[-+]?\d{1,100}(?:\.\d{1,100})?")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None, "~": None, "": None}
_FOLDED = (">", ">-", ">+")
_LITERAL = ("|", "|-", "|+")
_LONGEST_LINES = 500


class FrontMatter(NamedTuple):
    values: dict[str, Any]
    after: int
    """The line at which the document begins, counted from 0."""
    diagnostics: tuple[Diagnostic, ...]


NONE = FrontMatter({}, 0, ())


def read_front_matter(lines: TextLines) -> FrontMatter:
    """The front matter of a text; none where it does not begin with it or never ends."""
    fence = lines.bare[0].rstrip() if len(lines) else ""
    if fence not in ("---", "+++"):
        return NONE
    ends = ("---", "...") if fence == "---" else ("+++",)
    for index in range(1, min(len(lines), _LONGEST_LINES)):
        if lines.bare[index].rstrip() in ends:
            break
    else:
        return NONE
    body = lines.bare[1:index]
    if fence == "+++":
        return _toml(body, index + 1)
    # A line between two rulers is no front matter.
    if not any(_KEY.match(line) for line in body) and any(line.strip() for line in body):
        return NONE
    return _yaml(body, index + 1)


def _toml(body: list[str], after: int) -> FrontMatter:
    try:
        return FrontMatter(parse_toml("\n".join(body).encode("utf-8", "replace"), "The front matter"), after, ())
    except ConfigError as error:
        problem = f"{error.message} Correct it, or leave out the +++ around it."
        return FrontMatter({}, after, (Diagnostic("documents.front_matter", "warning", problem, 1),))


def _yaml(body: list[str], after: int) -> FrontMatter:
    values: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    key = ""
    below: dict[str, list[str]] = {}
    for number, line in enumerate(body, start=2):
        found = _KEY.match(_COMMENT.sub("", line)) if line[:1] not in (" ", "\t", "-", "#") else None
        if found is not None:
            key = found[1]
            values[key] = (found[2] or "").strip()
        elif key and (line[:1] in (" ", "\t", "-") or not line.strip()):
            below.setdefault(key, []).append(line)
        elif line.strip() and not line.startswith("#"):
            problem = f"{shortened(line)!r} is not `key: value`. Correct the front matter."
            problems.append(Diagnostic("documents.front_matter", "warning", problem, number))
    return FrontMatter({key: _value(text, below.get(key, [])) for key, text in values.items()}, after, tuple(problems))


def _value(text: str, below: list[str]) -> Any:
    kept = [line for line in below if line.strip()]
    if text in _LITERAL:
        return "\n".join(line.strip() for line in below).strip()
    if text in _FOLDED:
        return " ".join(line.strip() for line in kept)
    if not text and kept:
        items = [_ITEM.match(line) for line in kept]
        if all(items):
            return [_scalar(item[1]) for item in items if item is not None]
        return "\n".join(kept)
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(item) for item in text[1:-1].split(",") if item.strip()]
    # A plain text goes on in indented lines.
    return _scalar(" ".join((text, *(line.strip() for line in kept))))


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text
