"""Fills a search index: FOLDER UNITS."""

import sys
from pathlib import Path

from benchmarks.search_speed import generated
from clew.operation.paging import Cursors
from clew.search.engine import SearchEngine


def main() -> None:
    import numpy as np

    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    engine = SearchEngine(folder, cursors=Cursors(bytes(32)))
    engine.units.put(generated(count))
    spaces = engine.spaces
    embedder = spaces.configured()
    assert embedder is not None
    spaces.register(embedder, complete=True)
    space = spaces.space(embedder)
    draw = np.random.default_rng(5)
    numbers = np.arange(1, count + 1)
    for start in range(0, count, 10_000):
        part = numbers[start : start + 10_000]
        vectors = draw.standard_normal((len(part), embedder.dimensions), np.float32)
        space.vectors.put(part, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    space.vectors.fold()
    engine.close()


if __name__ == "__main__":
    main()
