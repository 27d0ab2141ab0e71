"""Taking in requirements from markdown and JSON. Every one of them passes the validator.

Taking over requirements of something that exists already, and moving ids out of each other's way.

Requirements in markdown: a heading for each, then its statement, rationale, acceptance criteria and tags.

Plain documents and what `export` writes are both understood: labels may be bold, bullets may give kind and priority,
and an id before the title is dropped, because imported requirements get ids of this register.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import BadInput, ClewError, InvalidArgument, Refused, Rejected
from clew.formats.register.ids import in_order
from clew.formats.register.model import (
    LINK_KINDS,
    Evidence,
    Kind,
    LinkKind,
    Outcome,
    Register,
    Requirement,
    RequirementLink,
    Status,
    parse_word,
)
from clew.register import results
from clew.register.change import changes
from clew.register.change.changes import check_dossier
from clew.register.change.draft import Draft
from clew.register.change.evidence import with_record
from clew.register.git.merge_ids import relinked
from clew.register.operations.edit import AddRequirement
from clew.text.shortening import shortened

if TYPE_CHECKING:
    from clew.register.operations.evidence import AdoptRequirements


_HEADING = re.compile(r"#{2,3} +(.*?)\s*#*\s*")
_ID_BEFORE_TITLE = re.compile(r"([A-Z]+-[0-9]{4,18})\s*(?:[—–:-]\s*)?")
_LABEL = re.compile(r"(?:[-*+]\s+)?(?:\*\*|__)?([A-Za-z]+):?(?:\*\*|__)?\s*:?(?:\*\*|__)?\s*(.*)", re.DOTALL)
_LABELLED = re.compile(
    r"(?:[-*+]\s+(?=\*\*|__))?(?:\*\*|__)?(?:statement|rationale|acceptance|tags|kind|priority|status|links)\s*(?::|\*\*|__)",
    re.IGNORECASE,
)
"""A label begins a line; behind a bullet only a bold one does, because a criterion may begin with such a word."""
_BULLET = re.compile(r"(?:[-*+]|[0-9]+[.)])\s+(.*)")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,})")
_LINK = re.compile(r"_?([a-z-]+)_?\s*→\s*([A-Z]+-[0-9]{4,18})")


class CandidateLink(msgspec.Struct, frozen=True):
    kind: str
    target: str
    """In the ids of the place it comes from."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement that somebody wants to import."""

    title: str
    statement: str = ""
    rationale: str = ""
    acceptance: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kind: str | None = None
    priority: str | None = None
    id: str | None = None
    """In the place it comes from."""
    links: tuple[CandidateLink, ...] = ()


def read_markdown(text: str) -> Iterator[Candidate]:
    section: _Section | None = None
    fenced = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading:
            if section is not None:
                yield section.candidate()
            section = _Section(heading[1])
        elif section is not None and not (_RULE.fullmatch(stripped) and not fenced):
            section.take(stripped)
    if section is not None:
        yield section.candidate()


class _Section:
    def __init__(self, heading: str) -> None:
        match = _ID_BEFORE_TITLE.match(heading)
        self._id = match[1] if match else None
        self._title = heading[match.end() :] if match else heading
        self._fields: dict[str, list[str]] = {}
        self._label = "statement"

    def take(self, line: str) -> None:
        if line.startswith("#"):
            # A deeper heading ends what came before and opens nothing that is known.
            self._label = line.lstrip("# ").rstrip(": ").lower()
            return
        if _LABELLED.match(line) and (match := _LABEL.fullmatch(line)):
            self._label = match[1].lower()
            line = match[2].strip()
        if not line and self._label == "statement" and "statement" in self._fields:
            # The statement is the first paragraph; what else is written there explains it.
            self._label = "text"
        if line:
            self._fields.setdefault(self._label, []).append(line)

    def candidate(self) -> Candidate:
        prose = self._fields.get("statement", [])
        return Candidate(
            id=self._id,
            title=self._title.strip(),
            statement=" ".join(prose),
            rationale=" ".join(self._fields.get("rationale", [])),
            acceptance=tuple(_bullets(self._fields.get("acceptance", []))),
            tags=tuple(tag.strip() for line in self._fields.get("tags", []) for tag in line.split(",") if tag.strip()),
            kind=self._one("kind"),
            priority=self._one("priority"),
            links=tuple(
                CandidateLink(match[1], match[2]) for line in self._fields.get("links", []) if (match := _link(line))
            ),
        )

    def _one(self, label: str) -> str | None:
        lines = self._fields.get(label)
        return lines[0] if lines else None


def _bullets(lines: list[str]) -> Iterator[str]:
    """Bullets, each with the lines that continue it."""
    item = ""
    for line in lines:
        bullet = _BULLET.fullmatch(line)
        if bullet:
            if item:
                yield item
            item = bullet[1].strip()
        else:
            item = f"{item} {line}".strip()
    if item:
        yield item


def _link(line: str) -> re.Match[str] | None:
    bullet = _BULLET.fullmatch(line)
    return _LINK.fullmatch(bullet[1].strip() if bullet else line)


FORMATS = ("markdown", "json")
_FORM = "req_schema with which=import shows the form."


class NoCandidate(msgspec.Struct, frozen=True):
    """An item of a JSON file that is no requirement."""

    title: str
    problem: str


def candidates(text: str, written_in: str) -> list[Candidate | NoCandidate]:
    """The requirements in a text; InvalidArgument where it holds none."""
    if written_in not in FORMATS:
        raise InvalidArgument(f"Unknown format: '{shortened(written_in)}'.", hint=f"Formats are {', '.join(FORMATS)}.")
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


def adopt(draft: Draft, wanted: "AdoptRequirements", commit: str) -> AdoptReport:
    """Walk requirements up to a status, one entry of history for each step."""
    to, reason = parse_word(wanted.to, Status, "status", LADDER), wanted.reason
    drafts = [each.id for each in draft.requirements.values() if each.status is Status.DRAFT]
    chosen = {requirement.id: requirement for requirement in map(draft.find, wanted.ids or drafts)}
    for requirement in chosen.values():
        if requirement.status is Status.OBSOLETE:
            raise InvalidArgument(f"{requirement.id} is obsolete.", hint="Leave it out, or add it anew.")
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
    bare = requirement.kind is Kind.FUNCTIONAL and not requirement.acceptance
    acceptance = (CRITERION,) if bare else requirement.acceptance
    moved = draft.change(requirement, *entries, status=to, acceptance=acceptance)
    if to is Status.VERIFIED:
        action = "inspection evidence recorded by adopt"
        with_record(
            *(draft, moved, action),
            commit=commit,
            outcome=Outcome.PASS,
            notes=reason,
            kind=Evidence.INSPECTION,
            reason=reason,
        )


def renumber(draft: Draft, base: Register, name: str, *, dry_run: bool = False) -> RenumberReport:
    """Give a new id to every requirement whose id means another one in the base. A requirement is another one when it
    was made at another time; one that was only reworded stays what it is."""
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
