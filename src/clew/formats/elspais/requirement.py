"""One requirement, from its header to its End marker."""

import msgspec

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.elspais.assertions import ENTRY, AssertionReader
from clew.formats.elspais.fields import (
    FLAG_FIELD,
    REFERENCE_FIELDS,
    Field,
    ReferenceList,
    metadata_fields,
    metadata_lines,
    word_value,
)
from clew.formats.elspais.headers import EndMarker, Header
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import RequirementLines, plain_heading
from clew.formats.elspais.records import AssertionRecord, ChangelogEntry, Requirement, SectionRecord
from clew.text.display import shortened
from clew.text.markdown import BLANK, CODE, FENCE, TEXT

UNKNOWN = "Unknown"


class Metadata(msgspec.Struct):
    """Metadata in the fields below a header."""

    level: str = ""
    status: str = ""
    template: bool = False
    body_start: int = 0
    """The first line after the fields that directly follow the header."""
    preamble: str = ""


class RequirementReader:
    def __init__(self, lines: RequirementLines, grammar: IdGrammar, findings: DiagnosticLog) -> None:
        self._lines = lines
        self._grammar = grammar
        self._findings = findings

    def read(self, header: Header, stop: int, end: EndMarker | None) -> Requirement:
        """The requirement in the lines up to `stop`; its End marker, where it has one, is the line before."""
        lines = self._lines
        content_stop = stop - 1 if end is not None else stop
        references = ReferenceList(self._grammar, self._findings)
        first_heading = lines.next_heading(header.index + 1, content_stop)
        metadata = self._metadata(header.index + 1, first_heading, references)
        assertions, sections, changelog = self._sections(first_heading, content_stop, references)
        if not assertions:
            self._report_unread_assertions(header.index + 1, content_stop)
        level = self._grammar.settings.level(metadata.level) if metadata.level else None
        if metadata.level and level is None:
            known = ", ".join(each.name for each in self._grammar.settings.levels)
            message = f"{metadata.level!r} is not a level of this project ({known}). Use one of them."
            self._findings.warning("unknown_level", header.line, message)
        return Requirement(
            id=header.id,
            written_id=header.written_id,
            title=header.title,
            level=level.name if level is not None else metadata.level or UNKNOWN,
            status=metadata.status or UNKNOWN,
            template=metadata.template,
            references=references.references(),
            preamble=metadata.preamble,
            assertions=assertions,
            sections=sections,
            changelog=changelog,
            stored_hash=end.stored_hash if end is not None else None,
            hash_line=stop if end is not None else 0,
            heading_depth=header.depth,
            body=lines.joined(metadata.body_start, content_stop),
            raw=lines.raw(header.index, stop),
            span=lines.span(header.index, stop),
        )

    def _metadata(self, first: int, stop: int, references: ReferenceList) -> Metadata:
        """Read the fields before the first heading; what is none of them is the preamble."""
        metadata = Metadata(body_start=first)
        prose: list[str] = []
        leading = True
        listing = ""
        """The field whose list ended in a comma."""
        for index, fields in metadata_lines(self._lines, first, stop, references):
            if listing and fields is None:
                self._unfinished(listing, index)
            listing = ""
            if fields is not None:
                listing = self._apply(fields, index + 1, metadata, references)
                if leading:
                    metadata.body_start = index + 1
            else:
                prose.append(self._lines.text[index])
                leading = leading and self._lines.kinds[index] == BLANK
        if listing:
            self._unfinished(listing, stop)
        metadata.preamble = _without_blank_edges(prose)
        return metadata

    def _apply(self, fields: list[Field | str], line: int, metadata: Metadata, references: ReferenceList) -> str:
        """Take over the fields of one line; returns the field whose list goes on in the next."""
        listing = ""
        for field in fields:
            listing = ""
            if isinstance(field, str):
                if field:
                    message = f"{shortened(field)!r} is not a field that Clew knows; it is kept in the text only."
                    self._findings.info("unknown_field", line, message)
            elif field.name == FLAG_FIELD:
                metadata.template = True
            elif field.name in REFERENCE_FIELDS:
                if references.add(field.name, field.value, line):
                    listing = field.name
            elif getattr(metadata, field.name):
                message = f"{field.name} is given twice; the first one counts. Remove the other."
                self._findings.warning("repeated_field", line, message)
            else:
                setattr(metadata, field.name, word_value(field, line, self._findings))
        return listing

    def _unfinished(self, listing: str, line: int) -> None:
        message = f"The list of {listing} ends in a comma, but nothing follows. Remove the comma or finish the list."
        self._findings.info("trailing_comma", line, message)

    def _sections(
        self, first: int, stop: int, references: ReferenceList
    ) -> tuple[tuple[AssertionRecord, ...], tuple[SectionRecord, ...], tuple[ChangelogEntry, ...]]:
        assertions = AssertionReader(self._lines, self._grammar, self._findings)
        sections: list[SectionRecord] = []
        changelog: list[ChangelogEntry] = []
        heading = first
        while heading < stop:
            following = self._lines.next_heading(heading + 1, stop)
            depth, title = self._lines.heading(heading)
            match plain_heading(title):
                case "assertions":
                    assertions.read(heading, following)
                case "changelog":
                    self._changelog(heading + 1, following, changelog)
                case _:
                    begin, end = self._lines.trimmed(heading + 1, following)
                    if begin < end:
                        span = self._lines.text_span(heading, end - 1)
                        sections.append(SectionRecord(title, "\n".join(self._lines.text[begin:end]), depth, span))
            self._report_late_metadata(heading + 1, following, references)
            heading = following
        entries = assertions.assertions()
        return entries, tuple(sorted((*assertions.groups(), *sections), key=_position)), tuple(changelog)

    def _report_late_metadata(self, first: int, stop: int, references: ReferenceList) -> None:
        kinds, text = self._lines.kinds, self._lines.text
        for index in range(first, stop):
            if kinds[index] == TEXT and text[index].lstrip("*_ \t")[:1] in _FIELD_INITIALS:
                fields = metadata_fields(text[index], references)
                if fields is not None:
                    message = (
                        f"{shortened(text[index].strip())!r} is below a heading, where it is plain text."
                        " Move it directly below the requirement's header."
                    )
                    self._findings.warning("late_metadata", index + 1, message)

    def _changelog(self, first: int, stop: int, entries: list[ChangelogEntry]) -> None:
        for index in range(first, stop):
            if self._lines.kinds[index] in (BLANK, FENCE, CODE):
                continue
            entry = _changelog_entry(self._lines.text[index], index + 1)
            if entry is not None:
                entries.append(entry)
            else:
                message = (
                    f"{shortened(self._lines.text[index])!r} is not"
                    " `- date | hash | change order | name (<id>) | reason`; it is kept in the text only."
                )
                self._findings.warning("changelog_entry", index + 1, message)

    def _report_unread_assertions(self, first: int, stop: int) -> None:
        for index in range(first, stop):
            entry = ENTRY.match(self._lines.text[index]) if self._lines.kinds[index] == TEXT else None
            if entry is not None and not entry[1] and not entry[2].isdigit() and self._grammar.is_label(entry[2]):
                message = (
                    f"`{entry[2]}.` begins a list of assertions, but there is no Assertions heading above it, so it is"
                    " read as text. Add the heading."
                )
                self._findings.warning("assertions_without_heading", index + 1, message)
                return


_FIELD_INITIALS = tuple("lsiratLSIRAT")


def _without_blank_edges(lines: list[str]) -> str:
    written = [index for index, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[written[0] : written[-1] + 1]) if written else ""


def _position(section: SectionRecord) -> int:
    return section.span.start


def _changelog_entry(text: str, line: int) -> ChangelogEntry | None:
    """`- date | hash | change order | name (<id>) | reason`, where the reason may contain bars."""
    text = text.strip()
    parts = [part.strip() for part in text[1:].split("|", 4)]
    if text[:1] not in ("-", "*") or len(parts) != 5:
        return None
    date, hash, order, author, reason = parts
    name, _, author_id = author.partition("(")
    return ChangelogEntry(
        date, hash, "" if order == "-" else order, name.strip(), author_id.strip("<>() \t"), reason, line
    )
