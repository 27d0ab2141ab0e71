"""Where ids of requirements are cited in a project, found by the readers that feed the graph: what they find here is
what there is an edge. One pass over the files, and none over those that stay as they are.
"""

import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import NotFound
from clew.formats.register.ids import MENTION
from clew.workspace.files import FileEntry, Selection, Tree, entry_of, is_settled, resolve, scan, selects, time_of
from clew.workspace.paths import raw

if TYPE_CHECKING:
    from clew.graph.readers.markers import MarkerReader

_WORTH_READING = re.compile(rb"(?i)req[-_][0-9]")
_TEXTS = "texts"


class Mention(msgspec.Struct, frozen=True, gc=False):
    id: str
    line: int
    labels: tuple[str, ...] = ()
    """The acceptance criteria that are meant; none means the whole requirement."""


class Mentions(msgspec.Struct, frozen=True):
    """What the files under a folder cite."""

    by_file: Mapping[str, tuple[Mention, ...]]
    """Every file that was looked at, by its path relative to the project."""
    tests: frozenset[str] = frozenset()
    """The files among them that are tests."""

    def places(self) -> dict[str, list[tuple[str, Mention]]]:
        """By id: where it is cited."""
        found: dict[str, list[tuple[str, Mention]]] = {}
        for path, mentions in self.by_file.items():
            for mention in mentions:
                found.setdefault(mention.id, []).append((path, mention))
        return found

    def carriers(self) -> dict[str, tuple[str, ...]]:
        """By id: the files that carry it."""
        return {id: tuple(sorted({path for path, _ in places})) for id, places in self.places().items()}


class MentionScanner:
    """Remembers what each file cites for as long as the file stays as it is."""

    def __init__(self, root: Path, max_file_bytes: int, readers: "Sequence[MarkerReader]") -> None:
        self._root = root
        self._limit = max_file_bytes
        self._readers = readers
        self._known: dict[tuple[str, str], tuple[FileEntry, tuple[Mention, ...]]] = {}
        self._trees: dict[str, Tree] = {}
        self._lock = threading.Lock()

    def scan(self, folder: str = ".", extensions: tuple[str, ...] = ()) -> Mentions:
        """Look through the code and the tests under a folder of the project. With endings only files that have one of
        them; those among them that are neither code nor test are looked through as text."""
        inside = folder_inside(self._root, folder)
        endings = tuple(f".{ending.lstrip('.')}" for ending in extensions)
        found: dict[str, tuple[Mention, ...]] = {}
        tests: set[str] = set()
        with self._lock:
            for reader in self._readers:
                for entry in self._files(reader.name, reader.selection):
                    if _lies_in(inside, entry.path) and entry.path.endswith(endings or ("",)):
                        found[entry.path] = self._of(entry, reader)
                        if reader.name == "tests":
                            tests.add(entry.path)
            for entry in self._texts(inside, endings) if endings else ():
                if entry.path not in found:
                    found[entry.path] = self._of(entry, None)
        return Mentions(dict(sorted(found.items())), frozenset(tests))

    def cited(self, data: bytes, path: str) -> tuple[Mention, ...]:
        """What some content would cite, were it the file of that path."""
        fitting = (reader for reader in self._readers if selects(self._root, reader.selection, path))
        return tuple(_marked(data, path, next(fitting, self._readers[-1])))

    def _texts(self, folder: str, endings: tuple[str, ...]) -> Iterator[FileEntry]:
        selection = Selection(folders=(folder,), patterns=tuple(f"*{ending}" for ending in endings), gitignore=True)
        yield from scan(self._root, selection).files

    def _files(self, name: str, selection: Selection) -> Iterator[FileEntry]:
        """The files of a selection; where no folder changed, those that were there before."""
        tree = self._trees.get(name)
        if tree is None or any(time_of(self._root, path) != mark for path, mark in tree.marks.items()):
            began_ns = time.time_ns()
            tree = scan(self._root, selection)
            self._trees.pop(name, None)
            if is_settled(max(tree.marks.values(), default=0), began_ns):
                self._trees[name] = tree
            yield from tree.files
            return
        for entry in tree.files:
            yield entry_of(self._root, entry.path)

    def _of(self, entry: FileEntry, reader: "MarkerReader | None") -> tuple[Mention, ...]:
        key = (entry.path, reader.name if reader is not None else _TEXTS)
        known = self._known.get(key)
        if known is not None and known[0] == entry:
            return known[1]
        read_ns = time.time_ns()
        data = self._content(entry)
        found = tuple(_marked(data, entry.path, reader) if reader is not None else _mentioned(data))
        if is_settled(entry.mtime_ns, read_ns):
            self._known[key] = (entry, found)
        return found

    def _content(self, entry: FileEntry) -> bytes:
        """What cannot be read cites nothing; the graph reports such files. What a scan found is in the project."""
        if entry.size > self._limit:
            return b""
        try:
            with open(os.path.join(self._root, raw(entry.path)), "rb") as file:  # noqa: PTH118, PTH123 - thousands
                return file.read()
        except OSError:
            return b""


def folder_inside(root: Path, written: str) -> str:
    """The one spelling of a folder or file of the project, which has to be there: in one that is not, nothing is cited,
    and every requirement would seem to be forgotten."""
    place = resolve(root, written)
    if not place.exists():
        raise NotFound(f"There is no folder '{written[:200]}' in the project.", hint="Check the path.")
    return place.relative_to(root.resolve()).as_posix()


def _lies_in(folder: str, path: str) -> bool:
    return folder == "." or path == folder or path.startswith(f"{folder}/")


def _marked(data: bytes, path: str, reader: "MarkerReader") -> Iterator[Mention]:
    for reference, line in reader.register_citations(data, path):
        yield Mention(reference.target, line, reference.labels)


def _mentioned(data: bytes) -> Iterator[Mention]:
    if _WORTH_READING.search(data) is None:
        return
    text = data.decode("utf-8", "replace")
    line, counted = 1, 0
    for match in MENTION.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield Mention(match[0], line)
