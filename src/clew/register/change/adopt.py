"""Adopting requirements from existing documents, and moving ids out of each other's way."""

from collections.abc import Mapping

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.ids import in_order
from clew.formats.register.model import (
    EvidenceKind,
    RecordedOutcome,
    Register,
    Requirement,
    RequirementKind,
    Status,
    parse_word,
)
from clew.register.change.changes import check_dossier, relinked
from clew.register.change.draft import Draft
from clew.register.change.evidence import with_record
from clew.register.requests import Adoption

LADDER = (Status.DRAFT, Status.PROPOSED, Status.APPROVED, Status.IMPLEMENTED, Status.VERIFIED)
CRITERION = "What the system does today is what is required."
"""The criterion of a functional requirement that had none when it was adopted."""


class Adopted(msgspec.Struct, frozen=True):
    id: str
    hops: tuple[str, ...]
    """The statuses it went through; empty where it was as far already."""


class AdoptReport(msgspec.Struct, frozen=True):
    ok: bool
    dry_run: bool
    to: str
    adopted: tuple[Adopted, ...]


class RenumberReport(msgspec.Struct, frozen=True):
    ok: bool
    dry_run: bool
    base: str
    renumbered: dict[str, str]
    """Ids that the base gave to other requirements, and what they are now."""
    markers: dict[str, tuple[str, ...]] = {}
    """By old id, the places that still say it; `coverage --remap OLD=NEW --apply` rewrites them."""


def adopt(draft: Draft, wanted: Adoption, commit: str) -> AdoptReport:
    """Walk requirements up to a status, one entry of history for each step."""
    to, reason = parse_word(wanted.to, Status, "status", LADDER), wanted.reason
    drafts = [each.id for each in draft.requirements.values() if each.status is Status.DRAFT]
    chosen = {requirement.id: requirement for requirement in map(draft.find, wanted.ids or drafts)}
    for requirement in chosen.values():
        if requirement.status is Status.OBSOLETE:
            raise InvalidArgument(f"{requirement.id} is obsolete.", hint="Leave it out, or add it again.")
        if to is Status.VERIFIED:
            check_dossier(draft, requirement)
    adopted = [Adopted(id, tuple(status.word for status in _way(chosen[id], to))) for id in in_order(chosen)]
    if not wanted.dry_run:
        for each in adopted:
            if each.hops:
                _walk(draft, chosen[each.id], to, reason, commit)
    return AdoptReport(True, wanted.dry_run, to.word, tuple(adopted))


def _way(requirement: Requirement, to: Status) -> tuple[Status, ...]:
    return LADDER[LADDER.index(requirement.status) + 1 : LADDER.index(to) + 1]


def _walk(draft: Draft, requirement: Requirement, to: Status, reason: str, commit: str) -> None:
    way = _way(requirement, to)
    entries = [draft.author.entry(f"adopt → {status.word}", reason) for status in way]
    bare = requirement.kind is RequirementKind.FUNCTIONAL and not requirement.acceptance
    acceptance = (CRITERION,) if bare else requirement.acceptance
    moved = draft.change(requirement, *entries, status=to, acceptance=acceptance)
    if to is Status.VERIFIED:
        action = "inspection evidence recorded by adopt"
        with_record(
            *(draft, moved, action),
            commit=commit,
            outcome=RecordedOutcome.PASS,
            notes=reason,
            kind=EvidenceKind.INSPECTION,
            reason=reason,
        )


def renumber(draft: Draft, base: Register, name: str, *, dry_run: bool = False) -> RenumberReport:
    """Give a new id to every requirement whose id belongs to another requirement in the base. Requirements are
    different if they were created at different times; a reworded one is the same."""
    own = draft.requirements
    clashing = in_order(
        id for id in own.keys() & base.requirements.keys() if own[id].created != base.requirements[id].created
    )
    if dry_run:
        draft = Draft(draft.register, draft.author)
    draft.skip_to(base.next_id)
    new = {id: draft.allocate() for id in clashing}
    _move(draft, new)
    return RenumberReport(True, dry_run, name, new)


def _move(draft: Draft, new: Mapping[str, str]) -> None:
    for id, requirement in list(draft.requirements.items()) if new else ():
        moved = relinked(requirement, new)
        if id in new:
            draft.remove(id)
            entry = draft.author.entry(f"renumbered from {id} (merge with base)")
            moved = msgspec.structs.replace(moved, id=new[id])
            draft.change(moved, entry)
        elif moved is not requirement:
            draft.put(moved)
