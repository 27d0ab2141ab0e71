"""`clew eval retrieval`."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from clew.config import EmbedSettings
from clew.errors import NotFound
from clew.surfaces.cli.opening import add_json
from clew.surfaces.cli.output import end_progress, print_json, progress

EXAMPLE = """clew eval retrieval questions/ --recipe default --recipe linked
clew eval retrieval questions/ --explain q17"""

_COLUMNS = ("ndcg@10", "recall@2", "recall@5", "recall@10", "recall@20", "mrr", "p50_ms", "p95_ms")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="FOLDER", help="holds corpus.jsonl, queries.jsonl and qrels.tsv (BEIR form)")
    parser.add_argument(
        "--recipe", action="append", default=[], metavar="NAME", help="a recipe, or a JSON file with one (default: all)"
    )
    parser.add_argument(
        "--explain", metavar="QUERY", help="show why the first results for a query, given by id, stand there"
    )
    parser.add_argument("--words-only", action="store_true", help="measure without the sentence encoder")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clew.search.eval.collection import read_collection
    from clew.search.eval.evaluation import Evaluation
    from clew.search.rank.recipes import BUILT_IN, SIGNALS, Recipes, from_json

    known = BUILT_IN
    recipes = [recipe.name for recipe in BUILT_IN if recipe.name not in SIGNALS]
    if args.recipe:
        own = [from_json(Path(given).read_bytes()) for given in args.recipe if given.endswith(".json")]
        known = Recipes((*BUILT_IN, *own))
        recipes = [
            *(known.get(given).name for given in args.recipe if not given.endswith(".json")),
            *(recipe.name for recipe in own),
        ]
    collection = read_collection(Path(args.data))
    settings = EmbedSettings(kind="none") if args.words_only else EmbedSettings()
    with tempfile.TemporaryDirectory(prefix="clew-eval-") as folder:
        evaluation = Evaluation(Path(folder), collection, embed=settings, recipes=known, progress=progress())
        end_progress()
        try:
            if args.explain is not None:
                data = _explanation(evaluation, recipes, args.explain)
            else:
                data = _measurements(evaluation, recipes)
        finally:
            evaluation.close()
    if args.json:
        print_json(data)
    else:
        (_print_explanation if args.explain is not None else _print_measurements)(data)
    return 0


def _measurements(evaluation: "Any", recipes: list[str]) -> dict[str, Any]:
    from clew.search.eval.metrics import latency

    measured = {name: evaluation.measure(name) for name in dict.fromkeys((*evaluation.signals, *recipes))}
    return {
        "recipes": {name: measured[name].summary() for name in recipes},
        "signals": {name: measured[name].summary() for name in evaluation.signals},
        "intervals": {
            name: {measure: [round(of.low, 4), round(of.high, 4)] for measure, of in each.intervals.items()}
            for name, each in measured.items()
        },
        "documents": len(evaluation.collection.documents),
        "queries": len(evaluation.collection.queries),
        "embedder": evaluation.report.embedder,
        "query_embedding_ms": {
            name: round(value, 2)
            for name, value in msgspec.to_builtins(latency(list(evaluation.embedding.values()))).items()
            if name.startswith("p")
        },
        "notes": [*evaluation.collection.notes, *([evaluation.report.note] if evaluation.report.note else [])],
    }


def _explanation(evaluation: "Any", recipes: list[str], id: str) -> dict[str, Any]:
    query = next((query for query in evaluation.collection.queries if query.id == id), None)
    if query is None:
        raise NotFound(f"No query with a relevant document has the id '{id}'.", hint="queries.jsonl has the ids.")
    grades = evaluation.collection.grades[id]
    return {
        "query": query.text,
        "relevant": grades,
        "recipes": {
            name: [
                {"id": unit.id, "score": round(unit.score, 4), "relevant": unit.id in grades, "why": list(unit.why)}
                for unit in evaluation.explain(name, query.text, 10)
            ]
            for name in recipes
        },
    }


def _print_measurements(data: dict[str, Any]) -> None:
    print(f"{data['documents']} documents, {data['queries']} queries, embedder: {data['embedder'] or 'none'}")
    print(f"{'':<20}" + "".join(f"{name:>11}" for name in _COLUMNS))
    for label in ("signals", "recipes"):
        for name, values in data[label].items():
            print(f"{label[:-1] + ' ' + name:<20}" + "".join(f"{values[column]:>11.4g}" for column in _COLUMNS))
    for name, intervals in data["intervals"].items():
        low, high = intervals["ndcg@10"]
        print(f"ndcg@10 of {name}: {low:.3f} to {high:.3f} (95%)")
    embedding = data["query_embedding_ms"]
    print(f"embedding a query: p50 {embedding['p50']} ms, p95 {embedding['p95']} ms, not in the times above")
    for note in data["notes"]:
        print(f"note: {note}")


def _print_explanation(data: dict[str, Any]) -> None:
    print(f"query: {data['query']}")
    for name, results in data["recipes"].items():
        print(f"\n{name}")
        for rank, result in enumerate(results, start=1):
            mark = "*" if result["relevant"] else " "
            parts = ", ".join(
                f"{part.signal} {part.value:.3f} (rank {part.rank}, score {part.score:.3g})" for part in result["why"]
            )
            print(f"{rank:>3} {mark} {result['id']:<16} {result['score']:.4f} = {parts}")
    print(f"\n* relevant; {len(data['relevant'])} in all")
