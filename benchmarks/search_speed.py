"""How fast the search engine is on many units.

The texts are generated; the vectors are random, because the time of a search does not depend on what they mean and
encoding 100,000 texts would take longer than everything else. The encoder itself is measured apart, on real texts.
"""

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from benchmarks.prose import Prose
from benchmarks.workspace import run
from clew.search.units import Unit

PART = "unit"
WORDS_PER_UNIT = 80
QUERIES = 200
ENCODED = 384
ROUNDS = 4
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
AT_LEAST_OF_ONE_THREAD = 0.9
"""What 32 threads together reach of the calls a second of one: they must not stand in each other's way."""


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
    one, many = (figures[f"exact vector search with {threads}, calls/s"] for threads in ("1 thread", "32 threads"))
    print(
        f"  exact vector search, 32 threads to one: {many / one:.2f} (at least {AT_LEAST_OF_ONE_THREAD}) "
        f"{'ok' if many / one >= AT_LEAST_OF_ONE_THREAD else 'below'}"
    )
    encoder()


def encoder() -> None:
    """Documents per second, beside the plain way: the model as it comes, one text after the other."""
    from clew.config import EmbedSettings
    from clew.search.embed.opening import open_embedder

    embedder = open_embedder(EmbedSettings())
    assert embedder is not None
    prose = Prose(random.Random(3))
    texts = [prose.paragraph(4) for _ in range(ENCODED)]
    plain = _plain_encoder()
    embedder.embed(texts[:8])
    plain(texts[0])
    # Taking turns, so that what slows the machine down for a while slows both.
    ratios, rates = [], []
    for start in range(0, ENCODED, ENCODED // ROUNDS):
        part = texts[start : start + ENCODED // ROUNDS]
        together = _rate(lambda part=part: embedder.embed(part), len(part))
        alone = _rate(lambda part=part: [plain(text) for text in part], len(part))
        ratios.append(together / alone)
        rates.append((together, alone))
    together, alone = (statistics.median(values) for values in zip(*rates, strict=True))
    ratio = statistics.median(ratios)
    print(
        f"  encoder: {together:.0f} documents/s, one by one {alone:.0f}: {ratio:.2f} x (at least 2) "
        f"{'ok' if ratio >= 2 else 'below'}"
    )


def _plain_encoder() -> Callable[[str], object]:
    """What the packages' own example would do: tokens in, one run of the session, the mean of the tokens out."""
    import numpy as np
    import onnxruntime

    from clew.search.embed.minilm import VOCABULARY, WEIGHTS
    from clew.search.embed.wordpiece import WordPiece

    session = onnxruntime.InferenceSession(WEIGHTS.read(), providers=["CPUExecutionProvider"])
    inputs = {port.name for port in session.get_inputs()}
    words = VOCABULARY.read().decode().split("\n")
    tokenizer = WordPiece({word: number for number, word in enumerate(words) if word})

    def encode(text: str) -> object:
        ids = np.array([tokenizer.encode(text, 256)], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, {name: feeds[name] for name in inputs})[0]
        return hidden.mean(axis=1)

    return encode


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
