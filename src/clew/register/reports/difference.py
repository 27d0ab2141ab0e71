"""Differences between two versions of a register."""

from collections.abc import Iterator

import msgspec

from clew.formats.register.ids import in_order
from clew.formats.register.model import Register, Requirement


class ChangedRequirementFields(msgspec.Struct, frozen=True):
    id: str
    transitions: tuple[str, ...]
    reason: str


class Diff(msgspec.Struct, frozen=True):
    spec: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedRequirementFields, ...]
    empty: bool
    truncated: bool = False


def transitions(before: Requirement, after: Requirement) -> Iterator[str]:
    """The differences between two versions of a requirement."""
    for name in ("title", "statement", "rationale"):
        if getattr(before, name) != getattr(after, name):
            yield f"{name} changed"
    for name in ("status", "priority", "kind"):
        old, new = getattr(before, name), getattr(after, name)
        if old is not new:
            yield f"{name}: {old.word} -> {new.word}"
    if before.acceptance != after.acceptance:
        yield f"acceptance: {len(before.acceptance)} -> {len(after.acceptance)} items"
    if before.links != after.links:
        yield f"links: {len(before.links)} -> {len(after.links)}"
    if before.tags != after.tags:
        yield f"tags: {', '.join(before.tags) or 'none'} -> {', '.join(after.tags) or 'none'}"


def of_evidence(before: Requirement, after: Requirement) -> Iterator[str]:
    """The differences in a requirement's records, and new entries in its history."""
    if before.tests != after.tests:
        yield f"evidence: {len(before.tests)} -> {len(after.tests)} records"
    elif before.updated != after.updated:
        yield f"history: {len(before.history)} -> {len(after.history)} entries"


def diff(spec: str, before: Register, after: Register, *, evidence: bool = False) -> Diff:
    """The requirements that were added, removed and changed; with `evidence` also those with new records of tests
    only."""
    old, new = before.requirements, after.requirements
    added = tuple(in_order(new.keys() - old.keys()))
    removed = tuple(in_order(old.keys() - new.keys()))
    changed = []
    for id in in_order(old.keys() & new.keys()):
        changes = (*transitions(old[id], new[id]), *(of_evidence(old[id], new[id]) if evidence else ()))
        if changes:
            changed.append(ChangedRequirementFields(id, changes, last_reason(new[id])))
    return Diff(spec, added, removed, tuple(changed), not (added or removed or changed))


def last_reason(requirement: Requirement) -> str:
    return next((entry.reason for entry in reversed(requirement.history) if entry.reason), "")


def changed_requirements(before: Register, after: Register) -> list[str]:
    """New ones, and those that differ in anything but their evidence."""
    return in_order(
        id
        for id, requirement in after.requirements.items()
        if (old := before.requirements.get(id)) is None
        or old.updated != requirement.updated
        or any(transitions(old, requirement))
    )
