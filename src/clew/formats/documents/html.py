"""Readable text of an HTML page, cut into blocks. Tags that are not closed, or closed twice, do no harm."""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from clew.formats.documents.inline import link_to
from clew.formats.documents.model import Block, BlockKind, DocumentLink
from clew.formats.documents.page import Page

_SPACE = re.compile(r"\s+")


class RunningText:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._last = "\n"
        self._opened: list[tuple[int, str]] = []
        self._links: list[tuple[int, int, str]] = []

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def add(self, text: str, *, keep_space: bool = False) -> None:
        if not keep_space:
            text = _SPACE.sub(" ", text)
            if self._last.isspace():
                text = text.lstrip(" ")
        elif not self._parts:
            text = text.lstrip("\r\n")
        self._append(text)

    def break_line(self, opening: str = "") -> None:
        """Go on in a new line, unless one was just begun."""
        if self._parts and self._last != "\n":
            self._append("\n")
        self._append(opening)

    def separate(self, sign: str) -> None:
        """Put a sign between two cells; none before the first of a line."""
        if self._last != "\n":
            self._append(sign)

    def open_link(self, target: str) -> None:
        self.close_link()
        self._opened.append((self._length, target))

    def close_link(self) -> None:
        if self._opened:
            start, target = self._opened.pop()
            self._links.append((start, self._length, target))

    def taken(self) -> tuple[str, list[tuple[int, int, str]]]:
        """The text and its links; what follows is another text."""
        self.close_link()
        text, links = "".join(self._parts).rstrip(), self._links
        self._parts, self._length, self._last, self._links = [], 0, "\n", []
        return text, [(start, min(end, len(text)), target) for start, end, target in links if start < len(text)]

    def _append(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)
            self._last = text[-1]


_UNREAD = frozenset({"script", "style", "template", "svg"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = """
    address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html
    legend main nav ol p section summary ul
"""
_BREAKING = frozenset(_BLOCK_TAGS.split())
_CELLS = ("td", "th")
_LISTS = ("ul", "ol", "menu")
_DEEPEST_INDENT = 20
_BAD_SECTION = re.compile(r"<!\[(?!CDATA\[|if\b|else\b|endif\b)", re.IGNORECASE)
"""The parser of the standard library gives up at a marked section that it does not know."""


class HtmlPage:
    """The blocks, links and properties of a page."""

    def __init__(self, text: str) -> None:
        reading = _Reading()
        reading.feed(_tame(text))
        reading.close()
        reading.flush()
        self.text = reading.page.text()
        self.blocks: list[Block] = reading.page.blocks
        self.links: tuple[DocumentLink, ...] = tuple(reading.links)
        self.properties: Mapping[str, Any] = reading.all_properties()


def _tame(text: str) -> str:
    """The text without what the parser of the standard library gives up at, or looks at again and again: tags and
    comments that are never closed."""
    closed = text.rfind("-->") + 1
    text = text[:closed] + text[closed:].replace("<!--", "&lt;!--")
    closed = text.rfind(">") + 1
    return _BAD_SECTION.sub("<! [", text[:closed] + text[closed:].replace("<", "&lt;"))


class _Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.links: list[DocumentLink] = []
        self.properties: dict[str, Any] = {}
        self._run = RunningText()
        self._kind = BlockKind.PROSE
        self._level = 0
        self._line = 1
        self._labels: list[str] = []
        self._unread = 0
        self._in_title = False
        self._title: list[str] = []
        self._lists = 0
        self._tables = 0
        self._code = 0

    # What the parser meets

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNREAD:
            self._unread += 1
        if self._unread:
            return
        given = {name: value or "" for name, value in attrs}
        self._opened(tag, given)
        self._code += tag == "pre"
        for name in ("id", "name") if tag == "a" else ("id",):
            if given.get(name):
                self._labels.append(given[name])
        if tag == "a" and given.get("href"):
            self._run.open_link(given["href"])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _UNREAD:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD:
            self._unread = max(0, self._unread - 1)
        elif not self._unread:
            self._closed(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._unread:
            if self._run.is_empty and data.strip():
                self._line = self.getpos()[0] + data[: len(data) - len(data.lstrip())].count("\n")
            self._run.add(data, keep_space=self._code > 0)

    def all_properties(self) -> dict[str, Any]:
        """Properties in the head of the page."""
        title = " ".join(" ".join(self._title).split())
        return {**self.properties, **({"title": title} if self._title else {})}

    # What that means

    def _opened(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "title":
            self._in_title = True
        elif tag == "meta" and given.get("name") and given.get("content"):
            self.properties[given["name"].lower()] = given["content"]
        elif tag == "br":
            self._run.break_line()
        elif tag == "table":
            self._begin_table()
        elif self._tables:
            self._opened_in_table(tag)
        elif tag in _LISTS:
            self._begin_list()
        elif tag == "li":
            self._begin_item()
        elif tag == "dd" and self._kind is BlockKind.ITEM and not self._lists:
            self._run.break_line(": ")
        elif tag in _HEADINGS or tag in ("pre", "dt") or tag in _BREAKING:
            self._begin_block(tag)

    def _closed(self, tag: str) -> None:
        if tag == "pre" and self._code:
            self._code -= 1
            if self._lists or self._tables:
                # Below an item or in a cell it is lines of that.
                self._run.break_line()
        if tag == "title":
            self._in_title = False
        elif tag == "a":
            self._run.close_link()
        elif tag == "table":
            self._tables = max(0, self._tables - 1)
            if not self._tables:
                self.flush()
        elif tag in _LISTS:
            self._lists = max(0, self._lists - 1)
            if not self._lists and not self._tables:
                self.flush()
        elif not self._tables and not self._lists and (tag in _HEADINGS or tag in ("p", "pre", "dl", "dd")):
            self.flush()

    def _begin_block(self, tag: str) -> None:
        if self._lists and tag not in _HEADINGS:
            # Inside an item a paragraph is a new line of it.
            self._run.break_line()
            return
        self.flush()
        self._lists = 0
        self._level = _HEADINGS.get(tag, 0)
        if self._level:
            self._kind = BlockKind.HEADING
        elif tag == "pre":
            self._kind = BlockKind.CODE
        elif tag == "dt":
            self._kind = BlockKind.ITEM

    def _begin_table(self) -> None:
        if not self._tables and not self._lists:
            self.flush()
            self._kind = BlockKind.TABLE
        self._tables += 1

    def _opened_in_table(self, tag: str) -> None:
        if tag == "tr":
            self._run.break_line()
        elif tag in _CELLS:
            self._run.separate(" | ")
        elif tag == "pre":
            self._run.break_line()
        elif tag in _BREAKING or tag == "li":
            self._run.add(" ")

    def _begin_list(self) -> None:
        if not self._lists:
            self.flush()
        self._lists += 1

    def _begin_item(self) -> None:
        if self._lists <= 1:
            self.flush()
            self._kind = BlockKind.ITEM
            self._run.add("- ", keep_space=True)
        else:
            self._run.break_line("  " * min(self._lists - 1, _DEEPEST_INDENT) + "- ")

    def flush(self) -> None:
        """End the block that is being read."""
        text, links = self._run.taken()
        if text.strip(" -"):
            labels: tuple[str, ...] = ()
            title = " ".join(text.split()) if self._kind is BlockKind.HEADING else ""
            if title:
                labels, self._labels = tuple(self._labels), []
            line = self.getpos()[0]
            start = self.page.add(
                self._kind, text, self._line, max(line, self._line), level=self._level, title=title, labels=labels
            )
            for first, last, target in links:
                if link := link_to(target, start + first, start + last, text[first:last]):
                    self.links.append(link)
            self._labels = []
        # Code that is never closed ends with its block.
        self._kind, self._level, self._code = BlockKind.PROSE, 0, 0
