"""Procedures: numbered items that follow each other below one heading."""

import re
from collections.abc import Iterator, Sequence

from clew.formats.documents import Block, BlockKind, Document
from clew.kb.entities.model import LONGEST_NAME, Procedure

LEAST_STEPS = 2

_NUMBERED = re.compile(r"[ \t]*(?:(\d{1,4})|#)[.)][ \t]+")
_STOP = re.compile(r"(?<=[.!?:])\s")


def procedures_of(document: Document) -> Iterator[Procedure]:
    for number, section in enumerate(document.sections):
        steps: list[Block] = []
        for block in (*section.blocks, None):
            if block is not None and block.kind is BlockKind.ITEM and _NUMBERED.match(document.text, block.start):
                steps.append(block)
                continue
            if block is not None and steps and block.kind in (BlockKind.CODE, BlockKind.OUTPUT):
                # What a step shows may stand beside the list.
                continue
            if len(steps) >= LEAST_STEPS:
                yield _procedure(document.text, number, section.title, steps)
            steps = []


def _procedure(text: str, section: int, title: str, steps: Sequence[Block]) -> Procedure:
    names = tuple(_first_sentence(text[step.start : step.end]) for step in steps)
    return Procedure(section, title, names, tuple(step.start for step in steps))


def _first_sentence(item: str) -> str:
    item = _NUMBERED.sub("", item, count=1)
    first = _STOP.split(item.split("\n\n", 1)[0], maxsplit=1)[0]
    return " ".join(first.split())[:LONGEST_NAME]
