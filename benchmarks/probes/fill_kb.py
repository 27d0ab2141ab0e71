"""Fills the store of documents and the search index: FOLDER SECTIONS."""

import sys
from pathlib import Path

from benchmarks.kb_scale import CONFIG, documents
from clew.project import Project
from clew.search.engine import SearchEngine

_AT_ONCE = 12_000
_LONG_EVERY, _PIECES = 6, 4
"""In real documents about so many sections are longer than the encoder's reach, and have so many vectors more."""


def main() -> None:
    folder, sections = Path(sys.argv[1]), int(sys.argv[2])
    for path, text in documents(sections):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (folder / "clew.toml").write_text(CONFIG, encoding="utf-8")
    project = Project.open(folder)
    project.kb.index()
    engine = project.index.engine
    assert engine is not None
    _fill_vectors(engine)
    project.close()


def _fill_vectors(engine: SearchEngine) -> None:
    import numpy as np

    spaces = engine.spaces
    embedder = spaces.configured()
    assert embedder is not None
    spaces.register(embedder, complete=True)
    space = spaces.space(embedder)
    draw = np.random.default_rng(5)
    numbers = np.arange(1, engine.units.count() + 1)
    for start in range(0, len(numbers), _AT_ONCE):
        part = numbers[start : start + _AT_ONCE]
        part = np.concatenate([part, np.repeat(part[::_LONG_EVERY], _PIECES)])
        vectors = draw.standard_normal((len(part), embedder.dimensions), np.float32)
        space.vectors.put(part, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    space.vectors.fold()


if __name__ == "__main__":
    main()
