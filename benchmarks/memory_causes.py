"""Chains of stated causes that `find_causal_path` follows, and false causal links among ordinary notes."""

import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from benchmarks.memory_pairs import HALVES, read_pairs
from clew.memory.model import MemoryLinkKind
from clew.memory.navigation.navigate import causal_path
from clew.memory.navigation.requests import CausalPathQuery
from clew.memory.service import MemoryView
from clew.memory.writing.requests import Note
from clew.operation.call import Call
from clew.project import Project

FOUND, FALSE_PER_1000 = 60, 5
_FILE = Path(__file__).with_name("memory_causes.toml")
_WHY = "Needed to measure which causes are linked"
_SAID = (
    "{Cause} leads to {effect}.",
    "{Effect} happen because of {cause}.",
    "Because of {cause}, we see {effect}.",
    "{Cause} results in {effect}.",
    "{Effect} were caused by {cause}.",
    "The reason for {effect} is {cause}.",
    "{Cause} triggered {effect}.",
    "We had {effect} due to {cause}.",
    "There was {cause}. As a result, there were {effect}.",
    "{Effect} stem from {cause}.",
)


def chains() -> list[tuple[str, ...]]:
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))["chains"]
    return [tuple(chain) for several in told.values() for chain in several]


def report() -> None:
    planted = chains()
    with _view() as view:
        ends = [_planted(view, at, chain) for at, chain in enumerate(planted)]
        found = sum(
            causal_path(view.library, CausalPathQuery(source_id=first, target_id=last), lambda: None).path_found
            for first, last in ends
        )
    verdict = "ok" if found >= FOUND * len(planted) / 80 else "MISSED"
    print(f"Causes: {found} of {len(planted)} planted chains of three are followed (at least {FOUND} of 80) {verdict}")
    notes = list(dict.fromkeys(text for half in HALVES for pair in read_pairs(half) for text in (pair.old, pair.new)))
    with _view() as view:
        ids = [_stored(view, text) for text in notes]
        links = view.library.index.links(ids, (MemoryLinkKind.CAUSES,), inward=False)
    rate = 1_000 * len(links) / len(notes)
    verdict = "ok" if rate <= FALSE_PER_1000 else "MISSED"
    print(f"  false links among {len(notes)} notes: {len(links)} (at most {FALSE_PER_1000} of 1,000) {verdict}")


def _planted(view: MemoryView, at: int, chain: tuple[str, ...]) -> tuple[str, str]:
    """Store the steps of a chain; returns the notes of the first and of the last step."""
    ids = []
    for step, (cause, effect) in enumerate(pairwise(chain)):
        said = _SAID[(at + step) % len(_SAID)]
        text = said.format(cause=cause, effect=effect, Cause=_capital(cause), Effect=_capital(effect))
        ids.append(_stored(view, text))
    return ids[0], ids[-1]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _stored(view: MemoryView, text: str) -> str:
    return view.store(Note(content=text, rationale=_WHY)).node_id


@contextmanager
def _view() -> Iterator[MemoryView]:
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        root = Path(folder)
        (root / "clew.toml").write_text("[project]\n", encoding="utf-8")
        project = Project.open(root)
        try:
            yield project.memory.view(Call(project, ()))
        finally:
            project.close()
