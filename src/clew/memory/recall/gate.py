"""Whether what was found is worth showing to somebody who did not ask for it.

The best result has to cover the prompt: by words, where a rare word counts more, and by meaning. Half of what its words
count is what the memory says itself, half what it says together with those beside it in its session. Words that say
when, or that only belong to asking, are none that a memory has to have: when something was said stands in its date. A
prompt of few words says little, so that sharing them says little as well. The weights and the threshold were chosen on
three conversations of LoCoMo; `make bench-memory` measures them on two others.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from clew.text.dates import MONTH, SAYS_WHEN, YEAR
from clew.text.keywords import keywords
from clew.text.words import terms

PASSES_FROM = 0.456
PASSES_FROM_BY_WORDS = 0.5
"""Where there are no vectors, the words alone have to cover half of what the prompt says."""
_COVERAGE, _COSINE = 0.35, 0.65
_BEYOND = 0.4
"""How much of its rarest word a prompt is taken to say beyond its words."""
_FEWEST_WORDS = 2
"""Where there are no vectors, a single word that is shared is chance."""

_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(rf"(?:\b{_DAY}\s+)?{MONTH.pattern}(?:\s+{_DAY}\b)?|{YEAR.pattern}")
_ASKING = re.compile(
    r"\b(?:what|which) (?:kind|type|sort)s? of\b|\b(?:mention|describe|consider|happen)(?:s|d|ed)?\b"
    r"|\b(?:likely|often)\b",
    re.IGNORECASE,
)

Rarities = Callable[[Iterable[str]], Mapping[str, float]]


class GateHit(msgspec.Struct, frozen=True):
    text: str
    beside: str
    """What stands beside the memory."""
    cosine: float | None = None


class GateDecision(msgspec.Struct, frozen=True):
    passed: bool
    score: float
    reason: str


def can_pass(cosine: float | None) -> bool:
    """Whether a hit that is so near in meaning passes if its words cover the query."""
    return _most(cosine) >= 0


def passes(query: str, hits: Sequence[GateHit], rarities: Rarities) -> GateDecision:
    """Whether one of the hits covers the query. `rarities` says how much each of some terms tells."""
    if not hits:
        return GateDecision(False, 0.0, "nothing was found")
    weights = rarities(_telling(query))
    score, above = 0.0, -math.inf
    # Those that can cover it best come first: once none of the rest can do better, their words are not read.
    for most, hit in sorted(((_most(hit.cosine), hit) for hit in hits), key=lambda each: -each[0]):
        if above >= most:
            break
        covered, threshold = _score(weights, hit)
        if covered - threshold > above:
            score, above = covered, covered - threshold
    passed = above >= 0
    said = "covers" if passed else "does not cover"
    return GateDecision(passed, round(score, 3), f"the best result {said} the question ({score:.2f})")


def _telling(query: str) -> dict[str, None]:
    """The terms of a query that say what it is about."""
    for pattern in (_DATE, SAYS_WHEN, _ASKING):
        query = pattern.sub(" ", query)
    return dict.fromkeys(term for word in keywords(query) for term in terms(word)[:1])


def _most(cosine: float | None) -> float:
    """How far above its threshold a hit would come whose words cover everything."""
    if cosine is None:
        return 1.0 - PASSES_FROM_BY_WORDS
    return _COVERAGE + _COSINE * max(cosine, 0.0) - PASSES_FROM


def _score(weights: Mapping[str, float], hit: GateHit) -> tuple[float, float]:
    """How well a hit covers the query, and how well it has to."""
    own = frozenset(terms(hit.text))
    held = own.union(terms(hit.beside))
    covered = sum(weight for text in (own, held) for term, weight in weights.items() if term in text) / 2
    asked = sum(weights.values()) + _BEYOND * max(weights.values(), default=0.0)
    coverage = covered / asked if asked else 0.0
    if hit.cosine is not None:
        return _COVERAGE * coverage + _COSINE * max(hit.cosine, 0.0), PASSES_FROM
    shared = sum(term in held for term in weights)
    return (coverage if shared >= _FEWEST_WORDS else 0.0), PASSES_FROM_BY_WORDS
