"""Adding, changing, retiring, linking and splitting requirements, on a draft."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import AlreadyExists, InvalidArgument, NotFound, Refused, WouldCycle
from clew.formats.register.ids import in_order, normalise, number_of
from clew.formats.register.model import (
    LINK_KINDS,
    LinkKind,
    Priority,
    Requirement,
    RequirementKind,
    RequirementLink,
    Status,
    parse_word,
)
from clew.register import results
from clew.register.change.draft import BATCH, Draft, checked
from clew.register.change.kept_history import REMOVED
from clew.register.requests import Addition, Deletion, LinkChange, Splitting, Update
from clew.register.rules.lifecycle import check_move, may_be_verified
from clew.register.rules.links import DIRECTED, path_between
from clew.register.rules.validator import TITLE_MOST
from clew.text.display import counted, shortened


def add(draft: Draft, new: Addition, *, action: str | None = None, reason: str | None = None) -> results.Added:
    """Add a new draft requirement. A text that the validator rejects uses up no id."""
    links = (
        ()
        if new.parent is None
        else (RequirementLink(kind=LinkKind.PARENT, target=draft.find(new.parent, "parent").id),)
    )
    moment = draft.author.at
    requirement = Requirement(
        id="",
        title=new.title,
        statement=new.statement,
        rationale=new.rationale,
        acceptance=new.acceptance,
        kind=parse_word(new.kind, RequirementKind, "kind"),
        priority=parse_word(new.priority, Priority, "priority"),
        status=Status.DRAFT,
        tags=tuple(dict.fromkeys(new.tags)),
        links=links,
        created=moment,
        updated=moment,
        history=(draft.author.entry(action or draft.author.with_channel("created"), reason),),
        tests=(),
    )
    warnings = checked(requirement)
    requirement = msgspec.structs.replace(requirement, id=draft.allocate())
    draft.put(requirement)
    return results.Added(requirement.id, tuple(each.text for each in warnings))


def update(draft: Draft, wanted: Update) -> results.Updated:
    """Change the given fields. If they have these values already, nothing is written."""
    requirement = draft.find(wanted.id)
    fields, changes = _amended(requirement, wanted)
    if not changes:
        return results.Updated((), requirement.id)
    status = fields.get("status")
    if status is not None:
        check_move(requirement, status, force=wanted.force)
    amended = msgspec.structs.replace(requirement, **fields)
    warnings = checked(amended)
    if status is Status.VERIFIED:
        check_dossier(draft, amended)
    draft.change(amended, draft.author.entry("; ".join(changes), wanted.reason))
    return results.Updated(tuple(changes), requirement.id, tuple(each.text for each in warnings))


def check_dossier(draft: Draft, requirement: Requirement) -> None:
    if not may_be_verified(requirement, draft.register):
        raise Refused(
            f"{requirement.id} needs a dossier that passed before it is verified: this file has schema revision "
            f"{draft.register.schema_rev}.",
            hint="Conclude the dossier with `req validation`, or tag the requirement as exempt.",
        )


def _amended(requirement: Requirement, wanted: Update) -> tuple[dict[str, Any], list[str]]:
    """The fields that differ, each with its entry for the history."""
    fields: dict[str, Any] = {}
    changes: list[str] = []
    for name in ("title", "statement", "rationale"):
        value = getattr(wanted, name)
        if value is not None and value != getattr(requirement, name):
            fields[name] = value
            changes.append(name)
    acceptance, described = _amended_acceptance(requirement.acceptance, wanted)
    if described:
        fields["acceptance"] = acceptance
        changes.extend(described)
    for name, words in (("kind", RequirementKind), ("priority", Priority), ("status", Status)):
        written = getattr(wanted, name)
        value = parse_word(written, words, name) if written else None
        if value is not None and value is not getattr(requirement, name):
            fields[name] = value
            changes.append(f"{name}→{value.word}")
    tags, described = _amended_tags(requirement.tags, wanted)
    if described:
        fields["tags"] = tags
        changes.extend(described)
    return fields, changes


def _amended_acceptance(now: tuple[str, ...], wanted: Update) -> tuple[tuple[str, ...], list[str]]:
    criteria = list(now)
    described: list[str] = []
    if wanted.acceptance is not None and wanted.acceptance != now:
        criteria = list(wanted.acceptance)
        described.append("acceptance replaced")
    for criterion in wanted.add_acceptance:
        criteria.append(criterion)
        described.append(f'+acceptance: "{criterion}"')
    for number in sorted(set(wanted.remove_acceptance), reverse=True):
        if not 1 <= number <= len(criteria):
            there = counted(len(criteria), "criterion", "criteria")
            raise InvalidArgument(
                f"remove_acceptance index {number} is out of range: the list has {there}.",
                hint="Criteria are counted from 1; req_show lists them.",
            )
        described.append(f'-acceptance #{number}: "{criteria.pop(number - 1)}"')
    return tuple(criteria), described


def _amended_tags(now: tuple[str, ...], wanted: Update) -> tuple[tuple[str, ...], list[str]]:
    tags = list(now)
    described: list[str] = []
    for tag in wanted.add_tag:
        if tag not in tags:
            tags.append(tag)
            described.append(f"+tag {tag}")
    for tag in wanted.remove_tag:
        if tag in tags:
            tags.remove(tag)
            described.append(f"-tag {tag}")
    return tuple(tags), described


def delete(draft: Draft, wanted: Deletion, *, again: bool = False) -> results.Deleted:
    """Retire a requirement, or, where nothing links to it, remove it."""
    requirement, reason = draft.find(wanted.id), wanted.reason
    if not wanted.hard:
        if requirement.status is Status.OBSOLETE and not again:
            raise Refused(
                f"{requirement.id} is obsolete already.", hint="Nothing is left to do; req_show tells since when."
            )
        action = draft.author.with_channel("marked obsolete")
        draft.change(requirement, draft.author.entry(action, reason), status=Status.OBSOLETE)
        return results.Deleted("soft", requirement.id)
    inbound = in_order(
        other.id for other in draft.requirements.values() if any(link.target == requirement.id for link in other.links)
    )
    if inbound:
        raise Refused(
            f"{requirement.id} is referenced by {', '.join(inbound)}.",
            hint="Retire it instead (hard=false), or remove those links first with req_link and remove=true.",
            data={"inbound": inbound},
        )
    draft.remove(requirement.id)
    draft.record(f"{REMOVED} {requirement.id} '{requirement.title}'", reason)
    return results.Deleted("hard", requirement.id)


def link(draft: Draft, wanted: LinkChange, *, reason: str | None = None) -> results.Linked:
    """Add or remove a link."""
    kind, remove = parse_word(wanted.kind, LinkKind, "link kind", LINK_KINDS), wanted.remove
    start, end = draft.find(wanted.source, "source"), _end(draft, wanted.to)
    if start.id == end.id:
        raise InvalidArgument(f"{start.id} cannot link to itself.", hint="Name two different requirements.")
    action = f"{'removed' if remove else 'added'} {kind.word} link to {end.id}"
    # Of a single link req does not say where it came from.
    entry = draft.author.entry(draft.author.with_channel(action) if draft.author.channel == BATCH else action, reason)
    exists = end.id in start.targets(kind)
    if remove:
        if not exists:
            raise NotFound(
                f"{start.id} has no {kind.word} link to {end.id}.", hint=f"Its links are: {_links(start) or 'none'}."
            )
        kept = tuple(each for each in start.links if not (each.kind is kind and each.target == end.id))
        draft.change(start, entry, links=kept)
    else:
        if exists:
            raise AlreadyExists(
                f"{start.id} has a {kind.word} link to {end.id} already.", hint="Nothing is left to do."
            )
        check_circle(draft, start.id, end.id, kind)
        draft.change(start, entry, links=(*start.links, RequirementLink(kind=kind, target=end.id)))
    return results.Linked(start.id, kind.word, remove, end.id)


def _end(draft: Draft, target: str) -> Requirement:
    if number_of(normalise(target)) is None and target.strip() not in draft.requirements:
        raise NotFound(
            f"'{shortened(target)}' is not a requirement of the register, and links lead from one to another of those.",
            hint=f"To cite a requirement of another format, write `Implements: {shortened(target)}` into the rationale "
            "with req_update; `Refines:` and `Verifies:` are understood too.",
        )
    return draft.find(target, "target")


def check_circle(draft: Draft, start: str, end: str, kind: LinkKind) -> None:
    back = path_between(draft.requirements, end, start, kind) if kind in DIRECTED else None
    if back is not None:
        raise WouldCycle(
            f"A {kind.word} link from {start} to {end} would create a cycle: {' -> '.join((start, *back))}.",
            hint="Reverse the link, use another kind, or remove a link of the circle first.",
        )


def _links(requirement: Requirement) -> str:
    return ", ".join(f"{each.kind.word} {each.target}" for each in requirement.links)


def split(draft: Draft, wanted: Splitting) -> results.Split:
    """Replace one requirement by several. Each part refines the original, so the trace stays whole."""
    original, into = draft.find(wanted.id), wanted.into
    if len(into) < 2:
        raise InvalidArgument(
            f"'into' has {len(into)} statements; at least 2 are needed.", hint="Give each part as a statement."
        )
    if original.status is Status.OBSOLETE:
        raise Refused(f"{original.id} is obsolete and cannot be split.", hint="Split a live requirement.")
    count, reason = len(into), wanted.reason
    parts = [_part(draft, original, statement, (n, count), reason) for n, statement in enumerate(into, start=1)]
    for part in parts:
        checked(part)
    placed = [msgspec.structs.replace(part, id=draft.allocate()) for part in parts]
    for part in placed:
        draft.put(part)
    ids = tuple(part.id for part in placed)
    entry = draft.author.entry(f"split into {', '.join(ids)}", wanted.reason)
    status = original.status if wanted.keep_original else Status.OBSOLETE
    draft.change(original, entry, status=status)
    return results.Split(original.id, ids, not wanted.keep_original)


def _part(
    draft: Draft, original: Requirement, statement: str, place: tuple[int, int], reason: str | None
) -> Requirement:
    number, count = place
    suffix = f" — part {number} of {count}"
    return Requirement(
        id="",
        title=original.title[: TITLE_MOST - len(suffix)].rstrip() + suffix,
        statement=statement,
        rationale=f"Split from {original.id}: {original.rationale}",
        acceptance=original.acceptance,
        kind=original.kind,
        priority=original.priority,
        status=Status.DRAFT,
        tags=original.tags,
        links=(RequirementLink(kind=LinkKind.REFINES, target=original.id),),
        created=draft.author.at,
        updated=draft.author.at,
        history=(draft.author.entry(f"split from {original.id}", reason),),
        tests=(),
    )


def relinked(requirement: Requirement, new: Mapping[str, str]) -> Requirement:
    """The requirement with links to the new ids of others."""
    if not any(new.get(link.target, link.target) != link.target for link in requirement.links):
        return requirement
    links = tuple(msgspec.structs.replace(link, target=new.get(link.target, link.target)) for link in requirement.links)
    return msgspec.structs.replace(requirement, links=links)
