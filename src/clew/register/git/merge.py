"""Merging two versions of a register that go back to one.

Requirements are merged one by one, and of a requirement field by field. Where both sides gave the same id to different
requirements, that of the other side gets a new one, and the other side's links follow. What cannot be decided is a
conflict that names the field; the merged register then has our value there.

A register in one file is merged by the driver, which git calls with three versions of that file. One in a folder cannot
be: git merges its files one by one, but a new id, a link and the checksum concern several of them at once. There the
driver only reports a conflict, and `req merge` takes all versions of all files from git's own objects.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from clew.errors import ClewError, InvalidArgument
from clew.formats.register.ids import in_order
from clew.formats.register.model import HistoryEntry, Register, Requirement, TestRecord
from clew.register.change.draft import Author
from clew.register.change.transaction import LockedRegister, RegisterFile
from clew.register.git.merge_ids import aligned
from clew.register.git.repository import Repository
from clew.register.git.revisions import register_at
from clew.register.rules.links import check_cycles, check_targets

Item = TypeVar("Item")
Entry = TypeVar("Entry", bound=HistoryEntry | TestRecord)

_PLAIN = ("title", "statement", "rationale", "kind", "priority", "status", "validation")
_KEYED = ("hazards", "safety_functions", "safety_requirements", "extras")
_NOTHING = object()
"""The value of a missing field."""
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
    kept: Path | None = None
    """The copy of the register that the merged one replaced, if it held something that neither side has."""
    other: str | None = None
    """The commit of the other side, where that is known."""


def merge(base: Register, ours: Register, theirs: Register, by: Author) -> Merged:
    known = _broken(ours) | _broken(theirs)
    found = aligned(base, ours, theirs, by)
    base, theirs = found.base, found.theirs
    conflicts: list[MergeConflict] = []
    requirements: dict[str, Requirement] = {}
    for id in in_order({*ours.requirements, *theirs.requirements}):
        kept = _requirement(
            *(id, base.requirements.get(id), ours.requirements.get(id), theirs.requirements.get(id)), conflicts
        )
        if kept is not None:
            requirements[id] = kept
    merged = msgspec.structs.replace(
        ours,
        requirements=requirements,
        updated=max(ours.updated, theirs.updated, by.at),
        **{name: max(getattr(ours, name), getattr(theirs, name)) for name in _COUNTERS},
        **{name: _head(name, base, ours, theirs, conflicts) for name in ("name", "purpose", "config", "schema_rev")},
        **{
            name: _keyed(None, getattr(base, name), getattr(ours, name), getattr(theirs, name), conflicts)
            for name in _KEYED
        },
        notice=ours.notice or theirs.notice,
        history=_grown(ours.history, theirs.history),
    )
    conflicts += [MergeConflict(id, "links", message, "") for id, message in sorted(_broken(merged) - known)]
    return Merged(merged, tuple(conflicts), found.renumbered)


def _broken(register: Register) -> set[tuple[str, str]]:
    """Links that lead to nothing or in a circle."""
    requirements = register.requirements
    targets = (each for one in requirements.values() for each in check_targets(one, requirements))
    return {(each.id, each.message) for each in (*targets, *check_cycles(requirements))}


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
    return _merged_fields(id, base or _older(ours, theirs), ours, theirs, conflicts)


def _merged_fields(
    id: str, base: Requirement | None, ours: Requirement, theirs: Requirement, conflicts: list[MergeConflict]
) -> Requirement:
    """Both versions in one. Without one that they go back to, every difference is a conflict."""
    fields: dict[str, Any] = {}
    for name in _PLAIN:
        before = getattr(base, name) if base else _NOTHING
        fields[name] = _field(id, name, before, getattr(ours, name), getattr(theirs, name), conflicts)
    criteria = base.acceptance if base else None
    fields["acceptance"] = _list(id, "acceptance", criteria, ours.acceptance, theirs.acceptance, conflicts)
    fields["extras"] = _keyed(id, base.extras if base else {}, ours.extras, theirs.extras, conflicts)
    return msgspec.structs.replace(
        ours,
        updated=max(ours.updated, theirs.updated),
        tags=_set(base.tags if base else (), ours.tags, theirs.tags),
        links=_set(base.links if base else (), ours.links, theirs.links),
        history=_grown(ours.history, theirs.history),
        tests=_grown(ours.tests, theirs.tests),
        **fields,
    )


def _older(ours: Requirement, theirs: Requirement) -> Requirement | None:
    """The older of two versions, which the other is based on; None if both went on, or if neither says which is
    older."""
    if len(ours.history) == len(theirs.history):
        return None
    shared = _shared(ours.history, theirs.history)
    return next((each for each in (theirs, ours) if len(each.history) == shared), None)


def _field(id: str, name: str, before: Any, mine: Any, other: Any, conflicts: list[MergeConflict]) -> Any:
    if mine == other or other == before:
        return mine
    if mine == before:
        return other
    conflicts.append(MergeConflict(id, name, _shown(mine), _shown(other)))
    return mine


def _head(name: str, base: Register, ours: Register, theirs: Register, conflicts: list[MergeConflict]) -> Any:
    return _field("register", name, getattr(base, name), getattr(ours, name), getattr(theirs, name), conflicts)


def _list(
    id: str,
    name: str,
    base: tuple[str, ...] | None,
    ours: tuple[str, ...],
    theirs: tuple[str, ...],
    conflicts: list[MergeConflict],
) -> tuple[str, ...]:
    """Both appendices, if both sides only appended; otherwise the side that changed the list, if only one did."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    start = len(base or ())
    if base is not None and ours[:start] == theirs[:start] == base:
        return (*ours, *(item for item in theirs[start:] if item not in ours))
    conflicts.append(MergeConflict(id, name, _shown(ours), _shown(theirs)))
    return ours


def _set(base: Sequence[Item], ours: Sequence[Item], theirs: Sequence[Item]) -> tuple[Item, ...]:
    """The additions of both sides, without the removals of either."""
    removed = [item for item in base if item not in ours or item not in theirs]
    kept = [item for item in ours if item not in removed]
    return (*kept, *(item for item in theirs if item not in kept and item not in removed))


def _grown(ours: Sequence[Entry], theirs: Sequence[Entry]) -> tuple[Entry, ...]:
    """Both continuations of a record that only grows, in the order of their times."""
    shared = _shared(ours, theirs)
    added = [*ours[shared:], *(item for item in theirs[shared:] if item not in ours[shared:])]
    return (*ours[:shared], *sorted(added, key=lambda item: item.at))


def _shared(ours: Sequence[Item], theirs: Sequence[Item]) -> int:
    """The length of the common beginning of two records."""
    pairs = zip(ours, theirs, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(ours), len(theirs)))


def _keyed(
    id: str | None,
    base: Mapping[str, Any],
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    conflicts: list[MergeConflict],
) -> dict[str, Any]:
    """Values that are taken whole from the side that changed them. Without an id, the keys are ids themselves, or keys
    of the register that Clew does not know."""
    merged: dict[str, Any] = {}
    for key in in_order({*ours, *theirs}):
        one, two, start = ours.get(key), theirs.get(key), base.get(key)
        chosen = two if one == start else one
        if one != two and one != start and two != start:
            conflicts.append(MergeConflict(id or key, key if id else "value", _shown(one), _shown(two)))
            chosen = two if one is None else one
        if chosen is not None or (key in ours and key in theirs):
            merged[key] = chosen
    return merged


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."


_MERGING = "MERGE_HEAD"
_PICKING = ("CHERRY_PICK_HEAD", "REBASE_HEAD")
_REBASED = "ORIG_HEAD"
"""In the middle of a rebase, the end of the branch as it was."""
_NAMED = "GITHEAD_"
"""Begins the variables in which `git merge` names the commits that it merges."""


def merge_branch(file: RegisterFile, repository: Repository, theirs: str | None, by: Author) -> Merged:
    """Merge a revision, or the one that git is merging, into the register of HEAD, and write it."""
    head = repository.head()
    if head is None:
        raise InvalidArgument("There is no commit to merge into.", hint="Commit first.")
    other, base = _sides(repository, head, theirs)
    # In the middle of a merge the work tree holds no side of it; otherwise it may hold what nobody committed yet.
    merging = any(repository.commit_of(name) is not None for name in (_MERGING, *_PICKING))
    try:
        before = register_at(file, repository, base) if base else None
    except ClewError:
        before = None
    further = register_at(file, repository, other)
    with file.held() as held:
        ours = register_at(file, repository, head) if merging else held.read()
        # Without a version that both go back to, everything is new on both sides.
        empty = msgspec.structs.replace(ours, requirements={}, hazards={}, safety_functions={}, safety_requirements={})
        merged = merge(before or empty, ours, further, by)
        kept = held.keep() if merging and _is_worth_keeping(held, ours, merged.register) else None
        held.write(merged.register)
    return msgspec.structs.replace(merged, kept=kept, other=other)


def side_of(
    repository: Repository, version: bytes, path: str, environment: Mapping[str, str] = os.environ
) -> str | None:
    """The commit from which a version of a file comes. git gives a merge driver only the content, so every commit that
    may be meant is looked at."""
    blob = repository.blob_of(version)
    named = (name.removeprefix(_NAMED) for name in environment if name.startswith(_NAMED))
    for name in (*named, _MERGING, _REBASED, *_PICKING):
        commit = repository.commit_of(name)
        if commit is not None and repository.blob_at(commit, path) == blob:
            return commit
    return next(
        (each for each in repository.commits_around(blob, path) if repository.blob_at(each, path) == blob), None
    )


def _is_worth_keeping(held: LockedRegister, *known: Register) -> bool:
    """True if the work tree has a sound register that is none of these versions: somebody may have continued after a
    conflict."""
    try:
        present = held.read().requirements
    except ClewError:
        return False
    return all(present != each.requirements for each in known)


def _sides(repository: Repository, head: str, theirs: str | None) -> tuple[str, str | None]:
    """The commit of the other side, and the one that both go back to."""
    for name in _PICKING if theirs is None else ():
        picked = repository.commit_of(name)
        if picked is not None:
            return picked, repository.commit_of(f"{name}~1")
    other = repository.revision(theirs) if theirs is not None else repository.commit_of(_MERGING)
    if other is None:
        raise InvalidArgument("git is not in the middle of a merge.", hint="Name the branch: clew req merge BRANCH.")
    return other, repository.common(head, other)
