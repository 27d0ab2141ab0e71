"""Bringing files and memories in step: everything that changed on one side since they last were."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from clew.edit.edits import FileEdit
from clew.edit.transaction import FileTransaction
from clew.errors import BadInput, ClewError, FileChanged
from clew.memory.mirror.decide import Action, FileSide, InStep, MemorySide, decide
from clew.memory.mirror.markdown import ENDING, FileFields, file_name, parsed, rendered
from clew.memory.mirror.reading import edited, forgotten, remembered
from clew.memory.mirror.state import MirrorConflict, MirrorState
from clew.memory.model import MEMORIES, Memory, MemoryKind
from clew.memory.places import Places
from clew.memory.scope import MemoryFilters
from clew.memory.storage.changes import PURGE, ChangeJournal
from clew.memory.storage.library import MemoryReader
from clew.text.hashing import content_hash
from clew.workspace.files import read_bytes
from clew.workspace.find import Selection, scan
from clew.workspace.git import api as git
from clew.workspace.regular import contents

if TYPE_CHECKING:
    from clew.context import Context

_FORGOTTEN = MemoryFilters(forgotten=True)
FEW_FILES = 3
"""As many deleted files at once are taken for a wish; where all of more are gone, something else happened."""


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a synchronisation."""

    folder: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    """Memories that came from files; `clew memory accept` lets them be injected."""
    edited: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    conflicts: tuple[MirrorConflict, ...] = ()
    notes: tuple[str, ...] = ()


class Syncing:
    """One look at both sides."""

    def __init__(
        self, context: "Context", library: MemoryReader, changes: ChangeJournal, folder: str, state: MirrorState
    ) -> None:
        self._context = context
        self._library = library
        self._changes = changes
        self._folder = folder
        self._state = state
        self._places = Places(context, library.home.inside)
        self._before = state.in_step()
        self._files: dict[str, tuple[FileSide, FileFields | None]] = {}
        """By the id that the file gives, or by its path where it gives none."""
        self._edits: list[tuple[Memory, FileEdit]] = []
        self._removed: list[FileEdit] = []
        self._done: dict[str, list[str]] = {}
        self._seq = 0
        self._is_behind = False
        """True if files could not be written."""
        self.notes: list[str] = []

    def run(self, *, deletions: bool = False) -> Synced:
        """Bring both sides in step. With `deletions`, missing files count as deleted."""
        if self._before and not (self._context.root / self._folder).is_dir() and not deletions:
            self.notes.append(
                f"The folder {self._folder} is missing, so nothing was done. `clew memory mirror on` writes it again,"
                " `clew memory mirror off` ends the mirror."
            )
            return Synced(folder=self._folder, notes=tuple(self.notes))
        self._read_files()
        missing = [id for id in self._before if id not in self._files]
        keeps = self._keeps_missing(missing) and not deletions
        for id in dict.fromkeys((*self._files, *self._before, *self._written())):
            self._step(id, keeps=keeps)
        self._write_files()
        self._note_now()
        kinds = {name: tuple(self._done.get(name, ())) for name in ("remembered", "edited", "forgotten")}
        return Synced(
            folder=self._folder,
            written=tuple(edit.path for _, edit in self._edits),
            removed=tuple(edit.path for edit in self._removed),
            conflicts=tuple(self._state.conflicts()),
            notes=tuple(self.notes),
            **kinds,
        )

    # The two sides

    def _read_files(self) -> None:
        tree = scan(self._context.root, Selection((self._folder,), (f"*{ENDING}",)))
        for entry in tree.files:
            try:
                data = read_bytes(self._context.root, entry.path, limit=self._context.config.max_file_bytes)
            except ClewError as error:
                self.notes.append(f"{entry.path} cannot be read: {error.message}")
                continue
            side = FileSide(entry.path, content_hash(data))
            try:
                said: FileFields | None = parsed(data.decode("utf-8", "replace"))
            except BadInput as error:
                self.notes.append(f"{entry.path} is not a memory: {error.message}")
                known = [id for id, now in self._before.items() if now.path == entry.path]
                self._files[known[0] if known else entry.path] = (
                    msgspec.structs.replace(side, is_refused=True),
                    None,
                )
                continue
            id = said.id if said is not None and said.id is not None else entry.path
            if id in self._files:
                self.notes.append(f"{entry.path} has the same id as {self._files[id][0].path}; it is left out.")
                continue
            self._files[id] = (side, said)

    def _written(self) -> Iterable[str]:
        """The memories that were written since the last look."""
        seq = int(self._state.get("seq") or 0)
        self._seq, written = self._library.index.written_since(seq)
        return [id for id, _ in written]

    def _memory(self, id: str) -> tuple[MemorySide | None, Memory | None]:
        found = self._library.get_all((id,)).get(id)
        if found is not None:
            is_shown = found.kind is not MemoryKind.EPISODE
            return (MemorySide(_hash(found)), found) if is_shown else (None, None)
        is_forgotten = id in self._library.index.visible((id,), self._library.viewer, _FORGOTTEN)
        return (MemorySide("") if is_forgotten else None), None

    def _keeps_missing(self, missing: list[str]) -> bool:
        """True if missing files were not deleted on purpose: the whole folder is gone, or another branch that never had
        them was checked out."""
        if missing and len(missing) == len(self._before) and len(missing) > FEW_FILES:
            self.notes.append(
                f"All {len(missing)} files of {self._folder} are missing, so they are written again and nothing is"
                " forgotten. `clew memory mirror sync --deletions` forgets the memories."
            )
            return True
        last, now = self._state.get("head"), git.head(self._context.root) or ""
        if not missing or not last or last == now:
            return False
        return git.commit_of(self._context.root, last) is None or git.fork_of(self._context.root, last) != last

    # What is done

    def _step(self, id: str, *, keeps: bool) -> None:
        file, said = self._files.get(id, (None, None))
        side, memory = self._memory(id) if "/" not in id and not id.endswith(ENDING) else (None, None)
        before = self._before.get(id)
        if file is None and before is not None and keeps:
            before = None
        if file is not None:
            file = self._looked_up(id, file, side, before)
        action = decide(before, file, side)
        act: dict[Action, Callable[[], None]] = {
            Action.SETTLE: lambda: self._settle(id, file, memory),
            Action.WRITE: lambda: self._write(id, memory, file),
            Action.EDIT: lambda: self._edit(memory, said, file),
            Action.REMEMBER: lambda: self._remember(said, file),
            Action.FORGET: lambda: self._forget(id),
            Action.REMOVE: lambda: self._remove(id, file),
            Action.DROP: lambda: self._state.drop(id),
            Action.CONFLICT: lambda: self._disagree(id, file, side, before),
        }
        if action in act:
            act[action]()
        elif action is Action.NOTHING:
            self._state.agree(id)

    def _looked_up(self, id: str, file: FileSide, side: MemorySide | None, before: InStep | None) -> FileSide:
        """The file, with its memory's history."""
        if before is not None or file.is_refused:
            return file
        if side is None and self._is_purged(id):
            self.notes.append(f"{file.path} is of a memory that was purged; delete the file.")
            return msgspec.structs.replace(file, is_refused=True)
        events = self._library.home.store.events(collection=MEMORIES, id=id) if side is not None else []
        earlier = (_hash(msgspec.convert(event.after, Memory)) for event in events if event.after is not None)
        return msgspec.structs.replace(file, is_earlier=file.hash in earlier)

    def _is_purged(self, id: str) -> bool:
        return any(hash.startswith(f"{PURGE}-") for _, hash in self._library.index.touched(id))

    def _settle(self, id: str, file: FileSide | None, memory: Memory | None) -> None:
        if file is not None and memory is not None:
            self._state.settle(id, InStep(file.path, file.hash, _hash(memory)))

    def _write(self, id: str, memory: Memory | None, file: FileSide | None) -> None:
        if memory is None:
            return
        known = self._before.get(id)
        path = file.path if file is not None else known.path if known is not None else None
        path = path or f"{self._folder}/{file_name(memory)}"
        place = self._context.root / path
        before = contents(place) if place.is_file() else None
        if file is not None and before is not None and content_hash(before) != file.hash:
            return
        self._edits.append((memory, FileEdit(path, before, rendered(memory).encode("utf-8", "replace"))))

    def _edit(self, memory: Memory | None, said: FileFields | None, file: FileSide | None) -> None:
        if memory is not None and said is not None and file is not None:
            new = edited(memory, said, self._changes, self._places)
            self._state.settle(new.id, InStep(file.path, file.hash, _hash(new)))
            self._done.setdefault("edited", []).append(new.id)

    def _remember(self, said: FileFields | None, file: FileSide | None) -> None:
        if said is None or file is None:
            return
        new = remembered(said, self._library, self._changes, self._places)
        self._state.settle(new.id, InStep(file.path, file.hash, _hash(new)))
        self._done.setdefault("remembered", []).append(new.id)
        if said.id is None:
            # The file gets the id by which it is known from now on.
            self._write(new.id, new, file)

    def _forget(self, id: str) -> None:
        forgotten(id, self._library, self._changes)
        self._state.drop(id)
        self._done.setdefault("forgotten", []).append(id)

    def _remove(self, id: str, file: FileSide | None) -> None:
        if file is not None:
            data = contents(self._context.root / file.path)
            if content_hash(data) == file.hash:
                self._removed.append(FileEdit(file.path, data, None))
                self._state.drop(id)

    def _disagree(self, id: str, file: FileSide | None, side: MemorySide | None, before: InStep | None) -> None:
        path = file.path if file is not None else before.path if before is not None else ""
        is_forgotten = side is None or side.is_forgotten
        if before is None:
            state = "is there, and the memory was forgotten" if is_forgotten else "and the memory say different things"
        else:
            other = "was forgotten" if is_forgotten else "was changed as well"
            state = f"{'was deleted' if file is None else 'was changed'}, and the memory {other}"
        self._state.disagree(MirrorConflict(id, path, f"The file {state}."))

    def _write_files(self) -> None:
        steps = [*(edit for _, edit in self._edits), *self._removed]
        if not steps:
            return
        try:
            # No copies and no entry in the store: what is purged from the memory must not stay there.
            FileTransaction(self._context.root, steps, backups=False).commit(self._context.store)
        except FileChanged as error:
            self.notes.append(f"{error.message} The mirror is synchronised at the next check.")
            self._edits, self._removed = [], []
            self._is_behind = True
            return
        for memory, edit in self._edits:
            hash = _hash(memory)
            self._state.settle(memory.id, InStep(edit.path, hash, hash))

    def _note_now(self) -> None:
        if self._is_behind:
            return
        # What came from files was written after the look, and is in step already.
        self._state.set("seq", str(self._library.index.written_since(self._seq)[0]))
        self._state.set("head", git.head(self._context.root) or "")


def _hash(memory: Memory) -> str:
    return content_hash(rendered(memory).encode("utf-8", "replace"))
