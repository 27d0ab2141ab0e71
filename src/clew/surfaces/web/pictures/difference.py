"""A unified diff as lines, with the words marked in which two lines differ."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

import msgspec

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
MOST_LINES = 2_000
_LONGEST = 600


class MarkedText(msgspec.Struct, frozen=True):
    text: str
    marked: bool = False


class DiffLine(msgspec.Struct, frozen=True):
    sign: str
    """A plus, a minus, or a space for what stays; @ for where a stretch begins."""
    parts: tuple[MarkedText, ...]
    old: int = 0
    new: int = 0


class FileDiff(msgspec.Struct, frozen=True):
    path: str
    lines: tuple[DiffLine, ...]
    added: int
    removed: int
    cut: bool = False


def as_files(diff: str) -> tuple[FileDiff, ...]:
    """The difference of each file."""
    found: list[FileDiff] = []
    path, lines = "", list[str]()
    for line in diff.splitlines():
        if line.startswith("--- "):
            if lines:
                found.append(_file(path, lines))
            path, lines = _path(line), []
        elif line.startswith("+++ ") and not any(each.startswith("@@") for each in lines):
            path = _path(line) or path
        else:
            lines.append(line)
    if lines:
        found.append(_file(path, lines))
    return tuple(found)


def _path(line: str) -> str:
    name = line[4:].split("\t")[0].strip()
    return "" if name == "/dev/null" else name.removeprefix("a/").removeprefix("b/")


def _file(path: str, lines: list[str]) -> FileDiff:
    made = tuple(_lines(lines[:MOST_LINES]))
    added, removed = (sum(1 for line in lines if line.startswith(sign)) for sign in "+-")
    return FileDiff(path, made, added, removed, len(lines) > MOST_LINES)


def _lines(lines: list[str]) -> Iterator[DiffLine]:
    old = new = place = 0
    while place < len(lines):
        line = lines[place]
        if found := _HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            yield DiffLine("@", (MarkedText(line),))
            place += 1
            continue
        end = place
        while end < len(lines) and lines[end].startswith(("-", "+")):
            end += 1
        if end == place:
            if not line.startswith("\\"):
                yield DiffLine(" ", (MarkedText(line[1:]),), old, new)
                old, new = old + 1, new + 1
            place += 1
            continue
        gone = [each[1:] for each in lines[place:end] if each.startswith("-")]
        come = [each[1:] for each in lines[place:end] if each.startswith("+")]
        pairs = [words(one, other) for one, other in zip(gone, come, strict=False)]
        for number, text in enumerate(gone):
            yield DiffLine("-", pairs[number][0] if number < len(pairs) else (MarkedText(text),), old + number, 0)
        for number, text in enumerate(come):
            yield DiffLine("+", pairs[number][1] if number < len(pairs) else (MarkedText(text),), 0, new + number)
        old, new, place = old + len(gone), new + len(come), end


def words(one: str, other: str) -> tuple[tuple[MarkedText, ...], tuple[MarkedText, ...]]:
    """Two texts with their different words marked; unmarked if they are long or have little in common."""
    if len(one) > _LONGEST or len(other) > _LONGEST:
        return (MarkedText(one),), (MarkedText(other),)
    before, after = _WORDS.findall(one), _WORDS.findall(other)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < 0.4:
        return (MarkedText(one),), (MarkedText(other),)
    left: list[MarkedText] = []
    right: list[MarkedText] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if a < b:
            left.append(MarkedText("".join(before[a:b]), kind != "equal"))
        if c < d:
            right.append(MarkedText("".join(after[c:d]), kind != "equal"))
    return tuple(left), tuple(right)


def of_texts(before: str, after: str) -> tuple[DiffLine, ...]:
    """The difference of two texts."""
    from difflib import unified_diff

    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3))[2:]
    return tuple(_lines(lines[:MOST_LINES]))
