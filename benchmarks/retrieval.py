"""`make bench-retrieval`: how good the rankings are, and how fast, per signal and per recipe.

Quality is measured on public collections beside the project and skipped, with a reason, where they are absent. Speed is
measured on generated units. Misses are marked; they never fail the command.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks import retrieval_sets, search_speed
from clew.search.eval.collection import SEED, Collection, Evaluation, Measured
from clew.search.eval.metrics import Interval, bootstrap
from clew.search.rank.recipes import BUILT_IN, Recipe, Recipes

RANKED = {
    "Cranfield": (retrieval_sets.cranfield, {"default": 0.436, "lexical": 0.386}),
    "CISI": (retrieval_sets.cisi, {"default": 0.443, "lexical": 0.377}),
}
LINKED = {"MuSiQue-100": (retrieval_sets.musique, 0.56), "HotpotQA-100": (retrieval_sets.hotpotqa, 0.86)}
TYPO_LOSS = 0.10
CHOICE_LOSS = 0.005
"""What `auto` may lose where texts do not mention each other."""
LEXICAL_WEIGHTS = (0.5, 0.7, 1.0, 1.5, 2.0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=retrieval_sets.FOLDER, help="the folder with the collections")
    parser.add_argument("--only", choices=("quality", "speed"), help="one half")
    parser.add_argument("--units", type=int, default=100_000, help="units for the speed (default: 100000)")
    args = parser.parse_args()
    if args.only != "speed":
        if args.data.is_dir():
            quality(args.data)
        else:
            print(f"quality: skipped, because {args.data} is not there")
    if args.only != "quality":
        search_speed.report(args.units)


def quality(folder: Path) -> None:
    for name, (read, targets) in RANKED.items():
        _measured(name, read(folder), lambda evaluation, targets=targets: _ranked(evaluation, targets))
    for name, (read, target) in LINKED.items():
        _measured(name, read(folder), lambda evaluation, target=target: _linked(evaluation, target))


def _measured(name: str, collection: Collection, measure: Callable[[Evaluation], None]) -> None:
    print(f"{name}: {len(collection.documents)} documents, {len(collection.queries)} queries")
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        evaluation = Evaluation(
            Path(folder), collection, recipes=Recipes((*BUILT_IN, *map(_weighted, LEXICAL_WEIGHTS)))
        )
        try:
            measure(evaluation)
        finally:
            evaluation.close()


def _ranked(evaluation: Evaluation, targets: dict[str, float]) -> None:
    measured = {recipe: evaluation.measure(recipe) for recipe in ("lexical", "dense", "default", "auto")}
    least = measured["default"].values["ndcg@10"] - CHOICE_LOSS
    for recipe, each in measured.items():
        _print(recipe, each, "ndcg@10", least if recipe == "auto" else targets.get(recipe))
    _print_split(evaluation)
    _print_typos(evaluation, measured["default"])


def _linked(evaluation: Evaluation, target: float) -> None:
    measured = {recipe: evaluation.measure(recipe) for recipe in ("lexical", "dense", "default", "linked", "auto")}
    for recipe, each in measured.items():
        _print(recipe, each, "recall@5", target if recipe == "linked" else None)
    before, after = measured["default"].scores["recall@5"], measured["linked"].scores["recall@5"]
    gain = paired_bootstrap(before, after)
    print(f"  following mentions adds {gain.mean:+.3f} recall@5 [{gain.low:+.3f}, {gain.high:+.3f}]")


def paired_bootstrap(before: Sequence[float], after: Sequence[float]) -> Interval:
    """How much better `after` is than `before` on the same queries in the same order. Zero inside: not proven."""
    return bootstrap([new - old for old, new in zip(before, after, strict=True)], seed=SEED)


def _print(recipe: str, measured: Measured, measure: str, target: float | None) -> None:
    interval, times = measured.intervals[measure], measured.milliseconds
    line = f"  {recipe:<8} {measure} {interval.mean:.4f} [{interval.low:.3f}, {interval.high:.3f}]"
    line += "".join(f"  {name} {measured.values[name]:.3f}" for name in measured.values if name != measure)
    line += f"  p50 {times.p50:.1f} ms, p95 {times.p95:.1f} ms"
    print(line + (f"  (target {target:.3f}) {_verdict(interval.mean >= target)}" if target is not None else ""))


def _print_split(evaluation: Evaluation) -> None:
    """Which weight one half of the queries would choose, and what it gives on the other half, which had no part in it.
    The shipped weight should not be far behind on either."""
    tuning = retrieval_sets.tuning_half(evaluation.collection)
    halves = {
        name: [query for query in evaluation.collection.queries if (query.id in tuning) is wanted]
        for name, wanted in (("tuning", True), ("held-out", False))
    }
    measured = {weight: evaluation.measure(_weighted(weight).name, halves["tuning"]) for weight in LEXICAL_WEIGHTS}
    chosen = max(LEXICAL_WEIGHTS, key=lambda weight: measured[weight].values["ndcg@10"])
    tried = ", ".join(f"{weight:g}: {each.values['ndcg@10']:.4f}" for weight, each in measured.items())
    print(f"    weight of words against meaning on the tuning half: {tried}")
    for label, recipe in (("chosen there", _weighted(chosen).name), ("shipped", "default")):
        interval = evaluation.measure(recipe, halves["held-out"]).intervals["ndcg@10"]
        print(f"    held-out half, {label}: {interval.mean:.4f} [{interval.low:.3f}, {interval.high:.3f}]")


def _weighted(weight: float) -> Recipe:
    """The default recipe with another weight of words."""
    default = BUILT_IN.get("default")
    signals = tuple(
        msgspec.structs.replace(signal, weight=weight if signal.name == "lexical" else 1.0)
        for signal in default.signals
    )
    return msgspec.structs.replace(default, name=f"words-{weight:g}", signals=signals)


def _print_typos(evaluation: Evaluation, clean: Measured) -> None:
    misspelt = evaluation.measure("default", retrieval_sets.with_typos(evaluation.collection).queries)
    loss = 1 - misspelt.values["ndcg@10"] / clean.values["ndcg@10"]
    print(
        f"    one edit in one word of each query loses {loss:.1%} (limit {TYPO_LOSS:.0%}) {_verdict(loss <= TYPO_LOSS)}"
    )


def _verdict(reached: bool) -> str:
    return "ok" if reached else "MISSED"


if __name__ == "__main__":
    main()
