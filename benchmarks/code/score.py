"""What Clew shows, held against the truth: found, missed, right and wrong lines of each symbol."""

import re
import statistics
from collections.abc import Callable, Iterable, Sequence

import msgspec

from benchmarks.code.asking import Shown
from benchmarks.code.truth import Place, Truth, places

BASES = ("exact", "index", "run", "inferred", "name")
"""What is shown as a use. One of several definitions that fit is listed apart."""

OTHER_KINDS = frozenset({"import", "reexport", "re-export", "patch", "string", "fixture", "registry", "override"})
"""Uses that a language server does not count as references: judged by hand, never against it."""


class Verdict(msgspec.Struct, frozen=True):
    """Of one symbol."""

    truth: Truth
    found: frozenset[Place]
    missed: frozenset[Place]
    right: tuple[Shown, ...]
    wrong: tuple[Shown, ...]
    other: tuple[Shown, ...]
    """Uses that the language server cannot confirm: of other kinds, or where the symbol goes by another name."""


def verdict(truth: Truth, shown: Sequence[Shown], is_named: Callable[[str, int, str], bool]) -> Verdict:
    """`is_named` says whether a line of a file has a name: references are found by the name of their symbol."""
    true, aside = places(truth.references), places(truth.aside)
    right, wrong, other = [], [], []
    listed: set[Place] = set()
    for use in shown:
        place = (use.path, use.line)
        if not is_shown(use):
            continue
        listed.add(place)
        if place in true:
            right.append(use)
        elif use.kind in OTHER_KINDS or not is_named(use.path, use.line, truth.symbol.name):
            other.append(use)
        elif place not in aside:
            wrong.append(use)
    return Verdict(truth, frozenset(true & listed), frozenset(true - listed), tuple(right), tuple(wrong), tuple(other))


def is_shown(use: Shown) -> bool:
    return use.basis in BASES


class Score(msgspec.Struct, frozen=True):
    """Of the symbols of one project, or of several."""

    symbols: int
    used: int
    """Symbols with at least one true use."""
    lines: int
    """True uses."""
    micro: float
    """Share of all true uses that were found."""
    mean: float
    """Mean share of a symbol's true uses that was found."""
    exact: float
    """Share of right ones among the lines shown as exact uses."""
    shown: float
    """Share of right ones among all lines shown as uses."""
    blind: float
    """Share of used symbols of which no use was found."""
    other: int
    """Lines that the truth says nothing about."""


def score(verdicts: Iterable[Verdict]) -> Score:
    all_of = list(verdicts)
    used = [each for each in all_of if each.truth.references]
    right, wrong = (_lines(all_of, name) for name in ("right", "wrong"))
    found = sum(len(each.found) for each in used)
    lines = found + sum(len(each.missed) for each in used)
    return Score(
        len(all_of),
        len(used),
        lines,
        _share(found, lines),
        statistics.fmean(len(each.found) / (len(each.found) + len(each.missed)) for each in used) if used else 1.0,
        _share(*_counts(right, wrong, ("exact",))),
        _share(*_counts(right, wrong, BASES)),
        _share(sum(not each.found for each in used), len(used), nothing=0.0),
        sum(len(_lines([each], "other")) for each in all_of),
    )


Line = tuple[str, str, int, str]


def _lines(verdicts: Iterable[Verdict], name: str) -> set[Line]:
    """Target, path, line and basis: several uses on a line are one line, of its best basis."""
    best: dict[tuple[str, str, int], str] = {}
    for each in verdicts:
        for use in getattr(each, name):
            place = (each.truth.symbol.target, use.path, use.line)
            best[place] = min(best.get(place, use.basis), use.basis, key=BASES.index)
    return {(*place, basis) for place, basis in best.items()}


def _counts(right: set[Line], wrong: set[Line], bases: Sequence[str]) -> tuple[int, int]:
    good = sum(each[3] in bases for each in right)
    return good, good + sum(each[3] in bases for each in wrong)


def _share(part: int, whole: int, nothing: float = 1.0) -> float:
    return part / whole if whole else nothing


def names_in(text_of: Callable[[str], str]) -> Callable[[str, int, str], bool]:
    """Looks names up in the lines of files."""
    known: dict[str, list[str]] = {}

    def is_named(path: str, line: int, name: str) -> bool:
        if path not in known:
            known[path] = text_of(path).split("\n")
        lines = known[path]
        return line <= len(lines) and re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", lines[line - 1]) is not None

    return is_named
