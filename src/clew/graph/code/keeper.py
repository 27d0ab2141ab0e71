"""Keeps the outlines of source files in step with the files: a few changes at once, many in the background."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from clew.derived.code_file import FILE, CodeFile, SourceFile
from clew.errors import ClewError, StoreError
from clew.formats.code.facts.model import Reading
from clew.formats.code.languages import source_patterns
from clew.formats.code.outline import CRATE_FILE, MODULE_FILE, SETTINGS, decoded, reading_of, unread
from clew.formats.code.script_config import PATTERNS
from clew.graph.code.aliases import Aliases
from clew.graph.code.overlay import AT_ONCE, IndexOverlay
from clew.text.display import counted
from clew.text.hashing import content_hash
from clew.workspace.files import FileEntry, read_bytes
from clew.workspace.find import Selection
from clew.workspace.follow import Changes, FileState, Follower, Key
from clew.workspace.git import api as git
from clew.workspace.keeping import Keeper
from clew.workspace.survey import SKIPPED_FOLDERS

DEADLINE_SECONDS = 2.0
"""The time that an answer waits for the first reading."""
LARGEST_FILE = 1_000_000
"""Larger source files are made by programs, as a rule."""
LARGEST_SCAN = 8_000_000
"""Words are looked for in files up to so many bytes."""
LARGEST_INDEX = 1_000_000_000
"""Bytes of the records of all files, about those of a hundred thousand files; the files beyond are left out."""
_OFTEN_MADE = frozenset({"build", "coverage", "env", "out", "target"})
"""Folders that tools make, as a rule; what git keeps in one of them was written by somebody."""
_READER = "source"
_LEFT_OUT = "left out"
"""In place of the hash of a file that the index has no room for."""
_AT_ONCE = 200
_MANY_FILES = 2_000
"""A look at fewer files takes a small part of the time of an answer."""
_RECENT_SECONDS = 1.0
"""How old the last look at many files may be when an answer goes ahead of the next one."""
_MOST_CONCERNED = 400
"""Files of an answer that are looked at by themselves."""


class CodeKeeper(Keeper):
    name = "clew-code"
    failure = "Source files could not be read"
    expected = (ClewError, OSError)

    def __init__(
        self,
        root: Path,
        folder: Callable[[], Path],
        max_file_bytes: int,
        largest_index: int = LARGEST_INDEX,
        indexes: tuple[str, ...] = (),
    ) -> None:
        super().__init__()
        self._root = root
        self._folder = folder
        self._limit = min(max_file_bytes, LARGEST_FILE)
        self._largest_index = largest_index
        self._left_out: set[str] = set()
        """Files that the index has no room for."""
        self._follower = Follower(root, {}, max_file_bytes=self._limit)
        self._opening = threading.Lock()
        self._file: CodeFile | None = None
        self._known: object = None
        """The file that the follower's states are about."""
        self._aliases: tuple[int, Aliases] | None = None
        self._overlay = IndexOverlay(root, indexes, self._limit)
        self._index_notes: tuple[int, tuple[str, ...]] = -1, ()
        self._in_step_at = float("-inf")
        """When the outlines were last in step with all files."""
        self.cannot_keep = False
        """True if the outlines could not be written the last time, so that waiting for them is of no use."""

    @property
    def largest(self) -> int:
        """Bytes of the largest file that is read."""
        return self._limit

    @property
    def file(self) -> CodeFile:
        with self._opening:
            if self._file is None:
                self._file = CodeFile(self._folder())
            return self._file

    @property
    def was_read(self) -> bool:
        """True if outlines are there; none is read for it."""
        return (self._folder() / FILE).is_file() and self.file.count()[1] > 0

    @property
    def aliases(self) -> Aliases:
        """Targets of the names in imports of scripts, by the files as they were read last."""
        writes = self.file.writes()
        if self._aliases is None or self._aliases[0] != writes:
            self._aliases = writes, Aliases(self.file.script_configs(), self._config)
        return self._aliases[1]

    def _config(self, path: str) -> bytes | None:
        try:
            return read_bytes(self._root, path, limit=self._limit)
        except ClewError:
            return None

    def ensure_for(self, concerned: Callable[[], Iterable[str]]) -> tuple[str, ...]:
        """Like `ensure`, for an answer from some files. If there are many others and they were looked at a moment ago,
        only those files are looked at before the answer, and all of them behind it."""
        is_recent = self._monotonic() - self._in_step_at < _RECENT_SECONDS
        if is_recent and len(self._follower.keys) >= _MANY_FILES and self.file.opening is self._known:
            some = [(path, _READER) for path in islice(concerned(), _MOST_CONCERNED)]
            if self._follower.are_as_noted(some) or self._read_alone(some):
                self.begin(self._look)
                return self._limits()
        return self.ensure()

    def _read_alone(self, keys: list[Key]) -> bool:
        """Read those of some files that changed; False if one is gone, or others are being read."""
        if not self.take_turn(seconds=0.0):
            return False
        try:
            changes = self._follower.changes_among(keys)
            if changes is not None:
                self._read(changes)
            return changes is not None
        except StoreError:
            # Looking at all files says what the problem is.
            return False
        finally:
            self.release_turn()

    def _look(self) -> None:
        if self.take_turn(seconds=0.0):
            try:
                self._catch_up()
            finally:
                self.release_turn()

    def _catch_up(self) -> bool:
        """Read what changed; False if that is too much for an answer to wait for. Hold the turn."""
        if self.file.opening is not self._known or not self._follower.is_probably_current():
            changes = self._changes()
            if len(changes.entries) > _AT_ONCE:
                return False
            self._read(changes)
        self._in_step_at = self._monotonic()
        changed = self._overlay.changed(self.file)
        if changed and self._overlay.size(changed) > AT_ONCE:
            return False
        self._overlay.read(self.file, changed)
        return True

    def ensure(self, seconds: float = DEADLINE_SECONDS) -> tuple[str, ...]:
        """Have changed files read, and wait at most so long; returns notes on what the answers may lack."""
        if not self.take_turn(seconds=seconds):
            return (self._unfinished(),)
        try:
            self.cannot_keep = False
            if self._catch_up():
                return self._limits()
        except StoreError as error:
            self.cannot_keep = True
            return (f"The outlines of source files cannot be kept: {error.message}",)
        finally:
            self.release_turn()
        run = self.begin(self._read_all)
        if run is not None and not self.wait(run, self._monotonic() + seconds):
            return (self._unfinished(),)
        return self._limits()

    def close(self, seconds: float | None = None) -> None:
        super().close(seconds)
        if self._file is not None:
            self._file.close()

    def _limits(self) -> tuple[str, ...]:
        """Notes on what the index has no room for, and on indexes of other programs that are not as the files are."""
        writes = self.file.writes()
        if self._index_notes[0] != writes:
            self._index_notes = writes, tuple(self._overlay.notes(self.file))
        if not self._left_out:
            return self._index_notes[1]
        size = f"{self._largest_index / 1e6:,.0f} MB"
        return (
            f"The index of source files has reached its limit of {size}: {counted(len(self._left_out), 'file')} "
            "could not be read into it, and nothing in them is found. Leave folders out with .gitignore.",
            *self._index_notes[1],
        )

    def _unfinished(self) -> str:
        _, files = self.file.count()
        return f"Source files are still being read ({files:,} so far); ask again in a moment."

    def _read_all(self) -> None:
        self.take_turn()
        try:
            self._read(self._changes())
            self._overlay.read(self.file, self._overlay.changed(self.file), self._stop_if_closing)
        finally:
            self.release_turn()

    def _stop_if_closing(self) -> None:
        if self.is_closing:
            raise InterruptedError

    def _changes(self) -> Changes:
        opening = self.file.opening
        if opening is not self._known:
            self._follower.select({_READER: _selection(self._root)})
            self._follower.forget(list(self._follower.states))
            self._follower.note(
                {
                    (each.path, _READER): FileState(each.size, each.mtime_ns, each.content_hash)
                    for each in self.file.files()
                }
            )
            self._known = opening
        return self._follower.changes()

    def _read(self, changes: Changes) -> None:
        keys, gone = list(changes.entries), [path for path, _ in changes.gone]
        self._left_out.difference_update(gone)
        for start in range(0, len(keys), _AT_ONCE):
            if self.is_closing:
                return
            if self.file.size > self._largest_index:
                rest, keys[start:] = keys[start:], []
                keys += [key for key in rest if key not in changes.new and key[0] not in self._left_out]
                self._leave_out([key for key in rest if key in changes.new or key[0] in self._left_out], changes)
            read = list(self._outlines(keys[start : start + _AT_ONCE], changes))
            self._left_out.difference_update(file.path for file, _ in read)
            self.file.put(read, gone if start == 0 else ())
            self._follower.note(
                {(file.path, _READER): FileState(file.size, file.mtime_ns, file.content_hash) for file, _ in read}
            )
            # Other calls must not wait for all of it.
            time.sleep(0)
        if not keys and gone:
            self.file.put((), gone)
        self._follower.forget(changes.gone)

    def _leave_out(self, keys: list[Key], changes: Changes) -> None:
        """Follow new files that there is no room for, so that they are not looked at again before they change."""
        self._left_out.update(path for path, _ in keys)
        self._follower.note(
            {key: FileState.at_reading(changes.entries[key], _LEFT_OUT, changes.looked_ns) for key in keys}
        )

    def _outlines(self, keys: list[Key], changes: Changes) -> Iterator[tuple[SourceFile, Reading]]:
        for key in keys:
            entry = changes.entries[key]
            try:
                data = read_bytes(self._root, entry.path, limit=self._limit)
                digest, reading = content_hash(data), reading_of(decoded(data), entry.path)
            except (ClewError, RecursionError):
                digest, reading = "", self._words_of(entry)
            yield _state(entry, digest, changes.looked_ns), reading

    def _words_of(self, entry: FileEntry) -> Reading:
        """The record of a file that is too large to be read for its uses, or that cannot be opened."""
        is_large = entry.size > self._limit
        flaw = f"it is larger than {self._limit / 1e6:g} MB" if is_large else "it cannot be opened"
        try:
            return unread(flaw, decoded(read_bytes(self._root, entry.path, limit=LARGEST_SCAN)))
        except ClewError:
            return unread(flaw)


def _selection(root: Path) -> Selection:
    """Every source file, without folders of build products and of other projects."""
    own = git.folders_with_files(root, _OFTEN_MADE)
    return Selection(
        folders=(".",),
        patterns=(*source_patterns(), *PATTERNS, MODULE_FILE, CRATE_FILE, *SETTINGS),
        skip=tuple(sorted(SKIPPED_FOLDERS - own)),
        gitignore=True,
        tracked=git.tracked_though_ignored(root),
    )


def _state(entry: FileEntry, digest: str, looked_ns: int) -> SourceFile:
    state = FileState.at_reading(entry, digest, looked_ns)
    return SourceFile(entry.path, state.size, state.mtime_ns, digest)
