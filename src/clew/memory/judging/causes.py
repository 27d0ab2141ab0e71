"""Causes that a text states: which clause leads to which, in the words that say so, and clauses that mean the same.

Only what a text says counts: one event after another is no cause, and neither is a condition (`if`, `when`).
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from clew.memory.judging.differences import compare
from clew.memory.judging.reading import read
from clew.text.sentences import plain_spans

_FORWARD = (
    r"(?:which |that |this |often |usually |always |directly |eventually |in turn |can |may |will |then )*"
    r"(?:leads? to|led to|leading to|causes?|caused(?! by)|causing|results? in|resulted in|resulting in|triggers?|"
    r"triggered(?! by)|brings? about|brought about|provokes?|provoked(?! by)|ends? in|is (?:the reason )?why|"
    r"(?:is|are|was|were) the (?:cause|reason) (?:of|for))"
)
_SO = r"so that|and so|so|therefore|hence|thus|and therefore|which is why|that is why|and as a result|as a result"
_BACKWARD = (
    r"(?:happens?|happened|occurs?|occurred|arises?|arose|comes?|came|(?:is|are|was|were)|mostly|mainly|only|just|simply"
    r"|partly|usually|often)?\s*"
    r"(?:because of|because|due to|owing to|as a result of|as a consequence of|(?:is|are|was|were )?caused by|"
    r"(?:is|are|was|were )?triggered by|results? from|resulted from|stems? from|follows? from|comes? from)"
)
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SINCE = (
    rf"since(?! (?:\d|v\d|version|release|then|last|yesterday|this|(?:{_MONTHS})\w*\b|"
    r"\w+day\b|the (?:last|start|release)))"
)
_LEADING = re.compile(
    rf"^(?:because of|because|due to|owing to|as a result of|{_SINCE})\s+(?P<cause>[^,]+),\s*(?P<effect>.+)$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^the (?:cause|reason)s? (?:of|for|behind|why) (?P<effect>.+?) (?:is|are|was|were)(?: that)? (?P<cause>.+)$",
    re.IGNORECASE,
)
_INNER = (
    (re.compile(rf"\s+{_FORWARD}\s+", re.IGNORECASE), True),
    (re.compile(rf",?\s+{_BACKWARD}\s+", re.IGNORECASE), False),
    (re.compile(rf",?\s+{_SINCE}\s+", re.IGNORECASE), False),
    (re.compile(rf"(?:,\s*|;\s*|\s+(?=so that|and so|therefore))(?:{_SO}),?\s+", re.IGNORECASE), True),
)
_BETWEEN = re.compile(
    r"^(?:as a result|therefore|hence|thus|that is why|this is why|because of (?:that|this)|so),?\s+", re.IGNORECASE
)
_EDGES = re.compile(r"^(?:the fact that|that|then|and|but)\s+|[\s.,;:!?]+$", re.IGNORECASE)
_READ, _MOST = 4_000, 12
"""Characters of a text that are read, and causes of one text."""
_SHORTEST = 4
_LONGEST = 200
_EQUAL, _LIKE, _LIKE_COSINE = 0.66, 0.34, 0.72
"""Shares of the words that two clauses have in common, the second with this cosine, from which they mean the same."""

Cosine = Callable[[str, str], float | None]


class Cause(msgspec.Struct, frozen=True):
    cause: str
    effect: str
    quote: str
    """The sentence that says it."""


@lru_cache(maxsize=4_096)
def causes_in(text: str) -> tuple[Cause, ...]:
    """The first causes that the beginning of a text states: each is compared with those of other texts."""
    text = text[:_READ]
    sentences = [" ".join(text[start:end].split()) for start, end in plain_spans(text)] or [" ".join(text.split())]
    found = [cause for sentence in sentences for cause in _in_sentence(sentence)]
    for one, other in pairwise(sentences):
        cue = _BETWEEN.match(other)
        if cue is not None:
            found += _made(one, other[cue.end() :], f"{one} {other}")
    return tuple(found[:_MOST])


def _in_sentence(sentence: str) -> list[Cause]:
    for pattern in (_LEADING, _NAMED):
        match = pattern.match(sentence)
        if match is not None:
            return _made(match["cause"], match["effect"], sentence)
    for pattern, is_forward in _INNER:
        match = pattern.search(sentence)
        if match is not None:
            before, after = sentence[: match.start()], sentence[match.end() :]
            return _made(*((before, after) if is_forward else (after, before)), sentence)
    return []


def _made(cause: str, effect: str, quote: str) -> list[Cause]:
    cause, effect = (_EDGES.sub("", _EDGES.sub("", clause.strip())).strip() for clause in (cause, effect))
    if min(len(cause), len(effect)) < _SHORTEST or max(len(cause), len(effect)) > _LONGEST:
        return []
    return [Cause(cause, effect, quote)]


def like_clauses(one: str, other: str, cosine: Cosine) -> float:
    """How surely two clauses mean the same event, from 0; what differs in a number, a name or a negation does not."""
    first, second = read(one), read(other)
    pair = compare(first, second)
    if pair.names[0] and pair.names[1]:
        return 0.0
    if (
        first.denies != second.denies
        or pair.opposites
        or pair.quantities
        or pair.swapped
        or not (first.words and second.words)
    ):
        return 0.0
    least = min(pair.covered)
    if least >= _EQUAL:
        return round(least, 3)
    if least >= _LIKE:
        near = cosine(one, other)
        if near is not None and near >= _LIKE_COSINE:
            return round(near, 3)
    return 0.0


class CausalStep(msgspec.Struct, frozen=True):
    """One stated cause whose effect is the cause that another text states."""

    sure: float
    quotes: tuple[str, str]

    @property
    def evidence(self) -> str:
        return f"“{self.quotes[0]}” and “{self.quotes[1]}”"


def leads_to(one: str, other: str, cosine: Cosine) -> CausalStep | None:
    """The step from what one text states to what another one states; None where the effect is not the other's cause."""
    steps: Sequence[CausalStep] = [
        CausalStep(sure, (first.quote, second.quote))
        for first in causes_in(one)
        for second in causes_in(other)
        if first.quote != second.quote and (sure := like_clauses(first.effect, second.cause, cosine))
    ]
    return max(steps, key=lambda step: step.sure, default=None)
