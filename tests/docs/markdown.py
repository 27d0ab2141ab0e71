"""What the tests of the documentation need to know of markdown."""

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^( *)```(\w*)$")
_HEADING = re.compile(r"^(#{1,6}) +(.+?) *$")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")


class Fence(NamedTuple):
    language: str
    text: str


def fences(page: str) -> list[Fence]:
    """The fenced blocks of a page."""
    found: list[Fence] = []
    lines: list[str] | None = None
    language = ""
    for line in page.splitlines():
        fence = _FENCE.match(line)
        if fence and lines is None:
            lines, language = [], fence[2]
        elif fence and lines is not None:
            found.append(Fence(language, textwrap.dedent("\n".join(lines)) + "\n"))
            lines = None
        elif lines is not None:
            lines.append(line)
    return found


def prose(page: str) -> Iterator[str]:
    """The lines of a page outside of fences."""
    fenced = False
    for line in page.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield line


def links(page: str) -> Iterator[str]:
    for line in prose(page):
        # A link inside of code is an example, not a link.
        yield from _LINK.findall(re.sub(r"`[^`]*`", "", line))


def anchors(page: str) -> set[str]:
    """The names under which the headings of a page can be linked, as GitHub makes them."""
    found: set[str] = set()
    for line in prose(page):
        heading = _HEADING.match(line)
        if heading:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[2]).lower()
            found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def sections(page: str, depth: int) -> dict[str, str]:
    """The parts of a page below its headings of one depth, by heading without code marks."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    fenced = False
    for line in page.splitlines():
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading and len(heading[1]) == depth:
            current = found.setdefault(heading[2].replace("`", ""), [])
        elif heading and len(heading[1]) < depth:
            current = None
        elif current is not None:
            current.append(line)
    return {heading: "\n".join(lines) + "\n" for heading, lines in found.items()}
