"""Which changes must be archived before which."""

from collections.abc import Mapping, Sequence

import msgspec

from clew.formats.openspec.apply import Operation
from clew.formats.openspec.change import Change
from clew.formats.openspec.records import Spec
from clew.formats.openspec.touches import Touch, by_name, by_place


class Dependency(msgspec.Struct, frozen=True):
    """One change can be archived only after another."""

    first: str
    then: str
    spec_id: str
    requirement: str
    reason: str


def dependencies(changes: Sequence[Change], specs: Mapping[str, Spec]) -> tuple[Dependency, ...]:
    """Which changes must be archived before which: what one adds another modifies, what one frees another takes."""
    found: dict[tuple[str, str, str, str], Dependency] = {}
    for (spec_id, name), touching in by_place(changes).items():
        if len(touching) == 1:
            continue
        exists = name in by_name(specs.get(spec_id))
        for one, mine in touching:
            for other, theirs in touching:
                reason = must_precede(mine, theirs, name, exists=exists) if one != other else None
                if reason is not None:
                    found[one, other, spec_id, name] = Dependency(one, other, spec_id, name, reason)
    return tuple(found[key] for key in sorted(found))


def order(changes: Sequence[Change], needed: Sequence[Dependency]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The changes in an order in which they can be archived, and those that wait for each other in a circle."""
    waiting = {change.id: {each.first for each in needed if each.then == change.id} for change in changes}
    ordered: list[str] = []
    while ready := sorted(id for id, before in waiting.items() if not before):
        for id in ready:
            del waiting[id]
        ordered.extend(ready)
        for before in waiting.values():
            before.difference_update(ready)
    return tuple(ordered), tuple(sorted(waiting))


def must_precede(first: Touch, then: Touch, name: str, *, exists: bool) -> str | None:
    """Why the first must come before the second; None where it need not. `exists` says whether a spec has the name."""
    brings = first.new_name == name or (first.operation is Operation.ADDED and first.name == name)
    needs = then.name == name and then.operation is not Operation.ADDED
    if brings and needs and not exists:
        return f"{then.operation.value} what the other brings"
    frees = first.name == name and first.operation in (Operation.REMOVED, Operation.RENAMED)
    takes = then.new_name == name or (then.operation is Operation.ADDED and then.name == name)
    return "takes a name that the other frees" if frees and takes and exists else None
