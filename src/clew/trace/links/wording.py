"""Suggestions in words: what speaks for each, and which assertion it is about."""

from collections.abc import Sequence
from math import exp

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node
from clew.text.stem import stem
from clew.text.words import split
from clew.trace.links.confidence import band
from clew.trace.links.match.evidence import Evidence
from clew.trace.links.match.index import Counts, TermIndex
from clew.trace.links.match.meaning import Vectors
from clew.trace.links.match.prepare import Prepared
from clew.trace.links.match.texts import Artefact, assertion_artefacts, passages, requirement_artefact, term_counts
from clew.trace.links.match.units import TEST, LinkUnit
from clew.trace.links.results import Suggestion

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


WORDS_SHOWN = 5
ALIKE_FROM = 0.4
"""The similarity of meaning that is worth mentioning; unrelated texts stay around 0.1."""


class FoundLink(msgspec.Struct, frozen=True):
    """A suggestion before it is put into words."""

    unit: LinkUnit
    version: str
    """Of its file."""
    requirement: Node
    confidence: float
    evidence: Evidence
    counts: Counts
    """The terms of the unit."""


def in_words(graph: Graph, found: FoundLink, prepared: Prepared) -> Suggestion:
    unit, requirement = found.unit, found.requirement
    artefact = unit.artefact()
    index = prepared.candidates.index
    likely = likely_assertion(artefact, found.counts, assertion_artefacts(graph, requirement), index, prepared.vectors)
    said = requirement_artefact(requirement)
    reasons = (
        *found.evidence.reasons,
        *_shared_words(index, found.counts, said),
        *_likeness(prepared.vectors, artefact, said),
    )
    is_test = unit.kind == TEST
    return Suggestion(
        source_id=unit.id,
        source_kind=unit.kind,
        source_label=unit.label,
        file=unit.path,
        line=unit.line,
        requirement_id=requirement.id,
        requirement_title=requirement.title,
        assertion_id=likely.id if likely is not None else None,
        assertion_confidence=round(found.confidence * likely.share, 3) if likely is not None else None,
        confidence=round(found.confidence, 3),
        confidence_band=band(found.confidence),
        reason=reasons[0] if reasons else "fits best of all requirements",
        reasons=reasons,
        file_version=found.version,
        test_id=unit.id if is_test else None,
        test_label=unit.label if is_test else None,
        test_file=unit.path if is_test else None,
    )


def _shared_words(index: TermIndex, counts: Counts, requirement: Artefact) -> list[str]:
    """The words that bind a text to a requirement, as the requirement spells them."""
    spelling: dict[str, str] = {}
    for word in split(requirement.words).words:
        spelling.setdefault(stem(word), word)
    shared = (spelling.get(term) for term in index.shared(counts, term_counts(requirement)) if " " not in term)
    words = [word for word in shared if word is not None][:WORDS_SHOWN]
    return [f"shares the words {', '.join(words)}"] if words else []


def _likeness(vectors: Vectors | None, unit: Artefact, requirement: Artefact) -> list[str]:
    if vectors is None:
        return []
    own, other = vectors.of([passages(unit)[0], passages(requirement)[0]])
    similarity = float(own @ other)
    return [f"close in meaning ({similarity:.2f})"] if similarity >= ALIKE_FROM else []
