"""Citations of requirements in a project, found by the readers of the graph: each citation here is an edge there. It
reads the files once, and then only those that changed."""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import NotFound
from clew.formats.register.ids import MENTION, CitedId
from clew.text.hashing import content_hash
from clew.workspace.files import FileEntry, path_inside, resolve
from clew.workspace.find import Selection, selects
from clew.workspace.follow import FileState, Follower, Key
from clew.workspace.paths import raw
from clew.workspace.regular import contents

if TYPE_CHECKING:
    from clew.graph.readers.markers import MarkerReader

_WORTH_READING = re.compile(rb"(?i)req[-_][0-9]")
_TEXTS = "texts"


class Mentions(msgspec.Struct, frozen=True):
    """The citations in the files under a folder."""

    by_file: Mapping[str, tuple[CitedId, ...]]
    """Every file that was looked at, by its path relative to the project."""
    tests: frozenset[str] = frozenset()
    """The files among them that are tests."""

    def places(self) -> dict[str, list[tuple[str, CitedId]]]:
        """By id: where it is cited."""
        found: dict[str, list[tuple[str, CitedId]]] = {}
        for path, mentions in self.by_file.items():
            for mention in mentions:
                found.setdefault(mention.id, []).append((path, mention))
        return found

    def carriers(self) -> dict[str, tuple[str, ...]]:
        """By id: the files that carry it."""
        return {id: tuple(sorted({path for path, _ in places})) for id, places in self.places().items()}


class MentionScanner:
    """Keeps the citations of each file as long as the file does not change."""

    def __init__(self, root: Path, max_file_bytes: int, readers: "Sequence[MarkerReader]") -> None:
        self._root = root
        self._limit = max_file_bytes
        self._readers = readers
        selections = {reader.name: reader.selection for reader in readers}
        self._marked = Follower(root, selections, max_file_bytes=max_file_bytes)
        self._texts = Follower(root, {}, max_file_bytes=max_file_bytes)
        self._found: dict[Key, tuple[CitedId, ...]] = {}
        self._lock = threading.Lock()

    def scan(self, folder: str = ".", extensions: tuple[str, ...] = ()) -> Mentions:
        """Scan the code and the tests under a folder of the project. With endings only files that have one of them;
        files that are neither code nor test are then scanned as text."""
        inside = folder_inside(self._root, folder)
        endings = tuple(f".{ending.lstrip('.')}" for ending in extensions)
        found: dict[str, tuple[CitedId, ...]] = {}
        with self._lock:
            marked = self._current(self._marked, lambda path: _is_wanted(path, inside, endings))
            found.update((key[0], self._found[key]) for key in marked)
            if endings:
                patterns = tuple(f"*{ending}" for ending in endings)
                self._texts.select({_TEXTS: Selection(folders=(inside,), patterns=patterns, gitignore=True)})
                texts = self._current(self._texts, lambda path: path not in found)
                found.update([(key[0], self._found[key]) for key in texts])
        tests = frozenset(path for path, name in marked if name == "tests")
        return Mentions(dict(sorted(found.items())), tests)

    def _current(self, follower: Follower, is_wanted: Callable[[str], bool]) -> list[Key]:
        """The wanted files, after the changed ones were read."""
        changes = follower.changes()
        follower.forget(changes.gone)
        for key in changes.gone:
            del self._found[key]
        states: dict[Key, FileState] = {}
        for key, entry in changes.entries.items():
            if is_wanted(key[0]):
                data = self._content(entry)
                self._found[key] = self._cited_as(data, key)
                states[key] = FileState.at_reading(entry, content_hash(data), changes.looked_ns)
        follower.note(states)
        return [key for key in follower.keys if is_wanted(key[0])]

    def _cited_as(self, data: bytes, key: Key) -> tuple[CitedId, ...]:
        path, name = key
        if name == _TEXTS:
            return tuple(_mentioned(data))
        return tuple(_marked(data, path, next(reader for reader in self._readers if reader.name == name)))

    def cited(self, data: bytes, path: str) -> tuple[CitedId, ...]:
        """The citations in some content, if it were the file of that path."""
        fitting = (reader for reader in self._readers if selects(self._root, reader.selection, path))
        return tuple(_marked(data, path, next(fitting, self._readers[-1])))

    def _content(self, entry: FileEntry) -> bytes:
        """The content of a file; empty if it cannot be read or is too large, which the graph reports. The path comes
        from a scan, so it is inside the project."""
        if entry.size > self._limit:
            return b""
        try:
            return contents(os.path.join(self._root, raw(entry.path)), self._limit)  # noqa: PTH118 - thousands
        except OSError:
            return b""


def folder_inside(root: Path, written: str) -> str:
    """The path of a folder or file of the project, in its one spelling. It has to exist: in a missing one nothing is
    cited, and every requirement would seem forgotten."""
    place = resolve(root, written)
    if not place.exists():
        raise NotFound(f"There is no folder '{written[:200]}' in the project.", hint="Check the path.")
    return raw(path_inside(root, written))


def _is_wanted(path: str, folder: str, endings: tuple[str, ...]) -> bool:
    lies_in = folder == "." or path == folder or path.startswith(f"{folder}/")
    return lies_in and path.endswith(endings or ("",))


def _marked(data: bytes, path: str, reader: "MarkerReader") -> Iterator[CitedId]:
    for reference, line in reader.register_citations(data, path):
        yield CitedId(reference.target, line, reference.labels)


def _mentioned(data: bytes) -> Iterator[CitedId]:
    if _WORTH_READING.search(data) is None:
        return
    text = data.decode("utf-8", "replace")
    line, counted = 1, 0
    for match in MENTION.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield CitedId(match[0], line)
