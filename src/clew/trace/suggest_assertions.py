"""Which assertion of a requirement a test or piece of code is about, once the requirement is known."""

from collections.abc import Sequence
from math import exp

import msgspec

from clew.trace.suggest_index import Counts, TermIndex
from clew.trace.suggest_meaning import Vectors
from clew.trace.suggest_texts import Artefact, passages, term_counts

MEANING_WEIGHT = 0.5
DECIDEDNESS = 17.0
"""How much a better match counts. Fitted, like the weight, on the tests of Clew and of its demo: of those that name an
assertion, the most likely one is right in 78 % of all cases, and by chance it would be in 35 %."""


class LikelyAssertion(msgspec.Struct, frozen=True):
    id: str
    share: float
    """Of the probability that the requirement is meant at all."""


def likely_assertion(
    unit: Artefact, counts: Counts, assertions: Sequence[Artefact], index: TermIndex, vectors: Vectors | None
) -> LikelyAssertion | None:
    """The assertion whose text is most like the unit's; None for a requirement without any."""
    if not assertions:
        return None
    # The requirement's title is the same for all of them and would only blur the difference.
    bare = [Artefact(assertion.id, "", assertion.text) for assertion in assertions]
    matches = [index.cosine(counts, term_counts(assertion)) for assertion in bare]
    if vectors is not None:
        own = vectors.of([passages(unit)[0]])[0]
        near = vectors.of([passages(assertion)[0] for assertion in bare]) @ own
        matches = [words + MEANING_WEIGHT * float(value) for words, value in zip(matches, near, strict=True)]
    best = max(range(len(matches)), key=lambda number: matches[number])
    total = sum(exp(DECIDEDNESS * (match - matches[best])) for match in matches)
    return LikelyAssertion(assertions[best].id, 1 / total)
