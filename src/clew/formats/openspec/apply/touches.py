"""Requirements that a change touches, and their state when the change was first seen."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from clew.formats.openspec.apply.delta import DeltaKind
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.records import Delta, Requirement, Spec, settled, text_hash, with_name

Place = tuple[str, str]
"""The id of a spec and the name of a requirement."""


class Touch(msgspec.Struct, frozen=True):
    """A requirement that a change touches, and what the change makes of it."""

    spec_id: str
    name: str
    operation: DeltaKind
    text: str | None = None
    """The text it will have; None where it goes or only its name changes."""
    new_name: str = ""
    scenarios: tuple[str, ...] = ()
    """The scenarios it will have, where it has a text."""

    @property
    def place(self) -> Place:
        return self.spec_id, self.name


class Baseline(msgspec.Struct, frozen=True):
    """A requirement as it is at some moment; what a change touches is recorded so when the change is first seen."""

    spec_id: str
    name: str
    hash: str = ""
    """Empty where the requirement did not exist."""
    text: str = ""
    scenarios: tuple[str, ...] = ()

    @property
    def place(self) -> Place:
        return self.spec_id, self.name


def touches(delta: Delta) -> Iterator[Touch]:
    """Everything a delta touches, one for each operation and name."""
    spec_id = delta.spec_id
    for rename in delta.renamed:
        yield Touch(spec_id, rename.old, DeltaKind.RENAMED, new_name=rename.new)
    for removal in delta.removed:
        yield Touch(spec_id, removal.name, DeltaKind.REMOVED)
    for operation, requirements in ((DeltaKind.MODIFIED, delta.modified), (DeltaKind.ADDED, delta.added)):
        for each in requirements:
            yield Touch(spec_id, each.name, operation, settled(each), scenarios=scenario_names(each))


def based(delta: Delta) -> Iterator[tuple[str, Touch]]:
    """Everything a delta touches, by the name that it has before: what is renamed and modified is one requirement."""
    olds = _olds(delta)
    return ((olds.get(touch.name, touch.name), touch) for touch in touches(delta))


def places(change: ChangeProposal) -> set[Place]:
    """Requirements that the change touches; only names are read."""
    found: set[Place] = set()
    for delta in change.deltas:
        olds = _olds(delta)
        names = [rename.old for rename in delta.renamed]
        names += (removal.name for removal in delta.removed)
        names += (requirement.name for requirement in (*delta.modified, *delta.added))
        found.update((delta.spec_id, olds.get(name, name)) for name in names)
    return found


def _olds(delta: Delta) -> dict[str, str]:
    return {rename.new: rename.old for rename in delta.renamed}


def standing(spec_id: str, name: str, requirement: Requirement | None) -> Baseline:
    if requirement is None:
        return Baseline(spec_id, name)
    text = settled(requirement)
    return Baseline(spec_id, name, text_hash(text), text, scenario_names(requirement))


def scenario_names(requirement: Requirement) -> tuple[str, ...]:
    return tuple(scenario.name for scenario in requirement.scenarios)


Promises = Mapping[Place, Mapping[str, Baseline]]
"""Requirements that open changes add under names that no spec has, by the change."""
NO_PROMISES: Promises = {}


def promises(changes: Sequence[ChangeProposal], specs: Mapping[str, Spec]) -> Promises:
    found: dict[Place, dict[str, Baseline]] = {}
    for change in changes:
        for delta in change.deltas:
            for each in _brought(delta, by_name(specs.get(delta.spec_id))):
                found.setdefault(each.place, {})[change.id] = each
    return found


def _brought(delta: Delta, there: Mapping[str, Requirement]) -> Iterator[Baseline]:
    spec_id = delta.spec_id
    yield from (standing(spec_id, each.name, each) for each in delta.added if each.name not in there)
    modified = {each.name: each for each in delta.modified}
    for rename in delta.renamed:
        if rename.new in there:
            continue
        if rename.new in modified:
            yield standing(spec_id, rename.new, modified[rename.new])
        elif rename.old in there:
            text = with_name(settled(there[rename.old]), rename.new)
            yield Baseline(spec_id, rename.new, text_hash(text), text, scenario_names(there[rename.old]))


def promised(place: Place, change_id: str, among: Promises) -> Baseline | None:
    """Requirement that another open change adds there; None if there is none."""
    return next((each for id, each in among.get(place, {}).items() if id != change_id), None)


def record(change: ChangeProposal, specs: Mapping[str, Spec], promises: Promises = NO_PROMISES) -> tuple[Baseline, ...]:
    """The requirements that a change touches, as they are now; what it adds may not exist. What it needs and no spec
    has is taken from the change that brings it, and is not recorded where none does: it has no base yet."""
    found: dict[Place, Baseline] = {}
    for delta in change.deltas:
        there = by_name(specs.get(delta.spec_id))
        for name, touch in based(delta):
            place = (touch.spec_id, name)
            if name in there or touch.operation is DeltaKind.ADDED:
                found[place] = standing(*place, there.get(name))
            elif (base := promised(place, change.id, promises)) is not None:
                found[place] = base
    return tuple(found.values())


def by_name(spec: Spec | None) -> dict[str, Requirement]:
    return {requirement.name: requirement for requirement in spec.requirements} if spec is not None else {}


Touching = Mapping[Place, Sequence[tuple[str, Touch]]]
"""Changes that touch a requirement, each with its touch."""


def by_place(changes: Sequence[ChangeProposal]) -> Touching:
    """Changes that touch a requirement, each with its touch; a rename touches both names."""
    found: dict[Place, list[tuple[str, Touch]]] = {}
    for change in changes:
        for delta in change.deltas:
            for touch in touches(delta):
                for name in filter(None, dict.fromkeys((touch.name, touch.new_name))):
                    found.setdefault((touch.spec_id, name), []).append((change.id, touch))
    return found
