"""Following files: the present files, their states when they were last read, and the changes since.

This is the one rule for everybody who reads files and wants to know when to read them again. A file is unchanged as
long as its size and time are. The time of a file that changed within the racy interval before it was read proves
nothing, because the file may change again and keep its time: at the next look its content is compared by hash.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from clew.errors import ClewError, FormatError
from clew.text.hashing import content_hash
from clew.workspace.files import FileEntry, entry_of, read_bytes, time_at, time_of
from clew.workspace.find import Listings, Selection, Tree, scan, shape_at, shape_of
from clew.workspace.paths import display, raw
from clew.workspace.regular import TooLarge, opened, read_from

RACY_NS = 2_000_000_000
"""The coarsest clock of a file system in use has steps of two seconds."""
MANY_FILES = 300
"""A look at fewer files is cheap enough for every question."""
PAUSE_SHARE = 4
"""The pause after a look at many files, in multiples of its duration."""

_NOT_READ = "not read"
"""Stands for the hash of a file whose time is enough to follow it."""

T = TypeVar("T")

Key = tuple[str, str]
"""A file's path, and the name of the selection that found it."""


def is_settled(mtime_ns: int, read_ns: int) -> bool:
    """True if the next change of a file or folder that was read at `read_ns` is sure to give it another time."""
    return read_ns - mtime_ns > RACY_NS


class FileState(msgspec.Struct, frozen=True, gc=False):
    """A file as it was when it was last read."""

    size: int
    mtime_ns: int
    """0 where the file changed so shortly before it was read that its time proves nothing."""
    content_hash: str
    """Empty where the file could not be read."""

    @classmethod
    def at_reading(cls, entry: FileEntry, content_hash: str, read_ns: int) -> "FileState":
        """The state of a file that was found as `entry` at `read_ns` or later, and then read."""
        return cls(entry.size, entry.mtime_ns if is_settled(entry.mtime_ns, read_ns) else 0, content_hash)

    def matches(self, entry: FileEntry) -> bool:
        """True if size and time prove that the file is unchanged. For a file that could not be read they never do:
        permissions change without a trace in the file's own time."""
        return self.mtime_ns == entry.mtime_ns != 0 and self.size == entry.size and self.content_hash != ""


class Changes(msgspec.Struct, frozen=True):
    """Differences from the states that were noted."""

    looked_ns: int
    """When the look began; what is read now is noted as read at that time."""
    entries: Mapping[Key, FileEntry]
    """The files that are new or changed, in the order of the selections and of the paths."""
    new: frozenset[Key]
    gone: tuple[Key, ...]

    @property
    def changed(self) -> frozenset[Key]:
        return frozenset(self.entries) - self.new


class Follower:
    """Follows the files of some selections.

    `changes` says what is new, changed or gone. The caller confirms a handled file with `note` or `forget`; until
    then it is reported again, so that work that was interrupted is not lost. Not safe for several threads at once.
    """

    def __init__(
        self,
        root: Path,
        selections: Mapping[str, Selection],
        *,
        max_file_bytes: int,
        many_files: int = MANY_FILES,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root = root
        self._many_files = many_files
        self._monotonic = monotonic
        self._selections = dict(selections)
        self._max_file_bytes = max_file_bytes
        self._states: dict[Key, FileState] = {}
        self._trees: dict[str, Tree] = {}
        self._keys: dict[Key, None] = {}
        """The files that the last walk through the folders found, in order."""
        self._marks: dict[str, int] = {}
        """Times of the folders at that walk."""
        self._shapes: dict[str, int | None] = {}
        """Names in the folders at that walk."""
        self._young: set[str] = set()
        """Folders whose time does not prove that no file was added or removed since they were last looked into."""
        self._has_to_walk = True
        """Set before the first walk, and after other files were selected."""
        self._pause_until = 0.0

    @property
    def states(self) -> Mapping[Key, FileState]:
        """The states of the files when they were last read."""
        return self._states

    @property
    def keys(self) -> Collection[Key]:
        """The files that were there at the last look."""
        return self._keys.keys()

    def trees(self) -> Iterator[Tree]:
        """The trees that the walk through the folders found, selection by selection; only the files may be out of
        date."""
        return iter(self._trees.values())

    # Asking

    def changes(self, *, again: Collection[str] = (), walk: bool = False) -> Changes:
        """The files that are new, changed or gone. Everything in the selections named in `again` counts as changed.
        With `walk` all folders are listed, whatever their times are."""
        looked_ns = time.time_ns()
        is_known = not (walk or self._has_to_walk) and self._are_marks_same() and self._are_young_same()
        fresh = None if is_known else self._walk()
        entries: dict[Key, FileEntry] = {}
        new: set[Key] = set()
        for key in self._keys:
            entry = entry_of(self._root, key[0]) if fresh is None else fresh[key]
            state = self._states.get(key)
            if state is None:
                new.add(key)
            elif key[1] not in again and self._is_same(key, state, entry):
                continue
            entries[key] = entry
        gone = tuple(key for key in self._states if key not in self._keys)
        return Changes(looked_ns, entries, frozenset(new), gone)

    def is_current(self) -> bool:
        """True if nothing is new, changed or gone: one question to the system for each file and folder."""
        if not self._trees or not self._are_marks_same():
            return False
        if self._has_to_walk or not self._are_young_same():
            self._walk()
        if self._keys.keys() != self._states.keys():
            return False
        root = f"{self._root}/"
        for key, state in list(self._states.items()):
            # Written out, because it is done for every file before a tool answers.
            try:
                path = key[0] if "\\" not in key[0] else raw(key[0])
                found = os.stat(root + path)  # noqa: PTH116
                if found.st_mtime_ns == state.mtime_ns != 0 and found.st_size == state.size and state.content_hash:
                    continue
            except OSError:
                pass
            if not self._is_same(key, state, entry_of(self._root, key[0])):
                return False
        return True

    def is_probably_current(self) -> bool:
        """Like `is_current`. If the files are many and the last look found nothing, the next look waits a few times as
        long as that one took: otherwise looking would be most of the cost of a small question."""
        began = self._monotonic()
        if began < self._pause_until:
            return True
        is_current = self.is_current()
        now = self._monotonic()
        pauses = is_current and len(self._keys) >= self._many_files
        self._pause_until = now + (now - began) * PAUSE_SHARE if pauses else 0.0
        return is_current

    def are_as_noted(self, keys: Iterable[Key]) -> bool:
        """True if single files are as they were noted. Any thread may ask. After another answer the next look does not
        wait."""
        for key in keys:
            state = self._states.get(key)
            if state is None or not state.matches(entry_of(self._root, key[0])):
                self._pause_until = 0.0
                return False
        return True

    def changes_among(self, keys: Iterable[Key]) -> Changes | None:
        """Those of single files that changed; None if one of them is new or gone, which only a look at all tells."""
        looked_ns = time.time_ns()
        entries: dict[Key, FileEntry] = {}
        for key in keys:
            state, entry = self._states.get(key), entry_of(self._root, key[0])
            if state is None or not entry.mtime_ns:
                return None
            if not self._is_same(key, state, entry):
                entries[key] = entry
        return Changes(looked_ns, entries, frozenset(), ())

    # What the caller reports

    def select(self, selections: Mapping[str, Selection]) -> None:
        """Follow the files of other selections from now on. Known states stay."""
        self._selections = dict(selections)
        self._has_to_walk = True

    def note(self, states: Mapping[Key, FileState]) -> None:
        """Remember how files were when they were read."""
        self._states.update(states)

    def forget(self, keys: Collection[Key]) -> None:
        """Forget the states of files; present ones count as new."""
        for key in keys:
            self._states.pop(key, None)

    def note_all(self) -> None:
        """Note every file as it is now, for callers who read the files after this."""
        changes = self.changes()
        self.forget(changes.gone)
        for key, entry in changes.entries.items():
            needs_hash = not is_settled(entry.mtime_ns, changes.looked_ns)
            digest = self._digest(entry.path) if needs_hash else _NOT_READ
            self._states[key] = FileState.at_reading(entry, digest, changes.looked_ns)

    def wrote(self, paths: Collection[str]) -> None:
        """Expect the changes that replacing these files made to the times of their folders. The next look compares the
        names in these folders with those of the last walk, because others may have added files there."""
        for folder in {path.rpartition("/")[0] for path in paths} & self._marks.keys():
            self._marks[folder] = time_of(self._root, folder)
            self._young.add(folder)

    # Looking

    def _are_marks_same(self) -> bool:
        return _are_same(self._root, self._marks)

    def _are_young_same(self) -> bool:
        """True if the folders whose times prove nothing have the names of the last walk. One whose time has settled is
        not looked into again. Asked after the times, so that what changes in between is noticed by this look or the
        next."""
        if not self._young:
            return True
        looked_ns = time.time_ns()
        for path in self._young:
            shape = self._shapes.get(path)
            if shape is None or shape != shape_at(self._root, path):
                return False
        self._young = {path for path in self._young if not is_settled(self._marks[path], looked_ns)}
        return True

    def _walk(self) -> dict[Key, FileEntry]:
        """Look into all folders."""
        looked_ns = time.time_ns()
        listings: Listings = {}
        self._trees = {name: scan(self._root, selection, listings) for name, selection in self._selections.items()}
        found = {(entry.path, name): entry for name, tree in self._trees.items() for entry in tree.files}
        self._keys = dict.fromkeys(found)
        self._marks = dict(chain.from_iterable(tree.marks.items() for tree in self._trees.values()))
        self._shapes = {display(folder): shape_of(entries) for folder, (_, entries) in listings.items()}
        self._young = {path for path, mark in self._marks.items() if not is_settled(mark, looked_ns)}
        self._has_to_walk = False
        return found

    def _is_same(self, key: Key, state: FileState, entry: FileEntry) -> bool:
        """True if a file is unchanged, by its content if its time proves nothing."""
        if state.matches(entry):
            return True
        if state.size != entry.size or (state.mtime_ns and state.mtime_ns != entry.mtime_ns):
            return False
        read_ns = time.time_ns()
        if self._digest(entry.path) != state.content_hash:
            return False
        self._states[key] = FileState.at_reading(entry, state.content_hash, read_ns)
        return True

    def _digest(self, path: str) -> str:
        try:
            return content_hash(read_bytes(self._root, path, limit=self._max_file_bytes))
        except ClewError:
            return ""


def _are_same(root: Path, marks: Mapping[str, int]) -> bool:
    """True if folders still have the times that were seen."""
    base = f"{root}/"
    # Written out, because it is done for every folder before a tool answers.
    for path, mark in marks.items():  # noqa: SIM110
        if time_at(base + path if "\\" not in path else base + raw(path)) != mark:
            return False
    return True


class KeptNames(Generic[T]):
    """A value made from the names in folders, cached until a name comes or goes."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept: tuple[T, Mapping[str, int]] | None = None

    def get_or_make(self, make: Callable[[], tuple[T, Mapping[str, int]]]) -> T:
        """The kept value, or the one that `make` returns, with the times of the folders and of the ignore files that it
        looked into."""
        kept = self._kept
        if kept is not None and _are_same(self._root, kept[1]):
            return kept[0]
        looked_ns = time.time_ns()
        value, marks = make()
        self._kept = (value, marks) if is_settled(max(marks.values(), default=0), looked_ns) else None
        return value


class FileContents:
    """The contents of single files, wherever they lie; each is read again only when it changed."""

    def __init__(self, max_file_bytes: int) -> None:
        self._max_file_bytes = max_file_bytes
        self._kept: dict[Path, tuple[tuple[int, ...] | None, bytes]] = {}
        """With what the system says of the file; None where that proves nothing."""

    def read(self, place: Path) -> bytes:
        """The content of a file: the same object as before if it did not change. FormatError for a file over the limit,
        OSError for one that cannot be read."""
        kept_mark, kept = self._kept.get(place, (None, b""))
        # A question about the file costs a fifth of opening it, or of failing to.
        if kept_mark == _mark(os.stat(place)):  # noqa: PTH116
            return kept
        with opened(place) as file:
            read_ns = time.time_ns()
            status = os.fstat(file)
            try:
                data = read_from(file, place, self._max_file_bytes)
            except TooLarge as error:
                raise FormatError(
                    f"{place.name} {error.said}; files over {self._max_file_bytes:,} are not read.",
                    hint="Split the file.",
                ) from error
        data = kept if kept == data else data
        self._kept[place] = (_mark(status) if is_settled(status.st_mtime_ns, read_ns) else None, data)
        return data


def _mark(status: os.stat_result) -> tuple[int, ...]:
    """The fields of a status that stay the same while a file has the same content and the same readers."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode, status.st_uid)
