"""Fields: `**Level**: DEV | **Implements**: REQ-p00001, REQ-p00002`, in all the ways they are written."""

import re
from collections.abc import Iterator

import msgspec

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.lines import RequirementLines
from clew.formats.elspais.records import Reference
from clew.text.markdown import TEXT

REFERENCE_FIELDS = ("implements", "refines", "satisfies", "integrates", "addresses")
WORD_FIELDS = ("level", "status")
FLAG_FIELD = "template"

NO_REFERENCE = frozenset({"-", "null", "none", "x", "n/a"})
_ONE_WORD = re.compile(r"[\w-]+")
_LONGEST_WORDS = 60


class Field(msgspec.Struct, frozen=True, gc=False):
    name: str
    value: str
    decorated: bool
    """Wrapped in `*` or `_`: nobody writes prose that way, so it was meant as a field."""
    signed: bool
    """Followed by `:` or `=`."""
    name_start: int = 0
    start: int = 0
    """Column in the line at which the name and the value begin."""
    continues: bool = False
    """It continues the list of the line above, without a name of its own."""


class FieldPattern:
    """Recognises the given fields at the start of a text."""

    def __init__(self, names: tuple[str, ...]) -> None:
        wrap = r"(?:\*\*|\*|__|_)"
        self._pattern = re.compile(
            rf"(?P<wrap>{wrap})?(?P<name>{'|'.join(names)})(?P<inner>:)?{wrap}?(?P<sign>\s*[:=]|(?!\w))", re.IGNORECASE
        )

    def match(self, text: str, offset: int = 0) -> Field | None:
        """The field that a text begins with; `offset` is where the text begins in its line."""
        bare = text.strip()
        match = self._pattern.match(bare)
        if match is None:
            return None
        signed = bool(match["inner"] or match["sign"].strip())
        value = bare[match.end() :].lstrip()
        begin = offset + text.find(bare)
        start = begin + len(bare) - len(value)
        return Field(
            match["name"].lower(), value, match["wrap"] is not None, signed, begin + match.start("name"), start
        )


class ReferenceList:
    """Gathers the references of one requirement or journey, across lines, without repeats."""

    def __init__(self, grammar: IdGrammar, findings: DiagnosticLog) -> None:
        self._grammar = grammar
        self._findings = findings
        self._found: dict[tuple[str, str, tuple[str, ...]], Reference] = {}

    def references(self) -> tuple[Reference, ...]:
        return tuple(self._found.values())

    def looks_like_one(self, value: str) -> bool:
        """True if any item was certainly meant as a reference, or as the absence of one."""
        items = [item.strip() for item in value.split(",")]
        return any(
            item.casefold() in NO_REFERENCE or self._grammar.parse_reference(item) or self._grammar.resembles(item)
            for item in items[:100]
        )

    def add(self, kind: str, value: str, line: int) -> bool:
        """Read a comma separated list; returns whether it goes on in the next line."""
        items = [item.strip() for item in value.split(",")]
        for item in items:
            if item and item.casefold() not in NO_REFERENCE:
                self._add_item(kind, item, line)
        return len(items) > 1 and not items[-1]

    def _add_item(self, kind: str, item: str, line: int) -> None:
        parsed = self._grammar.parse_reference(item)
        if parsed is None:
            reference = Reference(kind, item, item, (), line, malformed=True)
        else:
            reference = Reference(kind, item, parsed.target, parsed.labels, line)
            self._note_style(item, parsed, line)
        key = (kind, reference.target, reference.labels)
        if key in self._found:
            self._findings.warning(
                "repeated_reference", line, f"{item!r} is cited twice under {kind}; it counts once. Remove one."
            )
        else:
            self._found[key] = reference

    def _note_style(self, item: str, parsed: ParsedReference, line: int) -> None:
        departures = [note for note in parsed.notes if note != "alias"]
        if departures:
            joint = self._grammar.settings.label_multi_separator
            canonical = parsed.target
            if parsed.labels:
                canonical = self._grammar.assertion_id(parsed.target, joint.join(parsed.labels))
            message = f"{item!r} is read as {canonical} (differs in {', '.join(departures)}). Write {canonical}."
            self._findings.info("reference_style", line, message)


_REQUIREMENT_FIELD = FieldPattern((*WORD_FIELDS, *REFERENCE_FIELDS, FLAG_FIELD))


def metadata_fields(line: str, references: ReferenceList) -> list[Field | str] | None:
    """The fields of a metadata line, with the parts between bars that are none; None for a line of prose."""
    first, *others = line.split("|")
    field = _REQUIREMENT_FIELD.match(first)
    if field is None or not _is_meant(field, references):
        return None
    return [field, *_further_fields(len(first), others)]


def metadata_lines(
    lines: RequirementLines, first: int, stop: int, references: ReferenceList
) -> Iterator[tuple[int, list[Field | str] | None]]:
    """The lines above the first heading, each with its fields, or None for prose. A list that ends in a comma goes on
    in the next line."""
    listing = ""
    for index in range(first, stop):
        is_text = lines.kinds[index] == TEXT
        fields = metadata_fields(lines.text[index], references) if is_text else None
        if listing and is_text and fields is None:
            fields = continued_fields(listing, lines.text[index])
        listing = _unfinished(fields[-1]) if fields else ""
        yield index, fields


def _unfinished(field: Field | str) -> str:
    """The name of a field whose list goes on in the next line."""
    if isinstance(field, str) or field.name not in REFERENCE_FIELDS:
        return ""
    return field.name if field.value.endswith(",") else ""


def continued_fields(name: str, line: str) -> list[Field | str]:
    """The fields of a line that continues the list of the named field."""
    first, *others = line.split("|")
    return [continued_field(name, first), *_further_fields(len(first), others)]


def continued_field(name: str, text: str) -> Field:
    start = len(text) - len(text.lstrip())
    return Field(name, text.strip(), decorated=False, signed=False, start=start, continues=True)


def _further_fields(end: int, parts: list[str]) -> Iterator[Field | str]:
    """The fields between the bars of a line; the first part follows the bar at `end`."""
    for part in parts:
        yield _REQUIREMENT_FIELD.match(part, end + 1) or part.strip()
        end += 1 + len(part)


def _is_meant(field: Field, references: ReferenceList) -> bool:
    """True if a line that begins with a field's name is metadata, not a sentence that begins with that word."""
    if field.name == FLAG_FIELD:
        return not field.value or field.value.casefold() == "true"
    if field.decorated:
        return field.signed or bool(field.value)
    if field.name in WORD_FIELDS:
        return _ONE_WORD.fullmatch(field.value) is not None
    return references.looks_like_one(field.value)


def word_value(field: Field, line: int, findings: DiagnosticLog) -> str:
    """The value of a field that takes one word."""
    value = field.value.strip("*_` ")
    if not _ONE_WORD.fullmatch(value):
        rule = (
            f"{field.name} takes one word, but reads {value[:_LONGEST_WORDS]!r}; it is kept as written. Use one word."
        )
        findings.warning("field_value", line, rule)
    return value
