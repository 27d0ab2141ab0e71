"""Measuring retrieval on a collection of questions with known answers.

The documents go into an engine in a folder of their own, so that nothing else is touched. A signal is measured by a
recipe that asks it alone.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from clew.operation.paging import Cursors
from clew.search.dense.indexing import Progress
from clew.search.embed import EmbedSettings
from clew.search.engine import SearchEngine
from clew.search.eval.collection import Collection, Query
from clew.search.eval.metrics import Gain, Interval, Latency, bootstrap, latency, ndcg, recall, reciprocal_rank
from clew.search.question import Question, RankedUnit
from clew.search.rank.recipes import BUILT_IN, SIGNALS, Recipes
from clew.search.units import Scope, Unit

PART = "document"
SEED = 20
MEASURES: dict[str, Callable[[Sequence[str], dict[str, float]], float]] = {
    "ndcg@10": lambda ranked, grades: ndcg(ranked, grades, 10, Gain.LINEAR),
    "recall@2": lambda ranked, grades: recall(ranked, grades, 2),
    "recall@5": lambda ranked, grades: recall(ranked, grades, 5),
    "recall@10": lambda ranked, grades: recall(ranked, grades, 10),
    "recall@20": lambda ranked, grades: recall(ranked, grades, 20),
    "mrr": lambda ranked, grades: reciprocal_rank(ranked, grades),
}


class Measured(msgspec.Struct, frozen=True):
    """What a recipe or a signal reached, as means over the queries."""

    values: dict[str, float]
    intervals: dict[str, Interval]
    """With 95% confidence, if other queries of the same kind had been drawn."""
    milliseconds: Latency
    """For one query, without its embedding."""
    scores: dict[str, tuple[float, ...]]
    """Each measure for each query, in the order of the collection."""

    def summary(self) -> dict[str, float]:
        return {
            **{name: round(value, 4) for name, value in self.values.items()},
            "p50_ms": round(self.milliseconds.p50, 2),
            "p95_ms": round(self.milliseconds.p95, 2),
        }


class Evaluation:
    """An engine filled with a collection."""

    def __init__(
        self,
        folder: Path,
        collection: Collection,
        *,
        embed: EmbedSettings | None = None,
        recipes: Recipes = BUILT_IN,
        progress: Progress = lambda done, total, message: None,
    ) -> None:
        self.collection = collection
        self.engine = SearchEngine(folder, cursors=Cursors(bytes(32)), embed=embed, recipes=recipes)
        self.engine.put(
            Unit(id=document.id, part=PART, title=document.title or "", body=document.text)
            for document in collection.documents
        )
        self.report = self.engine.index_vectors(progress)
        self.embedding: dict[str, float] = {}
        """How long the embedding of each query took."""

    def close(self) -> None:
        self.engine.close()

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that can be asked: none by meaning where there is no embedder."""
        return SIGNALS if self.report.note is None else ("lexical",)

    def measure(self, recipe: str, queries: Sequence[Query] | None = None) -> Measured:
        asked = self.collection.queries if queries is None else queries
        scores: dict[str, list[float]] = {name: [] for name in MEASURES}
        times: list[float] = []
        for query in asked:
            ranked, milliseconds = self._timed(recipe, query.text)
            times.append(milliseconds)
            for name, measure in MEASURES.items():
                scores[name].append(measure([unit.id for unit in ranked], self.collection.grades[query.id]))
        intervals = {name: bootstrap(values, seed=SEED, resamples=1_000) for name, values in scores.items()}
        return Measured(
            values={name: interval.mean for name, interval in intervals.items()},
            intervals=intervals,
            milliseconds=latency(times),
            scores={name: tuple(values) for name, values in scores.items()},
        )

    def explain(self, recipe: str, text: str, count: int) -> tuple[RankedUnit, ...]:
        return self.engine.rank(_question(recipe, text)).units[:count]

    def _timed(self, recipe: str, text: str) -> tuple[tuple[RankedUnit, ...], float]:
        began = time.perf_counter()
        self.engine.embed_query(text)
        embedded = time.perf_counter()
        ranking = self.engine.rank(_question(recipe, text))
        ended = time.perf_counter()
        # The engine remembers the vectors of recent queries, so only the first time tells what one costs.
        self.embedding.setdefault(text, (embedded - began) * 1000)
        return ranking.units, (ended - embedded) * 1000


def _question(recipe: str, text: str) -> Question:
    return Question(text=text, scope=Scope(parts=(PART,)), recipe=recipe)
