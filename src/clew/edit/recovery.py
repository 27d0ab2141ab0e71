"""Recovery of transactions over files that killed processes left: they are completed or taken back."""

import logging
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec

from clew.edit import execution
from clew.edit.edits import place_of
from clew.edit.journal import FileStep, ForeignJournal, Journal, Step, TransactionState, journals
from clew.edit.replacing import sync_folder
from clew.errors import ClewError, OutsideProject

log = logging.getLogger(__name__)

COLLECTION = "file_edits"
_REASON = "complete interrupted writes"
_MOST_NAMED = 5
"""Paths of a transaction that a message names."""


class RecordAccess(Protocol):
    """The part of a store's transaction that is needed here."""

    def get(self, collection: str, id: str) -> object | None: ...

    def put(self, collection: str, id: str, data: Any) -> object: ...


class RecordStore(Protocol):
    """The part of a store that is needed here."""

    def transaction(self, *, actor: str, reason: str = "") -> AbstractContextManager[RecordAccess]: ...


def recover(root: Path, store: RecordStore | None) -> tuple[str, ...]:
    """Complete or take back the transactions that killed processes left below a folder, and say what was done. Call it
    before the folder's files are read or written."""
    said: list[str] = []
    foreign: list[Path] = []
    for place in journals(root):
        try:
            said.append(_recover_one(root, place, store))
        except ForeignJournal:
            foreign.append(place)
    if foreign:
        # A project may hold thousands of them.
        said.append(_left_alone(foreign))
        log.warning("%s", said[-1])
    return tuple(filter(None, said))


def _left_alone(foreign: list[Path]) -> str:
    if len(foreign) == 1:
        return (
            f"{foreign[0]} says what to do to files, and your key did not sign it: it came with the project, from "
            "another machine or user, or is of a version of Clew that signed none. It was left alone, and nothing of "
            "it was done: look at it, and remove it."
        )
    return (
        f"{foreign[0]} and {len(foreign) - 1:,} other journals say what to do to files, and your key did not sign "
        "them: they came with the project, from another machine or user, or are of a version of Clew that signed none. "
        "They were left alone, and nothing of them was done: look at them, and remove them."
    )


def _recover_one(root: Path, place: Path, store: RecordStore | None) -> str:
    journal: Journal | None = None
    try:
        with ExitStack() as stack:
            # Before the journal's lock: the process that holds the store's lock may be beginning this very journal.
            opened = None if store is None else store.transaction(actor="clew", reason=_REASON)
            records = None if opened is None else stack.enter_context(opened)
            journal, is_over, said = _attempt(root, place, records)
    except BaseException:
        if journal is not None:
            journal.release()
        raise
    if journal is not None:
        if is_over:
            journal.remove()
        else:
            journal.release()
    if said:
        log.warning("%s", said)
    return said


def _attempt(root: Path, place: Path, records: RecordAccess | None) -> tuple[Journal | None, bool, str]:
    """The journal, unless its writer lives; whether its transaction is over once the records are committed; and a
    sentence about it."""
    journal: Journal | None = None
    try:
        journal = Journal.reopen(place)
        return (None, False, "") if journal is None else (journal, *_recover(root, journal, records))
    except (OSError, OutsideProject) as error:
        named = f"The change in {place}" if journal is None else _named(journal)
        return journal, False, f"{named} could not be completed; the next process tries again: {error}."
    except BaseException:
        if journal is not None:
            journal.release()
        raise


def _named(journal: Journal) -> str:
    plan = journal.plan
    if plan is None:
        return "An interrupted change"
    paths = [step.path if isinstance(step, FileStep) else step.source for step in plan.steps]
    purpose = f"'{plan.event.reason}', " if plan.event is not None else ""
    return f"An interrupted change ({purpose}{', '.join(paths[:_MOST_NAMED])}{', ...' * (len(paths) > _MOST_NAMED)})"


def _recover(root: Path, journal: Journal, records: RecordAccess | None) -> tuple[bool, str]:
    """Complete or take back a transaction: True if it is over, and a sentence about it."""
    plan = journal.plan
    if plan is None:
        return True, ""
    if any(_is_of_git(root, path) for step in plan.steps for path in _paths(step)):
        return False, f"{_named(journal)} is about files of git's own, which are never touched here. Look at it."
    said = f"{_named(journal)} was completed."
    if records is not None and plan.event is not None and records.get(COLLECTION, plan.event.id) is not None:
        # It was committed, and only the end of its journal was lost with the machine's power: what was done to the
        # files since then is nobody's business here.
        return True, said
    was = journal.state
    if was is TransactionState.PREPARED:
        if all(execution.can_go_on(root, step) for step in plan.steps):
            for step in plan.steps:
                if execution.is_done(root, step):
                    execution.remove_emptied_folders(root, step)
                else:
                    execution.apply(root, step)
            execution.sync(root, plan.steps)
            journal.mark(TransactionState.DONE)
        else:
            said = f"{_named(journal)} was undone, because one of its files was changed meanwhile."
    elif was is not TransactionState.DONE:
        said = f"{_named(journal)} was undone; the files are as they were before it."
    if journal.state is not TransactionState.DONE:
        take_back(root, journal)
    elif plan.event is not None:
        if records is None:
            # The next process that has a store records it.
            return False, said if was is TransactionState.PREPARED else ""
        record(journal, records)
    return True, said


def _paths(step: Step) -> tuple[str, ...]:
    return (step.path,) if isinstance(step, FileStep) else (step.source, step.target)


def _is_of_git(root: Path, path: str) -> bool:
    """True if a path lies in the folder that git keeps a repository in. The root itself may: the hooks that Clew writes
    have their journal beside them."""
    inside = place_of(root, path).relative_to(root.resolve()).parts
    return any(part.lower().rstrip(". ") in (".git", "git~1") for part in inside)


def take_back(root: Path, journal: Journal) -> None:
    """Give every file that changed already its former content, unless somebody changed it since."""
    plan = journal.plan
    if plan is None:
        return
    if journal.state is not TransactionState.PLANNED:
        with suppress(OSError):
            # Even where the disk is full: the note is only for a process that is killed now.
            journal.mark(TransactionState.TAKING_BACK)
        for step in reversed(plan.steps):
            execution.revert(root, step)
        execution.sync(root, plan.steps)
    for step in plan.steps:
        if isinstance(step, FileStep):
            with suppress(NotADirectoryError):
                execution.temporary_of(root, step).unlink(missing_ok=True)
    for folder in reversed(plan.folders):
        with suppress(OSError, ClewError):
            place = place_of(root, folder)
            place.rmdir()
            sync_folder(place.parent)


def record(journal: Journal, records: RecordAccess) -> None:
    """Append the event of a transaction, with its inverse, unless that was done already."""
    plan = journal.plan
    if plan is None or plan.event is None or records.get(COLLECTION, plan.event.id) is not None:
        return
    inverse = [step.inverse for step in plan.steps if isinstance(step, FileStep)]
    records.put(COLLECTION, plan.event.id, {**plan.event.data, "inverse": msgspec.to_builtins(inverse)})
