"""A change: its proposal (why it is made and what it changes), its tasks, its design, and what it does to specs."""

import re
from collections.abc import Iterator

import msgspec

from clew.formats.openspec.lines import SpecLines
from clew.formats.openspec.metadata import ChangeMetadata
from clew.formats.openspec.reader import read_document
from clew.formats.openspec.records import Delta, SectionedFile
from clew.formats.openspec.tasks import Tasks
from clew.text.markdown import TEXT

_BULLET = re.compile(r"[-*]\s+\*\*([^*:]+)(?::\*\*|\*\*\s*:)\s*(.*)")
_CAPABILITY = re.compile(r"\s*[-*]\s+`([^`]+)`")


class SpecBullet(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A bullet `- **spec:** description`, by which older proposals say what they change."""

    spec_id: str
    operation: str
    """added, modified, removed or renamed, as the words of the description suggest."""
    description: str
    line: int


class Proposal(msgspec.Struct, frozen=True, array_like=True):
    document: SectionedFile
    described: tuple[SpecBullet, ...]
    new_capabilities: tuple[str, ...]
    modified_capabilities: tuple[str, ...]

    @property
    def why(self) -> str | None:
        """None where there is no such section; likewise below."""
        return self._section("Why")

    @property
    def what_changes(self) -> str | None:
        return self._section("What Changes")

    @property
    def impact(self) -> str | None:
        return self._section("Impact")

    def _section(self, heading: str) -> str | None:
        section = self.document.titled(heading)
        return section.text if section is not None else None


def read_proposal(data: bytes) -> Proposal:
    document, lines = read_document(data)
    capabilities: dict[str, list[str]] = {"new": [], "modified": []}
    for heading, name in _capabilities(document, lines):
        capabilities.get(heading.casefold().split(" ")[0], []).append(name)
    return Proposal(
        document,
        described=tuple(_described(document, lines)),
        new_capabilities=tuple(capabilities["new"]),
        modified_capabilities=tuple(capabilities["modified"]),
    )


def _described(document: SectionedFile, lines: SpecLines) -> Iterator[SpecBullet]:
    section = document.titled("What Changes")
    if section is None:
        return
    for index in range(section.span.line, section.span.end_line):
        bullet = _BULLET.match(lines.text[index]) if lines.kinds[index] == TEXT else None
        if bullet is not None:
            yield SpecBullet(bullet[1].strip(), _operation(bullet[2]), bullet[2].strip(), index + 1)


def _operation(description: str) -> str:
    """The first that fits: a rename also adds and removes, and what says none of it modifies."""
    words = set(re.findall(r"[a-z]+", description.lower()))
    for operation, signs in (
        ("renamed", {"rename", "renames", "renamed", "renaming"}),
        ("added", {"add", "adds", "added", "adding", "create", "creates", "created", "creating", "new"}),
        ("removed", {"remove", "removes", "removed", "removing", "delete", "deletes", "deleted", "deleting"}),
    ):
        if words & signs:
            return operation
    return "modified"


def _capabilities(document: SectionedFile, lines: SpecLines) -> Iterator[tuple[str, str]]:
    """The names in backticks below `### New Capabilities` and `### Modified Capabilities`."""
    section = document.titled("Capabilities")
    if section is None:
        return
    headings = {heading.index: heading.text for heading in lines.headings}
    heading = ""
    for index in range(section.span.line, section.span.end_line):
        heading = headings.get(index, heading)
        named = _CAPABILITY.match(lines.text[index]) if lines.kinds[index] == TEXT else None
        if named is not None:
            yield heading, named[1].strip()


class ChangeProposal(msgspec.Struct, frozen=True, array_like=True):
    id: str
    proposal: Proposal | None = None
    tasks: Tasks | None = None
    design: str | None = None
    deltas: tuple[Delta, ...] = ()
    """One for each spec it touches, sorted by the spec's id."""
    metadata: ChangeMetadata | None = None
    misplaced: bool = False
    """True if a `spec.md` is directly in its folder `specs`, where it belongs to no spec."""
    misnamed: tuple[str, ...] = ()
    """Other files below `specs` that hold sections of a delta, relative to the change; nobody applies them."""

    @property
    def title(self) -> str:
        """The title of the proposal; else the id in words."""
        title = self.proposal.document.title if self.proposal is not None else ""
        return title or self.id.rpartition("/")[2].replace("-", " ")

    @property
    def skips_specs(self) -> bool:
        return self.metadata is not None and self.metadata.skip_specs

    @property
    def retires(self) -> bool:
        return self.metadata is not None and self.metadata.retire_capabilities

    def delta(self, spec_id: str) -> Delta | None:
        return next((delta for delta in self.deltas if delta.spec_id == spec_id), None)
