"""Windows: as much of a text as one quote may hold, chosen by what it says about a question and by where it stands.

`evidence` quotes single sentences by the words they share with the question. An answer seldom repeats the question: it
stands beside the sentence that does, in the code block below it, or under a heading that says what it is about. So here
a text is cut into windows, each of as many whole sentences, items, rows and code blocks as fit into one quote. A window
is worth the sum of three shares, each from 0 to 1:

- how well its passage was found, in proportion to the best one;
- how much of the question stands in the window or in the headings above it, by the rarity of the words;
- how much of it stands in the window alone, which tells the windows of one passage apart.

The weights lie in the middle of wide ranges in which answers hardly differ (`make bench-kb`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest

import msgspec

from clew.search.evidence import Limits, Quote, checked, fitting_end, window
from clew.text.sentences import sentences
from clew.text.tokens import estimate_tokens

WINDOWS_VERSION = "windows-1"

_OF_PASSAGE, _WITH_HEADINGS, _ALONE = 1.0, 0.5, 0.5

Terms = Callable[[str], Iterable[str]]


class Passage(msgspec.Struct, frozen=True):
    text: str
    headings: str
    """What stands above it, outermost first."""
    share: float
    """How well it was found, in proportion to the best one; from 0 to 1."""


class _Window(msgspec.Struct, frozen=True):
    passage: int
    start: int
    end: int
    shared: float
    """The share of the question that stands in it or above it."""
    worth: float

    def rank(self) -> tuple[float, int, int]:
        return -self.worth, self.passage, self.start


def window_evidence(
    weights: Mapping[str, float], passages: Sequence[Passage], terms: Terms, limits: Limits | None = None
) -> tuple[Quote, ...]:
    """The windows that say most, best first.

    `weights` has the terms of the question, each with its rarity; `terms` turns a text into terms of the same kind.
    Windows that share nothing with the question come in only where none does.
    """
    limits = checked(limits or Limits())
    candidates = [
        candidate
        for number, passage in enumerate(passages)
        for candidate in _weighed(number, passage, weights, terms, limits)
    ]
    speaking = [candidate for candidate in candidates if candidate.shared > 0] or candidates
    best = nsmallest(limits.max_quotes, speaking, key=_Window.rank)
    return tuple(_quote(passages[each.passage].text, each, limits) for each in best)


def windows(text: str, limits: Limits) -> Iterator[tuple[int, int]]:
    """A text in the portions that can be quoted: whole pieces as long as they fit, a piece that alone is too long in
    portions of its own."""
    start = end = -1
    for piece in sentences(text):
        for first, last in _portions(text, piece.start, piece.end, limits):
            if end < 0:
                start = first
            elif not _fits(text, start, last, limits):
                yield start, end
                start = first
            end = last
    if end >= 0:
        yield start, end


def _weighed(
    number: int, passage: Passage, weights: Mapping[str, float], terms: Terms, limits: Limits
) -> Iterator[_Window]:
    total = math.fsum(weights.values()) or 1.0

    def share(found: Iterable[str]) -> float:
        return min(1.0, math.fsum(weights[term] for term in found) / total)

    above = weights.keys() & set(terms(passage.headings))
    for start, end in windows(passage.text, limits):
        own = weights.keys() & set(terms(passage.text[start:end]))
        shared = share(own | above)
        worth = _OF_PASSAGE * passage.share + _WITH_HEADINGS * shared + _ALONE * share(own)
        yield _Window(number, start, end, shared, worth)


def _portions(text: str, start: int, end: int, limits: Limits) -> Iterator[tuple[int, int]]:
    while not _fits(text, start, end, limits):
        cut = fitting_end(text, start, end, max_tokens=limits.max_quote_tokens, max_chars=limits.max_quote_chars)
        cut = max(cut, start + 1)
        yield start, cut
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    if start < end:
        yield start, end


def _fits(text: str, start: int, end: int, limits: Limits) -> bool:
    return end - start <= limits.max_quote_chars and estimate_tokens(text[start:end]) <= limits.max_quote_tokens


def _quote(text: str, found: _Window, limits: Limits) -> Quote:
    first, last = window(text, found.start, found.end, limits.context_tokens, limits.context_tokens)
    return Quote(found.passage, found.start, found.end, found.shared, False, first, last)
