"""Evidence: the few spans of a text that answer a question, as offsets into it.

`evidence` is a rule that a reader can check by hand, so that what it quotes can be relied on and tested:

1. The question's tokens are its runs of letters and digits, in lower case, of at least three characters; only when
   there is none, of at least two.
2. A text is cut into fenced code blocks and, between them, at blank lines, bullets and `.`, `?` or `!` before space.
   Lines of requirement files that are for programs (`structure`) are left out.
3. A span scores the share of the question's tokens that are tokens of the span. Ties go to the shorter span, then to
   the earlier one in its passage, then to the earlier passage.
4. The best spans that share a token with the question are quoted, each cut to a number of tokens and characters. A
   question without tokens quotes the beginnings, with score 0.

It takes linear time. A quote is always `passages[quote.passage][quote.start:quote.end]`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest

import msgspec

from clew.errors import InvalidArgument
from clew.search.quote.certainty import Certainty
from clew.search.quote.samples import outside, stripped
from clew.search.quote.structure import structure
from clew.text.sentences import is_heading, plain_spans
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens

PREVIEW_CHARS = 280
PREVIEW_SPANS = 3
GAP = " … "
"""Between the spans of a preview."""

_TOKEN = re.compile(r"[^\W_]+")


class QuoteLimits(msgspec.Struct, frozen=True):
    """Limits on the quotes of an answer."""

    max_quotes: int = 6
    max_quote_tokens: int = 80
    max_quote_chars: int = 500
    context_tokens: int = 20
    """The most tokens of context on each side of a quote."""


class Quote(msgspec.Struct, frozen=True):
    """A span of one of the passages, and why it was chosen."""

    passage: int
    """The place of its passage among those that were given."""
    start: int
    end: int
    score: float
    """The share of the question that the whole span has, from 0 to 1; of a window how likely it is to answer."""
    truncated: bool
    """True if the span goes on after `end`."""
    context_start: int
    context_end: int
    """The context is passage[context_start:start] and passage[end:context_end]; a window has none."""
    may_answer: bool = True
    """False for a window that is too far from the question to be an answer."""
    lead: tuple[int, int] | None = None
    """What is shown before it: the head of its table, or the term that it explains a part of."""
    cut_before: bool = False
    """True if it is a later part of something that is too long for a quote."""
    also: tuple[tuple[int, int, int], ...] = ()
    """Passages, starts and ends of its copies."""
    certainty: Certainty = Certainty.UNSURE
    """Of a window."""
    is_related: bool = True
    """False for a window that neither has a word of the question nor is near to it in meaning."""


class ScoredSpan(msgspec.Struct, frozen=True):
    start: int
    end: int
    score: float


class Preview(msgspec.Struct, frozen=True):
    """The best spans of a text in one line, in the order of the text."""

    text: str
    spans: tuple[ScoredSpan, ...]

    @property
    def anchor(self) -> ScoredSpan | None:
        """The span with the best score: the place to read on from."""
        return max(self.spans, key=lambda span: (span.score, -span.start), default=None)


class _Candidate(msgspec.Struct, frozen=True):
    passage: int
    start: int
    end: int
    score: float

    def rank(self) -> tuple[float, int, int, int]:
        return -self.score, self.end - self.start, self.start, self.passage


def question_tokens(question: str) -> frozenset[str]:
    """The tokens of a question that count. Two-letter tokens (`S3`, `IO`) count only when there is nothing longer."""
    tokens = frozenset(_TOKEN.findall(question.lower()))
    for length in (3, 2):
        if long_enough := frozenset(token for token in tokens if len(token) >= length):
            return long_enough
    return frozenset()


def evidence(question: str, passages: Sequence[str], limits: QuoteLimits | None = None) -> tuple[Quote, ...]:
    """The spans of the passages that share most tokens with the question, best first."""
    limits = checked(limits or QuoteLimits())
    tokens = question_tokens(question)
    candidates = (
        candidate
        for passage, text in enumerate(passages)
        for candidate in _overlapping(tokens, passage, text)
        if candidate.score > 0 or not tokens
    )
    order = _Candidate.rank if tokens else _by_position
    return _quoted(nsmallest(limits.max_quotes, candidates, key=order), passages, limits)


def preview(question: str, text: str, *, max_chars: int = PREVIEW_CHARS, max_spans: int = PREVIEW_SPANS) -> Preview:
    """The spans of `text` that `evidence` would choose, or its beginning where it has nothing to do with the question.

    The best span is cut when it is too long alone; others are taken only when they fit as a whole.
    """
    if max_chars < 1 or max_spans < 1:
        raise InvalidArgument(
            f"A preview of {max_chars} characters and {max_spans} spans holds nothing.", hint="Pass at least 1 of each."
        )
    tokens = question_tokens(question)
    everything = tuple(_overlapping(tokens, 0, text))
    # A heading says what a text is about, and the result has it as its title.
    candidates = tuple(each for each in everything if not is_heading(text[each.start : each.end])) or everything
    matching = [candidate for candidate in candidates if candidate.score > 0]
    best = nsmallest(max_spans, matching, key=_Candidate.rank) if matching else list(candidates[:max_spans])
    chosen: list[ScoredSpan] = []
    line = ""
    for candidate in best:
        end = candidate.end if chosen else fitting_end(text, candidate.start, candidate.end, max_chars=max_chars)
        spans = _merged(text, [*chosen, ScoredSpan(candidate.start, end, candidate.score)])
        wider = GAP.join(" ".join(text[span.start : span.end].split()) for span in spans)
        if len(wider) <= max_chars:
            chosen, line = spans, wider
    return Preview(line, tuple(chosen))


def fitting_end(text: str, start: int, end: int, *, max_tokens: int | None = None, max_chars: int | None = None) -> int:
    """The place to cut text[start:end] so that it stays within the limits: after a word, if that keeps half of it.

    A cut that keeps nothing returns `start`.
    """
    most = end if max_chars is None else min(end, start + max_chars)
    if max_tokens is not None:
        most = min(most, start + max_tokens * CHARACTERS_PER_TOKEN_AT_MOST)
        most = _furthest(start, most, lambda cut: estimate_tokens(text[start:cut]) <= max_tokens)
    if most < end and not text[most].isspace():
        space = max((match.start() for match in re.finditer(r"\s", text[start:most])), default=0)
        most = start + space if space * 2 >= most - start else most
    return start + len(text[start:most].rstrip())


def window(text: str, start: int, end: int, before_tokens: int, after_tokens: int) -> tuple[int, int]:
    """text[start:end] with its surroundings: whole words, if possible, and at most so many tokens on each side."""
    least = max(0, start - before_tokens * CHARACTERS_PER_TOKEN_AT_MOST)
    first = start - _furthest(
        0, start - least, lambda size: estimate_tokens(text[start - size : start]) <= before_tokens
    )
    if first > 0 and not text[first - 1].isspace():
        space = re.search(r"\s", text[first:start])
        first += space.start() if space and space.start() * 2 <= start - first else 0
    before = text[first:start]
    first += len(before) - len(before.lstrip())
    # A word costs more at the beginning than after some kinds of space, so what was taken away may have made it dearer.
    while estimate_tokens(text[first:start]) > before_tokens:
        first += 1
    return first, max(end, fitting_end(text, end, len(text), max_tokens=after_tokens))


def _furthest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The highest number up to `high` that fits, by bisection. `low` fits, and if a number fits, so do all below it."""
    if fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def quotable(text: str) -> Iterator[tuple[int, int]]:
    """The spans that evidence and previews are chosen from."""
    lines = structure(text)
    for first, last in plain_spans(text):
        for left in outside(lines, first, last):
            start, end = stripped(text, *left)
            if start < end:
                yield start, end


def _overlapping(tokens: frozenset[str], passage: int, text: str) -> Iterator[_Candidate]:
    for start, end in quotable(text):
        matched = tokens.intersection(_TOKEN.findall(text[start:end].lower()))
        yield _Candidate(passage, start, end, len(matched) / max(1, len(tokens)))


def _quoted(chosen: Iterable[_Candidate], passages: Sequence[str], limits: QuoteLimits) -> tuple[Quote, ...]:
    quotes = []
    for found in chosen:
        text, start = passages[found.passage], found.start
        end = fitting_end(text, start, found.end, max_tokens=limits.max_quote_tokens, max_chars=limits.max_quote_chars)
        if start < end:
            first, last = window(text, start, end, limits.context_tokens, limits.context_tokens)
            quotes.append(Quote(found.passage, start, end, found.score, end < found.end, first, last))
    return tuple(quotes)


def _merged(text: str, spans: list[ScoredSpan]) -> list[ScoredSpan]:
    """The spans in the order of the text; those with only white space between them are joined."""
    merged: list[ScoredSpan] = []
    for span in sorted(spans, key=lambda span: span.start):
        if merged and not text[merged[-1].end : span.start].strip():
            merged[-1] = ScoredSpan(merged[-1].start, span.end, max(merged[-1].score, span.score))
        else:
            merged.append(span)
    return merged


def _by_position(candidate: _Candidate) -> tuple[int, int]:
    return candidate.start, candidate.passage


def checked(limits: QuoteLimits) -> QuoteLimits:
    for name, least in (("max_quotes", 1), ("max_quote_tokens", 1), ("max_quote_chars", 1), ("context_tokens", 0)):
        value = getattr(limits, name)
        if value < least:
            raise InvalidArgument(f"{name} is {value}, but must be at least {least}.", hint="Pass a larger number.")
    return limits
