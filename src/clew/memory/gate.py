"""Whether what was found is worth showing to somebody who did not ask for it."""

from collections.abc import Sequence

import msgspec

from clew.text.keywords import stems

PASSES_FROM = 0.33
_COVERAGE, _COSINE = 0.4, 0.6


class GateHit(msgspec.Struct, frozen=True):
    text: str
    cosine: float | None = None


class GateDecision(msgspec.Struct, frozen=True):
    passed: bool
    score: float
    reason: str


def passes(query: str, hits: Sequence[GateHit]) -> GateDecision:
    """How well the best of the hits covers the query, by words and by meaning, against a threshold."""
    if not hits:
        return GateDecision(False, 0.0, "nothing was found")
    score = max(_score(query, hit) for hit in hits)
    said = "covers" if score >= PASSES_FROM else "does not cover"
    return GateDecision(score >= PASSES_FROM, round(score, 3), f"the best result {said} the question ({score:.2f})")


def _score(query: str, hit: GateHit) -> float:
    asked = stems(query)
    coverage = len(asked & stems(hit.text)) / len(asked) if asked else 0.0
    return coverage if hit.cosine is None else _COVERAGE * coverage + _COSINE * max(hit.cosine, 0.0)
