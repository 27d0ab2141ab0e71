"""The command `clew eval retrieval`: how well and how fast questions with known answers are searched."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from clew.config import EmbedSettings
from clew.errors import NotFound
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Option
from clew.workspace.regular import SETTINGS_BYTES, contents

if TYPE_CHECKING:
    from clew.search.eval.collection import Evaluation

_COLUMNS = ("ndcg@10", "recall@2", "recall@5", "recall@10", "recall@20", "mrr", "p50_ms", "p95_ms")


class MeasureRetrieval(
    Operation,
    verb="eval retrieval",
    summary="measures how well and how fast a folder of questions with known answers is searched",
    epilog=(
        "clew eval retrieval questions/ --recipe default --recipe linked\nclew eval retrieval questions/ --explain q17"
    ),
    folder="none",
    needs=Freshness.NONE,
):
    """Measure every signal and recipe on your own questions, or explain the first results of one of them."""

    folder: Annotated[
        str,
        Option(positional=True, metavar="FOLDER", about="holds corpus.jsonl, queries.jsonl and qrels.tsv (BEIR form)"),
    ]
    recipe: Annotated[
        tuple[str, ...], Option(metavar="NAME", about="a recipe, or a JSON file with one (default: default and linked)")
    ] = ()
    explain: Annotated[
        str | None,
        Option(metavar="QUERY", about="explain the ranking of the first results for a query, given by id"),
    ] = None
    words_only: Annotated[bool, Option(about="measure without the sentence encoder")] = False

    def run(self, call: Call) -> dict[str, Any]:
        from clew.search.eval.collection import Evaluation, read_collection
        from clew.search.rank.recipes import BUILT_IN, FOR_QUESTIONS, Recipes, from_json

        known = BUILT_IN
        recipes = list(FOR_QUESTIONS)
        if self.recipe:
            own = [from_json(contents(Path(given), SETTINGS_BYTES)) for given in self.recipe if given.endswith(".json")]
            known = Recipes((*BUILT_IN, *own))
            named = (known.get(given).name for given in self.recipe if not given.endswith(".json"))
            recipes = [*named, *(recipe.name for recipe in own)]
        collection = read_collection(Path(self.folder))
        settings = EmbedSettings(kind="none") if self.words_only else EmbedSettings()
        with tempfile.TemporaryDirectory(prefix="clew-eval-") as folder:
            evaluation = Evaluation(Path(folder), collection, embed=settings, recipes=known, progress=call.progress)
            try:
                if self.explain is not None:
                    return _explanation(evaluation, recipes, self.explain)
                return _measurements(evaluation, recipes)
            finally:
                evaluation.close()

    def render(self, result: dict[str, Any]) -> str:
        return "\n".join(_explained(result) if self.explain is not None else _table(result))


def _measurements(evaluation: "Evaluation", recipes: list[str]) -> dict[str, Any]:
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


def _explanation(evaluation: "Evaluation", recipes: list[str], id: str) -> dict[str, Any]:
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


def _table(data: dict[str, Any]) -> Iterator[str]:
    yield f"{data['documents']} documents, {data['queries']} queries, embedder: {data['embedder'] or 'none'}"
    yield f"{'':<20}" + "".join(f"{name:>11}" for name in _COLUMNS)
    for label in ("signals", "recipes"):
        for name, values in data[label].items():
            yield f"{label[:-1] + ' ' + name:<20}" + "".join(f"{values[column]:>11.4g}" for column in _COLUMNS)
    for name, intervals in data["intervals"].items():
        low, high = intervals["ndcg@10"]
        yield f"ndcg@10 of {name}: {low:.3f} to {high:.3f} (95%)"
    embedding = data["query_embedding_ms"]
    yield f"embedding a query: p50 {embedding['p50']} ms, p95 {embedding['p95']} ms, not in the times above"
    yield from (f"note: {note}" for note in data["notes"])


def _explained(data: dict[str, Any]) -> Iterator[str]:
    yield f"query: {data['query']}"
    for name, results in data["recipes"].items():
        yield f"\n{name}"
        for rank, result in enumerate(results, start=1):
            mark = "*" if result["relevant"] else " "
            parts = ", ".join(
                f"{part.signal} {part.value:.3f} (rank {part.rank}, score {part.score:.3g})" for part in result["why"]
            )
            yield f"{rank:>3} {mark} {result['id']:<16} {result['score']:.4f} = {parts}"
    yield f"\n* relevant; {len(data['relevant'])} in all"
