"""Whether what was found is worth showing to somebody who did not ask for it.

The best result has to cover the prompt: by words, where a rare word counts more, and by meaning. The words are those of
the memory and of the ones beside it in its session. The weights and the threshold were chosen on three conversations of
LoCoMo; `make bench-memory` measures them on two others.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from clew.text.keywords import keywords
from clew.text.words import terms

PASSES_FROM = 0.455
PASSES_FROM_BY_WORDS = 0.5
"""Where there are no vectors, the words alone have to cover half of what the prompt says."""
_COVERAGE, _COSINE = 0.3, 0.7

Rarities = Callable[[Iterable[str]], Mapping[str, float]]


class GateHit(msgspec.Struct, frozen=True):
    text: str
    """The memory with what stands beside it."""
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
    asked = dict.fromkeys(term for word in keywords(query) for term in terms(word)[:1])
    weights = rarities(asked)
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


def _most(cosine: float | None) -> float:
    """How far above its threshold a hit would come whose words cover everything."""
    if cosine is None:
        return 1.0 - PASSES_FROM_BY_WORDS
    return _COVERAGE + _COSINE * max(cosine, 0.0) - PASSES_FROM


def _score(weights: Mapping[str, float], hit: GateHit) -> tuple[float, float]:
    """How well a hit covers the query, and how well it has to."""
    held = set(terms(hit.text))
    total = sum(weights.values())
    coverage = sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0
    if hit.cosine is None:
        return coverage, PASSES_FROM_BY_WORDS
    return _COVERAGE * coverage + _COSINE * max(hit.cosine, 0.0), PASSES_FROM
