"""From drafts to files: which files are written, and how that can be taken back."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit, check_writable, diff_of, inverse_of
from clew.edit.recovery import recover
from clew.edit.targets import read_if_there
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import ClewError, ConfigError, FileChanged, NotFound, Refused
from clew.graph.build.reading import Progress
from clew.graph.changes import Change, Patches
from clew.trace.edit.drafts import REVERT, DraftLog, Pending, SavedMutation
from clew.trace.edit.proof import refuse_other_reading
from clew.trace.edit.sessions import Saving
from clew.trace.edit.text.draft import DraftContext
from clew.trace.files.bookkeeping import Bookkeeping
from clew.workspace.files import resolve

_MOST_SHOWN = 4_000
"""Characters of a difference that an error repeats."""


class Saved(msgspec.Struct, frozen=True):
    paths: tuple[str, ...]
    """All files that were written."""
    read: tuple[str, ...]
    """The written files that belong to the graph."""
    safety_branch: str | None
    unnoted: ClewError | None = None
    """The error for which the store does not know yet that the files are written."""


class SavedAtOnce(msgspec.Struct, frozen=True):
    edits: tuple[FileEdit, ...]
    safety_branch: str | None


class Saves:
    def __init__(self, project: Context, drafting: DraftContext, drafts: DraftLog) -> None:
        self._project = project
        self._root = project.root
        self._drafting = drafting
        self._drafts = drafts
        self._unnoted: tuple[FileTransaction, str] | None = None
        """The last save and its reason, where its files are in place and the store does not know it."""

    @cached_property
    def bookkeeping(self) -> Bookkeeping:
        return Bookkeeping(self._project)

    def recover(self) -> bool:
        """Complete or undo interrupted saves; returns whether there were any."""
        if not self._drafts.interrupted():
            return False
        recover(self._root, self._project.store)
        for id, is_written in self._drafts.interrupted():
            if is_written:
                with self._drafts.finishing(id):
                    pass
            else:
                self._drafts.give_up_save(id)
        return True

    def note(self) -> None:
        """Record the last save in the store, if that failed. Until it succeeds, nothing else can be written: the
        journal completes the save if the process ends."""
        if self._unnoted is not None:
            files, reason = self._unnoted
            with self._drafts.finishing(reason=reason) as records:
                files.record(records)
            files.finish()
            self._unnoted = None

    def close(self) -> None:
        """Note the last save. Where that fails, its journal is left to the next process."""
        try:
            self.note()
        finally:
            if self._unnoted is not None:
                self._unnoted[0].release()

    def save(self, pending: Sequence[Pending], *, save_branch: bool, message: str | None) -> Saved:
        """Write the files, or raise and leave all of them alone."""
        edits = self._edits(pending, message)
        mutations = self._mutations(pending, {edit.path: edit.after or b"" for edit in edits})
        written = tuple(edit.path for edit in edits)
        # elspais protects the list it generates from people, not from programs that keep it in step.
        edits = self.bookkeeping.with_index(edits)
        branch = self._branch(edits, "save-mutations") if save_branch and edits else None
        through: dict[str, int] = {}
        for each in pending:
            through[each.session] = max(each.number, through.get(each.session, 0))
        purpose = EditPurpose("save", facts={"mutations": len(pending)}, with_diff=False)
        files = FileTransaction(self._root, edits, purpose)
        self._drafts.begin_save(Saving(through, len(pending), files.id), mutations)
        reason = message or "save"
        try:
            with self._drafts.finishing(reason=reason) as records:
                self._write(files, edits)
                self._unnoted = files, reason
                files.record(records)
            files.finish()
            self._unnoted = None
        except ClewError:
            if self._unnoted is None:
                self._drafts.give_up_save()
                raise
        return Saved(tuple(edit.path for edit in edits), written, branch, self._noted_late())

    def difference(self, pending: Sequence[Pending], message: str | None) -> tuple[tuple[str, ...], str]:
        """The files that saving would change, as a unified diff. Raises the errors of saving."""
        edits = self.bookkeeping.with_index(self._edits(pending, message))
        return tuple(edit.path for edit in edits), diff_of(edits)

    def save_at_once(
        self, change: Change, purpose: EditPurpose, *, branch_name: str | None, dry_run: bool
    ) -> SavedAtOnce:
        """Write a single change that is no draft. With `branch_name` a safety branch keeps the state before."""
        edits = self._edits_of(change)
        check_writable(self._root, edits)
        for edit in edits:
            refuse_other_reading(self._drafting, edit, change)
        written = tuple(edit.path for edit in edits)
        edits = self.bookkeeping.with_index(edits)
        branch = None
        if edits and not dry_run:
            branch = self._branch(edits, branch_name) if branch_name is not None else None
            purpose = msgspec.structs.replace(purpose, facts={**purpose.facts, "safety_branch": branch})
            FileTransaction(self._root, edits, purpose).commit(self._project.store)
            self.read_again(written, None)
        return SavedAtOnce(tuple(edits), branch)

    def _edits_of(self, change: Change) -> list[FileEdit]:
        patches = Patches()
        for text in change.texts:
            patches.put(text.slot, text.after)
        edits: list[FileEdit] = []
        for path in dict.fromkeys(text.slot.path for text in change.texts):
            before = self._content(path)
            edits.append(FileEdit(path, before, patches.written(path, before or b"")))
        return [edit for edit in edits if edit.before != edit.after]

    def _edits(self, pending: Sequence[Pending], message: str | None) -> list[FileEdit]:
        unmade = self._unmade(pending)
        edits = [self._edit(path, unmade) for path in self._drafting.history.patches.paths()]
        edits = [edit for edit in edits if edit.before != edit.after]
        check_writable(self._root, edits)
        for edit in edits:
            refuse_other_reading(self._drafting, edit)
        takes_back = any(each.draft.operation == REVERT for each in pending)
        return self.bookkeeping.with_entries(edits, message, _renamed(pending), takes_back=takes_back)

    def _write(self, files: FileTransaction, edits: Sequence[FileEdit]) -> None:
        try:
            files.prepare()
            files.carry_out()
        except FileChanged as error:
            edit = next(edit for edit in edits if edit.path == error.data["path"])
            raise _changed_meanwhile(edit, self._present(edit.path)) from error
        except ConfigError as error:
            raise Refused(error.message, hint=error.hint) from error

    def _present(self, path: str) -> bytes | None:
        return read_if_there(resolve(self._root, path))

    def _noted_late(self) -> ClewError | None:
        """Note a save in a store that was full or busy for a moment, with one more attempt."""
        try:
            self.note()
        except ClewError as error:
            return error
        return None

    def _unmade(self, pending: Sequence[Pending]) -> set[str]:
        """The files that were created by the mutations which are being undone."""
        reverted = {each.draft.arguments["mutation_id"] for each in pending if each.draft.operation == REVERT}
        if not reverted:
            return set()
        saved = [each for each in self._drafts.saved() if each.draft.id in reverted]
        return {file.path for each in saved for file in each.files if file.made}

    def _edit(self, path: str, unmade: set[str]) -> FileEdit:
        try:
            before = self._content(path)
        except FileChanged:
            known = self._drafting.originals.get(path, b"")
            edit = FileEdit(path, known, self._drafting.history.patches.written(path, known))
            raise _changed_meanwhile(edit, self._present(path)) from None
        after = self._drafting.history.patches.written(path, before or b"")
        is_removed = not after and before is not None and path in unmade
        return FileEdit(path, before, None if is_removed else after)

    def _branch(self, edits: Sequence[FileEdit], name: str) -> str:
        from clew.trace.safety import branches

        also = [edit.path for edit in edits if edit.before is not None]
        return branches.create(self._root, name, datetime.now(UTC), also=also).name

    def _mutations(self, pending: Sequence[Pending], final: Mapping[str, bytes]) -> list[SavedMutation]:
        """Each mutation with its inverse, found by applying them one after the other to the former files. The last one
        of a file also undoes additions to its `final` content, such as entries of changelogs."""
        last = {text.slot.path: change.id for change in self._drafting.history for text in change.texts}
        patches = Patches()
        saved: list[SavedMutation] = []
        for each, change in zip(pending, self._drafting.history, strict=True):
            paths = dict.fromkeys(text.slot.path for text in change.texts)
            before = {path: patches.written(path, self._content(path) or b"") for path in paths}
            for text in change.texts:
                patches.put(text.slot, text.after)
            after = {path: patches.written(path, self._content(path) or b"") for path in paths}
            after |= {path: final[path] for path in paths if last[path] == change.id and path in final}
            files = tuple(inverse_of(path, before[path], after[path], made=self._makes(path, before)) for path in paths)
            saved.append(SavedMutation(each.draft, files))
        return saved

    def _makes(self, path: str, before: Mapping[str, bytes]) -> bool:
        """True for the first text of a file that does not exist."""
        return not before[path] and not (self._root / path).exists()

    def _content(self, path: str) -> bytes | None:
        """The content of a file as it was read; None if there is no such file."""
        try:
            return self._drafting.builder.original(path)
        except NotFound:
            return None

    def read_again(self, paths: Sequence[str], progress: Progress | None) -> None:
        """Bring the graph in step with the written files."""
        if all(self._drafting.builder.knows(path) and (self._root / path).exists() for path in paths):
            self._project.keeper.read_again(paths)
        else:
            self._project.keeper.catch_up(progress)


def _renamed(pending: Sequence[Pending]) -> dict[str, str]:
    """The ids of renamed requirements, each with the one that it has in the files."""
    former: dict[str, str] = {}
    for each in pending:
        if each.draft.operation == "rename_node":
            old, new = each.draft.arguments["old_id"], each.draft.arguments["new_id"]
            former[new] = former.pop(old, old)
    return former


def _changed_meanwhile(edit: FileEdit, theirs: bytes | None) -> FileChanged:
    """Both sides of a file that somebody else changed."""
    mine = diff_of([edit])
    other = "The file was deleted.\n" if theirs is None else diff_of([FileEdit(edit.path, edit.before, theirs)])
    return FileChanged(
        f"'{edit.path}' changed on disk since it was read. Nothing was saved; the drafts are kept.",
        hint="refresh_graph reads it and applies the drafts to the new text; then save again.",
        data={"path": edit.path, "mine": mine[:_MOST_SHOWN], "theirs": other[:_MOST_SHOWN]},
    )
