"""Merging two versions of a register that go back to one.

Requirements are merged one by one, and of a requirement field by field. Where both sides gave the same id to different
requirements, that of the other side gets a new one, and the other side's links follow. What cannot be decided is a
conflict that names the field; the merged register then has our value there.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from clew.formats.register.ids import format_id, in_order, number_of
from clew.formats.register.model import Link, Register, Requirement
from clew.register.occasion import Occasion
from clew.register.validator_links import check_cycles, check_targets

Item = TypeVar("Item")

_PLAIN = ("title", "statement", "rationale", "kind", "priority", "status", "validation", "extras")
_ARTEFACTS = ("hazards", "safety_functions", "safety_requirements")
_COUNTERS = ("next_id", "next_haz_id", "next_sf_id", "next_sr_id")


class MergeConflict(msgspec.Struct, frozen=True):
    id: str
    field: str
    ours: str
    theirs: str


class Merged(msgspec.Struct, frozen=True):
    register: Register
    conflicts: tuple[MergeConflict, ...]
    renumbered: dict[str, str]
    """Ids of the other side that had to change, and what they are now."""


def merge(base: Register, ours: Register, theirs: Register, by: Occasion) -> Merged:
    theirs, renumbered = _renumbered(base, ours, theirs, by)
    conflicts: list[MergeConflict] = []
    requirements: dict[str, Requirement] = {}
    for id in in_order({*ours.requirements, *theirs.requirements}):
        kept = _requirement(
            *(id, base.requirements.get(id), ours.requirements.get(id), theirs.requirements.get(id)), conflicts
        )
        if kept is not None:
            requirements[id] = kept
    merged = ours.replaced(
        requirements=requirements,
        updated=max(ours.updated, theirs.updated, by.at),
        **{name: max(getattr(ours, name), getattr(theirs, name)) for name in _COUNTERS},
        **{name: _head(name, base, ours, theirs, conflicts) for name in ("name", "purpose", "config", "schema_rev")},
        **{name: _artefacts(name, base, ours, theirs, conflicts) for name in _ARTEFACTS},
    )
    known = _broken(ours) | _broken(theirs)
    conflicts += [MergeConflict(id, "links", message, "") for id, message in sorted(_broken(merged) - known)]
    return Merged(merged, tuple(conflicts), renumbered)


def _broken(register: Register) -> set[tuple[str, str]]:
    """Links that lead to nothing or in a circle."""
    requirements = register.requirements
    targets = (each for one in requirements.values() for each in check_targets(one, requirements))
    return {(each.id, each.message) for each in (*targets, *check_cycles(requirements))}


def _renumbered(base: Register, ours: Register, theirs: Register, by: Occasion) -> tuple[Register, dict[str, str]]:
    """Their register with a new id for everything that is new on both sides under one id and not the same."""
    taken = max((number_of(id) or 0 for id in (*ours.requirements, *theirs.requirements)), default=0)
    free = max(ours.next_id, theirs.next_id, taken + 1)
    new: dict[str, str] = {}
    for id in in_order(ours.requirements.keys() & theirs.requirements.keys() - base.requirements.keys()):
        one, other = ours.requirements[id], theirs.requirements[id]
        if (one.created, one.title) != (other.created, other.title):
            new[id] = format_id(free)
            free += 1
    if not new:
        return theirs, new
    moved = {}
    for id, requirement in theirs.requirements.items():
        changed = relinked(requirement, new)
        if id in new:
            entry = by.entry(f"renumbered from {id} (merge)")
            changed = msgspec.structs.replace(changed, id=new[id], history=(*changed.history, entry))
        moved[changed.id] = changed
    return theirs.replaced(requirements=moved, next_id=free), new


def relinked(requirement: Requirement, new: Mapping[str, str]) -> Requirement:
    if not any(link.target in new for link in requirement.links):
        return requirement
    links = tuple(msgspec.structs.replace(link, target=new.get(link.target, link.target)) for link in requirement.links)
    return msgspec.structs.replace(requirement, links=links)


def _requirement(
    id: str,
    base: Requirement | None,
    ours: Requirement | None,
    theirs: Requirement | None,
    conflicts: list[MergeConflict],
) -> Requirement | None:
    if ours is None or theirs is None:
        left = ours or theirs
        if base is None or left is None:
            return left
        if left == base:
            return None
        gone, stays = ("removed", "changed") if ours is None else ("changed", "removed")
        conflicts.append(MergeConflict(id, "requirement", gone, stays))
        return left
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    start = base or _common(ours, theirs)
    fields: dict[str, Any] = {}
    for name in _PLAIN:
        fields[name] = _field(id, name, start, ours, theirs, conflicts)
    fields["acceptance"] = _list(id, "acceptance", start.acceptance, ours.acceptance, theirs.acceptance, conflicts)
    return msgspec.structs.replace(
        ours,
        updated=max(ours.updated, theirs.updated),
        tags=_set(start.tags, ours.tags, theirs.tags),
        links=_links(start.links, ours.links, theirs.links),
        history=_grown(start.history, ours.history, theirs.history),
        tests=_grown(start.tests, ours.tests, theirs.tests),
        **fields,
    )


def _common(ours: Requirement, theirs: Requirement) -> Requirement:
    """What two versions without a common one can be taken to go back to: what they share."""
    shared = 0
    for one, other in zip(ours.history, theirs.history, strict=False):
        if one != other:
            break
        shared += 1
    tests = tuple(record for record in ours.tests if record in theirs.tests)
    return msgspec.structs.replace(ours, history=ours.history[:shared], tests=tests)


def _field(id: str, name: str, base: Any, ours: Any, theirs: Any, conflicts: list[MergeConflict]) -> Any:
    before, mine, other = getattr(base, name), getattr(ours, name), getattr(theirs, name)
    if mine == other or other == before:
        return mine
    if mine == before:
        return other
    conflicts.append(MergeConflict(id, name, _shown(mine), _shown(other)))
    return mine


def _head(name: str, base: Register, ours: Register, theirs: Register, conflicts: list[MergeConflict]) -> Any:
    return _field("register", name, base, ours, theirs, conflicts)


def _list(
    id: str,
    name: str,
    base: tuple[str, ...],
    ours: tuple[str, ...],
    theirs: tuple[str, ...],
    conflicts: list[MergeConflict],
) -> tuple[str, ...]:
    """Where both sides only appended, both appendices; otherwise one side may have changed it."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    start = len(base)
    if ours[:start] == theirs[:start] == base:
        return (*ours, *(item for item in theirs[start:] if item not in ours))
    conflicts.append(MergeConflict(id, name, _shown(ours), _shown(theirs)))
    return ours


def _set(base: Sequence[Item], ours: Sequence[Item], theirs: Sequence[Item]) -> tuple[Item, ...]:
    """What either side added, without what either side removed."""
    removed = [item for item in base if item not in ours or item not in theirs]
    kept = [item for item in ours if item not in removed]
    return (*kept, *(item for item in theirs if item not in kept and item not in removed))


def _links(base: tuple[Link, ...], ours: tuple[Link, ...], theirs: tuple[Link, ...]) -> tuple[Link, ...]:
    return _set(base, ours, theirs)


def _grown(base: tuple[Any, ...], ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Both continuations of a record that only grows, in the order of their times."""
    start = len(base)
    added = [*ours[start:], *(item for item in theirs[start:] if item not in ours[start:])]
    return (*base, *sorted(added, key=lambda item: item.at))


def _artefacts(name: str, base: Register, ours: Register, theirs: Register, conflicts: list[MergeConflict]) -> Any:
    """Safety artefacts are taken whole from the side that changed them."""
    before, mine, other = getattr(base, name), getattr(ours, name), getattr(theirs, name)
    merged: dict[str, Any] = {}
    for id in in_order({*mine, *other}):
        one, two, start = mine.get(id), other.get(id), before.get(id)
        if one != two and one != start and two != start:
            conflicts.append(MergeConflict(id, name, _shown(one), _shown(two)))
        chosen = two if one == start else one
        if chosen is not None:
            merged[id] = chosen
    return merged


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."
