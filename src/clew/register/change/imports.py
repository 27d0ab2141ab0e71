"""Taking in requirements from markdown and JSON. Every one of them passes the validator."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from clew.errors import BadInput, ClewError, InvalidArgument, Refused, Rejected
from clew.formats.register.model import LinkKind, RequirementLink
from clew.register import results
from clew.register.change import changes
from clew.register.change.draft import Draft
from clew.register.change.import_markdown import Candidate, read_markdown
from clew.register.operations.edit import AddRequirement
from clew.register.spelling import LINK_KINDS, parse

FORMATS = ("markdown", "json")
_FORM = "req_schema with which=import shows the form."


class NoCandidate(msgspec.Struct, frozen=True):
    """An item of a JSON file that is no requirement."""

    title: str
    problem: str


def candidates(text: str, written_in: str) -> list[Candidate | NoCandidate]:
    """The requirements in a text; InvalidArgument where it holds none."""
    if written_in not in FORMATS:
        raise InvalidArgument(f"Unknown format: '{written_in[:80]}'.", hint=f"Formats are {', '.join(FORMATS)}.")
    found: list[Candidate | NoCandidate]
    found = list(read_markdown(text)) if written_in == "markdown" else list(_from_json(text))
    if not found:
        wanted = "headings of level 2 or 3" if written_in == "markdown" else "requirements"
        raise InvalidArgument(f"The {written_in} has no {wanted}.", hint=_FORM)
    if isinstance(found[0], NoCandidate) and all(isinstance(each, NoCandidate) for each in found):
        raise InvalidArgument(found[0].problem, hint=_FORM)
    return found


def _from_json(text: str) -> Iterator[Candidate | NoCandidate]:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument(f"This is not valid JSON: {error}.", hint="Check the file.") from error
    for number, raw in enumerate(_items(document), start=1):
        try:
            yield msgspec.convert(raw, Candidate)
        except msgspec.ValidationError as error:
            title = raw.get("title") if isinstance(raw, Mapping) else None
            yield NoCandidate(str(title or f"item {number}"), f"Item {number} is no requirement: {error}.")


def _items(document: Any) -> Iterable[Any]:
    if isinstance(document, list):
        return document
    if isinstance(document, Mapping) and isinstance(document.get("requirements"), Mapping):
        return list(document["requirements"].values())
    if isinstance(document, Mapping) and isinstance(document.get("requirements"), list):
        found: list[Any] = document["requirements"]
        return found
    raise InvalidArgument(
        "The JSON is neither a list of requirements nor an object with `requirements`.",
        hint="req_schema with which=import shows the form; a project.req file is understood too.",
    )


def import_all(
    draft: Draft, found: Iterable[Candidate | NoCandidate], *, dry_run: bool = False, strict: bool = False
) -> results.ImportReport:
    """Add what the validator accepts. With `strict` one rejected requirement rejects them all.

    Links between imported requirements follow them to their new ids; links to others are left behind.
    """
    accepted: list[results.Accepted] = []
    rejected: list[results.Declined] = []
    new_ids: dict[str, str] = {}
    links: list[tuple[str, str, str]] = []
    for candidate in found:
        try:
            added = changes.add(draft, _new(candidate), action="imported")
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
    return results.ImportReport(not rejected, dry_run, tuple(accepted), tuple(rejected))


def _new(candidate: Candidate | NoCandidate) -> AddRequirement:
    if isinstance(candidate, NoCandidate):
        raise InvalidArgument(candidate.problem, hint=_FORM)
    given = {name: getattr(candidate, name, None) for name in AddRequirement.__struct_fields__}
    return AddRequirement(**{name: value for name, value in given.items() if value is not None})


def _errors(error: ClewError) -> tuple[str, ...]:
    findings = error.data.get("findings", ())
    return tuple(f"[{each['field']}] {each['message']}" for each in findings) or (error.message,)


def _refused(candidate: Candidate | NoCandidate, error: BadInput) -> ClewError:
    message = f"The import stopped at '{candidate.title[:80]}': {error.message}"
    hint = f"{error.hint} Nothing was imported; strict=false imports the others.".strip()
    return (
        type(error)(message, hint=hint, data=error.data) if isinstance(error, Rejected) else Refused(message, hint=hint)
    )


def _relink(draft: Draft, links: Iterable[tuple[str, str, str]], new_ids: Mapping[str, str]) -> None:
    for start, written, target in links:
        end = new_ids.get(target)
        if end is None or end == start:
            continue
        kind = parse(written, LinkKind, "link kind", tuple(LinkKind))
        if kind not in LINK_KINDS:
            continue
        changes.check_circle(draft, start, end, kind)
        requirement = draft.requirements[start]
        link = RequirementLink(kind=kind, target=end)
        if link not in requirement.links:
            draft.put(msgspec.structs.replace(requirement, links=(*requirement.links, link)))
