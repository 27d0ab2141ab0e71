"""Asks a search index that is there: FOLDER. Prints its figures as JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.search_speed import PART, QUERIES, questions
from clew.operation.paging import Cursors
from clew.search.engine import SearchEngine
from clew.search.eval.metrics import percentile
from clew.search.question import Question
from clew.search.rank.ranking import Rankings
from clew.search.units import Scope, Unit

ADDED = 30
THREADS = 32
GIVEN = 60
"""Queries whose vectors the engine remembers at the same time."""
THROUGHPUT_SECONDS = 8.0


def main() -> None:
    figures: dict[str, float] = {}
    began = time.perf_counter()
    # Each search is made anew, however often its question is asked.
    engine = SearchEngine(Path(sys.argv[1]), cursors=Cursors(bytes(32)), rankings=Rankings(0))
    engine.version()
    figures["open an existing index, ms"] = (time.perf_counter() - began) * 1000
    texts = questions(QUERIES)
    embedding = _times(texts, engine.embed_query)
    figures["embedding a query p50, ms"] = percentile(embedding[1:], 0.5)
    for name, recipe in (("lexical", "lexical"), ("vectors", "dense")):
        times = [_time(lambda text=text, recipe=recipe: _ask(engine, text, recipe)) for text in texts]
        figures[f"{name} p50, ms"] = percentile(times, 0.5)
        figures[f"{name} p95, ms"] = percentile(times, 0.95)
    whole = []
    for text in texts:
        engine.embed_query(text)
        whole.append(_time(lambda text=text: engine.search(_question(text, "default"))))
    figures["default recipe p50 without the query's embedding, ms"] = percentile(whole, 0.5)
    figures["default recipe p95 without the query's embedding, ms"] = percentile(whole, 0.95)
    figures["add one unit until it is found by words, ms"] = percentile([_add(engine, n) for n in range(ADDED)], 0.5)
    figures |= _throughput(engine, texts)
    figures["resident memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    engine.close()
    print(json.dumps(figures))


def _throughput(engine: SearchEngine, texts: list[str]) -> dict[str, float]:
    """Calls a second by one thread and by many, with the vectors of the queries given."""
    found = {}
    for text in texts[:GIVEN]:
        engine.embed_query(text)
    for name, recipe in (("exact vector search", "dense"), ("hybrid search", "default")):
        for threads in (1, THREADS):
            rate = _rate(lambda text, recipe=recipe: _ask(engine, text, recipe), texts[:GIVEN], threads)
            found[f"{name} with {threads} thread{'s' * (threads > 1)}, calls/s"] = rate
    return found


def _rate(ask: Callable[[str], None], texts: list[str], threads: int) -> float:
    began = time.perf_counter()
    end = began + THROUGHPUT_SECONDS

    def run(first: int) -> int:
        done = 0
        while time.perf_counter() < end:
            ask(texts[(first * 7 + done) % len(texts)])
            done += 1
        return done

    with ThreadPoolExecutor(threads) as pool:
        done = sum(pool.map(run, range(threads)))
    return done / (time.perf_counter() - began)


def _question(text: str, recipe: str) -> Question:
    return Question(text=text, scope=Scope(parts=(PART,)), recipe=recipe)


def _ask(engine: SearchEngine, text: str, recipe: str) -> None:
    engine.rank(_question(text, recipe))


def _add(engine: SearchEngine, number: int) -> float:
    """The time to put a unit. When `put` returns, a search finds it; that is checked outside the clock."""
    # Endings that no stemmer takes for one.
    word = "zweisil" + "".join("kmpvx"[number // place % 5] for place in (25, 5, 1))
    unit = Unit(id=f"new{number}", part=PART, title=word, body=f"{word} " * 8 + "and some other words " * 16)
    taken = _time(lambda: engine.units.put([unit]))
    found = engine.rank(_question(word, "lexical")).units
    assert found[0].id == unit.id
    return taken


def _times(texts: list[str], work: Callable[[str], None]) -> list[float]:
    return [_time(lambda text=text: work(text)) for text in texts]


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
