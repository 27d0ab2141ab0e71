"""Memories that cite what an event names, read straight from the files of the memory.

For a hook that runs alone: nothing is built, ranked or written. The index is asked only where it is nearly in step with
the store, because filling it takes longer than a prompt may wait.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from clew.memory.hooks.named import FILE, LINES, SYMBOL, Named
from clew.memory.model import MEMORIES, Cite, Memory
from clew.memory.recall.block import Injected, cited, fitting, framed, is_injectable, line_of
from clew.memory.scope import Asker
from clew.memory.storage.index import MemoryIndex
from clew.store.sqlite.engine import open_sqlite
from clew.text.passage_hash import says, stands_in

LONGEST_SAID = 240
_MOST_BEHIND = 500
_PATIENCE_SECONDS = 0.3
_MOST_READ = 40
_LARGEST_FILE = 1024 * 1024


class CitedMemories:
    """The files of a memory, open for reading."""

    def __init__(self, store: Path, index: Path, asker: Asker) -> None:
        self._store = open_sqlite(store, read_only=True, busy_timeout=_PATIENCE_SECONDS)
        self._index = MemoryIndex(index, self._store)
        self._asker = asker

    def close(self) -> None:
        self._index.close()
        self._store.close()

    def shown_in(self, session: str) -> list[str]:
        return self._index.shown_in(session, injected=True)

    def citing(self, named: Named, seen: Collection[str]) -> Iterator[Memory]:
        """What may be shown of the memories that cite what is named, the latest first."""
        if self._index.is_behind(_MOST_BEHIND):
            return
        for id in ids_citing(self._index, named, self._asker):
            record = self._store.get(MEMORIES, id) if id not in seen else None
            if record is None:
                continue
            memory = msgspec.convert(record.data, Memory)
            if is_injectable(memory) and memory.retired_at is None:
                yield memory


def ids_citing(index: MemoryIndex, named: Named, asker: Asker) -> list[str]:
    """The memories that cite what is named, or something inside it."""
    nodes = (*named.nodes, *index.symbols_called(named.symbols))
    return index.citing(nodes, named.prefixes, asker) if nodes or named.prefixes else []


def lines(memories: Iterator[Memory], root: Path, inside: str, now: datetime, max_tokens: int) -> list[Injected]:
    """The lines of the block, as many as fit."""
    texts: dict[str, str | None] = {}
    made = []
    for memory in memories:
        about = [cited(cite.node, _state(cite, root, inside, texts)) for cite in memory.cites]
        made.append(line_of(memory, shortened_text(memory), about, now))
        if len(made) >= _MOST_READ:
            break
    return fitting(made, max_tokens)


def block_of(items: list[Injected]) -> str:
    return framed(items) if items else ""


def shortened_text(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    return text if len(text) <= LONGEST_SAID else text[: LONGEST_SAID - 1].rstrip() + "…"


def _state(cite: Cite, root: Path, inside: str, texts: dict[str, str | None]) -> str:
    """What became of a citation, as far as its file alone tells: nodes of the graph are not looked up."""
    if not cite.node.startswith((FILE, SYMBOL, LINES)):
        return "unknown"
    path = cite.node.partition(":")[2].partition("::")[0].partition("#")[0]
    if path not in texts:
        texts[path] = _text(root, inside, path)
    text = texts[path]
    if text is None:
        return "unknown"
    if cite.node.startswith(FILE):
        return "fresh" if says(text, cite.passage) else "changed"
    return "fresh" if stands_in(text, cite.passage) else "changed"


def _text(root: Path, inside: str, path: str) -> str | None:
    own = path.removeprefix(f"{inside}/") if inside else path
    try:
        place = root / own
        if place.stat().st_size > _LARGEST_FILE:
            return None
        return place.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        return None
