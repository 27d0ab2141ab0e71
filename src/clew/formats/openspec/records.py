"""Records of the files of a spec folder.

A document is a sequence of sections that covers the file without gap or overlap; a section holds its own text and then
its requirements, a requirement its own text and then its scenarios, a scenario its own text and then its steps. Every
line of the file belongs to exactly one of these, and the `raw` texts put together give back the file.

Spans are in bytes of the file; texts are decoded, and valid Unicode whatever the file holds: a byte that is not UTF-8
reads as U+FFFD. The records are also the cached form of a parsed file.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from hashlib import sha256

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.text.lines import Span

_NORMATIVE = re.compile(r"\b(?:SHALL|MUST)\b")

_LENGTH = 16


class ScenarioStep(msgspec.Struct, frozen=True, gc=False, array_like=True):
    keyword: str
    """GIVEN, WHEN, THEN, AND or BUT, however it was written."""
    role: str
    """given, when or then: AND and BUT continue what is before them."""
    text: str
    """On one line, wrapped lines joined by a space."""
    children: tuple[str, ...]
    """The bullets and paragraphs below the step, each on one line."""
    code: tuple[str, ...]
    """The code blocks below the step, without their fences."""
    raw: str
    span: Span


class Scenario(msgspec.Struct, frozen=True, gc=False, array_like=True):
    name: str
    slug: str
    labelled: bool
    """True if the heading says `Scenario:`. OpenSpec counts every other heading of level four too, and so does Clew."""
    text: str
    """Text between the heading and the first step."""
    head: str
    """Heading and text, as they are in the file."""
    steps: tuple[ScenarioStep, ...]
    span: Span

    @property
    def depth(self) -> int:
        """Number of number signs in its heading."""
        return len(self.head) - len(self.head.lstrip("#"))

    @property
    def raw(self) -> str:
        return self.head + "".join(step.raw for step in self.steps)

    @property
    def given(self) -> tuple[str, ...]:
        return self._of("given")

    @property
    def when(self) -> tuple[str, ...]:
        return self._of("when")

    @property
    def then(self) -> tuple[str, ...]:
        return self._of("then")

    def _of(self, role: str) -> tuple[str, ...]:
        return tuple(step.text for step in self.steps if step.role == role)


class OtherHeading(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A heading inside a requirement that is neither requirement nor scenario, with what is below it."""

    heading: str
    raw: str
    span: Span


class Requirement(msgspec.Struct, frozen=True, gc=False, array_like=True):
    name: str
    slug: str
    text: str
    """The description as written, line ends as LF."""
    statement: str
    """The description without blank lines, code and metadata; all of it where nothing else is there."""
    metadata: tuple[tuple[str, str], ...]
    """Lines such as `**Reason**: ...`, the keys as written."""
    head: str
    """Heading and description, as they are in the file."""
    scenarios: tuple[Scenario, ...]
    asides: tuple[OtherHeading, ...]
    span: Span

    @property
    def raw(self) -> str:
        parts: tuple[Scenario | OtherHeading, ...] = (*self.scenarios, *self.asides)
        if self.asides:
            parts = tuple(sorted(parts, key=lambda part: part.span.start))
        return self.head + "".join(part.raw for part in parts)

    @property
    def is_normative(self) -> bool:
        """True if the description contains SHALL or MUST, as whole words in capitals."""
        return _NORMATIVE.search(self.statement) is not None

    def stated(self, key: str) -> str:
        """The value of a line of metadata, by its key in any case; empty where there is none."""
        return next((value for name, value in self.metadata if name.casefold() == key.casefold()), "")


class SectionKind(StrEnum):
    HEAD = "head"
    """Text before the first section, the title included."""
    PURPOSE = "purpose"
    REQUIREMENTS = "requirements"
    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"
    RENAMED = "renamed"
    OTHER = "other"


DELTA_KINDS = (SectionKind.ADDED, SectionKind.MODIFIED, SectionKind.REMOVED, SectionKind.RENAMED)


class FileSection(msgspec.Struct, frozen=True, gc=False, array_like=True):
    kind: SectionKind
    heading: str
    text: str
    """Text between the heading and the first requirement, line ends as LF."""
    head: str
    """Heading and text, as they are in the file."""
    requirements: tuple[Requirement, ...]
    span: Span

    @property
    def raw(self) -> str:
        return self.head + "".join(requirement.raw for requirement in self.requirements)


class SectionedFile(msgspec.Struct, frozen=True, array_like=True):
    """A markdown file in sections."""

    title: str
    """The first heading of level one; empty where there is none."""
    title_line: int
    sections: tuple[FileSection, ...]
    diagnostics: tuple[Diagnostic, ...]
    original: bytes | None = None
    """The bytes of a file that is not UTF-8, which its text cannot give back; None for every other file."""

    def of_kind(self, *kinds: SectionKind) -> Iterator[FileSection]:
        return (section for section in self.sections if section.kind in kinds)

    def titled(self, heading: str) -> FileSection | None:
        """The first section with this heading, in any case."""
        wanted = heading.casefold()
        return next((each for each in self.sections if each.heading.casefold() == wanted), None)


class Purpose(msgspec.Struct, frozen=True, gc=False, array_like=True):
    text: str
    span: Span


class Spec(msgspec.Struct, frozen=True, array_like=True):
    """A spec as it is in force."""

    id: str
    document: SectionedFile

    @property
    def title(self) -> str:
        return self.document.title

    @property
    def purpose(self) -> Purpose | None:
        return _purpose(self.document)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """All of them, also those that stand where they should not: a misplaced requirement is reported, not hidden."""
        shown = (each for each in self.document.sections if each.kind not in (SectionKind.REMOVED, SectionKind.RENAMED))
        return tuple(requirement for section in shown for requirement in section.requirements)


class Rename(msgspec.Struct, frozen=True, gc=False, array_like=True):
    old: str
    new: str
    span: Span


class Removal(msgspec.Struct, frozen=True, gc=False, array_like=True):
    name: str
    reason: str
    migration: str
    span: Span


class Delta(msgspec.Struct, frozen=True, array_like=True):
    """Delta of a change for one spec."""

    spec_id: str
    document: SectionedFile
    renamed: tuple[Rename, ...]
    removed: tuple[Removal, ...]

    @property
    def added(self) -> tuple[Requirement, ...]:
        return self._of(SectionKind.ADDED)

    @property
    def modified(self) -> tuple[Requirement, ...]:
        return self._of(SectionKind.MODIFIED)

    @property
    def purpose(self) -> Purpose | None:
        return _purpose(self.document)

    def _of(self, kind: SectionKind) -> tuple[Requirement, ...]:
        return tuple(requirement for section in self.document.of_kind(kind) for requirement in section.requirements)

    @property
    def count(self) -> int:
        """Number of its operations."""
        return len(self.added) + len(self.modified) + len(self.removed) + len(self.renamed)


def _purpose(document: SectionedFile) -> Purpose | None:
    section = next(document.of_kind(SectionKind.PURPOSE), None)
    return Purpose(section.text, section.span) if section is not None else None


def settled(requirement: Requirement) -> str:
    """The text of a requirement for comparison: its heading and everything below, line ends as LF, no space around."""
    return requirement.raw.replace("\r\n", "\n").replace("\r", "\n").strip()


def text_hash(text: str) -> str:
    """The hash of a text that is settled."""
    return sha256(text.encode()).hexdigest()[:_LENGTH]


def with_name(text: str, name: str) -> str:
    """The settled text of a requirement that is renamed."""
    return "\n".join((f"### Requirement: {name}", *text.split("\n")[1:]))
