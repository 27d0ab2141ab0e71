"""`tasks.md`: groups `## 1. Name` with items `- [ ] 1.1 text`, and how far they are done.

Like OpenSpec, Clew counts every box, at any indent and even in a code block: its author meant a task.
"""

import re

import msgspec

from clew.formats.openspec.reader import read_document
from clew.formats.openspec.records import SectionedFile
from clew.text.markdown import TEXT

_BOX = re.compile(r"(\s*)[-*]\s*\[([\sxX])\]\s*(.*)")
_LISTED = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s+\S")
_NUMBER = re.compile(r"(\d+(?:\.\d+)+[A-Za-z]*)[.):]?(?:\s+|$)")
_HEADING = re.compile(r"##\s+(.*)")


class Task(msgspec.Struct, frozen=True, gc=False, array_like=True):
    number: str
    """Such as `1.1` or `2.3b`; empty where there is none."""
    text: str
    done: bool
    group: str
    """The heading above it."""
    indent: int
    line: int


class Tasks(msgspec.Struct, frozen=True, array_like=True):
    items: tuple[Task, ...]
    document: SectionedFile
    listed: int = 0
    """The line of the first item of a list that is no box; 0 where there is none."""

    @property
    def completed(self) -> int:
        return sum(task.done for task in self.items)

    @property
    def total(self) -> int:
        return len(self.items)


def read_tasks(data: bytes) -> Tasks:
    document, lines = read_document(data)
    items: list[Task] = []
    group, listed = "", 0
    for line, text in enumerate(lines.text, start=1):
        box = _BOX.match(text)
        if box is None:
            if not listed and lines.kinds[line - 1] == TEXT and _LISTED.match(text) is not None:
                listed = line
            heading = _HEADING.match(text)
            group = heading[1].strip() if heading is not None else group
            continue
        rest = box[3].strip()
        number = _NUMBER.match(rest)
        items.append(
            Task(
                number=number[1] if number is not None else "",
                text=rest[number.end() :] if number is not None else rest,
                done=box[2] in "xX",
                group=group,
                indent=len(box[1].expandtabs(4)),
                line=line,
            )
        )
    return Tasks(tuple(items), document, listed)
