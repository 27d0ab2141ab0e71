"""The gate before injection: decides if the results are worth showing to somebody who did not ask for them.

The best result has to cover the prompt: by words, where a rare word counts more, and by meaning. Half of what its words
count is what the memory says itself, half what it says together with those beside it in its session. Words that say
when, or that only belong to asking, are none that a memory has to have: when something was said is in its date. A
prompt of few words says little, so that sharing them says little as well. The weights and the threshold were chosen on
three conversations of LoCoMo; `make bench-memory` measures them on two others.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from clew.search.rank.dates import MONTH, SAYS_WHEN, YEAR
from clew.text.keywords import STOP_TERMS, keywords
from clew.text.words import terms

PASSES_FROM = 0.452
PASSES_FROM_BY_WORDS = 0.42
"""Share of the prompt that its words alone have to cover if there are no vectors."""
_COVERAGE, _COSINE = 0.35, 0.65
_BEYOND = 0.4
"""Share of its rarest word that a prompt is assumed to say beyond its words."""
_FEWEST_WORDS = 2
"""Without vectors, a single shared word is chance, however rare: "continue" and "stop" are as rare
in a memory as any other. An identifier is as many words as it has parts. It is no chance where the prompt asks for that
word and nothing else, and only one memory has it."""

_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_BEFORE_MONTH = "in|since|last|by|until|during|early|mid|late"
_DATE = re.compile(
    rf"\b(?:{_DAY}(?:\s+of)?|(?i:{_BEFORE_MONTH}))[\s-]+{MONTH.pattern}(?:\s+{_DAY}\b)?"
    rf"|{MONTH.pattern}(?:\s+{_DAY}\b|(?=,?\s+{YEAR.pattern}))|{YEAR.pattern}"
)
"""A month is one beside a day or a year, or after a word such as "in"; elsewhere April and Jan are people."""
_OF_PARTS = re.compile(r"_|-.*\d")
"""An identifier, such as parse_config or REQ-d00012."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ASKS = re.compile(r"\?\W*$|^\W*(?:explain|describe|define)\b|`[^`]+`|\w\(\)|[^\W\d]\d|\d[^\W\d]", re.IGNORECASE)
"""A question, or something that is spelled as only a name is."""
_ASKING = re.compile(
    r"\b(?:what|which) (?:kind|type|sort)s? of\b|\b(?:mention|describe|consider|happen|explain)(?:s|d|ed)?\b"
    r"|\b(?:likely|often)\b",
    re.IGNORECASE,
)

Rarities = Callable[[Iterable[str]], Mapping[str, float]]
Beside = Callable[[Sequence[str]], Mapping[str, str]]
"""The texts beside some memories, by their ids."""


class GateHit(msgspec.Struct, frozen=True):
    id: str
    text: str
    cosine: float | None = None


class GateDecision(msgspec.Struct, frozen=True):
    passed: bool
    score: float
    reason: str


def can_pass(cosine: float | None) -> bool:
    """True if a hit that is so near in meaning passes once its words cover the query."""
    return _above(cosine, 1.0) >= 0


def passes(query: str, hits: Sequence[GateHit], rarities: Rarities, beside: Beside) -> GateDecision:
    """Decide if one of the hits covers the query. `rarities` gives the weight of each term."""
    if not hits:
        return GateDecision(False, 0.0, "nothing was found")
    asked = _Asked(rarities(_telling(query)))
    own = {hit.id: frozenset(terms(hit.text)) for hit in hits}
    # What is beside a memory is read only where it can decide.
    near = beside([hit.id for hit in hits if _above(hit.cosine, asked.coverage(own[hit.id], asked.terms)) >= 0])
    only = _only_one_with(asked.terms, own) if _ASKS.search(query) else None
    scores = []
    for hit in hits:
        held = own[hit.id].union(terms(near.get(hit.id, "")))
        is_chance = hit.cosine is None and hit.id != only and len(asked.terms & held) < _FEWEST_WORDS
        coverage = 0.0 if is_chance else asked.coverage(own[hit.id], held)
        scores.append((_above(hit.cosine, coverage), _score(hit.cosine, coverage)))
    above, score = max(scores)
    passed = above >= 0
    verdict = "covers" if passed else "does not cover"
    return GateDecision(passed, round(score, 3), f"the best result {verdict} the question ({score:.2f})")


def _only_one_with(asked: frozenset[str], own: Mapping[str, frozenset[str]]) -> str | None:
    """The only memory with the word, where just one is asked for."""
    holding = [id for id, held in own.items() if asked <= held] if len(asked) == 1 else []
    return holding[0] if len(holding) == 1 else None


class _Asked:
    """The words of a query with weights."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._total = sum(weights.values()) + _BEYOND * max(weights.values(), default=0.0)
        self.terms = frozenset(weights)

    def coverage(self, own: frozenset[str], held: frozenset[str]) -> float:
        """The share of the query that a memory contains: half counts the memory itself, half the memory together with
        its neighbours."""
        covered = sum(weight for text in (own, held) for term, weight in self._weights.items() if term in text) / 2
        return covered / self._total if self._total else 0.0


def _telling(query: str) -> dict[str, None]:
    """The terms of a query that name its subject."""
    for pattern in (_DATE, SAYS_WHEN, _ASKING):
        query = pattern.sub(" ", query)
    return dict.fromkeys(term for word in keywords(_HUMP.sub("_", query)) for term in _parts(word))


def _parts(word: str) -> list[str]:
    """The terms of an identifier, of which a memory may have each; of another word the first says what it is about."""
    found = terms(word)
    return [term for term in found if term not in STOP_TERMS] if _OF_PARTS.search(word) else found[:1]


def _score(cosine: float | None, coverage: float) -> float:
    return coverage if cosine is None else _COVERAGE * coverage + _COSINE * max(cosine, 0.0)


def _above(cosine: float | None, coverage: float) -> float:
    """The distance of a hit above its threshold, which depends on the share of the query's words it covers."""
    return _score(cosine, coverage) - (PASSES_FROM_BY_WORDS if cosine is None else PASSES_FROM)
