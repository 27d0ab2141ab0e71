"""Fields: `**Level**: DEV | **Implements**: REQ-p00001, REQ-p00002`, in all the ways they are written."""

import re

import msgspec

from clew.formats.elspais.findings import Findings
from clew.formats.elspais.ids import IdGrammar, ParsedReference
from clew.formats.elspais.records import Reference

REFERENCE_FIELDS = ("implements", "refines", "satisfies", "integrates", "addresses")
WORD_FIELDS = ("level", "status")
FLAG_FIELD = "template"

_NO_REFERENCE = frozenset({"-", "null", "none", "x", "n/a"})
_ONE_WORD = re.compile(r"[\w-]+")
_LONGEST_WORDS = 60


class Field(msgspec.Struct, frozen=True, gc=False):
    name: str
    value: str
    decorated: bool
    """Wrapped in `*` or `_`: nobody writes prose that way, so it was meant as a field."""
    signed: bool
    """Followed by `:` or `=`."""


class FieldPattern:
    """Recognises the given fields at the start of a text."""

    def __init__(self, names: tuple[str, ...]) -> None:
        wrap = r"(?:\*\*|\*|__|_)"
        self._pattern = re.compile(
            rf"(?P<wrap>{wrap})?(?P<name>{'|'.join(names)})(?P<inner>:)?{wrap}?(?P<sign>\s*[:=]|(?!\w))", re.IGNORECASE
        )

    def match(self, text: str) -> Field | None:
        text = text.strip()
        match = self._pattern.match(text)
        if match is None:
            return None
        signed = bool(match["inner"] or match["sign"].strip())
        return Field(match["name"].lower(), text[match.end() :].strip(), match["wrap"] is not None, signed)


class ReferenceList:
    """Gathers the references of one requirement or journey, across lines, without repeats."""

    def __init__(self, grammar: IdGrammar, findings: Findings) -> None:
        self._grammar = grammar
        self._findings = findings
        self._found: dict[tuple[str, str, tuple[str, ...]], Reference] = {}

    def references(self) -> tuple[Reference, ...]:
        return tuple(self._found.values())

    def looks_like_one(self, value: str) -> bool:
        """Whether any item was surely meant as a reference, or as the absence of one."""
        items = [item.strip() for item in value.split(",")]
        return any(
            item.casefold() in _NO_REFERENCE or self._grammar.parse_reference(item) or self._grammar.resembles(item)
            for item in items[:100]
        )

    def add(self, kind: str, value: str, line: int) -> bool:
        """Read a comma separated list; returns whether it goes on in the next line."""
        items = [item.strip() for item in value.split(",")]
        for item in items:
            if item and item.casefold() not in _NO_REFERENCE:
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
    return [field, *(_REQUIREMENT_FIELD.match(other) or other.strip() for other in others)]


def continued_fields(name: str, line: str) -> list[Field | str]:
    """The fields of a line that continues the list of the named field."""
    first, *others = line.split("|")
    items = Field(name, first.strip(), decorated=False, signed=False)
    return [items, *(_REQUIREMENT_FIELD.match(other) or other.strip() for other in others)]


def _is_meant(field: Field, references: ReferenceList) -> bool:
    """Whether a line that begins with a field's name is metadata, not a sentence that begins with that word."""
    if field.name == FLAG_FIELD:
        return not field.value or field.value.casefold() == "true"
    if field.decorated:
        return field.signed or bool(field.value)
    if field.name in WORD_FIELDS:
        return _ONE_WORD.fullmatch(field.value) is not None
    return references.looks_like_one(field.value)


def word_value(field: Field, line: int, findings: Findings) -> str:
    """The value of a field that takes one word."""
    value = field.value.strip("*_` ")
    if not _ONE_WORD.fullmatch(value):
        rule = (
            f"{field.name} takes one word, but reads {value[:_LONGEST_WORDS]!r}; it is kept as written. Use one word."
        )
        findings.warning("field_value", line, rule)
    return value
