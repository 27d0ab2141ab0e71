"""What the memory promises without exception: stale citations, what holds first, scopes, no writes of its own.

Each figure is a number of cases that went wrong, and has to be 0.
"""

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.memory.model import MEMORIES
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView
from clew.memory.storage.library import MemoryReader
from clew.memory.writing.requests import Note
from clew.operation.call import Call
from clew.project import Project

FILES, FUNCTIONS = 100, 10
REPLACED = 100
READS = 10_000
AGENTS = ("planner", "builder", "reviewer")
WHY = "Needed to measure what the memory promises"
_WORDS_ONLY = '[embedder]\nkind = "none"\n[search]\nbackground = false\n'


def report() -> None:
    print("Promises of the memory: cases that went wrong")
    for name, wrong in (*_staleness(), _order(), _writes_of_its_own(), _leaks()):
        print(f"  {name}: {wrong} (limit 0) {'ok' if not wrong else 'MISSED'}")


@contextmanager
def _project(files: dict[str, str] | None = None) -> Iterator[Project]:
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        root = Path(folder)
        for path, text in {"clew.toml": _WORDS_ONLY, **(files or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        project = Project.open(root)
        try:
            yield project
        finally:
            project.close()


def _view(project: Project) -> MemoryView:
    return project.memory.view(Call(project, ()))


# Citations


def _staleness() -> Iterator[tuple[str, int]]:
    """Every function is cited. Then one in two files is edited: above, between and inside the functions."""
    names = [f"src/part_{file}.py" for file in range(FILES)]
    with _project({name: _source(name, edited=False, moved=False) for name in names}) as project:
        places = _view(project).places()
        cites = {f"{name}::work_{at}": places.cite(f"{name}::work_{at}") for name in names for at in range(FUNCTIONS)}
        for edited, moved, what in (
            (False, True, "citations flagged though only other lines and the formatting changed"),
            (True, True, "citations not flagged though their function was edited"),
        ):
            for name in names:
                (project.config.root / name).write_text(_source(name, edited=edited, moved=moved), encoding="utf-8")
            places = _view(project).places()
            states = [places.state(cite).state for cite in cites.values()]
            wrong = sum((state in ("changed", "gone")) != edited for state in states)
            yield f"{what}, of {len(states):,}", wrong


def _source(name: str, *, edited: bool, moved: bool) -> str:
    head = '"""Generated.\n\nMore is said here now.\n"""\n\nLIMIT = 3\n\n\n' if moved else '"""Generated."""\n\n\n'
    sign, blank = ("-" if edited else "+"), ("  " if moved else " ")
    functions = (
        f"def work_{at}(load):\n    total = load {sign}{blank}{at}\n    return total * {len(name)}\n"
        for at in range(FUNCTIONS)
    )
    return head + "\n\n".join(functions)


# What holds, and what was replaced


def _order() -> tuple[str, int]:
    wrong = 0
    with _project() as project:
        view = _view(project)
        for at in range(REPLACED):
            old = view.store(Note(content=f"Berth {at} of pier {at % 7} is kept free for pilots.", rationale=WHY))
            new = Note(
                content=f"Berth {at} of pier {at % 7} belongs to the ferry.",
                rationale=WHY,
                link_to=(old.node_id,),
                link_type="supersedes",
            )
            view.store(new)
        for at in range(REPLACED):
            ranked, _ = view.recall.rank(f"who has berth {at} of pier {at % 7}", 10)
            standings = [each.standing for each in ranked]
            wrong += standings != sorted(standings, key=("current", "stale", "superseded").index)
            wrong += "current" not in standings
    return f"answers with what was replaced before what holds, of {REPLACED}", wrong


def _writes_of_its_own() -> tuple[str, int]:
    """Duplicates and contradictions are stored; each store adds one record, and none goes."""
    texts = [
        text
        for at in range(REPLACED)
        for text in (
            f"Lamp {at} burns all night.",
            f"Lamp {at} burns all night long.",
            f"Lamp {at} never burns all night.",
        )
    ]
    with _project() as project:
        view = _view(project)
        created = sum(view.store(Note(content=text, rationale=WHY)).created for text in texts)
        store = project.memory.home.store
        deleted = sum(event.after is None for event in store.events(collection=MEMORIES))
        kept = view.library.index.count(view.viewer)
    return f"memories merged or deleted by themselves, of {created}", deleted + created - kept


# Who sees what


def _leaks() -> tuple[str, int]:
    draw = random.Random(15)
    wrong = 0
    with _project() as project:
        service = project.memory
        ids: dict[str, str] = {}
        for at, agent in enumerate(AGENTS * 10):
            view = MemoryView(service, Viewer(agent=agent, session=f"s-{agent}"))
            note = Note(
                content=f"{agent} noted number {at} about tides.", rationale=WHY, metadata={"visibility": "private"}
            )
            ids[view.store(note).node_id] = agent
        reads: tuple[Callable[[MemoryReader, str], set[str]], ...] = (
            lambda library, id: set(library.get_many(ids)),
            lambda library, id: {memory.id for memory, _ in library.latest(50)},
            lambda library, id: {
                found for found, _ in library.index.with_prefix(id.replace("-", "")[:8], library.viewer)
            },
            lambda library, id: set(library.index.visible((id,), library.viewer)),
        )
        for _ in range(READS):
            agent = draw.choice((*AGENTS, None))
            library = MemoryReader(service.home, Viewer(agent=agent))
            seen = draw.choice(reads)(library, draw.choice(list(ids)))
            wrong += any(ids[id] != agent for id in seen)
    return f"private memories shown to others, in {READS:,} reads", wrong
