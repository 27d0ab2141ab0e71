"""Reads specs, deltas, proposals and tasks without losing a byte, and writes them back.

A delta's sections REMOVED and RENAMED are read in both dialects. RENAMED: pairs of lines `- FROM: ...` and `- TO: ...`
(OpenSpec; bullet, bold, backticks and `### Requirement:` may be missing), or `### Requirement: Old → New` (Spec Oxide;
`->` and `=>` too). REMOVED: headings `### Requirement: name`, or bullets that hold such a heading.
"""

import re
from collections.abc import Iterator

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.openspec.lines import Heading, SpecLines
from clew.formats.openspec.records import (
    DELTA_KINDS,
    Delta,
    FileSection,
    Removal,
    Rename,
    Requirement,
    SectionedFile,
    SectionKind,
    Spec,
)
from clew.formats.openspec.requirement import REQUIREMENT_DEPTH, RequirementReader, requirement_name
from clew.text.lines import Span
from clew.text.markdown import HEADING, TEXT

_SECTION_DEPTH = 2
_NAMES = {
    "purpose": SectionKind.PURPOSE,
    "requirements": SectionKind.REQUIREMENTS,
    **{f"{kind.value} requirements": kind for kind in DELTA_KINDS},
}
_RESEMBLING = re.compile(r"(?:added|modified|removed|renamed|new|changed|updated|deleted)\b.{0,40}$", re.IGNORECASE)
_SHOWN = 80


def read_spec(data: bytes, id: str = "") -> Spec:
    """A spec as it is in force. Never fails: what is odd becomes a diagnostic."""
    reading = _Reading(data)
    return Spec(id, reading.document(data))


def read_delta(data: bytes, spec_id: str = "") -> Delta:
    """Delta of a change for one spec, from the bytes of its file. Never fails either."""
    reading = _Reading(data)
    reading.report_headers_that_resemble()
    of_kind = {kind: [each for each in reading.sections if each.kind is kind] for kind in DELTA_KINDS}
    renamed = [
        rename
        for section in of_kind[SectionKind.RENAMED]
        for rename in renames(reading.lines, section, reading.findings)
    ]
    removed = [each for section in of_kind[SectionKind.REMOVED] for each in removals(reading.lines, section)]
    return Delta(spec_id, reading.document(data), tuple(renamed), tuple(removed))


def read_document(data: bytes) -> tuple[SectionedFile, SpecLines]:
    """A proposal or a list of tasks: its sections, and its lines for a closer look."""
    reading = _Reading(data, with_requirements=False)
    return reading.document(data), reading.lines


def write(document: SectionedFile) -> bytes:
    """The bytes of the file that was read."""
    if document.original is not None:
        return document.original
    return "".join(section.raw for section in document.sections).encode()


class _Reading:
    def __init__(self, data: bytes, *, with_requirements: bool = True) -> None:
        self.findings = DiagnosticLog("openspec")
        self.lines = SpecLines(data)
        self._with_requirements = with_requirements
        self._requirements = RequirementReader(self.lines, self.findings)
        self._title = next((each for each in self.lines.headings if each.depth == 1), None)
        self._report_file()
        self.sections = tuple(self._sections())

    def document(self, data: bytes) -> SectionedFile:
        title = self._title
        return SectionedFile(
            title=title.text if title is not None else "",
            title_line=title.line if title is not None else 0,
            sections=self.sections,
            diagnostics=self.findings.diagnostics(),
            original=data if self.lines.invalid_line else None,
        )

    def _report_file(self) -> None:
        if self.lines.invalid_line:
            message = "The file is not UTF-8; its bytes are kept, but those that do not fit read as U+FFFD."
            self.findings.warning("not_utf8", self.lines.invalid_line, f"{message} Save it as UTF-8.")
        if self.lines.fence_line:
            message = "This code fence is never closed, so the rest of the file is read as code. Close it."
            self.findings.warning("unclosed_fence", self.lines.fence_line, message)

    def _sections(self) -> Iterator[FileSection]:
        begins: list[tuple[Heading | None, list[Heading]]] = [(None, [])]
        kind = SectionKind.HEAD
        for heading in self.lines.headings:
            if self._begins_section(heading, kind):
                begins.append((heading, []))
                kind = self._kind(heading)
            else:
                begins[-1][1].append(heading)
        stops = [heading.index for heading, _ in begins[1:] if heading is not None]
        seen: set[SectionKind] = set()
        for (begin, inner), stop in zip(begins, [*stops, len(self.lines)], strict=True):
            if begin is not None or stop:
                yield self._section(begin, inner, stop, seen)

    def _begins_section(self, heading: Heading, current: SectionKind) -> bool:
        """A heading of level two does. One of another level does where it says Purpose or Requirements and cannot be
        the title or part of a requirement: OpenSpec recognises it by its name."""
        if heading.depth == _SECTION_DEPTH:
            return True
        named = _NAMES.get(_plain(heading.text))
        if named not in (SectionKind.PURPOSE, SectionKind.REQUIREMENTS) or not self._with_requirements:
            return False
        if current not in (SectionKind.HEAD, SectionKind.PURPOSE, SectionKind.OTHER):
            return False
        return heading.depth <= REQUIREMENT_DEPTH and heading is not self._title

    def _kind(self, heading: Heading | None) -> SectionKind:
        if heading is None:
            return SectionKind.HEAD
        return _NAMES.get(_plain(heading.text), SectionKind.OTHER) if self._with_requirements else SectionKind.OTHER

    def _section(self, heading: Heading | None, inner: list[Heading], stop: int, seen: set[SectionKind]) -> FileSection:
        lines, first = self.lines, heading.index if heading is not None else 0
        kind = self._kind(heading)
        if heading is not None:
            self._report_section(heading, kind, seen)
        begins = [place for place, each in enumerate(inner) if self._is_requirement(each)]
        body = inner[begins[0]].index if begins else stop
        requirements = []
        for position, place in enumerate(begins):
            following = begins[position + 1] if position + 1 < len(begins) else len(inner)
            end = inner[following].index if following < len(inner) else stop
            requirements.append(self._requirements.read(inner[place], inner[place + 1 : following], end))
        if kind is not SectionKind.OTHER and self._with_requirements:
            self._report_strays(inner[: begins[0] if begins else None])
        return FileSection(
            kind=kind,
            heading=heading.text if heading is not None else "",
            text=lines.joined(first + (heading is not None), body),
            head=lines.raw(first, body),
            requirements=tuple(requirements),
            span=lines.span(first, stop),
        )

    def _is_requirement(self, heading: Heading) -> bool:
        return self._with_requirements and requirement_name(heading) is not None

    def _report_section(self, heading: Heading, kind: SectionKind, seen: set[SectionKind]) -> None:
        if kind is SectionKind.OTHER:
            return
        findings, hides = self.findings, kind is SectionKind.REQUIREMENTS
        if heading.depth != _SECTION_DEPTH:
            message = f"{heading.text!r} has {heading.depth} number signs; other tools want {_SECTION_DEPTH}."
            if hides:
                findings.error("section_depth", heading.line, message)
            else:
                findings.warning("section_depth", heading.line, message)
        if kind in seen:
            message = f"There is a section {heading.text!r} already; both are read. Put them together."
            if hides:
                findings.error("duplicate_section", heading.line, message)
            else:
                findings.warning("duplicate_section", heading.line, message)
        seen.add(kind)

    def _report_strays(self, headings: list[Heading]) -> None:
        """Name headings above the first requirement that look like one."""
        for heading in headings:
            text = heading.text.casefold()
            if heading.depth > 1 and text.startswith(("requirement:", "scenario:")):
                message = (
                    f"{heading.text[:_SHOWN]!r} has {heading.depth} number signs and is in no requirement, so it is"
                    " kept as text. Requirements have three, scenarios four."
                )
                self.findings.warning("stray_heading", heading.line, message)
            elif heading.depth == REQUIREMENT_DEPTH:
                message = f"The heading {heading.text[:_SHOWN]!r} is not a requirement; it is kept as text."
                self.findings.info("foreign_heading", heading.line, message)

    def report_headers_that_resemble(self) -> None:
        for section in self.sections:
            if section.kind is SectionKind.OTHER and _RESEMBLING.match(section.heading):
                known = ", ".join(f"`## {kind.name} Requirements`" for kind in DELTA_KINDS)
                message = (
                    f"{section.heading[:_SHOWN]!r} is not a section of a delta, so it changes nothing. Known: {known}."
                )
                self.findings.error("delta_header", section.span.line, message)


def _plain(heading: str) -> str:
    return " ".join(heading.rstrip(": \t").casefold().split())


_END = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)?(FROM|TO)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)", re.IGNORECASE)
_NAMED = re.compile(r"(?:#{1,6}\s*)?requirement\s*:\s*(.*)", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*+]\s+`?\s*#{1,6}\s*requirement\s*:\s*(.*)", re.IGNORECASE)
_ARROW = re.compile(r"\s*(?:→|->|=>)\s*")


def renames(lines: SpecLines, section: FileSection, findings: DiagnosticLog) -> Iterator[Rename]:
    """The renames of a section. A line of a pair whose partner is missing is an error and renames nothing."""
    by_arrow = {each.span.line: each for each in section.requirements}
    source: tuple[str, int] | None = None
    """A FROM that waits for its TO, and its line."""
    paired = 0
    for index in range(section.span.line - 1, section.span.end_line):
        if lines.kinds[index] not in (TEXT, HEADING):
            continue
        line = lines.text[index]
        end = _END.match(line)
        if end is not None:
            name, word = _name(end[2]), end[1].upper()
            if word == "FROM":
                _report_unpaired(source, findings)
                source = (name, index)
            elif source is None:
                message = f"TO {name!r} has no FROM before it, so nothing is renamed. Write FROM and TO in pairs."
                findings.error("unpaired_rename", index + 1, message)
            else:
                yield Rename(source[0], name, lines.span(source[1], index + 1))
                source, paired = None, index
        elif index + 1 in by_arrow:
            _report_unpaired(source, findings)
            source = None
            yield from _by_arrow(by_arrow[index + 1], lines, findings)
    _report_unpaired(source, findings)
    if section.requirements or paired or source or not section.text:
        return
    message = "This section names no pair of FROM and TO. Write `- FROM: ...` and `- TO: ...` below each other."
    findings.error("unreadable_rename", section.span.line, message)


def _report_unpaired(source: tuple[str, int] | None, findings: DiagnosticLog) -> None:
    if source is not None:
        message = f"FROM {source[0]!r} has no TO after it, so nothing is renamed. Write FROM and TO in pairs."
        findings.error("unpaired_rename", source[1] + 1, message)


def _by_arrow(requirement: Requirement, lines: SpecLines, findings: DiagnosticLog) -> Iterator[Rename]:
    old, *others = _ARROW.split(requirement.name)
    if len(others) == 1 and old.strip() and others[0].strip():
        yield Rename(old.strip(), others[0].strip(), requirement.span)
    elif not any(_END.match(lines.text[index]) for index in _inside(requirement.span)):
        message = f"{requirement.name!r} does not say what it becomes. Write `### Requirement: Old → New`."
        findings.error("unreadable_rename", requirement.span.line, message)


def _inside(span: Span) -> range:
    return range(span.line, span.end_line)


def _name(written: str) -> str:
    bare = written.strip().strip("`").strip()
    named = _NAMED.match(bare)
    return (named[1] if named is not None else bare).strip("`").strip()


def removals(lines: SpecLines, section: FileSection) -> Iterator[Removal]:
    """The removals of a section: its requirements, and the bullets that hold a requirement's heading."""
    first = section.requirements[0].span.line - 1 if section.requirements else section.span.end_line
    for index in range(section.span.line, first):
        bullet = _BULLET.match(lines.text[index]) if lines.kinds[index] == TEXT else None
        if bullet is not None:
            yield Removal(bullet[1].rstrip("` \t"), "", "", lines.span(index, index + 1))
    for each in section.requirements:
        reason = each.stated("Reason") or each.stated("Reason for removal")
        yield Removal(each.name, reason, each.stated("Migration"), each.span)
