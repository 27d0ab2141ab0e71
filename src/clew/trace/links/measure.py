"""How good the suggestions are where the true links are known."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from clew.search.eval.metrics import average_precision
from clew.trace.links.confidence import confidences, worth_suggesting
from clew.trace.links.match.matching import Candidates
from clew.trace.links.match.meaning import Progress, Vectors
from clew.trace.links.match.texts import Artefact

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Between which the calibration is told."""
FEWEST_PREDICTIONS = 50
"""With fewer predictions from the first edge on, shares of them mean nothing."""
INSUFFICIENT = "insufficient data"


class LinkSet(msgspec.Struct, frozen=True):
    """Two sides and the true links between them."""

    sources: tuple[Artefact, ...]
    targets: tuple[Artefact, ...]
    answers: Mapping[str, frozenset[str]]
    """The targets of each source that has any."""
    notes: tuple[str, ...] = ()

    def labels(self) -> "NDArray[np.bool_]":
        """Whether each pair is a link: a row for each source, a column for each target."""
        column = {target.id: number for number, target in enumerate(self.targets)}
        found = np.zeros((len(self.sources), len(self.targets)), bool)
        for row, source in enumerate(self.sources):
            found[row, [column[target] for target in self.answers.get(source.id, ())]] = True
        return found

    def reversed(self) -> "LinkSet":
        answers: dict[str, set[str]] = {}
        for source, targets in self.answers.items():
            for target in targets:
                answers.setdefault(target, set()).add(source)
        return LinkSet(self.targets, self.sources, {id: frozenset(found) for id, found in answers.items()}, self.notes)


class Bin(msgspec.Struct, frozen=True):
    """Suggestions of like confidence."""

    least: float
    below: float
    count: int
    said: float
    """Their mean confidence."""
    right: float
    """The share of them that are links."""


class Measures(msgspec.Struct, frozen=True):
    map: float
    """Mean average precision: over the sources that have a link, of all targets ranked by confidence."""
    f1: float
    precision: float
    recall: float
    suggested: int
    """Links that are suggested: those from `threshold` on."""
    threshold: float
    calibration: tuple[Bin, ...] | str
    sources: int
    targets: int
    links: int
    with_meaning: bool
    """Whether texts were compared by meaning too, or by words alone."""
    notes: tuple[str, ...] = ()


def measure(links: LinkSet, vectors: Vectors | None, progress: Progress | None = None) -> Measures:
    """Suggest links between the two sides as if none was known, and compare with those that are."""
    candidates = Candidates(links.targets, links.sources, vectors, progress)
    found = confidences(candidates.compare(links.sources, progress), with_meaning=candidates.with_meaning)
    return judge(links, found, with_meaning=candidates.with_meaning)


def judge(links: LinkSet, found: "NDArray[np.float32]", *, with_meaning: bool) -> Measures:
    """Compare confidences, a row for each source and a column for each target, with the truth."""
    labels = links.labels()
    threshold = worth_suggesting(found)
    suggested = found >= threshold
    right = int((suggested & labels).sum())
    count, existing = int(suggested.sum()), int(labels.sum())
    return Measures(
        map=round(mean_average_precision(links, found), 4),
        f1=round(2 * right / (count + existing), 4) if count + existing else 0.0,
        precision=round(right / count, 4) if count else 0.0,
        recall=round(right / existing, 4) if existing else 0.0,
        suggested=count,
        threshold=round(threshold, 4),
        calibration=calibration(found, labels),
        sources=len(links.sources),
        targets=len(links.targets),
        links=existing,
        with_meaning=with_meaning,
        notes=links.notes,
    )


def mean_average_precision(links: LinkSet, scores: "NDArray[np.float32]") -> float:
    ids = [target.id for target in links.targets]
    values = [
        average_precision([ids[column] for column in np.argsort(-row, kind="stable")], links.answers[source.id])
        for source, row in zip(links.sources, scores, strict=True)
        if links.answers.get(source.id)
    ]
    return float(np.mean(values))


def calibration(found: "NDArray[np.float32]", labels: "NDArray[np.bool_]") -> tuple[Bin, ...] | str:
    """What was said and what was right, for suggestions of like confidence."""
    if int((found >= EDGES[0]).sum()) < FEWEST_PREDICTIONS:
        return INSUFFICIENT
    bins: list[Bin] = []
    for least, below in pairwise(EDGES):
        inside = (found >= least) & ((found < below) | (below == EDGES[-1]))
        if count := int(inside.sum()):
            said, right = float(found[inside].mean()), float(labels[inside].mean())
            bins.append(Bin(least, below, count, round(said, 3), round(right, 3)))
    return tuple(bins)
