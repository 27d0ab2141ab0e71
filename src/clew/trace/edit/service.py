"""The mutation service: requirements are changed in the graph, and in the files when they are saved.

A mutation is planned (validated and drafted), kept in the store, applied to the graph, and only then acknowledged. One
at a time: a mutation locks the graph, and readers wait only while the change is applied.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from clew.context import Context
from clew.edit.transaction import EditPurpose
from clew.errors import ClewError, Conflict, FileChanged, NotFound, Refused, StoreError
from clew.graph.build.builder import Builder
from clew.graph.build.reading import Progress
from clew.graph.changes import Change, History
from clew.graph.model import Node
from clew.text.display import counted
from clew.trace.edit.drafts import REVERT, DraftLog, DraftRecord, Pending
from clew.trace.edit.pending import MOST_UNSEEN, PendingDrafts
from clew.trace.edit.requests import ListDrafts, SaveDrafts, UndoLast, UndoTo
from clew.trace.edit.results import (
    LogPage,
    MutationEntry,
    MutationResult,
    SaveResult,
    UndoResult,
    UndoToResult,
)
from clew.trace.edit.reverting import Reverts
from clew.trace.edit.saves import SavedAtOnce, Saves
from clew.trace.edit.text.blocks import is_utf8
from clew.trace.edit.text.draft import ChangeDraft, DraftContext
from clew.trace.read.results import Unsaved
from clew.trace.read.serialize import version_of

if TYPE_CHECKING:
    # A process that only reads plans nothing.
    from clew.trace.edit.mutations.mutation import Mutation, MutationEffect
    from clew.trace.edit.text.blocks import Record
    from clew.trace.edit.text.file_choice import FileChoice

T = TypeVar("T")

ACTOR = "clew"
"""The name under which a change of a file is recorded."""

log = logging.getLogger(__name__)


class MutationService:
    def __init__(self, project: Context, drafting: DraftContext) -> None:
        self._project = project
        self._graph, self._lock = project.graph, project.lock
        self._drafting = drafting
        self._drafts = DraftLog(project)
        self._reverts = Reverts(drafting, self._drafts)
        self._saves = Saves(project, drafting, self._drafts)
        self.pending = PendingDrafts(project, drafting, self._drafts, self._reverts, self._saves)

    def close(self) -> None:
        """Leave the drafts to the next process."""
        for leave in (self._saves.close, self._drafts.release):
            try:
                leave()
            except ClewError as error:
                log.warning("The drafts could not be closed properly: %s", error)

    @contextmanager
    def _turn(self, progress: Progress | None, *, current: bool = False) -> Iterator[None]:
        """Locks the graph for a change of drafts or files; first the store records finished saves. With `current`
        changed files are read before."""
        with self._project.keeper.turn(progress, current=current):
            self._saves.note()
            yield

    # Mutating

    def mutate(self, mutation: "Mutation", progress: Progress | None = None) -> MutationResult:
        """Draft a mutation. One that removes something must be confirmed."""
        self._demand_confirmation(mutation, progress)
        with self._turn(progress):
            change, outcome = self._current(lambda: self._planned(mutation), progress)
            draft = DraftRecord(
                id=change.id,
                at=datetime.now(UTC).isoformat(),
                operation=mutation.recorded_as,
                arguments=outcome.mutation.arguments,
                target_id=outcome.target_id,
                before=msgspec.to_builtins(outcome.before),
                after=msgspec.to_builtins(outcome.after),
                affects_hash=outcome.affects_hash,
            )
            self.pending.add(draft, change)
            return self._result(change, outcome, draft.entry())

    def save_at_once(
        self,
        mutation: "Mutation",
        *,
        save_branch: bool,
        dry_run: bool,
        again: bool = True,
        progress: Progress | None = None,
    ) -> "tuple[MutationEffect, SavedAtOnce]":
        """Make a mutation and save it in the same turn; drafts in other files stay drafts. With `again` files that
        changed since they were read are read first."""
        with self._turn(progress, current=again):
            change, outcome = self._current(lambda: self._planned(mutation), progress, again=again)
            self.refuse_drafted([text.slot.path for text in change.texts])
            purpose = EditPurpose(mutation.operation, ACTOR, {"requirement_id": outcome.target_id})
            name = outcome.target_id if save_branch else None
            return outcome, self._saves.save_at_once(change, purpose, branch_name=name, dry_run=dry_run)

    def text_of(self, id: str, if_version: str | None) -> tuple[str, str]:
        """The text of a requirement in its file, and its version."""
        with self._turn(None, current=True):
            node = self._drafting.rules.resolver.requirement(id)
            if if_version is not None:
                self._demand_version(node.id, if_version)
            draft = ChangeDraft(self._drafting)
            block = draft.block(node.id)
            self.refuse_drafted([block.path])
            if not is_utf8(draft.file(block.path)):
                raise Refused(
                    f"'{block.path}' is not UTF-8, so it cannot be given to a model.", hint="Save it as UTF-8."
                )
            return block.record.raw, version_of(self._graph, node)

    def _planned(self, mutation: "Mutation") -> "tuple[Change, MutationEffect]":
        if (guard := mutation.guard) is not None:
            self._demand_version(*guard)
        return mutation.planned(self._drafting)

    def _demand_confirmation(self, mutation: "Mutation", progress: Progress | None) -> None:
        """Refuse to remove something, unless it was asked for explicitly."""
        if mutation.is_confirmed:
            return
        self._project.keeper.ensure(progress)
        with self._lock.reading():
            removed = mutation.removed(self._drafting)
        raise Refused(
            f"Destructive operation requires confirm=True: it removes {removed}.",
            hint="Repeat the call with confirm=true. undo_last_mutation takes it back.",
        )

    def _current(self, make: Callable[[], T], progress: Progress | None, *, again: bool = True) -> T:
        """The result for the files as they are: where one changed meanwhile, it is read, and the work repeated."""
        try:
            return make()
        except FileChanged:
            if not again or not self._project.keeper.follows_files:
                raise
            self._project.keeper.catch_up(progress)
            return make()

    def _demand_version(self, id: str, version: str) -> None:
        node = self._drafting.rules.subject(id)
        current = version_of(self._graph, node)
        if version != current:
            raise Conflict(
                f"'{node.id}' has version {current}, not {version} as if_version demands.",
                hint="Read it again with get_requirement, and repeat the mutation if it is still right.",
                data={"node_id": node.id, "provided_version": version, "current_version": current},
            )

    def _result(self, change: Change, outcome: "MutationEffect", entry: MutationEntry) -> MutationResult:
        subject = self._graph.get_node(outcome.subject_id) if outcome.subject_id is not None else None
        return MutationResult(
            success=True,
            mutation=entry,
            message=f"{outcome.message} It is a draft until save_mutations.",
            version=version_of(self._graph, subject) if subject is not None else None,
            label=outcome.label,
            assertion_id=outcome.assertion_id,
            notes=change.notes,
        )

    @property
    def files(self) -> "FileChoice":
        """The files that requirements can be written to."""
        return self._drafting.files

    # Undoing

    def undo_last(self, request: UndoLast | None = None, progress: Progress | None = None) -> UndoResult:
        """Undo the newest pending mutation, even one in conflict with the files; without any, the newest one that was
        saved."""
        with self._turn(progress):
            self.pending.demand_tip(request.if_mutation_id if request is not None else None)
            if (conflicting := self.pending.newest_conflict()) is not None:
                # It comes before everything that was saved, although it is not in the graph.
                dropped = self.pending.drop(conflicting)[0]
                message = f"{dropped.operation} of {dropped.target_id} is dropped: it no longer applied to the files."
                return UndoResult(True, dropped, message, False, self.pending.tip())
            in_force = self.pending.in_force()
            if in_force and in_force[-1].draft.operation != REVERT:
                undone = self.pending.undo(in_force[-1:])[0]
                message = f"{undone.operation} of {undone.target_id} is undone."
                return UndoResult(True, undone, message, False, self.pending.tip())
            undone = self._current(self._revert_next, progress)
            message = f"{undone.operation} of {undone.target_id} is undone by a new draft; save_mutations writes it."
            return UndoResult(True, undone, message, True, self.pending.tip())

    def undo_to(self, request: UndoTo, progress: Progress | None = None) -> UndoToResult:
        """Undo all mutations down to this one, pending or saved. One in conflict is dropped alone."""
        with self._turn(progress):
            self.pending.demand_tip(request.if_tip_mutation_id)
            undone = self._current(lambda: self._undo_to(request.mutation_id), progress)
            message = f"{counted(len(undone), 'mutation')} undone."
            return UndoToResult(True, len(undone), tuple(undone), message, self.pending.tip())

    def _undo_to(self, mutation_id: str) -> list[MutationEntry]:
        if self.pending.is_in_conflict(mutation_id):
            return self.pending.drop(mutation_id)
        in_force = self.pending.in_force()
        numbers = [number for number, each in enumerate(in_force) if each.draft.id == mutation_id]
        if numbers:
            return self.pending.undo(in_force[numbers[0] :])
        if not any(each.draft.id == mutation_id for each in self._drafts.saved()):
            raise NotFound(
                f"No mutation has the id '{mutation_id}'.", hint="get_mutation_log lists the ids that can be undone."
            )
        return self._revert_to(mutation_id, in_force)

    def _revert_to(self, mutation_id: str, in_force: list[Pending]) -> list[MutationEntry]:
        """Undo the pending mutations, then the saved ones, down to a saved mutation."""
        count = len(in_force)
        while count and in_force[count - 1].draft.operation != REVERT:
            count -= 1
        undone = self.pending.undo(in_force[count:]) if count < len(in_force) else []
        try:
            while not undone or undone[-1].id != mutation_id:
                undone.append(self._revert_next())
        except ClewError:
            # All or none of what was saved is taken back.
            made = self.pending.in_force()[count:]
            if made:
                self.pending.undo(made)
            raise
        return undone

    def _revert_next(self) -> MutationEntry:
        """Draft the opposite of the newest saved mutation that is not taken back yet."""
        saved = self._reverts.next(each.draft for each in self.pending.in_force())
        change = self._reverts.change(saved.draft.id)
        draft = DraftRecord(
            id=change.id,
            at=datetime.now(UTC).isoformat(),
            operation=REVERT,
            arguments={"mutation_id": saved.draft.id},
            target_id=saved.draft.target_id,
            before=saved.draft.after,
            after=saved.draft.before,
            affects_hash=saved.draft.affects_hash,
        )
        self.pending.add(draft, change)
        return saved.draft.entry()

    # Looking and saving

    def demand_tip(self, tip: str | None) -> None:
        """Conflict where another draft is the newest than a caller thinks."""
        self.pending.demand_tip(tip)

    def record(self, id: str) -> "Record":
        """The present text of a requirement or journey, with its drafts."""
        return ChangeDraft(self._drafting).block(self._drafting.rules.authored(id).id).record

    def version(self, id: str) -> str:
        """The version that guards mutations of a node: that of the requirement or journey that it belongs to."""
        return version_of(self._graph, self._drafting.rules.subject(id))

    def unsaved(self) -> Unsaved:
        """The unsaved changes of this process and of others, also those that the graph does not show."""
        try:
            drafts = self._drafts.everywhere()
            targets = tuple(dict.fromkeys(draft.target_id for draft in drafts))
            return Unsaved(len(drafts), len(self.pending.conflicts()), targets)
        except StoreError as error:
            # Reading the project works without the store, and the notes say what is wrong with it.
            log.warning("Drafts cannot be read: %s", error)
            return Unsaved(0, 0, ())

    def as_filed(self) -> Mapping[str, Node | None]:
        """The nodes that drafts changed, with their content on disk; None for nodes that are in no file."""
        return self.pending.as_filed()

    def refuse_drafted(self, paths: Collection[str]) -> None:
        """Refuse to change files at once that drafts are about to change."""
        waiting = sorted(set(paths) & set(self.drafted_paths()))
        if waiting:
            raise Refused(
                f"Unsaved drafts are about to change '{waiting[0]}'.",
                hint="save_mutations writes them, undo_last_mutation takes them back; then repeat the call.",
            )

    def drafted_paths(self) -> tuple[str, ...]:
        """The files that saving would change."""
        return self.pending.paths()

    def last_saved(self) -> MutationEntry | None:
        """The saved mutation that is undone next, once nothing is pending; None if there is none."""
        try:
            saved = self._reverts.newest(each.draft for each in self.pending.in_force())
        except StoreError as error:
            log.warning("What was saved cannot be read: %s", error)
            return None
        return saved.draft.entry() if saved is not None else None

    def log(self, request: ListDrafts | None = None, *, offset: int = 0) -> LogPage:
        """The pending mutations, newest first."""
        # Every answer that lacks damaged drafts names them.
        self.unsaved()
        return self.pending.page(offset, (request or ListDrafts()).limit)

    def save(self, request: SaveDrafts | None = None, progress: Progress | None = None) -> SaveResult:
        """Write all drafts to the files, or none; with `dry_run` only report the changes."""
        wanted = request or SaveDrafts()
        with self._turn(progress):
            self.pending.demand_tip(wanted.if_tip_mutation_id)
            if self.pending.conflicts() and self._project.keeper.follows_files:
                # What was in the way may be gone: a file that is there again, or that has its former text.
                self._project.keeper.catch_up(progress)
            self._refuse_conflicts()
            drafts = list(self.pending)
            if not drafts:
                return SaveResult(True, 0, (), "There is nothing to save.")
            if wanted.dry_run:
                return self._preview(drafts, wanted.message)
            saved = self._saves.save(drafts, save_branch=wanted.save_branch, message=wanted.message)
            self.pending.saved()
            if saved.read:
                self._saves.read_again(saved.read, progress)
            else:
                with self._lock.writing():
                    self.pending.withdraw()
            if saved.unnoted is not None:
                raise StoreError(
                    f"The files are saved, but the store could not record it: {saved.unnoted.message}",
                    hint="Nothing is lost, and nothing is left to save. The next mutation or undo notes it first; "
                    "opening the project again does so too.",
                ) from saved.unnoted
            return SaveResult(
                success=True,
                saved_count=len(drafts),
                files_modified=saved.paths,
                message=f"{counted(len(drafts), 'mutation')} saved to {counted(len(saved.paths), 'file')}.",
                saved_mutations=tuple(each.draft.id for each in drafts),
                safety_branch=saved.safety_branch,
            )

    def _preview(self, drafts: Sequence[Pending], message: str | None) -> SaveResult:
        paths, difference = self._saves.difference(drafts, message)
        return SaveResult(
            success=True,
            saved_count=0,
            files_modified=paths,
            message=f"{counted(len(drafts), 'mutation')} would change {counted(len(paths), 'file')}; nothing is saved.",
            diff=difference,
        )

    def _refuse_conflicts(self) -> None:
        conflicts = self.pending.conflicts()
        if not conflicts:
            return
        first = conflicts[0].mutation
        raise Conflict(
            f"{counted(len(conflicts), 'draft')} cannot be applied to the files any more, such as {first.operation} of "
            f"'{first.target_id}': {conflicts[0].reason} Nothing was saved.",
            hint="undo_to_mutation with the id of such a draft removes only that draft; then repeat the change on the "
            "new text, if it is still wanted.",
            data={"conflicts": [msgspec.to_builtins(each) for each in conflicts[:MOST_UNSEEN]]},
        )


def open_mutations(context: Context, builder: Builder, *, with_drafts: bool) -> MutationService:
    """The service of a project. Without drafts, pending ones stay in the store and are not shown."""
    service = MutationService(context, DraftContext(context, builder, History(context.graph, builder)))
    if with_drafts:
        builder.attach(service.pending)
    return service
