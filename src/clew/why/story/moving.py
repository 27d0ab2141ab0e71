"""Lines that a commit took from elsewhere, as far as they are no coincidence."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

from clew.why.story.comparing import MOVED_WEIGHT, SINGLE_WEIGHT, is_telling, weight_of
from clew.workspace.git.history import BlamedLine

AROUND = 12
"""Lines around the wanted ones that git is asked about as well: it takes a few words that occur elsewhere for a
coincidence, and a whole passage for a move."""
_FEW_LINES = 2


class TextsOfFile(Protocol):
    """A file before and after a commit."""

    @property
    def after(self) -> str: ...

    def has_once(self, line: str) -> bool:
        """True for a line that stands once in the file before and after."""


def came_from_elsewhere(
    blamed: Sequence[BlamedLine], commit: str, path: str, texts: TextsOfFile
) -> Iterator[BlamedLine]:
    """Those of the lines, as `git blame -M -C -C` tells them, that come from before the commit. A line or two count
    only where they are long and stand nowhere else in the file, inside of which they moved: many lines are alike."""
    rows = texts.after.split("\n")
    counts = Counter(row.strip() for row in rows)
    for passage in _passages(blamed):
        if passage[0].commit == commit:
            continue
        telling = [row for each in passage if is_telling(row := rows[each.line - 1] if each.line <= len(rows) else "")]
        is_few = len(telling) <= _FEW_LINES
        if is_few:
            is_here = passage[0].path == path
            is_single = all(texts.has_once(row) if is_here else counts[row.strip()] == 1 for row in telling)
            if not is_single or sum(map(weight_of, telling)) < (SINGLE_WEIGHT if is_here else MOVED_WEIGHT):
                continue
        yield from passage


def _passages(blamed: Sequence[BlamedLine]) -> Iterator[list[BlamedLine]]:
    """Lines that follow each other here and where they come from."""
    passage: list[BlamedLine] = []
    for each in sorted(blamed, key=lambda one: one.line):
        last = passage[-1] if passage else None
        if last is not None and (each.commit, each.path, each.line - last.line, each.origin - last.origin) != (
            last.commit,
            last.path,
            1,
            1,
        ):
            yield passage
            passage = []
        passage.append(each)
    if passage:
        yield passage
