"""Quality of the suggestions on texts with known links: reading a folder of two sides of texts and the true links
between them, and measuring suggestions on it."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from clew.errors import FormatError, InvalidArgument, NotFound
from clew.formats.code.languages import family_for
from clew.search.eval.metrics import average_precision
from clew.trace.links.confidence import SUGGESTED_FROM, confidences
from clew.trace.links.match.matching import Candidates
from clew.trace.links.match.meaning import Progress, Vectors
from clew.trace.links.match.texts import LinkableText, readable
from clew.workspace.find import files_below
from clew.workspace.regular import MOST_BYTES, NotRegular, TooLarge, beginning, contents

if TYPE_CHECKING:
    from numpy.typing import NDArray


EDGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The bounds of the bins of the calibration."""
FEWEST_PREDICTIONS = 50
"""With fewer predictions from the first edge on, shares of them mean nothing."""
INSUFFICIENT = "insufficient data"


class LinkSet(msgspec.Struct, frozen=True):
    """Two sides and the true links between them."""

    sources: tuple[LinkableText, ...]
    targets: tuple[LinkableText, ...]
    answers: Mapping[str, frozenset[str]]
    """The targets of each source that has any."""
    notes: tuple[str, ...] = ()

    def labels(self) -> "NDArray[np.bool_]":
        """True for each pair that is a link: a row for each source, a column for each target."""
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
    """True if texts were compared by meaning too; false if by words alone."""
    notes: tuple[str, ...] = ()


def measure(links: LinkSet, vectors: Vectors | None, progress: Progress | None = None) -> Measures:
    """Suggest links between the two sides as if no link was known, and compare with the known ones."""
    candidates = Candidates(links.targets, links.sources, vectors, progress)
    found = confidences(candidates.compare(links.sources, progress))
    return judge(links, found, with_meaning=candidates.with_meaning)


def judge(links: LinkSet, found: "NDArray[np.float32]", *, with_meaning: bool) -> Measures:
    """Compare confidences, a row for each source and a column for each target, with the truth."""
    labels = links.labels()
    threshold = SUGGESTED_FROM
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
    """The mean confidence and the share of correct suggestions, for ranges of confidence."""
    if int((found >= EDGES[0]).sum()) < FEWEST_PREDICTIONS:
        return INSUFFICIENT
    bins: list[Bin] = []
    for least, below in pairwise(EDGES):
        inside = (found >= least) & ((found < below) | (below == EDGES[-1]))
        if count := int(inside.sum()):
            said, right = float(found[inside].mean()), float(labels[inside].mean())
            bins.append(Bin(least, below, count, round(said, 3), round(right, 3)))
    return tuple(bins)


SOURCES, TARGETS, ANSWERS = "sources", "targets", "answers.csv"

_UNKNOWN_SHOWN = 3
_NUMBERED = re.compile(r"(?P<letters>[A-Za-z]{0,8})[-_. ]?(?P<digits>\d+(?:[._-]\d+)*)[A-Za-z]?\d*")
"""Such as UC12, RQ-3.1 or FR07: a name that says nothing."""


def read_link_set(folder: Path, *, sources: str = SOURCES, targets: str = TARGETS, answers: str = ANSWERS) -> LinkSet:
    """The two folders of texts, and the links of `answers`: a line for each, source and target by the names of their
    files, with or without ending."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder '{folder}'.", hint=f"Pass one with {SOURCES}/, {TARGETS}/ and {ANSWERS}.")
    one, other = _artefacts(folder / sources), _artefacts(folder / targets)
    pairs = _pairs(folder / answers)
    from_name, to_name = _names(one), _names(other)
    if pairs and pairs[0][0] not in from_name and pairs[0][1] not in to_name:
        del pairs[0]  # headings
    found: dict[str, set[str]] = {}
    unknown: list[str] = []
    for source, target in pairs:
        if source in from_name and target in to_name:
            found.setdefault(from_name[source], set()).add(to_name[target])
        else:
            unknown.append(source if source not in from_name else target)
    if not found:
        raise InvalidArgument(
            f"No line of '{folder / answers}' names a file of {sources}/ and one of {targets}/.",
            hint=f"Write one link on each line, such as '{_example(one)},{_example(other)}'.",
        )
    notes: tuple[str, ...] = ()
    if unknown:
        named = ", ".join(dict.fromkeys(unknown[:_UNKNOWN_SHOWN]))
        notes = (f"{len(unknown)} of {len(pairs)} links name files that are not there, such as {named}.",)
    return LinkSet(one, other, {id: frozenset(targets) for id, targets in found.items()}, notes)


def _artefacts(folder: Path) -> tuple[LinkableText, ...]:
    if not folder.is_dir():
        raise NotFound(
            f"There is no folder '{folder}'.", hint=f"The texts lie in {SOURCES}/ and {TARGETS}/, a file for each."
        )
    paths = sorted(filter(_is_text, files_below(folder)), key=_natural)
    if not paths:
        raise InvalidArgument(f"'{folder}' holds no text files.", hint="Put one file there for each text.")
    return tuple(_artefact(path, path.relative_to(folder).as_posix()) for path in paths)


def _is_text(path: Path) -> bool:
    if path.name.startswith("."):
        return False
    try:
        return b"\0" not in beginning(path, 8_192)
    except NotRegular:
        return False


def _artefact(path: Path, relative: str) -> LinkableText:
    try:
        text = readable(contents(path).decode("utf-8", "replace"), relative)
    except TooLarge as error:
        raise FormatError(
            f"'{path}' {error.said}; files over {MOST_BYTES:,} bytes are not read.", hint="Split or remove it."
        ) from error
    if family_for(relative) is None and (number := _NUMBERED.fullmatch(path.stem)):
        # The name of a text may be a mere number, which is often repeated where the text begins.
        letters, digits = re.escape(number["letters"]), number["digits"].lstrip("0")
        text = re.sub(rf"\A\s*{letters}[\W_]*0*{digits}(?!\w)[\W_]*", "", text, flags=re.IGNORECASE)
        return LinkableText(relative, "", text, relative, is_file=True)
    return LinkableText(relative, path.stem, text, relative, is_file=True)


def _natural(path: Path) -> tuple[tuple[int, int | str], ...]:
    """The sort key in which numbers count as numbers: UC2 before UC10."""
    parts = re.findall(r"\d+|\D+", path.as_posix().casefold())
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)


def _names(artefacts: Sequence[LinkableText]) -> Mapping[str, str]:
    """Every spelling under which a file may be named: its path or name, with or without ending, where it is the only
    one of that name."""
    found: dict[str, str | None] = {}
    for artefact in artefacts:
        path = PurePosixPath(artefact.id)
        for name in {artefact.id, path.with_suffix("").as_posix(), path.name, path.stem}:
            found[name] = artefact.id if name not in found else None
    found.update((artefact.id, artefact.id) for artefact in artefacts)
    return {name: id for name, id in found.items() if id is not None}


def _pairs(path: Path) -> list[tuple[str, str]]:
    try:
        text = contents(path).decode("utf-8-sig", "replace")
    except FileNotFoundError as error:
        raise NotFound(
            f"There is no file '{path}'.", hint="It holds the true links, a line for each: source,target."
        ) from error
    first = text.partition("\n")[0]
    delimiter = next((sign for sign in ",;\t" if sign in first), ",")
    pairs: list[tuple[str, str]] = []
    for number, row in enumerate(csv.reader(io.StringIO(text), delimiter=delimiter), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise FormatError(
                f"Line {number} of '{path}' is {','.join(row)!r}; it has to name a source and a target.",
                hint="Write one link on each line: source,target.",
            )
        pairs.append((cells[0], cells[1]))
    return pairs


def _example(artefacts: Sequence[LinkableText]) -> str:
    return PurePosixPath(artefacts[0].id).stem
