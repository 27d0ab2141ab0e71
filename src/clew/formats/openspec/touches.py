"""What a change touches, and how that was when the change was first seen."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from clew.formats.openspec.apply import Operation
from clew.formats.openspec.change import Change
from clew.formats.openspec.hashes import requirement_hash, settled
from clew.formats.openspec.records import Delta, Requirement, Spec

Place = tuple[str, str]
"""The id of a spec and the name of a requirement."""


class Touch(msgspec.Struct, frozen=True):
    """A requirement that a change touches, and what the change makes of it."""

    spec_id: str
    name: str
    operation: Operation
    text: str | None = None
    """The text it will have; None where it goes or only its name changes."""
    new_name: str = ""
    scenarios: tuple[str, ...] = ()
    """The scenarios it will have, where it has a text."""

    @property
    def place(self) -> Place:
        return self.spec_id, self.name


class Baseline(msgspec.Struct, frozen=True):
    """A requirement as it was when a change that touches it was first seen."""

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
        yield Touch(spec_id, rename.old, Operation.RENAMED, new_name=rename.new)
    for removal in delta.removed:
        yield Touch(spec_id, removal.name, Operation.REMOVED)
    for operation, requirements in ((Operation.MODIFIED, delta.modified), (Operation.ADDED, delta.added)):
        for each in requirements:
            yield Touch(spec_id, each.name, operation, settled(each), scenarios=scenario_names(each))


def _baseline(spec_id: str, name: str, requirement: Requirement | None) -> Baseline:
    if requirement is None:
        return Baseline(spec_id, name)
    return Baseline(spec_id, name, requirement_hash(requirement), settled(requirement), scenario_names(requirement))


def scenario_names(requirement: Requirement) -> tuple[str, ...]:
    return tuple(scenario.name for scenario in requirement.scenarios)


def record(change: Change, specs: Mapping[str, Spec]) -> tuple[Baseline, ...]:
    """The requirements that a change touches, as they are now; those that do not exist too."""
    found: dict[Place, Baseline] = {}
    for delta in change.deltas:
        there = by_name(specs.get(delta.spec_id))
        olds = {rename.new: rename.old for rename in delta.renamed}
        for touch in touches(delta):
            # What is renamed and modified is one requirement, known by its old name.
            name = olds.get(touch.name, touch.name)
            requirement = there.get(name)
            found[touch.spec_id, name] = _baseline(touch.spec_id, name, requirement)
    return tuple(found.values())


def by_name(spec: Spec | None) -> dict[str, Requirement]:
    return {requirement.name: requirement for requirement in spec.requirements} if spec is not None else {}


def by_place(changes: Sequence[Change]) -> dict[Place, list[tuple[str, Touch]]]:
    """Who touches a requirement, and how; a rename touches both names."""
    found: dict[Place, list[tuple[str, Touch]]] = {}
    for change in changes:
        for delta in change.deltas:
            for touch in touches(delta):
                for name in filter(None, dict.fromkeys((touch.name, touch.new_name))):
                    found.setdefault((touch.spec_id, name), []).append((change.id, touch))
    return found
