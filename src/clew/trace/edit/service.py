"""The mutation service: requirements are changed in the graph, and in the files when they are saved.

A mutation is planned (validated and drafted), kept in the store, applied to the graph, and only then acknowledged. One
at a time: a mutation locks the graph, and readers wait only while the change is applied.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from clew.context import Context
from clew.errors import ClewError, Conflict, FileChanged, NotFound, Refused, StoreError
from clew.graph.build.builder import Builder
from clew.graph.build.reading import Progress
from clew.graph.changes import History
from clew.graph.model import Node
from clew.graph.readers.elspais import ElspaisReader
from clew.graph.readers.markers import MarkerReader
from clew.once import Once
from clew.text.display import counted
from clew.trace.edit.drafts import REVERT, DraftLog, DraftRecord, Pending
from clew.trace.edit.pending import MOST_UNSEEN, PendingDrafts
from clew.trace.edit.results import (
    LogPage,
    MutationEntry,
    MutationResult,
    SaveResult,
    UndoResult,
    UndoToResult,
    Unsaved,
)
from clew.trace.edit.saves import Saves
from clew.trace.edit.text.draft import DraftContext
from clew.trace.edit.text.reverting import Reverts
from clew.trace.files.bookkeeping import Bookkeeping
from clew.trace.read.serialize import version_of

if TYPE_CHECKING:
    # A process that only reads plans nothing.
    from clew.trace.edit.plan import Plan
    from clew.trace.edit.planner import Planner
    from clew.trace.edit.text.blocks import Record

T = TypeVar("T")

log = logging.getLogger(__name__)


class MutationService:
    def __init__(
        self,
        context: Context,
        planner: "Callable[[], Planner]",
        pending: PendingDrafts,
        drafts: DraftLog,
        reverts: Reverts,
        saves: Saves,
    ) -> None:
        self._context = context
        self._graph, self._lock = context.graph, context.lock
        self._planner = planner
        self._pending = pending
        self._drafts = drafts
        self._reverts = reverts
        self._saves = saves

    def close(self) -> None:
        """Leave the drafts to the next process."""
        for leave in (self._saves.close, self._drafts.release):
            try:
                leave()
            except ClewError as error:
                log.warning("The drafts were not left in order: %s", error)

    @contextmanager
    def _turn(self, progress: Progress | None) -> Iterator[None]:
        """Locks the graph for a change of drafts or files; first the store records all that was saved."""
        with self._context.keeper.turn(progress):
            self._saves.note()
            yield

    # Mutating

    def mutate(
        self,
        operation: str,
        arguments: Mapping[str, Any],
        *,
        if_version: str | None = None,
        guarded: str | None = None,
        progress: Progress | None = None,
    ) -> MutationResult:
        """Carry out an operation. `if_version` demands that version of the node `guarded`."""
        with self._turn(progress):
            plan = self._current(lambda: self._plan(operation, arguments, if_version, guarded), progress)
            draft = DraftRecord(
                id=plan.change.id,
                at=datetime.now(UTC).isoformat(),
                operation=operation,
                arguments=msgspec.to_builtins(plan.arguments),
                target_id=plan.target_id,
                before=msgspec.to_builtins(plan.before),
                after=msgspec.to_builtins(plan.after),
                affects_hash=plan.affects_hash,
            )
            self._pending.add(draft, plan.change)
            return self._result(plan, draft.entry())

    def _plan(
        self, operation: str, arguments: Mapping[str, Any], if_version: str | None, guarded: str | None
    ) -> "Plan":
        if if_version is not None and guarded is not None:
            self._demand_version(guarded, if_version)
        return self._planner().plan(operation, arguments)

    def _current(self, make: Callable[[], T], progress: Progress | None) -> T:
        """What is made of the files as they are: where one changed meanwhile, it is read, and the work repeated."""
        try:
            return make()
        except FileChanged:
            if not self._context.keeper.follows_files:
                raise
            self._context.keeper.catch_up(progress)
            return make()

    def _demand_version(self, id: str, version: str) -> None:
        node = self._planner().subject(id)
        current = version_of(self._graph, node)
        if version != current:
            raise Conflict(
                f"'{node.id}' has version {current}, not {version} as if_version demands.",
                hint="Read it again with get_requirement, and repeat the mutation if it is still right.",
                data={"node_id": node.id, "provided_version": version, "current_version": current},
            )

    def _result(self, plan: "Plan", entry: MutationEntry) -> MutationResult:
        subject = self._graph.get_node(plan.subject_id) if plan.subject_id is not None else None
        return MutationResult(
            success=True,
            mutation=entry,
            message=f"{plan.message} It is a draft until save_mutations.",
            version=version_of(self._graph, subject) if subject is not None else None,
            label=plan.label,
            assertion_id=plan.assertion_id,
            notes=plan.change.notes,
        )

    # Undoing

    def undo_last(self, *, if_tip: str | None = None, progress: Progress | None = None) -> UndoResult:
        """Take back the newest pending mutation, even one in conflict with the files; without any, the newest one
        that was saved."""
        with self._turn(progress):
            self._pending.demand_tip(if_tip)
            if (conflicting := self._pending.newest_conflict()) is not None:
                # It comes before everything that was saved, although it is not in the graph.
                dropped = self._pending.drop(conflicting)[0]
                message = f"{dropped.operation} of {dropped.target_id} is dropped: it no longer applied to the files."
                return UndoResult(True, dropped, message, False, self._pending.tip())
            in_force = self._pending.in_force()
            if in_force and in_force[-1].draft.operation != REVERT:
                undone = self._pending.undo(in_force[-1:])[0]
                message = f"{undone.operation} of {undone.target_id} is undone."
                return UndoResult(True, undone, message, False, self._pending.tip())
            undone = self._current(self._revert_next, progress)
            message = (
                f"{undone.operation} of {undone.target_id} is taken back by a new draft; save_mutations writes it."
            )
            return UndoResult(True, undone, message, True, self._pending.tip())

    def undo_to(self, mutation_id: str, *, if_tip: str | None = None, progress: Progress | None = None) -> UndoToResult:
        """Take back everything down to and including a mutation, pending or saved. One in conflict is dropped alone."""
        with self._turn(progress):
            self._pending.demand_tip(if_tip)
            undone = self._current(lambda: self._undo_to(mutation_id), progress)
            message = f"{counted(len(undone), 'mutation')} taken back."
            return UndoToResult(True, len(undone), tuple(undone), message, self._pending.tip())

    def _undo_to(self, mutation_id: str) -> list[MutationEntry]:
        if self._pending.is_in_conflict(mutation_id):
            return self._pending.drop(mutation_id)
        in_force = self._pending.in_force()
        numbers = [number for number, each in enumerate(in_force) if each.draft.id == mutation_id]
        if numbers:
            return self._pending.undo(in_force[numbers[0] :])
        if not any(each.draft.id == mutation_id for each in self._drafts.saved()):
            raise NotFound(
                f"No mutation has the id '{mutation_id}'.", hint="get_mutation_log lists the ids that can be undone."
            )
        return self._revert_to(mutation_id, in_force)

    def _revert_to(self, mutation_id: str, in_force: list[Pending]) -> list[MutationEntry]:
        """Take back what is pending, then what was saved, down to a saved mutation."""
        count = len(in_force)
        while count and in_force[count - 1].draft.operation != REVERT:
            count -= 1
        undone = self._pending.undo(in_force[count:]) if count < len(in_force) else []
        try:
            while not undone or undone[-1].id != mutation_id:
                undone.append(self._revert_next())
        except ClewError:
            # All or none of what was saved is taken back.
            made = self._pending.in_force()[count:]
            if made:
                self._pending.undo(made)
            raise
        return undone

    def _revert_next(self) -> MutationEntry:
        """Draft the opposite of the newest saved mutation that is not taken back yet."""
        saved = self._reverts.next(each.draft for each in self._pending.in_force())
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
        self._pending.add(draft, change)
        return saved.draft.entry()

    # Looking and saving

    def demand_tip(self, tip: str) -> None:
        """Conflict where another draft is the newest than a caller thinks."""
        self._pending.demand_tip(tip)

    def who_cites(self, id: str, progress: Progress | None) -> str:
        """The ids of those that cite a requirement, for a message."""
        from clew.trace.edit.planner import who_cites

        self._context.keeper.ensure(progress)
        with self._lock.reading():
            return who_cites(self._graph, self._planner().subject(id).id)

    def record(self, id: str) -> "Record":
        """What the text of a requirement or journey says now, drafts included."""
        return self._planner().record(id)

    def version(self, id: str) -> str:
        """The version that guards mutations of a node: that of the requirement or journey that it belongs to."""
        return version_of(self._graph, self._planner().subject(id))

    def unsaved(self) -> Unsaved:
        """What waits to be saved, of this process and of others, whether or not it is shown in the graph."""
        try:
            return Unsaved.of(self._drafts.everywhere(), len(self._pending.conflicts()))
        except StoreError as error:
            # Reading the project works without the store, and the notes say what is wrong with it.
            log.warning("Drafts cannot be read: %s", error)
            return Unsaved(0, 0, ())

    def as_filed(self) -> Mapping[str, Node | None]:
        """The nodes that drafts changed, as the files have them; None for those that no file defines."""
        return self._pending.as_filed()

    def drafted_paths(self) -> tuple[str, ...]:
        """The files that saving would change."""
        return self._pending.paths()

    def last_saved(self) -> MutationEntry | None:
        """The saved mutation that undoing takes back next, once nothing is pending; None where there is none."""
        try:
            saved = self._reverts.newest(each.draft for each in self._pending.in_force())
        except StoreError as error:
            log.warning("What was saved cannot be read: %s", error)
            return None
        return saved.draft.entry() if saved is not None else None

    def log(self, *, offset: int = 0, limit: int = 50) -> LogPage:
        """The pending mutations, newest first."""
        # Every answer that lacks damaged drafts names them.
        self.unsaved()
        return self._pending.page(offset, limit)

    def save(
        self,
        *,
        save_branch: bool = False,
        message: str | None = None,
        if_tip: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> SaveResult:
        """Write all drafts to the files, or none; with `dry_run` only say what would be written."""
        with self._turn(progress):
            self._pending.demand_tip(if_tip)
            if self._pending.conflicts() and self._context.keeper.follows_files:
                # What stood in the way may be gone: a file that is there again, or that has its former text.
                self._context.keeper.catch_up(progress)
            self._refuse_conflicts()
            drafts = list(self._pending)
            if not drafts:
                return SaveResult(True, 0, (), "There is nothing to save.")
            if dry_run:
                return self._preview(drafts, message)
            saved = self._saves.save(drafts, save_branch=save_branch, message=message)
            self._pending.saved()
            if saved.read:
                self._saves.read_again(saved.read, progress)
            else:
                with self._lock.writing():
                    self._pending.withdraw()
            if saved.unnoted is not None:
                raise StoreError(
                    f"The files are saved, but the store could not note it: {saved.unnoted.message}",
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
        conflicts = self._pending.conflicts()
        if not conflicts:
            return
        first = conflicts[0].mutation
        raise Conflict(
            f"{counted(len(conflicts), 'draft')} cannot be applied to the files any more, such as {first.operation} of "
            f"'{first.target_id}': {conflicts[0].reason} Nothing was saved.",
            hint="undo_to_mutation with the id of such a draft drops it alone; then repeat it on the new text, or not.",
            data={"conflicts": [msgspec.to_builtins(each) for each in conflicts[:MOST_UNSEEN]]},
        )


def confirmed(confirm: bool, removed: Callable[[], str]) -> None:
    """Refuse what removes something, unless it was asked for explicitly."""
    if not confirm:
        raise Refused(
            f"Destructive operation requires confirm=True: it removes {removed()}.",
            hint="Repeat the call with confirm=true. undo_last_mutation takes it back.",
        )


def open_mutations(context: Context, builder: Builder, *, with_drafts: bool) -> MutationService:
    """The service of a project. Without drafts, those that are pending are kept and not shown."""
    history = History(context.graph, lambda: builder.linker)
    drafts = DraftLog(context.store, lambda: context.damage)
    saves = Saves(
        context.root,
        builder,
        lambda: context.keeper,
        history,
        drafts,
        context.store,
        lambda: Bookkeeping(context),
    )

    def reader() -> ElspaisReader:
        return next(reader for reader in builder.readers if isinstance(reader, ElspaisReader))

    comments = (reader for reader in builder.readers if isinstance(reader, MarkerReader))
    commenting = frozenset(reader.name for reader in comments if not reader.associate)
    drafting = DraftContext(
        context.graph, lambda: builder.linker, saves.original, reader, context.grammar, history, commenting
    )
    planner = Once(lambda: _planner(context, drafting)).get
    reverts = Reverts(drafting, builder, drafts)
    pending = PendingDrafts(history, context.lock, planner, drafts, reverts, saves)
    if with_drafts:
        builder.attach(pending)
    return MutationService(context, planner, pending, drafts, reverts, saves)


def _planner(context: Context, drafting: DraftContext) -> "Planner":
    from clew.trace.edit.file_choice import FileChoice
    from clew.trace.edit.planner import Planner
    from clew.trace.edit.rules import Rules

    rules = Rules(context.graph, context.grammar)
    return Planner(drafting, rules, FileChoice(context.root, drafting, context.config.requirements))
