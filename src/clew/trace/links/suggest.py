"""Suggesting links: which requirements the tests and code that cite nothing probably belong to.

What their texts say is compared with all requirements at once, what is around them is added, and the result is a
confidence. Nothing here changes the graph or a file.

A suggestion says in words what speaks for it, and which assertion it is about.
"""

import threading
from collections.abc import Callable, Sequence
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from clew.cache import Cache
from clew.config import EmbedSettings
from clew.graph.graph import Graph
from clew.graph.model import Node
from clew.text.stem import stem
from clew.text.words import split
from clew.trace.links.confidence import (
    FEWEST_DECISIONS,
    Calibration,
    band,
    calibrated,
    in_a_project,
    is_nothing,
    logits,
)
from clew.trace.links.decisions import Decisions, is_rejected
from clew.trace.links.match.evidence import LinkEvidence, LinksByPlace
from clew.trace.links.match.index import Counts, TermIndex
from clew.trace.links.match.meaning import Progress, Vectors
from clew.trace.links.match.prepare import BACKGROUND, MatchCandidates, Preparation
from clew.trace.links.match.sources import ProjectSources
from clew.trace.links.match.texts import LinkableText, assertion_artefacts, passages, requirement_artefact, term_counts
from clew.trace.links.match.units import TEST, LinkUnit, UnitFile
from clew.trace.links.requests import SuggestionSearch
from clew.trace.links.results import Suggestion, SuggestionPage
from clew.trace.read.resolve import Resolver

if TYPE_CHECKING:
    from numpy.typing import NDArray


MEANING_WEIGHT = 0.5
DECIDEDNESS = 17.0
"""The weight of a better match. Fitted, like the weight, on the tests of Clew and of its demo: of those that name an
assertion, the most likely one is right in 78 % of all cases, and by chance it would be in 35 %."""


class LikelyAssertion(msgspec.Struct, frozen=True):
    id: str
    share: float
    """Of the probability that the requirement is meant at all."""


def likely_assertion(
    unit: LinkableText, counts: Counts, assertions: Sequence[LinkableText], index: TermIndex, vectors: Vectors | None
) -> LikelyAssertion | None:
    """The assertion most similar to the unit; None for a requirement without any."""
    if not assertions:
        return None
    # The requirement's title is the same for all of them and would only blur the difference.
    bare = [LinkableText(assertion.id, "", assertion.text) for assertion in assertions]
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
    logit: float
    """The logarithm of the odds for it."""
    evidence: LinkEvidence
    counts: Counts
    """The terms of the unit."""
    named: str | None = None
    """The assertion that a comment names."""


def in_words(graph: Graph, found: FoundLink, prepared: MatchCandidates, calibration: Calibration) -> Suggestion:
    unit, requirement = found.unit, found.requirement
    confidence = calibration.confidence(found.logit)
    artefact = unit.artefact()
    index = prepared.candidates.index
    assertions = assertion_artefacts(graph, requirement)
    if found.named is not None:
        likely: LikelyAssertion | None = LikelyAssertion(found.named, 1.0)
    else:
        likely = likely_assertion(artefact, found.counts, assertions, index, prepared.vectors)
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
        assertion_confidence=round(confidence * likely.share, 3) if likely is not None else None,
        confidence=round(confidence, 3),
        confidence_band=band(confidence),
        reason=reasons[0] if reasons else "fits best of all requirements",
        reasons=reasons,
        file_version=found.version,
        test_id=unit.id if is_test else None,
        test_label=unit.label if is_test else None,
        test_file=unit.path if is_test else None,
    )


def _shared_words(index: TermIndex, counts: Counts, requirement: LinkableText) -> list[str]:
    """The words that a text shares with a requirement, as the requirement spells them."""
    spelling: dict[str, str] = {}
    for word in split(requirement.words).words:
        spelling.setdefault(stem(word), word)
    shared = (spelling.get(term) for term in index.shared(counts, term_counts(requirement)) if " " not in term)
    words = [word for word in shared if word is not None][:WORDS_SHOWN]
    return [f"shares the words {', '.join(words)}"] if words else []


def _likeness(vectors: Vectors | None, unit: LinkableText, requirement: LinkableText) -> list[str]:
    if vectors is None:
        return []
    own, other = vectors.of([passages(unit)[0], passages(requirement)[0]])
    similarity = float(own @ other)
    return [f"close in meaning ({similarity:.2f})"] if similarity >= ALIKE_FROM else []


LEAST_CONFIDENCE = 0.2
MOST_PER_UNIT = 3
PAIRS_AT_ONCE = 4_000_000
REMEMBERED = 8


class LinkSuggester:
    def __init__(
        self,
        graph: Graph,
        embedder: Callable[[], EmbedSettings],
        sources: ProjectSources,
        decisions: Decisions,
        folder: Path | None,
        resolver: Resolver,
    ) -> None:
        """`embedder` names the present source of embeddings. `folder` stores them; None keeps them as long as the
        process runs."""
        self._graph = graph
        self._resolver = resolver
        self._sources = sources
        self._decisions = decisions
        self._preparation = Preparation(graph, sources, embedder, folder)
        self._lock = threading.Lock()
        self._remembered: Cache[tuple[str, str | None, bool], tuple[list[FoundLink], int, MatchCandidates]] = Cache(
            REMEMBERED
        )

    def close(self) -> None:
        self._preparation.close()

    def suggest(
        self,
        query: SuggestionSearch,
        *,
        offset: int = 0,
        ends: bool = False,
        progress: Progress | None = None,
    ) -> SuggestionPage:
        """Links for tests and code without citations in a file, below a folder or in the whole project, most likely
        first.

        Where many texts have to be read for meaning first, only a query with `wait` waits for it; for others this call
        compares by words alone, says so, and has the texts read behind it, unless the process `ends` with the answer.
        """
        end = offset + query.limit
        with self._lock:
            found, considered, prepared = self._found(query, again=offset > 0, progress=progress)
            rejected, calibration = self._decisions.rejected(), calibrated(self._decisions.judged())
            likely = [each for each in found if calibration.confidence(each.logit) >= LEAST_CONFIDENCE]
            kept = [each for each in likely if not is_rejected(rejected, each.unit, each.requirement)]
            page = tuple(in_words(self._graph, each, prepared, calibration) for each in kept[offset:end])
            if not ends:
                self._preparation.read_on()
        return SuggestionPage(
            suggestions=page,
            count=len(page),
            total=len(kept),
            considered=considered,
            rejected=len(likely) - len(kept),
            with_meaning=prepared.candidates.with_meaning,
            calibrated=calibration.is_calibrated,
            notes=(*prepared.notes, *_unread(prepared.unread, ends=ends), *_uncalibrated(calibration)),
            truncated=end < len(kept),
        )

    def logit_of(self, unit: LinkUnit, requirement: Node) -> float | None:
        """The logarithm of the odds when a link was last suggested; None if it was not, or if something changed
        since."""
        state = self._graph.state.fingerprint
        for path, tests_only in ((None, False), (unit.path, False), (None, True)):
            remembered = self._remembered.get((state, path, tests_only))
            for each in remembered[0] if remembered is not None else ():
                if each.unit.id == unit.id and each.requirement.id == requirement.id:
                    return each.logit
        return None

    # Finding

    def _found(
        self, query: SuggestionSearch, *, again: bool, progress: Progress | None
    ) -> tuple[list[FoundLink], int, MatchCandidates]:
        path, tests_only, patient = query.file_path, query.tests, query.wait
        state = self._graph.state.fingerprint
        remembered = self._remembered.get((state, path, tests_only))
        if remembered is not None and (again or (remembered[2].settled and not patient)):
            return remembered
        files = self._sources.asked(path, tests_only=tests_only)
        asked = [
            (unit, source)
            for file in files
            if (source := self._sources.source(file)) is not None
            for unit in self._sources.unlinked(source)
        ]
        prepared = self._preparation.prepare([unit for unit, _ in asked], patient, progress)
        if remembered is not None and remembered[2].candidates is prepared.candidates:
            # Nothing was read for meaning since.
            return remembered[0], len(asked), prepared
        surroundings = self._graph.derived(
            "link_surroundings", lambda graph: LinksByPlace(graph, self._sources.files())
        )
        found: list[FoundLink] = []
        at_once = max(BACKGROUND, PAIRS_AT_ONCE // max(1, len(prepared.requirements)))
        for start in range(0, len(asked), at_once):
            found += self._compared(asked[start : start + at_once], prepared, surroundings, progress)
        found.sort(key=lambda each: (-each.logit, each.unit.path, each.unit.line, each.requirement.id))
        self._remembered.put((state, path, tests_only), (found, len(asked), prepared))
        return found, len(asked), prepared

    def _compared(
        self,
        asked: Sequence[tuple[LinkUnit, UnitFile]],
        prepared: MatchCandidates,
        surroundings: LinksByPlace,
        progress: Progress | None,
    ) -> list[FoundLink]:
        if not prepared.requirements:
            return []
        own = {unit.id for unit, _ in asked}
        beside = [unit.artefact() for unit in prepared.background if unit.id not in own]
        comparison = prepared.candidates.compare([*(unit.artefact() for unit, _ in asked), *beside], progress)
        texts = logits(comparison)
        column = {node.id: number for number, node in enumerate(prepared.requirements)}
        found: list[FoundLink] = []
        for row, (unit, source) in enumerate(asked):
            mentioned = self._mentioned(unit)
            around = surroundings.evidence(unit, source, {id: written for id, (written, _) in mentioned.items()})
            elsewhere = surroundings.elsewhere(unit)
            near = {column[id] for id in around if id in column}
            # For those that nothing around speaks for, the order of the texts is the order of all.
            best = [number for number in _highest(texts[row], MOST_PER_UNIT + len(near)) if number not in near]
            likely: list[FoundLink] = []
            for number in (*best[:MOST_PER_UNIT], *sorted(near)):
                requirement = prepared.requirements[number]
                evidence = around.get(requirement.id, elsewhere)
                said = float(texts[row, number])
                if not evidence.reasons and is_nothing(said, len(prepared.requirements)):
                    continue
                logit = in_a_project(
                    said, evidence.features(), candidates=len(prepared.requirements), is_code=unit.kind != TEST
                )
                _, named = mentioned.get(requirement.id, ("", None))
                counts = comparison.counts[row]
                likely.append(FoundLink(unit, source.version, requirement, logit, evidence, counts, named))
            likely.sort(key=lambda each: (-each.logit, each.requirement.id))
            found += likely[:MOST_PER_UNIT]
        return found

    def _mentioned(self, unit: LinkUnit) -> dict[str, tuple[str, str | None]]:
        """The requirements named in a unit's comments, each as it is written there, and the assertion that is meant."""
        found: dict[str, tuple[str, str | None]] = {}
        for word in unit.mentioned:
            requirement, node = self._resolver.find_requirement(word), self._resolver.find(word)
            if requirement is not None and (requirement.id not in found or found[requirement.id][1] is None):
                found[requirement.id] = word, None if node is None or node is requirement else node.id
        return found


def _unread(units: int, *, ends: bool) -> tuple[str, ...]:
    if not units:
        return ()
    said = f"Compared by keywords only so far: {units:,} tests and pieces of code"
    if ends:
        return (f"{said} have no embeddings yet. --wait computes them first; a server does so in the background.",)
    return (f"{said} are being embedded in the background. Ask again later.",)


def _uncalibrated(calibration: Calibration) -> tuple[str, ...]:
    if calibration.is_calibrated:
        return ()
    return (
        "Confidence is not calibrated for this project: it only orders the suggestions. Accept or reject "
        f"{FEWEST_DECISIONS - calibration.decisions} more, and it says how many are right.",
    )


def _highest(values: "NDArray[np.float32]", count: int) -> list[int]:
    """The positions of the highest values, highest first, and of equal ones the first: without sorting all the
    others."""
    if len(values) > count:
        least = np.partition(values, len(values) - count)[len(values) - count]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    found: list[int] = places[np.argsort(-values[places], kind="stable")][:count].tolist()
    return found
