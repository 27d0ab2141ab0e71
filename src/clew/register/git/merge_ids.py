"""Matching of the requirements in two versions of a register, and the ids under which both are compared.

An id identifies a requirement only within one version: two branches give the same id to different requirements, and a
merge gives one of them another. What never changes is when a requirement was made and the id that it had then.
"""

import re
from collections.abc import Mapping

import msgspec

from clew.formats.register.ids import format_id, in_order, number_of
from clew.formats.register.model import Register, Requirement
from clew.register.change.changes import relinked
from clew.register.change.draft import Author

_RENUMBERED = re.compile(r"renumbered from (\S+) \(merge")

Origin = tuple[str, str]
"""When a requirement was made, and the id it got then."""


class Aligned(msgspec.Struct, frozen=True):
    """The other two versions of a merge, with the ids of ours."""

    base: Register
    theirs: Register
    renumbered: dict[str, str]
    """Ids of the other side that mean something else here, and what they are now."""


def origin(requirement: Requirement) -> Origin:
    earlier = (match for entry in requirement.history if (match := _RENUMBERED.match(entry.action)))
    first = next(earlier, None)
    return requirement.created, first[1] if first else requirement.id


def aligned(base: Register, ours: Register, theirs: Register, by: Author) -> Aligned:
    known, fresh = known_ids(ours, theirs), _fresh(base, ours, theirs)
    new = known | fresh
    own = {origin(requirement): id for id, requirement in ours.requirements.items()}
    ids = {origin(requirement): new.get(id, id) for id, requirement in theirs.requirements.items()} | own
    before = {id: each for id, each in base.requirements.items() if origin(each) in ids}
    old = _moved(before, {id: ids[origin(each)] for id, each in before.items()})
    moved = _moved(theirs.requirements, new)
    # What our side removed and theirs left alone stays removed, even where its id is taken again.
    gone = [id for id, each in moved.items() if origin(each) not in own and old.get(id) == each]
    for id in gone:
        del moved[id], old[id]
    for earlier, id in fresh.items():
        if id in moved:
            entry = by.entry(f"renumbered from {earlier} (merge)")
            moved[id] = msgspec.structs.replace(moved[id], history=(*moved[id].history, entry))
    counter = max((theirs.next_id, *((number_of(id) or 0) + 1 for id in fresh.values())))
    return Aligned(
        msgspec.structs.replace(base, requirements=old),
        msgspec.structs.replace(theirs, requirements=moved, next_id=counter),
        {id: new[id] for id in in_order(new) if new[id] in moved},
    )


def known_ids(ours: Register, theirs: Register) -> dict[str, str]:
    """Requirements that an earlier merge gave another id on one of the sides: ours counts."""
    own = {origin(requirement): id for id, requirement in ours.requirements.items()}
    meant = {id: own.get(origin(requirement), id) for id, requirement in theirs.requirements.items()}
    return {id: here for id, here in meant.items() if here != id}


def _fresh(base: Register, ours: Register, theirs: Register) -> dict[str, str]:
    """New ids for requirements of their side only, if our side gave the id to another one, even if that is deleted."""
    own = {origin(requirement) for requirement in ours.requirements.values()}
    taken = max((number_of(id) or 0 for id in (*ours.requirements, *theirs.requirements)), default=0)
    free = max(ours.next_id, theirs.next_id, taken + 1)
    new: dict[str, str] = {}
    for id in in_order(theirs.requirements):
        if origin(theirs.requirements[id]) in own:
            continue
        removed_here = id not in base.requirements and base.next_id <= (number_of(id) or 0) < ours.next_id
        if id in ours.requirements or removed_here:
            new[id] = format_id(free)
            free += 1
    return new


def _moved(requirements: Mapping[str, Requirement], new: Mapping[str, str]) -> dict[str, Requirement]:
    """The requirements under their new ids, with the links that follow them."""
    moved: dict[str, Requirement] = {}
    for id, requirement in requirements.items():
        changed = relinked(requirement, new)
        here = new.get(id, id)
        moved[here] = changed if here == changed.id else msgspec.structs.replace(changed, id=here)
    return moved
