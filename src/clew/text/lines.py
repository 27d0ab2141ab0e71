"""The lines of a text: their positions, their ends, and the lines that another text has too."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

import msgspec

_MOST = 100
"""Lines of a gap that are compared with one another; those of a longer one only with the line at the same place."""

Gap = tuple[int, int, int, int]
"""From and to a line of the first text, and from and to one of the second."""

_LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n)|([^\r\n]+)")


class TextLines:
    """Only LF, CRLF and CR end a line; form feeds and the like do not."""

    __slots__ = ("bare", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = []
        """Offset at which each line begins, and the end of the text."""
        self.bare: list[str] = []
        """The lines without their ends."""
        for match in _LINE.finditer(text):
            self.starts.append(match.start())
            self.bare.append(match[1] if match[2] is None else match[2])
        self.starts.append(len(text))

    def __len__(self) -> int:
        return len(self.bare)

    def end(self, index: int) -> int:
        """Offset at which the text of a line ends, without its line end."""
        return self.starts[index] + len(self.bare[index])

    def is_blank(self, index: int) -> bool:
        return not self.bare[index].strip()

    def indent(self, index: int) -> int:
        """Indentation of a line, a tab as four spaces."""
        line = self.bare[index]
        rest = line.lstrip(" \t")
        return len(line[: len(line) - len(rest)].expandtabs(4))


class Span(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A half-open range of bytes, with the lines it covers (first line is 1)."""

    start: int
    end: int
    line: int
    end_line: int


def newline_of(data: bytes) -> bytes:
    """The line end that most lines of a file have."""
    pairs = data.count(b"\r\n")
    single, old = data.count(b"\n") - pairs, data.count(b"\r") - pairs
    if pairs > max(single, old):
        return b"\r\n"
    return b"\r" if old > single else b"\n"


def with_newlines(text: str, newline: bytes) -> bytes:
    return text.replace("\r\n", "\n").replace("\r", "\n").encode().replace(b"\n", newline)


def matched(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[bool, Gap]]:
    """The two texts in parts, in their order: with True the equal ones, with False the former part and its
    replacement."""
    pairs = sorted(_pairs(before, after))
    found: list[tuple[bool, Gap]] = []
    for (start, begin), (end, until) in pairwise([(-1, -1), *pairs, (len(before), len(after))]):
        if (start + 1, begin + 1) != (end, until):
            found.append((False, (start + 1, end, begin + 1, until)))
        if end < len(before):
            is_longer = bool(found) and found[-1][0]
            _, (first, _, other, _) = found.pop() if is_longer else (True, (end, 0, until, 0))
            found.append((True, (first, end + 1, other, until + 1)))
    return found


def _pairs(before: Sequence[Hashable], after: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """The equal lines. Those that occur once in either part come first, because they tell where others belong."""
    gaps = [(0, len(before), 0, len(after))]
    while gaps:
        start, end, begin, until = gaps.pop()
        while start < end and begin < until and before[start] == after[begin]:
            yield start, begin
            start, begin = start + 1, begin + 1
        while start < end and begin < until and before[end - 1] == after[until - 1]:
            end, until = end - 1, until - 1
            yield end, until
        if start == end or begin == until:
            continue
        anchors = _rising(_unique(before, after, (start, end, begin, until)))
        if anchors:
            yield from anchors
            bounds = pairwise([(start - 1, begin - 1), *anchors, (end, until)])
            gaps += [(one + 1, two, other + 1, another) for (one, other), (two, another) in bounds]
        elif max(end - start, until - begin) <= _MOST:
            yield from _compared(before[start:end], after[begin:until], start, begin)
        else:
            places = zip(range(start, end), range(begin, until), strict=False)
            yield from (each for each in places if before[each[0]] == after[each[1]])


def _unique(before: Sequence[Hashable], after: Sequence[Hashable], gap: Gap) -> list[tuple[int, int]]:
    start, end, begin, until = gap
    often, others = Counter(before[start:end]), Counter(after[begin:until])
    places = {after[index]: index for index in range(begin, until) if others[after[index]] == 1}
    own = (index for index in range(start, end) if often[before[index]] == 1 and before[index] in places)
    return [(index, places[before[index]]) for index in own]


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most pairs that are in order in both texts; the first are in order already."""
    ends: list[int] = []
    last: list[int] = []
    """The number of the pair that each length ends with."""
    former: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        former.append(last[length - 1] if length else None)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        found.append(pairs[at])
        at = former[at]
    return found[::-1]


def _compared(
    before: Sequence[Hashable], after: Sequence[Hashable], start: int, begin: int
) -> Iterator[tuple[int, int]]:
    from difflib import SequenceMatcher  # only for what is edited

    for first, other, size in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        yield from ((start + first + number, begin + other + number) for number in range(size))
