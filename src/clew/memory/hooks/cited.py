"""Memories that cite what an event names, read straight from the files of the memory.

For a hook that runs alone, of whose time most is spent on loading code: so the files are asked by SQLite alone, and
nothing is built or ranked. The index is asked only where it is nearly in step with the store, because filling it takes
longer than a prompt may wait.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from clew.memory.hooks.named import FILE, LINES, SYMBOL, NamedPlaces
from clew.memory.model import MEMORIES, Cite, Memory
from clew.memory.scope import Viewer
from clew.memory.storage import citations
from clew.memory.texts.block import Injected, cited, fitting, is_injectable, line_of
from clew.store.sqlite.light_connection import AS_WRITTEN, light_connection
from clew.text.display import one_line
from clew.text.passage_hash import says, stands_in
from clew.workspace.regular import contents

LONGEST_SAID = 240
_MOST_BEHIND = 500
_PATIENCE_SECONDS = 0.3
_MOST_READ = 40
_LARGEST_FILE = 1024 * 1024


class Index(Protocol):
    """The questions about citations that hooks ask."""

    def citing(self, nodes: Sequence[str], prefixes: Sequence[str], viewer: Viewer) -> list[str]: ...

    def symbols_called(self, names: Iterable[str]) -> list[str]: ...


class CitedMemories:
    """The files of a memory, open for reading."""

    def __init__(self, store: Path, index: Path, viewer: Viewer) -> None:
        self._store = light_connection(store, _PATIENCE_SECONDS)
        self._index = light_connection(index, _PATIENCE_SECONDS)
        self._viewer = viewer
        behind = self._behind()
        self._is_useful = behind <= _MOST_BEHIND
        if behind and self._is_useful:
            self._index.close()
            _bring_in_step(store, index)
            self._index = light_connection(index, _PATIENCE_SECONDS)

    def close(self) -> None:
        self._index.close()
        self._store.close()

    def shown_in(self, session: str) -> list[str]:
        return citations.shown_in(self._index, session, injected=True) if self._is_useful else []

    def citing(self, nodes: Sequence[str], prefixes: Sequence[str], viewer: Viewer) -> list[str]:
        return citations.citing(self._index, nodes, prefixes, viewer)

    def symbols_called(self, names: Iterable[str]) -> list[str]:
        return citations.symbols_called(self._index, names)

    def about(self, named: NamedPlaces, seen: Collection[str]) -> Iterator[Memory]:
        """The memories that cite what is named and may be shown, latest first."""
        if not self._is_useful:
            return
        query = f"SELECT data FROM records WHERE collection = ? AND id = ? AND {AS_WRITTEN}"  # noqa: S608
        for id in ids_citing(self, named, self._viewer):
            record = self._store.execute(query, (MEMORIES, id)).fetchone() if id not in seen else None
            if record is None:
                continue
            memory = msgspec.json.decode(record[0], type=Memory)
            if is_injectable(memory) and memory.retired_at is None:
                yield memory

    def _behind(self) -> int:
        """The number of events of the store that the index does not know; all if it is of another version or store."""
        (last,) = self._store.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        (version,) = self._index.execute("PRAGMA user_version").fetchone()
        known = citations.number(self._index, citations.SEQ) if version == citations.VERSION else 0
        return int(last) - (known if known <= last else 0)


def _bring_in_step(store: Path, index: Path) -> None:
    """Bring the index in step with the store, as a question to a server does."""
    from clew.memory.storage.index import MemoryIndex
    from clew.store.sqlite.engine import open_sqlite

    with (
        closing(open_sqlite(store, read_only=True, busy_timeout=_PATIENCE_SECONDS)) as opened,
        closing(MemoryIndex(index, opened)) as filled,
    ):
        filled.mark("")


def ids_citing(index: Index, named: NamedPlaces, viewer: Viewer) -> list[str]:
    """The memories that cite what is named, or something inside it."""
    nodes = (*named.nodes, *index.symbols_called(named.symbols))
    return index.citing(nodes, named.prefixes, viewer) if nodes or named.prefixes else []


def lines(memories: Iterator[Memory], root: Path, inside: str, now: datetime, max_tokens: int) -> list[Injected]:
    """The lines of the block, as many as fit."""
    texts: dict[str, str | None] = {}
    made = []
    for memory in memories:
        about = [cited(cite.node, _state(cite, root, inside, texts)) for cite in memory.cites]
        made.append(line_of(memory, one_line(memory.text, LONGEST_SAID), about, now))
        if len(made) >= _MOST_READ:
            break
    return fitting(made, max_tokens)


def _state(cite: Cite, root: Path, inside: str, texts: dict[str, str | None]) -> str:
    """The state of a citation as far as its file alone tells: nodes of the graph are not looked up."""
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
        return contents(place).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError):
        return None
