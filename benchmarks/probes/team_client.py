"""Searches of many clients in one server: KIND WHERE RECIPE THREADS SECONDS WARM QUESTIONS. Prints searches a second as
JSON.

The server has run for WARM seconds when the clock starts, with one half of the questions; then come the others. Where
they are many, each is asked once.
"""

import itertools
import json
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.search_speed import PART, generated, questions
from clew.cache import Cache
from clew.config import EmbedSettings
from clew.operation.paging import Cursors
from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.rank.ranking import Rankings
from clew.search.units import Scope
from clew.text.database_address import Address

SCHEMA = "bench"
RECIPES = ("lexical", "dense", "default")
QUERIES = 60
"""What one client asks."""
ASKED_TOGETHER = 16_000
"""Questions of many clients: none of them comes again before all were asked, so that no answer is a remembered one."""
_RECALLED = 200
"""Vectors whose ten nearest are compared with the exact ones: of fewer, chance decides the second digit."""
_SCOPE = Scope(parts=(PART,))
_LATENT = 32
_AT_ONCE = 10_000


def vectors(count: int, seed: int, start: int = 0) -> Any:
    """Vectors near a plane of a few dozen dimensions."""
    import numpy as np

    plane = np.random.default_rng(7).standard_normal((_LATENT, 384)).astype(np.float32)
    draw = np.random.default_rng(seed * 1_000_003 + start)
    latent = draw.standard_normal((count, _LATENT)).astype(np.float32)
    found = latent @ plane + 0.5 * draw.standard_normal((count, 384)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def opened(kind: str, where: str, count: int = QUERIES, *, rankings: Rankings | None = None) -> SearchEngine:
    """An engine that knows the vectors of so many queries. Without `rankings` to keep, it makes each anew."""
    embed = EmbedSettings()
    rankings = Rankings(0) if rankings is None else rankings
    if kind == "embedded":
        engine = SearchEngine(Path(where), cursors=Cursors(bytes(32)), embed=embed, rankings=rankings)
    else:
        from clew.search.database.opening import in_database

        place = in_database(Address(where), SCHEMA, "own", embed)
        engine = SearchEngine(Path("none"), cursors=Cursors(bytes(32)), embed=embed, rankings=rankings, backend=place)
    owner = _queries_of(engine)
    owner._queries = Cache(max(count, _RECALLED))
    for text, vector in zip(questions(count), vectors(count, seed=2), strict=True):
        owner._queries.put(text, vector)
    return engine


def _queries_of(engine: SearchEngine) -> Any:
    """The vectors of queries that an engine keeps."""
    with engine.units.asked() as reading:
        return _table(engine).serving(reading)


def _table(engine: SearchEngine) -> Any:
    vectors: Any = engine._vectors
    return vectors._table


def fill(kind: str, where: str, rows: int) -> dict[str, str]:
    """Put texts and vectors in; what that took."""
    engine = opened(kind, where)
    began, used = time.perf_counter(), time.process_time()
    engine.units.put(generated(rows))
    words = time.perf_counter() - began
    figures = {"words": f"{rows / words:.0f} rows/s ({(time.process_time() - used) / rows * 1e3:.2f} ms of CPU here)"}
    began = time.perf_counter()
    (_fill_files if kind == "embedded" else _fill_tables)(engine, rows)
    figures["vectors, with their index"] = f"{rows / (time.perf_counter() - began):.0f} rows/s"
    figures["size"] = f"{_size(kind, where, engine) / 1e6:.0f} MB"
    engine.close()
    return figures


def _fill_files(engine: SearchEngine, rows: int) -> None:
    import numpy as np

    spaces: Any = engine.spaces
    embedder = spaces.configured()
    spaces.register(embedder, complete=True)
    space = spaces.space(embedder)
    for start in range(0, rows, _AT_ONCE):
        count = min(_AT_ONCE, rows - start)
        space.vectors.put(np.arange(start + 1, start + count + 1), vectors(count, 1, start))
    space.vectors.fold()
    with engine.units.asked() as reading:
        connection: Any = reading
        view = space.vectors.view(connection.connection)
    if space.vectors.wants_approximate(view):
        space.vectors.build_approximate(view)


def _fill_tables(engine: SearchEngine, rows: int) -> None:
    from clew.search.database.values import vector_as_text

    table = _table(engine)
    embedder = engine.spaces.configured()
    assert embedder is not None
    number = table.shared.number_of(embedder.name, embedder.dimensions)
    database = table._database
    for start in range(0, rows, _AT_ONCE):
        count = min(_AT_ONCE, rows - start)
        made = vectors(count, 1, start)
        with (
            database.connection() as connection,
            connection.cursor().copy("COPY vectors (space, embedder, number, place, vector) FROM STDIN") as copy,
        ):
            for place in range(count):
                copy.write_row((database.space, number, start + place + 1, 0, vector_as_text(made[place])))
    with database.connection() as connection:
        connection.execute("SET statement_timeout = 0")
        connection.execute("UPDATE spaces SET vectors = vectors + 1 WHERE number = %s", (database.space,))
        connection.execute("VACUUM ANALYZE")
        connection.execute("SET statement_timeout = '30s'")
    table._build_indexes(number, embedder.dimensions, lambda *_: None)


def _size(kind: str, where: str, engine: SearchEngine) -> int:
    if kind == "embedded":
        return sum(file.stat().st_size for file in Path(where).rglob("*") if file.is_file())
    with _table(engine)._database.connection() as connection:
        find = """
            SELECT sum(pg_total_relation_size(oid)) FROM pg_class
            WHERE relnamespace = %s::regnamespace AND relkind = 'r'
            """
        return int(connection.execute(find, (SCHEMA,)).fetchone()[0])


def measured(engine: SearchEngine, rows: int) -> dict[str, tuple[float, float, float | None]]:
    """p50 and p95 of one client, and which share of the ten nearest vectors was found."""
    asked = questions(QUERIES)
    found: dict[str, tuple[float, float, float | None]] = {}
    for recipe in RECIPES:
        times = []
        engine.rank(Question(text=asked[0], scope=_SCOPE, recipe=recipe))
        for text in asked:
            began = time.perf_counter()
            engine.rank(Question(text=text, scope=_SCOPE, recipe=recipe))
            times.append((time.perf_counter() - began) * 1e3)
        cuts = statistics.quantiles(times, n=20)
        found[recipe] = (statistics.median(times), cuts[18], None)
    return found | {"dense": (*found["dense"][:2], _recall(engine, rows))}


def _recall(engine: SearchEngine, rows: int) -> float:
    """Which share of the ten nearest vectors is found."""
    hit = 0
    queries, asked = _queries_of(engine)._queries, vectors(_RECALLED, seed=3)
    for text, vector, exact in zip(questions(_RECALLED), asked, _exact(asked, rows), strict=True):
        queries.put(text, vector)
        ranking = engine.rank(Question(text=text, scope=_SCOPE, recipe="dense"))
        hit += len({unit.id for unit in ranking.units[:10]} & exact)
    return hit / 10 / _RECALLED


def _exact(asked: Any, rows: int) -> list[set[str]]:
    import numpy as np

    best: list[list[tuple[float, int]]] = [[] for _ in asked]
    for start in range(0, rows, _AT_ONCE):
        scores = asked @ vectors(min(_AT_ONCE, rows - start), 1, start).T
        for place, own in enumerate(scores):
            top = np.argpartition(-own, min(10, len(own) - 1))[:10]
            best[place] = sorted([*best[place], *((float(own[n]), start + int(n)) for n in top)], reverse=True)[:10]
    return [{f"u{number}" for _, number in each} for each in best]


def main() -> None:
    kind, where, recipe, threads, seconds, warm, count = sys.argv[1:]
    engine = opened(kind, where, int(count), rankings=Rankings())
    asked = questions(int(count))
    half = len(asked) // 2
    _per_second(engine, recipe, asked[:half], int(threads), float(warm))
    print(json.dumps({"per_second": _per_second(engine, recipe, asked[half:], int(threads), float(seconds))}))
    engine.close()


def _per_second(engine: SearchEngine, recipe: str, asked: list[str], threads: int, seconds: float) -> float:
    """How many searches several clients get answered, who ask one question after the other."""
    counts = [0] * threads
    turn = itertools.count()
    began = time.monotonic()
    end = began + seconds

    def ask(own: int) -> None:
        while time.monotonic() < end:
            text = asked[next(turn) % len(asked)]
            engine.rank(Question(text=text, scope=_SCOPE, recipe=recipe))
            counts[own] += 1

    working = [threading.Thread(target=ask, args=(own,)) for own in range(threads)]
    for each in working:
        each.start()
    for each in working:
        each.join()
    return sum(counts) / (time.monotonic() - began)


if __name__ == "__main__":
    main()
