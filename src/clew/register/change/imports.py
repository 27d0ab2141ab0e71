"""Taking in requirements from markdown and JSON. Every one of them passes the validator."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from clew.errors import BadInput, ClewError, InvalidArgument, Refused, Rejected
from clew.formats.register.ids import number_of
from clew.formats.register.model import (
    LINK_KINDS,
    LinkKind,
    Requirement,
    RequirementLink,
    parse_word,
)
from clew.register import results
from clew.register.change import changes
from clew.register.change.candidates import FORM, Candidate, NoCandidate
from clew.register.change.draft import Draft, checked
from clew.register.requests import Addition
from clew.text.display import shortened


def place_all(draft: Draft, wanted: Sequence[Requirement], source: str) -> None:
    """Put requirements under their own ids, new ones and replacements of earlier ones, which keep their history."""
    highest = 0
    for each in wanted:
        earlier = draft.requirements.get(each.id)
        entry = draft.author.entry("imported" if earlier is None else "imported again", f"source: {source}")
        checked(each)
        if earlier is None:
            draft.put(msgspec.structs.replace(each, created=draft.author.at, updated=draft.author.at, history=(entry,)))
        else:
            fields = {name: getattr(each, name) for name in _CONTENT}
            kept = tuple(link for link in earlier.links if link.kind not in LINK_KINDS or link in each.links)
            links = (*kept, *(link for link in each.links if link not in kept))
            draft.change(earlier, entry, **{**fields, "links": links})
        highest = max(highest, number_of(each.id) or 0)
    draft.skip_to(highest + 1)
    for each in wanted:
        for link in each.links:
            changes.check_circle(draft, each.id, link.target, link.kind)


_CONTENT = ("title", "statement", "rationale", "acceptance", "kind", "priority", "status", "tags")


def import_all(
    draft: Draft,
    found: Iterable[Candidate | NoCandidate],
    *,
    source: str = "",
    dry_run: bool = False,
    strict: bool = False,
) -> results.RegisterImport:
    """Add the requirements that the validator accepts, with their `source` as the reason. With `strict`, one rejected
    requirement rejects them all.

    Links between imported requirements follow them to their new ids; links to others are left behind.
    """
    accepted: list[results.Accepted] = []
    rejected: list[results.Declined] = []
    new_ids: dict[str, str] = {}
    links: list[tuple[str, str, str]] = []
    for candidate in found:
        try:
            reason = f"source: {source}" if source else None
            added = changes.add(draft, _new(candidate), action="imported", reason=reason)
        except BadInput as error:
            if strict:
                raise _refused(candidate, error) from error
            rejected.append(results.Declined(candidate.title, _errors(error)))
            continue
        if isinstance(candidate, Candidate):
            new_ids.update({candidate.id: added.id} if candidate.id else {})
            links.extend((added.id, link.kind, link.target) for link in candidate.links)
        place = {"would_allocate": "next"} if dry_run else {"id": added.id}
        accepted.append(results.Accepted(candidate.title, **place, warnings=added.warnings))
    _relink(draft, links, new_ids)
    return results.RegisterImport(not rejected, dry_run, tuple(accepted), tuple(rejected))


def _new(candidate: Candidate | NoCandidate) -> Addition:
    if isinstance(candidate, NoCandidate):
        raise InvalidArgument(candidate.problem, hint=FORM)
    given = {name: getattr(candidate, name, None) for name in Addition.__struct_fields__}
    return Addition(**{name: value for name, value in given.items() if value is not None})


def _errors(error: ClewError) -> tuple[str, ...]:
    findings = error.data.get("findings", ())
    return tuple(f"[{each['field']}] {each['message']}" for each in findings) or (error.message,)


def _refused(candidate: Candidate | NoCandidate, error: BadInput) -> ClewError:
    message = f"The import stopped at '{shortened(candidate.title)}': {error.message}"
    hint = f"{error.hint} Nothing was imported; strict=false imports the others.".strip()
    return (
        type(error)(message, hint=hint, data=error.data) if isinstance(error, Rejected) else Refused(message, hint=hint)
    )


def _relink(draft: Draft, links: Iterable[tuple[str, str, str]], new_ids: Mapping[str, str]) -> None:
    for start, written, target in links:
        end = new_ids.get(target)
        if end is None or end == start:
            continue
        kind = parse_word(written, LinkKind, "link kind", tuple(LinkKind))
        if kind not in LINK_KINDS:
            continue
        changes.check_circle(draft, start, end, kind)
        requirement = draft.requirements[start]
        link = RequirementLink(kind=kind, target=end)
        if link not in requirement.links:
            draft.put(msgspec.structs.replace(requirement, links=(*requirement.links, link)))
