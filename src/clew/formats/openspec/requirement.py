"""A requirement: its heading and description, its scenarios, and whatever else stands in it."""

import re

from clew.formats.diagnostics import Findings
from clew.formats.openspec.lines import TEXT, Heading, Lines
from clew.formats.openspec.records import OtherHeading, Requirement, Scenario
from clew.formats.openspec.slugs import Slugs
from clew.formats.openspec.steps import read_steps

REQUIREMENT_DEPTH = 3
SCENARIO_DEPTH = 4

_REQUIREMENT = re.compile(r"requirement\s*:\s*(.*)", re.IGNORECASE)
_SCENARIO = re.compile(r"scenario\s*:\s*(.*)", re.IGNORECASE)
_METADATA = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)([^*_:]{1,60}?)(?::(?:\*\*|__)|(?:\*\*|__)\s*:)\s*(.*)")
_LOOSE_SCENARIO = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)?\s*scenario\s*(?:\*\*|__)?\s*:", re.IGNORECASE)
_LOOSE_HEADING = re.compile(r"\s+#{2,6}\s*(?:requirement|scenario)\s*:", re.IGNORECASE)
_SHOWN = 80


def requirement_name(heading: Heading) -> str | None:
    """The name that a heading `### Requirement: name` gives; None for any other heading."""
    match = _REQUIREMENT.match(heading.text) if heading.depth == REQUIREMENT_DEPTH else None
    return match[1].strip() if match is not None else None


class RequirementReader:
    """Reads the requirements of one file, in order: their slugs depend on those before them."""

    def __init__(self, lines: Lines, findings: Findings) -> None:
        self._lines = lines
        self._findings = findings
        self._slugs = Slugs("requirement")

    def read(self, heading: Heading, inner: list[Heading], stop: int) -> Requirement:
        """The requirement from its heading to the line `stop`; `inner` are the headings between."""
        lines = self._lines
        name = requirement_name(heading) or ""
        self._check(heading, name, "Requirement")
        parts = [each for each in inner if self._begins_part(each)]
        body = parts[0].index if parts else stop
        text, statement, metadata = self._description(heading.index + 1, body)
        scenarios: list[Scenario] = []
        asides: list[OtherHeading] = []
        slugs = Slugs("scenario")
        for position, part in enumerate(parts):
            end = parts[position + 1].index if position + 1 < len(parts) else stop
            if part.depth == SCENARIO_DEPTH or _SCENARIO.match(part.text):
                scenarios.append(self._scenario(part, end, slugs))
            else:
                asides.append(self._aside(part, end))
        stated = next((value for key, value in metadata if key.casefold() == "id"), "")
        return Requirement(
            name=name,
            slug=self._slugs.take(stated or name),
            text=text,
            statement=statement,
            metadata=metadata,
            head=lines.raw(heading.index, body),
            scenarios=tuple(scenarios),
            asides=tuple(asides),
            span=lines.span(heading.index, stop),
        )

    def _begins_part(self, heading: Heading) -> bool:
        if heading.depth in (REQUIREMENT_DEPTH, SCENARIO_DEPTH):
            return True
        return heading.depth > SCENARIO_DEPTH and _SCENARIO.match(heading.text) is not None

    def _scenario(self, heading: Heading, stop: int, slugs: Slugs) -> Scenario:
        lines = self._lines
        match = _SCENARIO.match(heading.text)
        name = match[1].strip() if match is not None else heading.text
        if match is None:
            message = f"The heading {heading.text[:_SHOWN]!r} does not say `Scenario:`; it is counted as a scenario."
            self._findings.info("unlabelled_scenario", heading.line, message)
        else:
            self._check(heading, name, "Scenario")
            if heading.depth != SCENARIO_DEPTH:
                message = (
                    f"Scenario {name[:_SHOWN]!r} has {heading.depth} number signs; other tools want {SCENARIO_DEPTH}."
                )
                self._findings.warning("scenario_depth", heading.line, message)
        steps, first, adrift = read_steps(lines, heading.index + 1, stop)
        if adrift:
            message = "AND or BUT continues nothing here; it is read as GIVEN. Begin with GIVEN or WHEN."
            self._findings.info("step_order", adrift, message)
        self._report_loose(heading.index + 1, stop)
        return Scenario(
            name=name,
            slug=slugs.take(name),
            labelled=match is not None,
            text=lines.joined(heading.index + 1, first),
            head=lines.raw(heading.index, first),
            steps=tuple(steps),
            span=lines.span(heading.index, stop),
        )

    def _aside(self, heading: Heading, stop: int) -> OtherHeading:
        message = (
            f"The heading {heading.text[:_SHOWN]!r} is no requirement; it is kept with the requirement before it."
            " Write `### Requirement: name`, or set it in bold."
        )
        self._findings.warning("foreign_heading", heading.line, message)
        return OtherHeading(heading.text, self._lines.raw(heading.index, stop), self._lines.span(heading.index, stop))

    def _description(self, first: int, stop: int) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        lines = self._lines
        metadata: list[tuple[str, str]] = []
        stated: list[str] = []
        for index in range(first, stop):
            if lines.kinds[index] != TEXT:
                continue
            line = lines.text[index]
            match = _METADATA.match(line) if "**" in line or "__" in line else None
            if match is not None:
                metadata.append((match[1].strip(), match[2].strip()))
            else:
                stated.append(line.strip())
        self._report_loose(first, stop)
        text = lines.joined(first, stop)
        return text, "\n".join(stated) or text, tuple(metadata)

    def _report_loose(self, first: int, stop: int) -> None:
        """Name the lines that were surely meant as headings."""
        for index in range(first, stop):
            line = self._lines.text[index]
            # Looking for a letter first spares most lines the expressions.
            if self._lines.kinds[index] != TEXT or ":" not in line:
                continue
            if _LOOSE_HEADING.match(line):
                message = f"{line.strip()[:_SHOWN]!r} is indented and so is text. Begin it at the left margin."
                self._findings.warning("indented_header", index + 1, message)
            elif _LOOSE_SCENARIO.match(line):
                message = f"{line.strip()[:_SHOWN]!r} is text, no heading. Write `#### Scenario: name`."
                self._findings.warning("scenario_not_header", index + 1, message)

    def _check(self, heading: Heading, name: str, word: str) -> None:
        if not name:
            message = f"This {word.lower()} has no name. Write one after `{word}:`."
            self._findings.error("empty_name", heading.line, message)
        if not heading.spaced or not heading.text.startswith(f"{word}:"):
            message = f"{heading.text[:_SHOWN]!r} is read as `{word}:`, which other tools may not. Write it exactly so."
            self._findings.info("header_style", heading.line, message)
