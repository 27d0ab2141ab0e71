"""`make bench-links`: how good suggested links are, where the true links are known.

Every confidence comes from weights that were fitted without the text in question (five folds), and beside them stands
plain TF-IDF with stemming. `--fit` prints the weights that `clew.trace.links.confidence` ships.
"""

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.links_fit import FOLDS, Observed, fit, held_out, observe
from benchmarks.links_project import Hidden, observe_projects
from benchmarks.links_sets import SETS, WARC
from clew.config import EmbedSettings
from clew.search.embed.opening import open_embedder
from clew.search.eval.metrics import average_precision
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.text.words import split
from clew.trace.links.match.meaning import Vectors
from clew.trace.links.measure import LinkSet, Measures, calibration, judge, mean_average_precision

WANTED_MAP = 0.72
"""On WARC, from the high-level requirements to the low-level ones."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.links",
        description="Measure link suggestion on sets with known links.",
        epilog="example:\n  python -m benchmarks.links --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--fit", action="store_true", help="print the weights fitted to all sets, and nothing else")
    args = parser.parse_args()
    if not WARC.is_dir():
        print("skipped: the development data is not here, so there is nothing to measure on")
        return 0
    embedder = open_embedder(EmbedSettings())
    with tempfile.TemporaryDirectory(prefix="clew-links-") as folder:
        vectors = None if embedder is None else Vectors(embedder, Path(folder))
        sets = {name: make() for name, make in SETS.items()}
        observations = {how: observe(sets, given) for how, given in (("meaning", vectors), ("words", None))}
        if args.fit:
            for how, (names, observed) in observations.items():
                _print_weights(how, names, fit(observed))
            return 0
        figures = [_figures(how, observed) for how, (_, observed) in observations.items()]
        projects = observe_projects(vectors)
    if args.json:
        print(json.dumps(_data(sets, figures, projects), indent=2))
    else:
        _print(sets, figures, projects)
    return 0


def _figures(how: str, observed: Sequence[Observed]) -> list[tuple[str, Observed, Measures]]:
    found = held_out(observed)
    return [
        (how, each, judge(each.links, found[each.name, each.reversed], with_meaning=how == "meaning"))
        for each in observed
    ]


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


Figures = list[list[tuple[str, Observed, Measures]]]
"""Of each way to compare: the way, what was observed, and how good it was."""


def _print(sets: dict[str, LinkSet], figures: Figures, projects: list[Hidden]) -> None:
    print(f"Held out, {FOLDS} folds by source. Rows read: from the first side of a set to the second, and back.")
    print(f"{'set':<12}{'direction':<11}{'compared by':<18}{'MAP':>6}{'F1':>7}{'prec.':>7}{'recall':>8}{'links':>7}")
    for name, links in sets.items():
        for is_reversed, direction in ((False, "forward"), (True, "back")):
            plain = plain_tf_idf(links.reversed() if is_reversed else links)
            print(f"{name:<12}{direction:<11}{'plain TF-IDF':<18}{plain:>6.3f}")
            for rows in figures:
                for how, each, found in rows:
                    if (each.name, each.reversed) == (name, is_reversed):
                        words = "words and meaning" if how == "meaning" else "words alone"
                        print(
                            f"{name:<12}{direction:<11}{words:<18}{found.map:>6.3f}{found.f1:>7.3f}"
                            f"{found.precision:>7.3f}{found.recall:>8.3f}{found.links:>7}"
                        )
    warc = next(found for _, each, found in figures[0] if each.name == "warc" and not each.reversed)
    verdict = "ok" if warc.map >= WANTED_MAP else "below"
    print(f"\nWARC: MAP {warc.map:.3f}, wanted {WANTED_MAP}: {verdict}\n")
    print("Calibration, words and meaning, held out: of suggestions at a confidence, how many are right")
    for _, each, found in figures[0]:
        if not each.reversed:
            print(f"  {each.name:<12}{_table(found.calibration)}")
    print("\nIn a project: links were hidden and suggested anew, with the weights as shipped")
    for hidden in projects:
        texts, all_told = _map_of(hidden.by_texts, hidden.labels), _map_of(hidden.with_surroundings, hidden.labels)
        print(f"  {hidden.name:<26}MAP by texts {texts:.3f}, with surroundings {all_told:.3f}")
        print(f"  {'':<26}{_table(calibration(hidden.with_surroundings, hidden.labels))}")


def _table(bins: Any) -> str:
    if isinstance(bins, str):
        return bins
    return "  ".join(f"{each.said:.2f}:{each.right:.2f} ({each.count})" for each in bins)


def _print_weights(how: str, names: Sequence[str], weights: Sequence[float]) -> None:
    print(how)
    for name, weight in zip((*names, "bias"), weights, strict=True):
        print(f'    "{name}": {weight:.3f},')


def _data(sets: dict[str, LinkSet], figures: Figures, projects: list[Hidden]) -> dict[str, Any]:
    return {
        "sets": [
            {"set": each.name, "reversed": each.reversed, "by": how, **msgspec.to_builtins(found)}
            for rows in figures
            for how, each, found in rows
        ],
        "plain_tf_idf": {name: plain_tf_idf(links) for name, links in sets.items()},
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
