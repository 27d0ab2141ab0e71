"""Location of a project's memory: the folder that all work trees of its repository share.

Without git that is the project's own `.clew`. The store under it is authored data; the index beside it is made from the
store's events and may be thrown away.
"""

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clew.context import STORE_PATIENCE_SECONDS, Context
from clew.derived.file import throw_away
from clew.derived.place import DerivedPlace
from clew.edit import below
from clew.edit.admission import admit, make
from clew.edit.state_folder import SHARED_FOLDER
from clew.errors import Conflict, NotFound, Refused, StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreUnreachable
from clew.memory.model import BYTES_LEFT, PENDING, PURGES
from clew.memory.storage.index import MemoryIndex
from clew.store.interface import Damaged, Record, Store
from clew.store.person import person
from clew.store.sqlite.engine import open_own
from clew.store.sqlite.light_connection import log_of, size_of
from clew.store.watched import renewed
from clew.text.hashing import content_hash
from clew.workspace.git import api as git
from clew.workspace.git.find import find_work_tree

log = logging.getLogger(__name__)

_LONGEST_PLACE = 1024
STORE_FILE = "memory.db"
INDEX_FILE = "memory-index.db"
PLACE_FILE = "team-memory"
"""Names the copy of the team's store and the index of it, where the memory is a team's."""
_REPOSITORY = "repository"


def places(context: Context) -> tuple[Path, str]:
    """The folder of a project's memory, and the project's own folder inside the repository."""
    common = git.common_folder(context.root)
    if common is None or git.toplevel(context.root) is None:
        return context.state_folder, ""
    return common / SHARED_FOLDER, context.inside


def is_there(context: Context) -> bool:
    """True if anything was ever remembered in a project; makes nothing. Git is asked only if a store lies at one of the
    places that it may name."""
    with suppress(Refused):
        tree = find_work_tree(context.root)
        folders = [context.state_folder, *([tree.common / SHARED_FOLDER] if tree is not None else ())]
        if not any(_may_exist(folder / STORE_FILE) for folder in folders):
            return False
    with suppress(Refused):
        return _may_exist(places(context)[0] / STORE_FILE)
    # The repository is not this folder's, and what is remembered there is not shown.
    return False


def _may_exist(store: Path) -> bool:
    """True also for a store in a folder that this user may not enter: whoever opens it says so."""
    try:
        return store.exists()
    except PermissionError:
        return True


class Home:
    """The memory's store and index, and the identity of the repository and of the project in it."""

    def __init__(self, context: Context) -> None:
        self.root = context.root
        self._context = context
        self.folder, self.inside = places(context)
        self._ready(context, self.folder)
        self.standing = admit(self.folder)
        self.store, index = self._open(context)
        """Of its own, beside the project's: worktrees share it, while drafts belong to one of them. Or the team's."""
        self.repository = self._repository()
        """A random id that stays when the repository is moved or renamed."""
        self._finish_purge(index)
        self._elsewhere: DerivedPlace | None = None
        self.index = self._open_index(index)
        self._tell_hooks(index)

    @property
    def damage(self) -> Damaged:
        """Takes the errors of damaged records, so that the others are given."""
        return self._context.damage

    def _tell_hooks(self, index: str) -> None:
        """Hooks that run without a server look for the memory themselves, and have no time to read a configuration."""
        place, copy = self.folder / PLACE_FILE, getattr(self.store, "copy", None)
        text = "" if copy is None else f"{copy.name}\n{index}\n"
        with suppress(OSError):
            if not text:
                below.remove(place)
            elif below.status_of(place) is None or below.read(place, _LONGEST_PLACE) != text.encode():
                below.write(place, text.encode())

    def _open_index(self, index: str) -> MemoryIndex:
        try:
            return MemoryIndex(self.folder / index, self.store)
        except (StoreReadOnly, StoreFull):
            # What is remembered can still be read.
            self._elsewhere = DerivedPlace(self.folder, (), name="The index of the memory")
            if self._elsewhere.folder == self.folder:
                raise
            return MemoryIndex(self._elsewhere.folder / index, self.store)

    def _open(self, context: Context) -> tuple[Store, str]:
        """The store, and the name of the file of its index."""
        self._closes = True
        if context.config.store is None:
            return open_own(self.folder / STORE_FILE, busy_timeout=STORE_PATIENCE_SECONDS), INDEX_FILE
        if not self.inside:
            # A project that is a whole repository has one store for everything.
            self._closes = False
            store = context.shared
            if store is None:
                raise context.shared_problem or StoreError("The team's store cannot be used.", hint="")
        else:
            store = context.open_team("")
        self.is_team = True
        return store, f"team-{content_hash(str(context.config.store).encode())[:8]}-{INDEX_FILE}"

    is_team = False

    @property
    def principal(self) -> str | None:
        """The authenticated user: the database's user, and the owner of a token."""
        known = (getattr(self.store, "principal", None), person())
        return "/".join(each for each in known if each) or None

    def _ready(self, context: Context, folder: Path) -> None:
        """Make the folder, so that git and other users do not see what is in it."""
        if folder == context.state_folder:
            if context.store is None:
                raise context.store_problem or StoreError("The project has no store.", hint="Make .clew writable.")
            return
        try:
            make(folder, 0o700)
        except OSError as error:
            raise StoreReadOnly(
                f"The memory cannot be kept in {folder}: {error.strerror}.", hint="Make the folder writable."
            ) from error

    def _repository(self) -> str:
        new = uuid.uuid4().hex.encode()
        try:
            return self.store.setting(_REPOSITORY, new).decode()
        except StoreReadOnly:
            # It never got one, and nothing may be written to it.
            return new.decode()

    @property
    def doubt(self) -> str | None:
        """The reason why agents get no memory unasked; None if the memory is the user's own."""
        return None if self.is_team or self.standing.believes(STORE_FILE) else self.standing.note

    def _finish_purge(self, index: str) -> None:
        """Finish a purge that was killed, or one by another writer of the team: bytes of purged text may be left."""
        pending, left = self.store.get(PURGES, PENDING), self.store.get(PURGES, BYTES_LEFT)
        if pending is not None and self._is_under_way(pending):
            # The purge still runs: it blanks what is there, and finishes or leaves the rest to a later start.
            pending = None
        if pending is None and left is None:
            return
        if pending is not None:
            throw_away(self.folder / index)
        try:
            # Nobody asked for it here: in a team's store, whoever keeps the bytes is not waited for.
            problem = self.compact(waits=not self.is_team)
            if isinstance(problem, StoreBusy | StoreFull):
                log.warning("A purge is not finished yet: %s", problem)
            if pending is not None:
                self.end_purge("clew", is_compact=problem is None)
        except (StoreReadOnly, StoreBusy, StoreUnreachable):
            # It is left to somebody who may write to the team's store.
            if not self.is_team:
                raise

    def _is_under_way(self, pending: Record) -> bool:
        """True if the process that purges may be alive."""
        try:
            return any(each.id == pending.data.get("job") for each in self.store.jobs(state="running"))
        except StoreUnreachable:
            return True

    @contextmanager
    def purging(self, actor: str, at: str) -> Iterator[None]:
        """Note that a purge is under way: if this process dies, the next start finishes it."""
        job = self.store.start_job("purge")
        state = "failed"
        try:
            with renewed(self.store, job.id):
                self.store.put(PURGES, PENDING, {"at": at, "job": job.id}, actor=actor, reason="purge")
                yield
            state = "done"
        finally:
            with suppress(StoreError):
                self.store.finish_job(job.id, state=state)

    def compact(self, *, waits: bool = True) -> StoreError | None:
        """Leave no byte of what was purged in the store's files. The problem, where only an owner of the team's store
        can, or nobody can at the moment, because somebody's transaction still sees it or the database's disk has no
        room for the tables again."""
        left = self.store.get(PURGES, BYTES_LEFT)
        try:
            self.store.compact(waits=waits)
        except (StoreReadOnly, StoreBusy, StoreFull) as error:
            if not self.is_team:
                raise
            return error
        if left is not None:
            # Another process may have been quicker, or may have left more since.
            reason = "a purge is finished"
            with suppress(NotFound, Conflict), self.store.transaction(actor="clew", reason=reason) as transaction:
                transaction.delete(PURGES, BYTES_LEFT, if_version=left.version)
        return None

    def end_purge(self, actor: str, *, is_compact: bool) -> None:
        """Tell other servers to remove purged memories from their indexes, and ask an owner to remove the rest."""
        with self.store.transaction(actor=actor, reason="a purge is finished") as transaction:
            if transaction.get(PURGES, PENDING) is None:
                # Another server heard nothing from this one for long, took it for killed, and ended the purge too
                # early.
                transaction.put(PURGES, PENDING, {})
            transaction.delete(PURGES, PENDING)
            if not is_compact:
                transaction.put(PURGES, BYTES_LEFT, {})

    @property
    def name(self) -> str:
        """The project in the repository, as a key."""
        return self.inside or "."

    @property
    def path(self) -> Path:
        return self.folder / STORE_FILE

    def size(self) -> int:
        """The size of the store in bytes."""
        if self.is_team:
            return int(self.store.describe(counts=False)["bytes"])
        return size_of(self.path) + size_of(log_of(self.path))

    def happened(self, before: int | None, limit: int, *, after: int = 0) -> list[tuple[int, Record]]:
        """Changes and exchanges between two events, the latest first, each with the number of its event."""
        rows = self.index.happened(before, limit, after)
        records: dict[tuple[str, str], Record] = {}
        for collection in {each for _, each, _ in rows}:
            ids = [id for _, each, id in rows if each == collection]
            found = self.store.get_many(collection, ids, damaged=self.damage)
            records |= {(collection, id): record for id, record in found.items()}
        return [(seq, records[name]) for seq, *where in rows if (name := (where[0], where[1])) in records]

    def branch(self) -> str | None:
        return git.branch(self.root)

    def close(self) -> None:
        self.index.close()
        if self._closes:
            self.store.close()
        if self._elsewhere is not None:
            self._elsewhere.close()
