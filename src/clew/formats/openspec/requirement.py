"""A requirement: its heading and description, its scenarios, and whatever else is in it.

A scenario has steps: GIVEN, WHEN, THEN, AND, BUT, in all the ways they are written. A keyword in bold at the beginning
of a line, with or without a bullet and in any case, begins a step, and every further one in bold on that line begins
another. So does a plain one in capitals; one with only its first letter capital does so in a bullet of the outermost
level. What is indented below, wrapped, or set as code belongs to the step before it.
"""

import re

import msgspec

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.openspec.lines import Heading, SpecLines
from clew.formats.openspec.names import Slugs
from clew.formats.openspec.records import OtherHeading, Requirement, Scenario, ScenarioStep
from clew.text.lines import Span
from clew.text.markdown import BLANK, CODE, FENCE, HEADING, TEXT

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

    def __init__(self, lines: SpecLines, findings: DiagnosticLog) -> None:
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
            f"The heading {heading.text[:_SHOWN]!r} is not a requirement; it is kept with the requirement before it."
            " Write `### Requirement: name`, or set it in bold."
        )
        self._findings.warning("foreign_heading", heading.line, message)
        return OtherHeading(heading.text, self._lines.raw(heading.index, stop), self._lines.span(heading.index, stop))

    def _description(self, first: int, stop: int) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        lines = self._lines
        metadata: list[tuple[str, str]] = []
        stated: list[str] = []
        for index in range(first, stop):
            if lines.kinds[index] not in (TEXT, HEADING):
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
            if self._lines.kinds[index] not in (TEXT, HEADING) or ":" not in line:
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


_BULLET = r"(?:[-*+]|\d{1,9}[.)])\s+"
_WORD = r"GIVEN|WHEN|THEN|AND|BUT"
_BOLD = re.compile(rf"(\*\*|__)\s*({_WORD})\s*:?\s*\1\s*:?", re.IGNORECASE)
_FIRST_BOLD = re.compile(rf"\s*(?:{_BULLET})?(?=(?:\*\*|__)\s*(?:{_WORD})\b)", re.IGNORECASE)
_PLAIN = re.compile(rf"(\s*)({_BULLET})?({_WORD}|Given|When|Then|And|But)(?::|,|(?=\s)|$)")
_PLAIN_THEN = re.compile(r"\s(THEN)(?::|,|(?=\s))")
_INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_ITEM = re.compile(rf"\s*{_BULLET}")
_ROLES = {"GIVEN": "given", "WHEN": "when", "THEN": "then"}
_CONDITIONS = ("GIVEN", "WHEN")
_LONGEST_WITH_CODE = 2_000
"""Longer lines are not searched for code: finding its ends takes the square of the length."""


class _Start(msgspec.Struct, frozen=True, gc=False):
    """Beginning of a step."""

    index: int
    column: int
    """0 for the first of its line: the bullet before it belongs to it."""
    keyword: str
    text_column: int


def read_steps(lines: SpecLines, first: int, stop: int) -> tuple[list[ScenarioStep], int, int]:
    """The steps of a scenario whose body is in these lines, the line where the first begins, and the line of an AND
    or BUT that continues nothing (0 where there is none)."""
    starts = _starts(lines, first, stop)
    steps: list[ScenarioStep] = []
    role, adrift = "", 0
    for position, start in enumerate(starts):
        role = _ROLES.get(start.keyword, role)
        if not role:
            role, adrift = "given", start.index + 1
        following = starts[position + 1] if position + 1 < len(starts) else None
        steps.append(_step(lines, start, role, following, stop))
    return steps, starts[0].index if starts else stop, adrift


def _starts(lines: SpecLines, first: int, stop: int) -> list[_Start]:
    found: list[_Start] = []
    outermost: int | None = None
    """The indent of the first step."""
    for index in range(first, stop):
        if lines.kinds[index] != TEXT:
            continue
        line = lines.text[index]
        shown = _INLINE_CODE.sub(_masked, line) if "`" in line and len(line) <= _LONGEST_WITH_CODE else line
        here = _in_bold(shown, index) or _plain(shown, index, outermost)
        if here:
            found.extend(here)
            if outermost is None:
                outermost = len(line) - len(line.lstrip())
    return found


def _masked(code: re.Match[str]) -> str:
    return "`" * len(code[0])


def _in_bold(line: str, index: int) -> list[_Start]:
    if "**" not in line and "__" not in line:
        return []
    if _FIRST_BOLD.match(line) is None:
        return []
    return [
        _Start(index, 0 if position == 0 else match.start(), match[2].upper(), match.end())
        for position, match in enumerate(_BOLD.finditer(line))
    ]


def _plain(line: str, index: int, outermost: int | None) -> list[_Start]:
    match = _PLAIN.match(line)
    if match is None:
        return []
    indent, bullet, word = match[1], match[2], match[3]
    keyword = word.upper()
    deeper = outermost is not None and len(indent) > outermost
    if word != keyword and (bullet is None or deeper):
        return []
    found = [_Start(index, 0, keyword, match.end())]
    # "WHEN the lamp burns THEN the ship turns" is written on one line by some.
    if keyword in _CONDITIONS and (then := _PLAIN_THEN.search(line, match.end())) is not None:
        found.append(_Start(index, then.start(1), "THEN", then.end()))
    return found


def _step(lines: SpecLines, start: _Start, role: str, following: _Start | None, stop: int) -> ScenarioStep:
    begin = lines.offset(start.index, start.column)
    if following is None:
        whole = lines.span(start.index, stop)
        last, end = stop, whole.end
    else:
        last, end = following.index, lines.offset(following.index, following.column)
    within = following is not None and following.index == start.index
    text = lines.text[start.index][start.text_column : following.column if within and following else None].strip()
    children: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    if last > start.index + 1:
        text, children, code = _below(lines, text, start.index + 1, last)
    end_line = start.index + 1 if within else max(last, start.index + 1)
    span = Span(begin, end, start.index + 1, end_line)
    return ScenarioStep(start.keyword, role, text, children, code, lines.cut(begin, end), span)


def _below(lines: SpecLines, text: str, first: int, stop: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Lines below a step: the rest of its own text, its children and its code."""
    paragraphs: list[list[str]] = [[text]]
    code: list[list[str]] = []
    in_code = apart = False
    for index in range(first, stop):
        kind, line = lines.kinds[index], lines.text[index]
        if kind == FENCE:
            if not in_code:
                code.append([])
            in_code, apart = not in_code, True
        elif kind == CODE:
            code[-1].append(line)
        elif kind == BLANK:
            apart = True
        elif (item := _ITEM.match(line)) is not None or apart:
            paragraphs.append([line[item.end() if item is not None else 0 :].strip()])
            apart = False
        else:
            paragraphs[-1].append(line.strip())
    own, *children = (" ".join(filter(None, paragraph)) for paragraph in paragraphs)
    return own, tuple(children), tuple("\n".join(block) for block in code)
