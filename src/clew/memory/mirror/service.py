"""The mirror of a project: switched on and off by the user, and brought in step before the memory is read and after it
was written."""

import logging
import threading
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from clew.edit.edits import FileEdit, place_of
from clew.edit.replacing import make_folder
from clew.edit.transaction import FileTransaction
from clew.errors import ClewError, InvalidArgument, NotFound
from clew.memory.mirror.decide import InStep
from clew.memory.mirror.markdown import parsed, rendered
from clew.memory.mirror.state import FILE as STATE_FILE
from clew.memory.mirror.state import MirrorConflict, MirrorFile
from clew.memory.mirror.sync import Synced, Syncing
from clew.memory.model import MIRRORS
from clew.memory.scope import Viewer
from clew.memory.storage.changes import ChangeJournal
from clew.memory.storage.library import MemoryReader
from clew.once import close_parts, lazy
from clew.text.hashing import content_hash
from clew.workspace.files import FileEntry, path_inside, read_bytes
from clew.workspace.find import ALWAYS_SKIPPED, Selection, scan
from clew.workspace.follow import Follower
from clew.workspace.regular import contents

if TYPE_CHECKING:
    from clew.memory.service import MemoryService

log = logging.getLogger(__name__)

USUAL_FOLDER = "memory"
_LARGEST = 1_000_000


class Mirror:
    def __init__(self, service: "MemoryService") -> None:
        self._service = service
        self._follower: tuple[str, Follower] | None = None
        self._seen = -1
        """Up to which event of the memory the files were brought in step."""
        self._lock = threading.Lock()
        self.problem: str | None = None
        """Reason why the last synchronisation failed."""

    @property
    def folder(self) -> str | None:
        """The folder of the mirror below the project; None where there is none."""
        record = self._service.home.store.get(MIRRORS, self._service.home.name)
        return record.data["folder"] if record is not None else None

    def switch_on(self, folder: str, actor: str) -> Synced:
        root = self._service.context.root
        inside = path_inside(root, folder.rstrip("/") or USUAL_FOLDER)
        place_of(root, inside)
        if inside in ("", ".") or not ALWAYS_SKIPPED.isdisjoint(inside.split("/")):
            raise InvalidArgument(
                f"'{folder}' cannot hold a mirror.", hint=f"Name a folder of the project, such as {USUAL_FOLDER}/."
            )
        if inside != self.folder:
            _refuse_documents(root, inside)
        home = self._service.home
        home.store.put(MIRRORS, home.name, {"folder": inside}, actor=actor, reason="mirror on")
        make_folder(root / inside)
        return self.sync()

    def switch_off(self, actor: str) -> str:
        """Stop keeping files in step; they stay. The folder."""
        folder = self._demanded()
        with self._service.home.store.transaction(actor=actor, reason="mirror off") as transaction:
            transaction.delete(MIRRORS, self._service.home.name)
        return folder

    def follow(self) -> None:
        """Bring both sides in step where something changed. Nothing that is wrong with files stops the memory."""
        folder = self.folder
        if folder is None or not self._lock.acquire(blocking=False):
            # Also where this very thread is at it: what it writes asks for this again.
            return
        try:
            if not self._is_current(folder):
                self._sync(folder, deletions=False)
            self.problem = None
        except (ClewError, OSError) as error:
            self.problem = str(error)
            log.warning("The mirror could not be brought in step: %s", error)
        finally:
            self._lock.release()

    @lazy
    def _state(self) -> MirrorFile:
        return MirrorFile(self._service.context.state_folder)

    def sync(self, *, deletions: bool = False) -> Synced:
        folder = self._demanded()
        with self._lock:
            return self._sync(folder, deletions=deletions)

    def conflicts(self) -> list[MirrorConflict]:
        return self._state.conflicts() if self.folder is not None else []

    def resolve(self, id: str, keep: Literal["file", "memory"]) -> Synced:
        """Settle a conflict: the side to keep counts as the one that changed."""
        with self._lock, self._state.alone() as state:
            conflict = next((each for each in state.conflicts() if each.node_id == id), None)
            if conflict is None:
                raise NotFound(f"There is no conflict about {id}.", hint="`clew memory mirror` lists them.")
            place = self._service.context.root / conflict.path
            file = content_hash(contents(place)) if place.is_file() else None
            self._prefer(id, keep, is_deleted=file is None)
            if keep == "file":
                state.settle(id, InStep(conflict.path, "", self._hash_of(id)))
            elif file is None:
                state.drop(id)
                # Nothing else says that there is something to write.
                state.set("seq", "0")
            else:
                state.settle(id, InStep(conflict.path, file, ""))
        return self.sync()

    def close(self) -> None:
        close_parts(self)

    def _demanded(self) -> str:
        folder = self.folder
        if folder is None:
            raise NotFound("There is no mirror of this project.", hint="`clew memory mirror on FOLDER` makes one.")
        return folder

    def _is_current(self, folder: str) -> bool:
        home, context = self._service.home, self._service.context
        if self._follower is None or self._follower[0] != folder:
            selection = {MIRRORS: Selection((folder,), ("*.md",))}
            self._follower = folder, Follower(context.root, selection, max_file_bytes=context.config.max_file_bytes)
        return home.index.written_since(self._seen)[0] == self._seen and self._follower[1].is_probably_current()

    def _sync(self, folder: str, *, deletions: bool) -> Synced:
        service = self._service
        library = MemoryReader(service.home, Viewer(folder=service.home.inside))
        changes = ChangeJournal(service.home.store, service.context.clock)
        with self._state.alone() as state:
            done = Syncing(service.context, library, changes, folder, state).run(deletions=deletions)
        if self._follower is not None and self._follower[0] == folder:
            self._follower[1].note_all()
        self._seen = service.home.index.written_since(2**62)[0]
        if done.remembered or done.edited or done.forgotten:
            service.units.follow()
        return done

    def _prefer(self, id: str, keep: str, *, is_deleted: bool) -> None:
        """Take one side of a conflict. If the file of a forgotten memory is chosen, the memory comes back first."""
        index = self._service.home.index
        viewer = Viewer(folder=self._service.home.inside)
        if keep == "file" and not is_deleted and id not in index.visible((id,), viewer):
            hash = index.touched(id)[-1][1]
            ChangeJournal(self._service.home.store, self._service.context.clock).undo(hash, MIRRORS)

    def _hash_of(self, id: str) -> str:
        library = MemoryReader(self._service.home, Viewer(folder=self._service.home.inside))
        memory = library.get_all((id,)).get(id)
        return "" if memory is None else content_hash(rendered(memory).encode("utf-8", "replace"))


def _refuse_documents(root: Path, folder: str) -> None:
    """A folder of other documents must not become memories by mistake."""
    others = [entry.path for entry in scan(root, Selection((folder,), ("*.md",))).files if not _is_memory(root, entry)]
    if others:
        raise InvalidArgument(
            f"'{folder}' holds {len(others)} Markdown files that are no memories, such as {others[0]}.",
            hint="Name a folder of its own. Files that are added to it later become memories.",
        )


def _is_memory(root: Path, entry: FileEntry) -> bool:
    try:
        return parsed(read_bytes(root, entry.path, limit=_LARGEST).decode("utf-8", "replace")).id is not None
    except ClewError:
        return False


def remove_files(state_folder: Path, ids: Collection[str]) -> list[str]:
    """Delete the files of memories from the mirror of the project that has this state folder, for good."""
    if not (state_folder / STATE_FILE).exists():
        return []
    root, mirror = state_folder.parent, MirrorFile(state_folder)
    try:
        with mirror.alone() as state:
            known = {id: now.path for id, now in state.in_step().items() if id in ids}
            known |= {each.node_id: each.path for each in state.conflicts() if each.node_id in ids}
            places = {path: place_of(root, path) for path in known.values()}
            edits = [FileEdit(path, contents(place), None) for path, place in places.items() if place.is_file()]
            FileTransaction(root, edits, backups=False).commit()
            for id in known:
                state.drop(id)
        # The names of the files say what was in them.
        mirror.compact()
    finally:
        mirror.close()
    return [str(root / edit.path) for edit in edits]


class MirrorStatus(msgspec.Struct, frozen=True, kw_only=True):
    folder: str | None
    """Null where the mirror is off."""
    conflicts: tuple[MirrorConflict, ...] = ()
    unaccepted: int = 0
    """Memories that came from files and are not injected before somebody accepts them."""
    problem: str | None = None
    stopped: str | None = None
    """The folder that is no longer kept in step; its files stay."""
