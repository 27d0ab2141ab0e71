"""Order in which changes must be archived."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

import msgspec

from clew.formats.openspec.apply.delta import DeltaKind
from clew.formats.openspec.apply.touches import Touch, Touching, by_name, by_place
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.records import Requirement, Spec, settled


class Dependency(msgspec.Struct, frozen=True):
    """One change can be archived only after another."""

    first: str
    then: str
    spec_id: str
    requirement: str
    reason: str


def dependencies(
    changes: Sequence[ChangeProposal], specs: Mapping[str, Spec], places: Touching | None = None
) -> tuple[Dependency, ...]:
    """Dependencies between changes: one modifies a requirement that another adds, or takes a name that another frees.
    `places` holds the requirements that they touch, if known."""
    found: dict[tuple[str, str, str, str], Dependency] = {}
    for (spec_id, name), touching in (by_place(changes) if places is None else places).items():
        if len(touching) == 1:
            continue
        there = by_name(specs.get(spec_id))
        for one, mine in touching:
            for other, theirs in touching:
                reason = must_precede(mine, theirs, name, there) if one != other else None
                if reason is not None:
                    found[one, other, spec_id, name] = Dependency(one, other, spec_id, name, reason)
    return tuple(found[key] for key in sorted(found))


def order(changes: Sequence[ChangeProposal], needed: Sequence[Dependency]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The changes in an order in which they can be archived, and those that wait for each other in a circle."""
    sorter: TopologicalSorter[str] = TopologicalSorter({change.id: () for change in changes})
    for each in needed:
        sorter.add(each.then, each.first)
    with suppress(CycleError):  # the sorter still gives everything that does not wait for the circle
        sorter.prepare()
    ordered: list[str] = []
    while ready := sorted(sorter.get_ready()):
        ordered.extend(ready)
        sorter.done(*ready)
    return tuple(ordered), tuple(sorted({change.id for change in changes}.difference(ordered)))


def must_precede(first: Touch, then: Touch, name: str, there: Mapping[str, Requirement]) -> str | None:
    """Reason why the first must come before the second; None if it need not. `there` are the requirements of the
    spec."""
    if name not in there:
        brings = first.new_name == name or (first.operation is DeltaKind.ADDED and first.name == name)
        needs = then.name == name and then.operation is not DeltaKind.ADDED
        return f"{then.operation.value} what the other brings" if brings and needs else None
    frees = first.name == name and first.operation in (DeltaKind.REMOVED, DeltaKind.RENAMED)
    return "takes a name that the other frees" if frees and _takes(then, name, there) else None


def _takes(touch: Touch, name: str, there: Mapping[str, Requirement]) -> bool:
    """True if a change takes a name that exists; one that was applied already has taken it."""
    if touch.new_name == name:
        return touch.name in there
    return touch.operation is DeltaKind.ADDED and touch.name == name and touch.text != settled(there[name])
