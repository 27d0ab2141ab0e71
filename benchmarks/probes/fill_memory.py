"""Fills the memory of a project: FOLDER MEMORIES. Prints how long its index and its search index took, as JSON.

Records are written into the store as the memory writes them, many in one transaction; vectors are random.
"""

import json
import random
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from benchmarks.search_speed import generated
from clew.memory.model import (
    CHANGES,
    LINKS,
    MEMORIES,
    SIMILARITY,
    Link,
    Memory,
    MemoryKind,
    MemoryLinkKind,
    MemoryScope,
    Origin,
    TrustLevel,
    linked,
)
from clew.memory.storage.changes import ChangeRecord, spelled
from clew.project import Project

CONFIGURATION = "[search]\nbackground = false\n"
SESSION = 25
AT_ONCE = 2_000
AGENTS = (None, "planner", "builder")
LONGEST_TEXT = 40
"""Words of a memory at most; notes are short."""


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "clew.toml").write_text(CONFIGURATION, encoding="utf-8")
    project = Project.open(folder)
    took = {
        "records": _timed(lambda: _write(project, count)),
        "index": _timed(lambda: project.memory.home.index.mark("")),
    }
    took["search index"] = _timed(project.memory.units.engine)
    _vectors(project)
    project.close()
    print(json.dumps(took))


def _timed(work: object) -> float:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - began


def _write(project: Project, count: int) -> None:
    home, draw = project.memory.home, random.Random(7)
    earlier: list[Memory] = []
    memories = _memories(home.repository, count)
    while some := list(islice(memories, AT_ONCE)):
        with home.store.transaction(actor="agent", reason="filled by a benchmark") as transaction:
            for memory in some:
                touched = [(MEMORIES, memory.id, transaction.put(MEMORIES, memory.id, memory).version)]
                touched += [
                    (LINKS, link.id, transaction.put(LINKS, link.id, link).version)
                    for link in _links(memory, earlier, draw)
                ]
                record = ChangeRecord(
                    operation="store", at=memory.recorded_at, actor="agent", rationale=memory.rationale,
                    expires_at=memory.recorded_at, memories=(memory.id,), touched=tuple(touched),
                )  # fmt: skip
                transaction.put(CHANGES, f"sha256:{memory.id}", record)
                earlier.append(memory)


def _memories(repository: str, count: int) -> Iterator[Memory]:
    draw = random.Random(6)
    began = datetime.now(UTC) - timedelta(days=90)
    kinds = tuple(MemoryKind)
    for number, unit in enumerate(generated(count)):
        text = f"{unit.title} {' '.join(unit.body.split()[: draw.randint(8, LONGEST_TEXT)])}"
        agent = draw.choice(AGENTS)
        yield Memory(
            id=str(uuid.UUID(int=draw.getrandbits(128), version=4)),
            kind=draw.choice(kinds),
            text=text,
            title=unit.title,
            rationale="Needed to measure a large memory",
            recorded_at=spelled(began + timedelta(seconds=60 * number)),
            scope=MemoryScope(
                repository=repository, agent=agent, visibility="private" if number % 50 == 0 and agent else "team"
            ),
            origin=Origin(trust=TrustLevel.AGENT, actor=agent or "agent", session=f"session-{number // SESSION}"),
            tags=(draw.choice(("tides", "harbour", "lamps", "ropes")),),
            importance=draw.random(),
        )


def _links(memory: Memory, earlier: list[Memory], draw: random.Random) -> Iterator[Link]:
    """The one before in its session, and two others, as a store makes them."""
    if earlier and earlier[-1].origin.session == memory.origin.session:
        yield linked(earlier[-1].id, memory.id, MemoryLinkKind.NEXT, "session")
    for other in draw.sample(earlier[-5_000:], k=min(2, len(earlier))):
        kind = draw.choice(
            (MemoryLinkKind.CAUSES, MemoryLinkKind.PART_OF, MemoryLinkKind.RELATED, MemoryLinkKind.RELATED)
        )
        weight = round(draw.uniform(0.7, 0.89), 3)
        yield Link(source=memory.id, target=other.id, kind=kind, weight=weight, origin=SIMILARITY)


def _vectors(project: Project) -> None:
    import numpy as np

    engine = project.index.engine
    assert engine is not None
    embedder = engine.spaces.configured()
    assert embedder is not None
    engine.spaces.register(embedder, complete=True)
    space = engine.spaces.space(embedder)
    with engine.units.reading() as connection:
        every = connection.execute("SELECT number FROM indexed_units ORDER BY number")
        numbers = np.array([number for (number,) in every])
    draw = np.random.default_rng(5)
    for start in range(0, len(numbers), 10_000):
        part = numbers[start : start + 10_000]
        vectors = draw.standard_normal((len(part), embedder.dimensions), np.float32)
        space.vectors.put(part, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    space.vectors.fold()


if __name__ == "__main__":
    main()
