"""One transaction over files: all of them change, or none does, whatever kills the process.

The new contents are written to temporary files, and a journal notes when they are complete. From then on the
transaction happens: the files are renamed into place, and where the process is killed in the middle, `recover` does the
rest. A file that others changed is never replaced: then everything is taken back. With a store, the transaction
is recorded as one event that holds its inverse; without one, a copy of each file that is replaced is kept.
"""

import logging
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from clew.edit import execution
from clew.edit.backups import backup_edits, forget_old_backups
from clew.edit.edits import FileEdit, FolderMove, Inverse, diff_of, inverse_of, place_of
from clew.edit.journal import EventToRecord, FileStep, Journal, MoveStep, Step, TransactionState, journal_folder
from clew.edit.recovery import RecordAccess, RecordStore, record, recover, take_back
from clew.edit.replacing import make_folder, temporary_beside, write_beside
from clew.edit.targets import read_if_there
from clew.errors import ConfigError, FileChanged
from clew.text.hashing import content_hash
from clew.workspace.paths import display

log = logging.getLogger(__name__)


class EditPurpose(msgspec.Struct, frozen=True):
    """The reason for writing files, for the record."""

    operation: str
    actor: str = "clew"
    facts: Mapping[str, Any] = {}
    """More about it, such as the requirement that it concerns."""
    with_diff: bool = True


class FileTransaction:
    def __init__(
        self,
        root: Path,
        steps: Iterable[FileEdit | FolderMove],
        purpose: EditPurpose | None = None,
        *,
        in_project: bool = True,
        backups: bool = True,
    ) -> None:
        """No step may leave the root, also not through a link. If the root is not a project, journal and copies lie in
        the folder itself. `backups` keeps copies of replaced files where there is no store."""
        self.id = uuid4().hex
        self._root = root
        self._steps = [each for each in steps if isinstance(each, FolderMove) or each.before != each.after]
        self._purpose = purpose
        self._in_project = in_project
        self._backups = backups
        self._copies: list[FileEdit] = []
        """Of files that are replaced; made by the same transaction, before anything else."""
        self._journal: Journal | None = None

    def commit(self, store: RecordStore | None = None) -> None:
        """Carry out all steps and record them, or raise with every file as it was. FileChanged where a file is not
        what its edit was made from."""
        # Also where nothing is to be written: a retry after a crash must leave no trace of the crash.
        recover(self._root, store)
        if not self._steps:
            return
        if store is None or self._purpose is None:
            if self._backups:
                self._copies = self._planned_copies()
            self.prepare()
            self.carry_out()
        else:
            self._commit_recorded(store, self._purpose)
        self.finish()
        forget_old_backups(self._root, self._copies)

    def _commit_recorded(self, store: RecordStore, purpose: EditPurpose) -> None:
        try:
            # The store's lock keeps other processes of Clew from writing at the same time.
            with store.transaction(actor=purpose.actor, reason=purpose.operation) as records:
                self.prepare()
                self.carry_out()
                self.record(records)
        except BaseException:
            self.take_back()
            raise

    # The steps of a commit, for callers whose own records belong into the same transaction of the store

    def prepare(self) -> None:
        """Write the journal and the temporary files."""
        if not self._steps:
            return
        try:
            edits = (*self._copies, *self._steps)
            steps = tuple(self._planned(each) for each in edits)
            for step in steps:
                self._demand(step)
            folder = journal_folder(self._root) if self._in_project else self._root
            with _writing(str(folder)):
                folders = tuple(self._missing_folders())
                self._journal = Journal.begin(folder, self.id, steps, folders, self._event())
            self._write_temporaries(edits, steps)
            with _writing(str(folder)):
                execution.sync(self._root, steps)
                self._journal.mark(TransactionState.PREPARED)
        except BaseException:
            self.take_back()
            raise

    def carry_out(self) -> None:
        """Put the new contents in place; the files are as they were where this raises."""
        if not self._steps:
            return
        journal, plan = self._prepared()
        try:
            for step in plan:
                self._demand(step)
            for step in plan:
                self._demand(step)
                with _writing(_path(step)):
                    execution.apply(self._root, step)
            with _writing(_path(plan[-1])):
                execution.sync(self._root, plan)
                journal.mark(TransactionState.DONE)
        except BaseException:
            self.take_back()
            raise

    def record(self, records: RecordAccess) -> None:
        """Append the event, with the inverse."""
        if self._journal is not None:
            record(self._journal, records)

    def take_back(self) -> None:
        """Give every file that changed already its former content, unless somebody changed it since."""
        journal, self._journal = self._journal, None
        if journal is None:
            return
        try:
            take_back(self._root, journal)
        except OSError as error:
            log.warning("The files could not be put back; the next process tries again: %s", error)
            journal.release()
            return
        journal.remove()

    def finish(self) -> None:
        """The transaction is done, and recorded in the store if there is one."""
        if self._journal is not None:
            self._journal.remove()

    def release(self) -> None:
        """Leave the rest, a record that could not be written, to the next process."""
        if self._journal is not None:
            self._journal.release()

    def _prepared(self) -> tuple[Journal, tuple[Step, ...]]:
        journal = self._journal
        if journal is None or journal.plan is None:
            raise RuntimeError("carry_out without prepare")
        return journal, journal.plan.steps

    # Planning

    def _planned(self, step: FileEdit | FolderMove) -> Step:
        if isinstance(step, FolderMove):
            return MoveStep(step.source, step.target, step.contents)
        place = place_of(self._root, step.path)
        try:
            mode = stat.S_IMODE(place.stat().st_mode)
        except OSError:
            mode = None
        return FileStep(
            path=step.path,
            temporary=display(temporary_beside(place).name),
            before=None if step.before is None else content_hash(step.before),
            after=None if step.after is None else content_hash(step.after),
            inverse=_inverse(step),
            mode=mode,
            prune=step.prune,
        )

    def _missing_folders(self) -> list[str]:
        """The folders that have to be made, outermost first."""
        base = self._root.resolve()
        places = [place_of(self._root, path) for path in self._written_paths()]
        missing = {folder for place in places for folder in place.parents if not folder.exists()}
        return [display(folder.relative_to(base).as_posix()) for folder in sorted(missing)]

    def _written_paths(self) -> list[str]:
        edits = [each for each in self._steps if isinstance(each, FileEdit) and each.after is not None]
        edits += self._copies
        return [*(each.path for each in edits), *(each.target for each in self._steps if isinstance(each, FolderMove))]

    def _event(self) -> EventToRecord | None:
        purpose = self._purpose
        if purpose is None:
            return None
        edits = [each for each in self._steps if isinstance(each, FileEdit)]
        moves = [[each.source, each.target] for each in self._steps if isinstance(each, FolderMove)]
        data = {"operation": purpose.operation, **purpose.facts, "files": [edit.path for edit in edits]}
        data |= {"diff": diff_of(edits)} if purpose.with_diff else {}
        data |= {"moves": moves} if moves else {}
        return EventToRecord(self.id, purpose.actor, purpose.operation, data)

    # Doing it

    def _demand(self, step: Step) -> None:
        """FileChanged if a file differs from the `before` of its edit, ConfigError if it may not be written."""
        with _writing(_path(step)):
            fault = execution.difference(self._root, step)
        if fault is not None:
            raise FileChanged(
                f"'{fault}' changed while it was being edited.",
                hint="Run the command again. Nothing was changed.",
                data={"path": fault},
            )
        if isinstance(step, FileStep) and step.before is not None:
            place = place_of(self._root, step.path)
            products = {each.path for each in self._steps if isinstance(each, FileEdit) and each.is_product}
            if step.path not in products and not os.access(place, os.W_OK):
                raise ConfigError(f"'{step.path}' is write-protected.", hint="Make it writable, or edit it yourself.")

    def _write_temporaries(self, edits: Sequence[FileEdit | FolderMove], steps: Sequence[Step]) -> None:
        for edit, step in zip(edits, steps, strict=True):
            if isinstance(edit, FileEdit) and isinstance(step, FileStep) and edit.after is not None:
                model = place_of(self._root, edit.permissions_of or edit.path)
                with _writing(edit.path):
                    temporary = execution.temporary_of(self._root, step)
                    make_folder(temporary.parent)
                    write_beside(temporary, edit.after, model)

    def _planned_copies(self) -> list[FileEdit]:
        edits = [each for each in self._steps if isinstance(each, FileEdit)]
        with _writing(str(self._root)):
            return backup_edits(self._root, edits, in_project=self._in_project)


def commit_outside(folder: Path, edits: Sequence[FileEdit]) -> None:
    """Carry out edits in a folder that is not a project, without copies. OSError if the system refuses; the caller
    explains it."""
    try:
        FileTransaction(folder, edits, in_project=False, backups=False).commit()
    except ConfigError as error:
        raise error.__cause__ if isinstance(error.__cause__, OSError) else error from None


def replace_alone(place: Path, data: bytes) -> None:
    """Write one file by a transaction of its own, whose journal lies beside it. If the process is killed, the next one
    that opens the folder as a project, or calls `recover` for it, completes the write or takes it back. Call `recover`
    before you read what you are about to change."""
    make_folder(place.parent)
    commit_outside(place.parent, [FileEdit(display(place.name), read_if_there(place), data)])


def _inverse(edit: FileEdit) -> Inverse:
    if edit.after is None:
        return Inverse(edit.path, None, 0, 0, edit.before or b"")
    return inverse_of(edit.path, edit.before or b"", edit.after, made=edit.before is None)


def _path(step: Step) -> str:
    return step.path if isinstance(step, FileStep) else step.source


@contextmanager
def _writing(path: str) -> Iterator[None]:
    """Turn a system error into one that names the file."""
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"'{path}' cannot be written: {error.strerror or error}.",
            hint="Check the folder's permissions and space. Nothing was changed.",
        ) from error
