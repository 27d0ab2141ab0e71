"""What happens to the transactions over files that killed processes left: they are completed or taken back."""

import logging
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec

from clew.edit import execution
from clew.edit.edits import place_of
from clew.edit.journal import FileStep, Journal, State, journals
from clew.errors import ClewError, OutsideProject

log = logging.getLogger(__name__)

COLLECTION = "file_edits"


class Records(Protocol):
    """The part of a store's transaction that is needed here."""

    def get(self, collection: str, id: str) -> object | None: ...

    def put(self, collection: str, id: str, data: Any) -> object: ...


class RecordStore(Protocol):
    """The part of a store that is needed here."""

    def transaction(self, *, actor: str, reason: str = "") -> AbstractContextManager[Records]: ...


def recover(root: Path, store: RecordStore | None) -> None:
    """Complete or take back the transactions that killed processes left below a folder. Call it before its files are
    read or written."""
    for place in journals(root):
        if store is None:
            journal = _recover_one(root, place, None)
        else:
            with store.transaction(actor="clew", reason="complete interrupted writes") as records:
                journal = _recover_one(root, place, records)
        if journal is not None:
            journal.remove()


def _recover_one(root: Path, place: Path, records: Records | None) -> Journal | None:
    """The journal, if its transaction is over once the records are committed."""
    journal: Journal | None = None
    try:
        journal = Journal.reopen(place)
        if journal is not None and _recover(root, journal, records):
            return journal
    except (OSError, OutsideProject) as error:
        log.warning("The transaction in %s could not be completed; the next process tries again: %s", place, error)
    except BaseException:
        if journal is not None:
            journal.release()
        raise
    if journal is not None:
        journal.release()
    return None


def _recover(root: Path, journal: Journal, records: Records | None) -> bool:
    """Whether the transaction is over."""
    plan = journal.plan
    if plan is None:
        return True
    if records is not None and plan.event is not None and records.get(COLLECTION, plan.event.id) is not None:
        # It was committed, and only the end of its journal was lost with the machine's power: what was done to the
        # files since then is nobody's business here.
        return True
    if journal.state is State.PREPARED:
        if all(execution.can_go_on(root, step) for step in plan.steps):
            for step in plan.steps:
                if not execution.is_done(root, step):
                    execution.apply(root, step)
            execution.sync(root, plan.steps)
            journal.mark(State.DONE)
        else:
            log.warning("A file of an interrupted transaction was changed meanwhile, so the transaction is taken back.")
    if journal.state is not State.DONE:
        take_back(root, journal)
    elif plan.event is not None:
        if records is None:
            return False
        record(journal, records)
    return True


def take_back(root: Path, journal: Journal) -> None:
    """Give every file that changed already its former content, unless somebody changed it since."""
    plan = journal.plan
    if plan is None:
        return
    if journal.state is not State.PLANNED:
        with suppress(OSError):
            # Even where the disk is full: the note is only for a process that is killed now.
            journal.mark(State.TAKING_BACK)
        for step in reversed(plan.steps):
            execution.revert(root, step)
        execution.sync(root, plan.steps)
    for step in plan.steps:
        if isinstance(step, FileStep):
            with suppress(NotADirectoryError):
                execution.temporary_of(root, step).unlink(missing_ok=True)
    for folder in reversed(plan.folders):
        with suppress(OSError, ClewError):
            place_of(root, folder).rmdir()


def record(journal: Journal, records: Records) -> None:
    """Append the event of a transaction, with its inverse, unless that was done already."""
    plan = journal.plan
    if plan is None or plan.event is None or records.get(COLLECTION, plan.event.id) is not None:
        return
    inverse = [step.inverse for step in plan.steps if isinstance(step, FileStep)]
    records.put(COLLECTION, plan.event.id, {**plan.event.data, "inverse": msgspec.to_builtins(inverse)})
