"""Drafts: mutations that are in the graph and not yet in the files, kept in the store before they are acknowledged.

A damaged one is left out, so that the others can be seen, but nothing is saved past it: it would count as saved.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from clew.context import Context
from clew.edit.edits import Inverse
from clew.edit.recovery import COLLECTION
from clew.errors import StoreError
from clew.store.interface import Damaged, Store, Transaction
from clew.trace.edit.results import MutationEntry
from clew.trace.edit.sessions import Saving, Session, Sessions

REVERT = "revert"
"""The operation of a draft that takes back a mutation which is in the files already."""


class DraftRecord(msgspec.Struct, frozen=True):
    """The stored form of a mutation: its arguments, and the states before and after."""

    id: str
    at: str
    operation: str
    arguments: Mapping[str, Any]
    target_id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    affects_hash: bool

    def entry(self) -> MutationEntry:
        return MutationEntry(
            self.id, self.at, self.operation, self.target_id, self.before, self.after, self.affects_hash
        )


class Pending(msgspec.Struct, frozen=True):
    session: str
    number: int
    draft: DraftRecord


class SavedMutation(msgspec.Struct, frozen=True):
    """A mutation that is in the files."""

    draft: DraftRecord
    files: tuple[Inverse, ...]


class DraftLog:
    """The drafts of this process. Every write is durable before it returns."""

    def __init__(self, project: Context) -> None:
        self._project = project
        self._store = project.store
        self._sessions = Sessions(project, project.store) if project.store is not None else None
        self._last: dict[str, int] = {}
        """The number of the newest draft, by session."""
        self._everywhere: tuple[object, list[DraftRecord]] = (None, [])
        """The drafts of all processes when the store had that mark."""

    def take_over(self) -> list[Pending]:
        """Take over the drafts of ended processes, oldest first."""
        if self._store is None or self._sessions is None:
            return []
        for id, session in self._sessions.abandoned():
            if session.saving is not None or self._pending(id, session):
                self._sessions.claim(id)
        return self.pending()

    def pending(self) -> list[Pending]:
        """The drafts of this process as the store has them, oldest first."""
        found = [each for id, session in self._own() for each in self._pending(id, session)]
        for each in found:
            self._last[each.session] = max(each.number, self._last.get(each.session, 0))
        return sorted(found, key=lambda each: (each.draft.at, each.session, each.number))

    def _pending(self, id: str, session: Session) -> list[Pending]:
        if self._store is None:
            return []
        damaged: Damaged = {}
        records = self._store.scan(_drafts_of(id), after=_key(session.saved_through), damaged=damaged)
        for number, error in damaged.items():
            self._project.damage[f"{_drafts_of(id)} {number}"] = error
            self._last[id] = max(int(number), self._last.get(id, 0))
        return [Pending(id, int(record.id), msgspec.convert(record.data, DraftRecord)) for record in records]

    def everywhere(self) -> Sequence[DraftRecord]:
        """The unsaved drafts of all processes, oldest first."""
        if self._store is None or self._sessions is None:
            return []
        mark = self._store.mark()
        seen, kept = self._everywhere
        if seen is not None and seen == mark:
            return kept
        found = [each.draft for id, session in self._sessions.all() for each in self._pending(id, session)]
        found.sort(key=lambda draft: draft.at)
        # Every answer says which records are damaged, so those are read each time.
        self._everywhere = (None if self._project.damage else mark, found)
        return found

    # Writing

    def append(self, draft: DraftRecord) -> Pending:
        """Keep a new draft."""
        store, sessions = self._demand()
        id = self._current(sessions)
        with store.transaction(actor=f"session {id}", reason=draft.operation) as transaction:
            number = 1 + max(self._last.get(id, 0), sessions.demand(transaction, id).saved_through)
            transaction.put(_drafts_of(id), _key(number), msgspec.to_builtins(draft), if_version=0)
        self._last[id] = number
        return Pending(id, number, draft)

    def remove(self, drafts: Iterable[Pending], reason: str) -> None:
        """Delete drafts; the store's events still have them."""
        store, sessions = self._demand()
        with store.transaction(actor="drafts", reason=reason) as transaction:
            for each in drafts:
                sessions.demand(transaction, each.session)
                transaction.delete(_drafts_of(each.session), _key(each.number))

    def _current(self, sessions: Sessions) -> str:
        """The session that this process writes to."""
        self._go_on(sessions)
        return sessions.own[-1] if sessions.own else sessions.new()

    def _go_on(self, sessions: Sessions) -> None:
        """Continue an ended session without pending drafts, if this process has no session yet: the changes saved from
        there can still be undone."""
        if sessions.own:
            return
        for id, session in reversed(sessions.abandoned()):
            if session.saving is None and not self._has_drafts(id, session) and sessions.claim(id):
                return

    def _has_drafts(self, id: str, session: Session) -> bool:
        """True if any draft of a session waits to be saved; damaged ones count."""
        damaged: Damaged = {}
        store, _ = self._demand()
        return bool(store.scan(_drafts_of(id), after=_key(session.saved_through), damaged=damaged) or damaged)

    def _own(self) -> list[tuple[str, Session]]:
        sessions = self._sessions
        return [(id, sessions.read(id)) for id in sessions.own] if sessions is not None else []

    def _demand(self) -> tuple[Store, Sessions]:
        if self._store is None or self._sessions is None:
            raise StoreError(
                "The project's store cannot be used, so a draft would be lost with the process.",
                hint="`clew doctor` says what is wrong with the store. Nothing was changed.",
            )
        return self._store, self._sessions

    # Saving

    def begin_save(self, saving: Saving, mutations: Sequence[SavedMutation]) -> None:
        """Record the save that is about to begin, and how to undo it."""
        store, sessions = self._demand()
        for own, session in self._own():
            # StoreCorrupt where one is damaged.
            store.scan(_drafts_of(own), after=_key(session.saved_through))
        id = self._current(sessions)
        with store.transaction(actor=f"session {id}", reason="save") as transaction:
            session = sessions.demand(transaction, id)
            for number, mutation in enumerate(mutations, start=session.saved_count + 1):
                transaction.put(_saved_of(id), _key(number), msgspec.to_builtins(mutation))
            sessions.put(transaction, id, msgspec.structs.replace(session, saving=saving))

    @contextmanager
    def finishing(self, id: str | None = None, *, reason: str = "save") -> Iterator[Transaction]:
        """The last step of a save, or of an interrupted one: the changes of the block and the records made here are one
        transaction, and no other process of Clew writes during it."""
        store, sessions = self._demand()
        id = id or self._current(sessions)
        with store.transaction(actor=f"session {id}", reason=reason) as transaction:
            saving = sessions.demand(transaction, id).saving
            yield transaction
            for each, number in saving.through.items() if saving is not None else ():
                session = sessions.demand(transaction, each)
                number = max(number, session.saved_through)
                sessions.put(transaction, each, msgspec.structs.replace(session, saved_through=number))
            session = sessions.demand(transaction, id)
            count = session.saved_count + (saving.mutations if saving is not None else 0)
            sessions.put(transaction, id, msgspec.structs.replace(session, saved_count=count, saving=None))

    def give_up_save(self, id: str | None = None) -> None:
        """Note that a save did not happen."""
        store, sessions = self._demand()
        id = id or self._current(sessions)
        with store.transaction(actor=f"session {id}", reason="save given up") as transaction:
            session = sessions.demand(transaction, id)
            sessions.put(transaction, id, msgspec.structs.replace(session, saving=None))

    def interrupted(self) -> list[tuple[str, bool]]:
        """The sessions with a save that a process left half done, and whether its files are written."""
        found = [(id, session.saving) for id, session in self._own() if session.saving is not None]
        return [(id, self._is_written(saving)) for id, saving in found]

    def _is_written(self, saving: Saving) -> bool:
        return bool(saving.transaction) and self._demand()[0].get(COLLECTION, saving.transaction) is not None

    # What was saved

    def saved(self) -> Iterator[SavedMutation]:
        """The mutations saved from the sessions of this process, newest first."""
        if self._store is None or self._sessions is None:
            return
        self._go_on(self._sessions)
        for id, session in reversed(self._own()):
            for number in range(session.saved_count, 0, -1):
                record = self._store.get(_saved_of(id), _key(number))
                if record is not None:
                    yield msgspec.convert(record.data, SavedMutation)

    def release(self) -> None:
        if self._sessions is not None:
            self._sessions.release()


def _drafts_of(session: str) -> str:
    return f"drafts.{session}"


def _saved_of(session: str) -> str:
    return f"saved_drafts.{session}"


def _key(number: int) -> str:
    return f"{number:09d}"
