"""Requirements that somebody wants to import, read from markdown and JSON.

In markdown a heading begins each, then come its statement, rationale, acceptance criteria and tags. Plain documents and
what `export` writes are both understood: labels may be bold, bullets may give kind and priority, and an id before the
title is dropped, because imported requirements get ids of this register.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.text.display import shortened

FORM = "req_schema with which=import shows the form."

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
        raise InvalidArgument(f"The {written_in} has no {wanted}.", hint=FORM)
    if isinstance(found[0], NoCandidate) and all(isinstance(each, NoCandidate) for each in found):
        raise InvalidArgument(found[0].problem, hint=FORM)
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
            yield NoCandidate(str(title or f"item {number}"), f"Item {number} is not a requirement: {error}.")


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
