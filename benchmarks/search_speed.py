"""How fast the search engine is on many units.

The texts are generated; the vectors are random, because the time of a search does not depend on what they mean and
encoding 100,000 texts would take longer than everything else. The encoder itself is measured apart, on real texts.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from benchmarks.workspace import run
from clew.search.units import Unit

PART = "unit"
WORDS_PER_UNIT = 80
QUERIES = 200
ENCODED = 384
VOCABULARY = 30_000
EVERYWHERE = 100

LIMITS = {
    "open an existing index, ms": 150,
    "lexical p95, ms": 30,
    "vectors p95, ms": 20,
    "default recipe p95 without the query's embedding, ms": 60,
    "add one unit until it is found by words, ms": 5,
    "resident memory, MB": 700,
}


def report(units: int) -> None:
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        print(f"Speed on {units:,} units of about {WORDS_PER_UNIT} words")
        began = time.perf_counter()
        run(sys.executable, "-m", "benchmarks.probes.fill_index", folder, str(units), patience=1800)
        print(f"  filled in {time.perf_counter() - began:.0f} s")
        figures = json.loads(run(sys.executable, "-m", "benchmarks.probes.search_index", folder, patience=600))
    for name, value in figures.items():
        limit = LIMITS.get(name)
        verdict = "" if limit is None else f"  (limit {limit}) {'ok' if value <= limit else 'over'}"
        print(f"  {name}: {value:.1f}{verdict}")
    encoder()


def encoder() -> None:
    """Documents per second, beside the plain way of one text after the other."""
    from clew.search.embed import EmbedSettings, open_embedder

    embedder = open_embedder(EmbedSettings())
    assert embedder is not None
    texts = [unit.body for unit in generated(ENCODED, seed=3)]
    embedder.embed(texts[:8])
    together = _rate(lambda: embedder.embed(texts), len(texts))
    alone = _rate(lambda: [embedder.embed([text]) for text in texts], len(texts))
    ratio = together / alone
    print(
        f"  encoder: {together:.0f} documents/s, one by one {alone:.0f}: {ratio:.2f} x (at least 2) "
        f"{'ok' if ratio >= 2 else 'below'}"
    )


def _rate(work: Callable[[], object], count: int) -> float:
    began = time.perf_counter()
    work()
    return count / (time.perf_counter() - began)


def generated(count: int, *, seed: int = 1) -> Iterator[Unit]:
    """Units whose words are as unevenly frequent as those of a language."""
    draw = random.Random(seed)
    words = vocabulary()
    weights = [1 / (rank + 2.7) for rank in range(len(words))]
    for start in range(0, count, 1_000):
        drawn = iter(draw.choices(words, weights, k=min(1_000, count - start) * (WORDS_PER_UNIT + 6)))
        for number in range(start, min(start + 1_000, count)):
            title = " ".join(next(drawn) for _ in range(6))
            body = " ".join(next(drawn) for _ in range(WORDS_PER_UNIT))
            yield Unit(id=f"u{number}", part=PART, title=title, body=body, document=f"d{number // 20}")


def vocabulary() -> list[str]:
    draw = random.Random(2)
    syllables = [consonant + vowel for consonant in "bdklmnrst" for vowel in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(draw.choices(syllables, k=draw.randint(2, 4)))] = None
    return list(found)


def questions(count: int) -> list[str]:
    """Of two to nine words, as frequent as those of the units, but for the hundred that occur everywhere: of those a
    query of a real language holds stop words, which are not searched for."""
    draw = random.Random(4)
    words = vocabulary()[EVERYWHERE:]
    weights = [1 / (rank + EVERYWHERE + 2.7) for rank in range(len(words))]
    return [" ".join(draw.choices(words, weights, k=draw.randint(2, 9))) for _ in range(count)]
