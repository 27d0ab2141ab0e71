"""The drafts that are pending: in the store, in the graph, and in step with the files."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from clew.context import Context
from clew.errors import ClewError, Conflict, StoreError
from clew.graph.changes import Change
from clew.graph.model import Node
from clew.trace.edit.drafts import REVERT, DraftLog, DraftRecord, Pending
from clew.trace.edit.results import DraftConflict, LogPage, MutationEntry
from clew.trace.edit.reverting import Reverts
from clew.trace.edit.saves import Saves
from clew.trace.edit.text.draft import DraftContext

log = logging.getLogger(__name__)

MOST_UNSEEN = 10
"""Entries that an error about an outdated tip shows."""


class PendingDrafts:
    """All drafts of this process. A caller that changes them holds the graph's turn."""

    def __init__(
        self, project: Context, drafting: DraftContext, drafts: DraftLog, reverts: Reverts, saves: Saves
    ) -> None:
        self._lock = project.lock
        self._drafting = drafting
        self._history = drafting.history
        self._drafts = drafts
        self._reverts = reverts
        self._saves = saves
        self._all: list[Pending] = []
        """Oldest first: those in the graph, and those that are in conflict with the files."""
        self._conflicts: dict[str, DraftConflict] = {}
        """By the id of the draft."""
        self._is_open = False

    def __iter__(self) -> Iterator[Pending]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    # Keeping up with the files

    def open(self) -> None:
        """Take over the drafts of ended processes, and complete their interrupted saves. Called before files are
        read."""
        if self._is_open:
            return
        self._is_open = True
        try:
            self._all = self._drafts.take_over()
            if self._saves.recover():
                self._all = self._drafts.pending()
        except StoreError as error:
            # Reading the project works without them; a mutation raises the same error.
            log.warning("Drafts cannot be read: %s", error)

    def withdraw(self) -> None:
        self._history.undo_all()
        self.forget()

    def forget(self) -> None:
        self._history.forget()
        self._drafting.originals.clear()

    def replay(self) -> None:
        self._conflicts.clear()
        for each in self._all:
            try:
                self._replay(each.draft)
            except ClewError as error:
                self._note_conflict(each.draft, str(error), {})
            except Exception:
                log.exception("A draft could not be applied again")
                self._note_conflict(each.draft, "It could not be applied again; the server's log has the details.", {})

    def _replay(self, draft: DraftRecord) -> None:
        if draft.operation == REVERT:
            self._apply(self._reverts.change(draft.arguments["mutation_id"]), draft)
            return
        # A process that only reads plans nothing.
        from clew.trace.edit.mutations.records import recorded_mutation

        change, outcome = recorded_mutation(draft.operation, draft.arguments).planned(self._drafting)
        now = msgspec.to_builtins(outcome.before)
        if now != draft.before:
            self._note_conflict(draft, "The text that it replaces has changed in the files.", now)
        else:
            self._apply(change, draft)

    def _note_conflict(self, draft: DraftRecord, reason: str, theirs: Mapping[str, Any]) -> None:
        entry = draft.entry()
        self._conflicts[draft.id] = DraftConflict(entry, reason, mine=entry.after_state, theirs=theirs)

    # Changing

    def add(self, draft: DraftRecord, change: Change) -> None:
        """Write a draft down, then apply it. One that cannot be applied is forgotten again."""
        pending = self._drafts.append(draft)
        try:
            with self._lock.writing():
                self._apply(change, draft)
        except BaseException:
            self._drafts.remove([pending], "not applied")
            raise
        self._all.append(pending)

    def _apply(self, change: Change, draft: DraftRecord) -> None:
        """Apply a draft to the graph. Its change always has the id of the draft."""
        self._history.apply(msgspec.structs.replace(change, id=draft.id))

    def undo(self, drafts: Sequence[Pending]) -> list[MutationEntry]:
        """Undo the newest applied drafts; they are removed from the store first."""
        self._drafts.remove(drafts, "undo")
        with self._lock.writing():
            for _ in drafts:
                self._history.undo_last()
        return self._without(drafts)

    def drop(self, mutation_id: str) -> list[MutationEntry]:
        """Delete a draft in conflict, which is not in the graph."""
        dropped = [each for each in self._all if each.draft.id == mutation_id]
        self._drafts.remove(dropped, "undo")
        del self._conflicts[mutation_id]
        return self._without(dropped)

    def _without(self, drafts: Sequence[Pending]) -> list[MutationEntry]:
        gone = {each.draft.id for each in drafts}
        self._all = [each for each in self._all if each.draft.id not in gone]
        return [each.draft.entry() for each in reversed(drafts)]

    def saved(self) -> None:
        """Note that all of them are in the files."""
        self._all = []

    # Looking

    def in_force(self) -> list[Pending]:
        """The drafts that are in the graph."""
        return [each for each in self._all if each.draft.id not in self._conflicts]

    def newest_conflict(self) -> str | None:
        """The newest draft, where it is in conflict with the files; or, where only reverts of saved ones are in force,
        the newest that is."""
        for each in reversed(self._all):
            if each.draft.id in self._conflicts:
                return each.draft.id
            if each.draft.operation != REVERT:
                return None
        return None

    def is_in_conflict(self, mutation_id: str) -> bool:
        return mutation_id in self._conflicts

    def conflicts(self) -> list[DraftConflict]:
        return list(self._conflicts.values())

    def as_filed(self) -> Mapping[str, Node | None]:
        """The nodes that drafts change, with their content on disk; None for nodes that are in no file."""
        return self._history.as_filed()

    def paths(self) -> tuple[str, ...]:
        """The files that they change."""
        return tuple(self._history.patches.paths())

    def tip(self) -> str:
        """The id of the newest draft; empty without drafts."""
        return self._all[-1].draft.id if self._all else ""

    def demand_tip(self, tip: str | None) -> None:
        """Conflict where another draft is the newest than the caller thinks."""
        if tip is None or tip == self.tip():
            return
        ids = [each.draft.id for each in self._all]
        unseen = self._all[ids.index(tip) + 1 :] if tip in ids else self._all
        raise Conflict(
            f"The newest pending mutation is '{self.tip()}', not '{tip}' as the tip demands.",
            hint="get_mutation_log shows what came in between; pass its current_tip.",
            data={
                "current_tip": self.tip(),
                "unseen": [msgspec.to_builtins(each.draft.entry()) for each in unseen[:MOST_UNSEEN]],
            },
        )

    def page(self, offset: int, limit: int) -> LogPage:
        """Newest first."""
        entries = [each.draft.entry() for each in reversed(self._all)]
        page = tuple(entries[offset : offset + limit])
        return LogPage(
            mutations=page,
            count=len(page),
            total=len(entries),
            current_tip=self.tip(),
            conflicts=tuple(self._conflicts.values()),
            truncated=offset + limit < len(entries),
        )
