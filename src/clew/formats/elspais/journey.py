"""One user journey, from its header to its End marker."""

import re

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.elspais.fields import Field, FieldPattern, ReferenceList
from clew.formats.elspais.headers import EndMarker, Header
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import RequirementLines, plain_heading
from clew.formats.elspais.records import Journey, SectionRecord
from clew.text.display import shortened
from clew.text.markdown import TEXT

TEXT_FIELDS = ("actor", "goal", "context")
LIST_FIELDS = ("validates", "addresses")
JOURNEY_FIELD = FieldPattern((*TEXT_FIELDS, *LIST_FIELDS))
STEP = re.compile(r"(\s*)([0-9]{1,6})[.)](?:\s+|$)")


class JourneyReader:
    def __init__(self, lines: RequirementLines, grammar: IdGrammar, findings: DiagnosticLog) -> None:
        self._lines = lines
        self._grammar = grammar
        self._findings = findings

    def read(self, header: Header, stop: int, end: EndMarker | None) -> Journey:
        """The journey in the lines up to `stop`; its End marker, where it has one, is the line before."""
        lines = self._lines
        content_stop = stop - 1 if end is not None else stop
        references = ReferenceList(self._grammar, self._findings)
        first_heading = lines.next_heading(header.index + 1, content_stop)
        texts, preamble, body_start = self._fields(header.index + 1, first_heading, references)
        steps: list[tuple[int, str, int]] = []
        sections: list[SectionRecord] = []
        heading = first_heading
        while heading < content_stop:
            following = lines.next_heading(heading + 1, content_stop)
            depth, title = lines.heading(heading)
            begin, last = lines.trimmed(heading + 1, following)
            if begin < last:
                span = lines.text_span(heading, last - 1)
                sections.append(SectionRecord(title, "\n".join(lines.text[begin:last]), depth, span))
            if plain_heading(title) == "steps":
                self._steps(begin, last, steps)
            self._report_late_fields(begin, last)
            heading = following
        return Journey(
            id=header.id,
            title=header.title,
            actor=texts["actor"],
            goal=texts["goal"],
            context=texts["context"],
            references=references.references(),
            steps=tuple(steps),
            preamble=preamble,
            sections=tuple(sections),
            body=lines.joined(body_start, content_stop),
            raw=lines.raw(header.index, stop),
            span=lines.span(header.index, stop),
        )

    def _fields(self, first: int, stop: int, references: ReferenceList) -> tuple[dict[str, str], str, int]:
        """The fields before the first heading, the text between them, and the first line after those that directly
        follow the header.

        The lines directly below a field continue it: a text by its next words, a list by its next items.
        """
        texts: dict[str, list[str]] = {name: [] for name in TEXT_FIELDS}
        others: list[str] = []
        open_field: Field | None = None
        body_start, leading = first, True
        for index in range(first, stop):
            is_text = self._lines.kinds[index] == TEXT
            line = self._lines.text[index].strip()
            field = JOURNEY_FIELD.match(line) if is_text else None
            if field is not None and (field.signed or field.decorated):
                value, open_field = field.value, field
            elif is_text and open_field is not None:
                value = line
            else:
                leading = leading and not line
                open_field = None
                others.append(self._lines.text[index])
                continue
            name = open_field.name
            if name in TEXT_FIELDS:
                texts[name].append(value)
            elif not references.add(name, value, index + 1):
                open_field = None
            if leading:
                body_start = index + 1
        found = {name: " ".join(filter(None, parts)) for name, parts in texts.items()}
        return found, "\n".join(others).strip("\n"), body_start

    def _steps(self, first: int, stop: int, steps: list[tuple[int, str, int]]) -> None:
        """The numbered items; an item indented deeper than the first belongs to the item above it."""
        numbers: set[int] = set()
        margin: int | None = None
        begin = 0
        texts: list[str] = []
        for index in range(first, stop):
            line = self._lines.text[index]
            step = STEP.match(line) if self._lines.kinds[index] == TEXT else None
            if step is not None and (margin is None or len(step[1]) <= margin):
                margin = len(step[1])
                self._close_step(begin, texts, steps, numbers)
                begin, texts = index + 1, [line]
            elif texts:
                texts.append(line)
        self._close_step(begin, texts, steps, numbers)

    def _close_step(self, line: int, texts: list[str], steps: list[tuple[int, str, int]], numbers: set[int]) -> None:
        step = STEP.match(texts[0]) if texts else None
        if step is None:
            return
        number = int(step[2])
        if number in numbers:
            message = f"Step {number} appears twice; citations of it mean the first. Give each step its own number."
            self._findings.warning("repeated_step", line, message)
        numbers.add(number)
        texts[0] = texts[0][step.end() :]
        steps.append((number, "\n".join(texts).strip(), line))

    def _report_late_fields(self, first: int, stop: int) -> None:
        for index in range(first, stop):
            field = JOURNEY_FIELD.match(self._lines.text[index]) if self._lines.kinds[index] == TEXT else None
            if field is not None and field.signed and field.name in LIST_FIELDS:
                message = (
                    f"{shortened(self._lines.text[index].strip())!r} is in a section, where it is plain text."
                    " Move it above the journey's first heading."
                )
                self._findings.warning("validates_in_section", index + 1, message)
