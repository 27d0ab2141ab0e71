"""reStructuredText as its readers see it, in the marks of markdown and line for line.

A reader of a rendered page sees no rulers under titles, no directives and no roles. So titles get the marks of
markdown, blocks of code its fences, admonitions their word, and roles give what they show; what a reader does not see
is blank. Every line stays the line it was: lines of the text are lines of the file.
"""

import re
from collections.abc import Iterator, Sequence

from clew.formats.documents.model import Block, BlockKind, DocumentLink
from clew.formats.documents.rst import underlines
from clew.text.lines import TextLines

_DIRECTIVE = re.compile(r"([ \t]*)\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w:+.-]*?)::(?:[ \t]+(.*?))?[ \t]*$")
_FOOTNOTE = re.compile(r"([ \t]*)\.\.[ \t]+(?=\[[^\]]+\][ \t])")
_OPTION = re.compile(r"([ \t]*):([\w-]+):[ \t]*(.*?)[ \t]*$")
_ROLE = re.compile(r":([A-Za-z][\w:+.-]*):`([^`<>]*?)(\s*<[^<>`]*>)?`(?!`)")
_TARGET = re.compile(r"(?<![`\w])`([^`<>]+?)(\s*<[^<>`]+>)?`__?")
_CODE = re.compile(r"``([^`](?:[^`]|`(?!`))*?)``")
_OPENS_LITERAL = re.compile(r"\s*::[ \t]*$")
_FENCE = "```"
_SHOWN_AS_TEXT = frozenset(
    ["doc", "ref", "term", "any", "numref", "abbr", "guilabel", "menuselection", "download", "index"]
)

_ADMONITION_NAMES = """
    note warning tip hint important caution danger error attention seealso todo admonition topic sidebar
"""
_ADMONITIONS = frozenset(_ADMONITION_NAMES.split())
_LAYOUT_NAMES = """
    align alt canonical class figclass figwidth height hidden loc module name nocontentsentry noindex noindexentry
    nosearch no-contents-entry no-index no-index-entry no-typesetting scale target width
"""
_OF_LAYOUT = frozenset(_LAYOUT_NAMES.split())
"""Options that say nothing of what is described."""
_FOR_LAYOUT = frozenset({"container", "rst-class", "cssclass", "only", "ifconfig"})
"""Directives whose argument says how the text inside is laid out, or where it is shown."""
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}


_OTHERS = _FOR_LAYOUT | _ADMONITIONS | _VERSIONS.keys() | {"rubric", "centered", "image", "figure", "include", "tab"}
"""Directives that describe nothing."""


def readable(lines: TextLines, blocks: Sequence[Block]) -> tuple[TextLines, list[Block]]:
    """The text as it is read, and the blocks in it that have anything to read."""
    page = _Page(lines)
    for block in blocks:
        page.add(block)
    read = list(_inline(page.shown, page.verbatim))
    # A last line of which nothing is shown still counts as a line.
    is_ended = lines.text.endswith(("\n", "\r")) or (read and not read[-1])
    shown = TextLines("\n".join(read) + "\n" if is_ended else "\n".join(read))
    return shown, [block for block in _placed(shown, blocks, page) if shown.text[block.start : block.end].strip()]


def placed_links(lines: TextLines, shown: TextLines, links: Sequence[DocumentLink]) -> tuple[DocumentLink, ...]:
    """The links at the lines that they are in."""
    found, line = [], 0
    for link in links:
        while lines.starts[line + 1] <= link.start:
            line += 1
        found.append(
            DocumentLink(shown.starts[line], shown.end(line), link.text, link.path, link.label, anywhere=link.anywhere)
        )
    return tuple(found)


def _placed(shown: TextLines, blocks: Sequence[Block], page: "_Page") -> Iterator[Block]:
    for block in blocks:
        first, last = page.fenced.get(block.line, (block.line, block.end_line))
        yield Block(
            block.kind,
            shown.starts[first - 1],
            shown.end(last - 1),
            first,
            last,
            level=block.level,
            title=shown.bare[page.titles[block.line]].lstrip("# ") if block.line in page.titles else block.title,
            labels=block.labels,
        )


class _Page:
    """Lines, changed block by block. Their places count from 0, those in blocks from 1."""

    def __init__(self, lines: TextLines) -> None:
        self.shown = list(lines.bare)
        self.verbatim: set[int] = set()
        """Lines of code, in which nothing is markup."""
        self.fenced: dict[int, tuple[int, int]] = {}
        """By the first line of a block of code: its lines with the fences."""
        self.titles: dict[int, int] = {}
        """By the first line of a heading: the place of its title."""

    def add(self, block: Block) -> None:
        first, after = block.line - 1, block.end_line
        if block.kind is BlockKind.HEADING:
            self._title(block, first, after)
        elif block.kind is BlockKind.COMMENT:
            self._unseen(first, after)
        elif block.kind is BlockKind.CODE:
            self._code(first, after)
        else:
            self._directive(first, after)

    def _title(self, block: Block, first: int, after: int) -> None:
        # An overline makes it the second of three lines, otherwise it is the first of two.
        place = first + (after - first > 2)
        text = self.shown[place].strip()
        self.shown[first:after] = [""] * (after - first)
        self.shown[place] = f"{'#' * min(block.level, 6)} {text}"
        self.titles[block.line] = place

    def _unseen(self, first: int, after: int) -> None:
        if note := _FOOTNOTE.match(self.shown[first]):
            self.shown[first] = note[1] + self.shown[first][note.end() :]
        else:
            self.shown[first:after] = [""] * (after - first)

    def _code(self, first: int, after: int) -> None:
        directive = _DIRECTIVE.match(self.shown[first])
        self.verbatim.update(range(first, after))
        opening = first if directive else first - 1
        if directive:
            self.shown[first] = ""
            inner = first + 1
            while inner < after and _OPTION.match(self.shown[inner]):
                self.shown[inner] = ""
                inner += 1
        elif first > 0:
            self._announced(first)
        is_whole = (
            opening >= 0 and not self.shown[opening] and after < len(self.shown) and not self.shown[after].strip()
        )
        if is_whole and any(line.strip() for line in self.shown[first:after]):
            indent = directive[1] if directive else ""
            self.shown[opening] = f"{indent}{_FENCE}{(directive[3] or '') if directive else ''}"
            self.shown[after] = indent + _FENCE
            self.verbatim.update((opening, after))
            self.fenced[first + 1] = (opening + 1, after + 1)

    def _announced(self, first: int) -> None:
        """Two colons at the end of a paragraph are read as one, and alone as nothing."""
        place = first - 1
        while place > 0 and not self.shown[place].strip():
            place -= 1
        if found := _OPENS_LITERAL.search(self.shown[place]):
            before = self.shown[place][: found.start()]
            self.shown[place] = f"{before}:" if before.strip() else ""

    def _directive(self, first: int, after: int) -> None:
        directive = _DIRECTIVE.match(self.shown[first])
        if directive is None:
            if after - first == 2 and underlines(self.shown[first + 1 : after], self.shown[first]):
                title = self.shown[first].strip()
                self.shown[first] = self.shown[first].replace(title, f"**{title}**")
                self.shown[first + 1] = ""
            return
        said = _announcement(directive[2].lower(), directive[3] or "")
        describes = directive[2].lower() not in _OTHERS
        for place in range(first + 1, after):
            option = _OPTION.match(self.shown[place])
            if option is None:
                break
            told = _told(option) if describes else ""
            if told and not said:
                # A directive without an argument is named by its first option: `.. conf::` with `:keys: bell`.
                said, told = f"`{option[3]}`", ""
            self.shown[place] = f"{option[1]}{told}" if told else ""
        self.shown[first] = directive[1] + said


def _told(option: re.Match[str]) -> str:
    """What an option says of the thing that is described: its type or its default. Others are for the layout."""
    name, value = option[2], option[3].strip()
    return f"{name}: {value}" if value and name not in _OF_LAYOUT else ""


def _announcement(name: str, argument: str) -> str:
    """Readable form of the line that opens a directive."""
    if name in _FOR_LAYOUT:
        return ""
    if name in _VERSIONS:
        return f"{_VERSIONS[name]} {argument}"
    if name in _ADMONITIONS:
        word = "See also" if name == "seealso" else name.capitalize()
        return f"{word}: {argument}".rstrip() if name not in ("admonition", "topic", "sidebar") else f"{argument}:"
    if name in ("rubric", "centered"):
        return f"**{argument}**"
    # What is left describes something: a class, a setting, an option. Its argument is the name.
    return f"`{argument}`" if argument and "`" not in argument else argument


def _inline(lines: Sequence[str], verbatim: set[int]) -> Iterator[str]:
    """The lines, with roles, targets and literals as they are shown. Each may begin in one line and end in the next."""
    first = 0
    while first < len(lines):
        after = first + 1
        if first not in verbatim:
            while after < len(lines) and after not in verbatim and lines[after].strip():
                after += 1
            text = "\n".join(lines[first:after])
            yield from _plain(text).split("\n") if "`" in text else lines[first:after]
        else:
            yield lines[first]
        first = after


def _plain(text: str) -> str:
    text = _ROLE.sub(_shown_role, text)
    text = _CODE.sub(lambda found: f"`{found[1]}`", text)
    return _TARGET.sub(lambda found: _with_lines(found, found[1]), text)


def _shown_role(found: re.Match[str]) -> str:
    said = found[2] or (found[3] or "").strip(" \n<>")
    if said.startswith("~"):
        said = said[1:].rpartition(".")[2]
    said = said.lstrip("!")
    return _with_lines(found, said if found[1].rpartition(":")[2] in _SHOWN_AS_TEXT else f"``{said}``")


def _with_lines(found: re.Match[str], shown: str) -> str:
    """As many lines as were written, whatever is shown of them."""
    return shown + "\n" * (found[0].count("\n") - shown.count("\n"))
