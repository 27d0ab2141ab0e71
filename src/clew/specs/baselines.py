"""What open changes touched when they were first seen, kept in the store.

It is a memory of this working copy: a change that somebody else wrote begins here with what is in force here.
"""

import logging
from collections.abc import Callable, Mapping, Sequence

import msgspec

from clew.errors import StoreError
from clew.formats.openspec.apply.touches import Baseline, places, promises, record
from clew.specs.library import Library
from clew.store.interface import Store

log = logging.getLogger(__name__)

COLLECTION = "change_baselines"
_ACTOR = "clew"


def first_seen(
    known: Library, store: Store | None, is_archived: Callable[[str], bool]
) -> tuple[Mapping[str, Sequence[Baseline]], tuple[str, ...]]:
    """The baselines of every open change, and why they may be lacking. What is touched for the first time is recorded
    now; what was archived otherwise than by Clew is forgotten. One that is merely absent is kept: it may be on another
    branch. A store that cannot be used costs the memory and nothing else."""
    if store is None:
        return {}, ("There is no store, so what changed since a change was written is not known.",)
    try:
        remembered = {item.id: _decoded(item.data) for item in store.scan(COLLECTION)}
        over = [id for id in remembered if id not in known.changes and is_archived(id)]
        fresh = _fresh(known, remembered)
        if fresh or over:
            with store.transaction(actor=_ACTOR, reason="changes seen for the first time") as transaction:
                for id, baselines in fresh.items():
                    before = transaction.get(COLLECTION, id)
                    # Another process may have been first.
                    seen = {**_by_place(baselines), **_by_place(_decoded(before.data) if before is not None else ())}
                    remembered[id] = tuple(seen.values())
                    transaction.put(COLLECTION, id, msgspec.to_builtins(remembered[id]))
                for id in over:
                    del remembered[id]
                    if transaction.get(COLLECTION, id) is not None:
                        transaction.delete(COLLECTION, id)
    except StoreError as error:
        log.warning("What changes touched when they were written is not known: %s", error)
        return {}, (str(error),)
    return remembered, ()


def record_anew(change_id: str, known: Library, store: Store | None) -> tuple[str, ...]:
    """Compare a change with the specs as they are now from here on; returns the requirements that had moved."""
    if store is None:
        raise StoreError(
            "There is no store that could remember it.", hint="Make the folder .clew of the project writable."
        )
    specs = known.in_force()
    present = record(known.change(change_id).change, specs, promises(known.open_changes(), specs))
    with store.transaction(actor=_ACTOR, reason=f"{change_id} is up to date") as transaction:
        before = transaction.get(COLLECTION, change_id)
        seen = _by_place(_decoded(before.data) if before is not None else ())
        transaction.put(COLLECTION, change_id, msgspec.to_builtins(present))
    return tuple(each.name for each in present if each.place in seen and seen[each.place].hash != each.hash)


def forget(change_id: str, store: Store | None) -> None:
    """A change that is archived has no baseline any more, and neither has one that begins under the same name."""
    try:
        if store is not None and store.get(COLLECTION, change_id) is not None:
            with store.transaction(actor=_ACTOR, reason="the change is over") as transaction:
                transaction.delete(COLLECTION, change_id)
    except StoreError as error:
        # The files are written; that the baseline is still there must not look as if they were not.
        log.warning("What '%s' touched when it was written is still remembered: %s", change_id, error)


def _fresh(known: Library, remembered: Mapping[str, Sequence[Baseline]]) -> dict[str, tuple[Baseline, ...]]:
    """What is touched for the first time. Where there is nothing new, no spec is looked into."""
    changes = known.open_changes()
    seen = {change.id: {each.place for each in remembered.get(change.id, ())} for change in changes}
    new = [change for change in changes if not places(change) <= seen[change.id]]
    if not new:
        return {}
    in_force = known.in_force()
    brought = promises(changes, in_force)
    found = {
        change.id: tuple(each for each in record(change, in_force, brought) if each.place not in seen[change.id])
        for change in new
    }
    return {id: baselines for id, baselines in found.items() if baselines}


def _by_place(baselines: Sequence[Baseline]) -> dict[tuple[str, str], Baseline]:
    return {each.place: each for each in baselines}


def _decoded(data: object) -> tuple[Baseline, ...]:
    return msgspec.convert(data, tuple[Baseline, ...])
