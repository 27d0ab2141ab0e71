"""The grammar of ids: what names a requirement, an assertion, a journey or a step."""

import re
from functools import lru_cache

import msgspec

from clew.formats.elspais.ids.patterns import IdPatterns, Pattern
from clew.formats.elspais.settings import Associate, ElspaisSettings

_LONGEST = 256
"""Longer texts are no ids. Bounds the work a hostile text can cause."""
_REMEMBERED = 100_000

_JOURNEY = re.compile(r"(JNY-[A-Za-z0-9][A-Za-z0-9-]*-[0-9]+)(?:/([0-9]{1,6}))?")
_JOURNEY_SEPARATOR = "/"

_STRICT_LABELS = {
    "uppercase": re.compile("[A-Z]"),
    "numeric": re.compile("[0-9]{1,4}"),
    "numeric_1based": re.compile("0{0,3}[1-9][0-9]{0,3}"),
    "alphanumeric": re.compile("[0-9A-Z]"),
}
_LENIENT_LABEL = re.compile("[A-Z]{1,2}[0-9]{0,2}|[0-9]{1,3}[A-Z]?")


class ParsedReference(msgspec.Struct, frozen=True, gc=False):
    """A reference as the grammar understands it."""

    target: str
    """The canonical id of the requirement or journey."""
    labels: tuple[str, ...] = ()
    """The assertions, or the step of a journey, that are meant; empty means the whole."""
    notes: tuple[str, ...] = ()
    """Departures of the spelling from the canonical one: alias, case, padding, separator, dash_labels, label."""


class IdGrammar:
    """Reads and writes the ids of one project. Answers are remembered, so asking again costs a dictionary lookup."""

    def __init__(self, settings: ElspaisSettings) -> None:
        self.settings = settings
        self._patterns = IdPatterns(settings)
        self._template = self._patterns.template()
        self._canonical = self._patterns.reference(self._template)
        aliases = [template for _, template in settings.id_aliases]
        if settings.prefix_optional:
            aliases.append(re.sub(r"^\{namespace\}[^{}]*", "", self._template))
        self._aliases = [self._patterns.reference(alias) for alias in aliases]
        self._joint = re.compile(self._patterns.label_joint())
        self._test_name = self._patterns.test_name()
        self._strict_label = _STRICT_LABELS[settings.label_style]
        signs = "".join(re.escape(sign) for sign in settings.id_separators)
        # A template without the namespace has no beginning that distinguishes a misspelled id from a word.
        start = f"(?i:{re.escape(settings.namespace)})[{signs}]" if "{namespace}" in self._template else "(?!)"
        self._resembling = re.compile(f"{start}|JNY-")
        spellings = sorted({spelling for _, spelling in self._patterns.spelling_of.values()})
        self.header_prefixes = (settings.namespace,) if self._template.startswith("{namespace}") else tuple(spellings)
        """Prefixes of a line that may be a header without `#`."""
        self._others = tuple(IdGrammar(_of_associate(each, settings)) for each in settings.associates)
        """The grammars of associates, whose ids may be cited as well."""
        self._references = lru_cache(_REMEMBERED)(self._reference)
        self._headers = lru_cache(_REMEMBERED)(self._header)

    def canonical(self, text: str) -> str | None:
        """The canonical id of a requirement or journey that `text` spells in any accepted way."""
        parsed = self.parse_reference(text)
        return parsed.target if parsed is not None and not parsed.labels else None

    def parse_reference(self, item: str) -> ParsedReference | None:
        """Reference in one item of a reference list: an id, with or without labels, in any accepted spelling."""
        return self._references(item) if len(item) <= _LONGEST else None

    def parse_header(self, text: str) -> ParsedReference | None:
        """The id a heading declares. Short forms do not count there: `p1: ...` is an ordinary heading."""
        return self._headers(text) if len(text) <= _LONGEST else None

    def assertion_id(self, owner_id: str, label: str) -> str:
        """The id of an assertion of a requirement, or of a step of a journey."""
        separator = _JOURNEY_SEPARATOR if self.is_journey(owner_id) else self.settings.label_separator
        return f"{owner_id}{separator}{label}"

    def is_label(self, text: str) -> bool:
        """True if the configured style allows this label of an assertion."""
        return self._strict_label.fullmatch(text) is not None

    def label(self, text: str) -> str | None:
        """The canonical spelling of a label; None where it follows neither the style nor any older one."""
        upper = text.upper()
        if self._strict_label.fullmatch(upper):
            if not self.settings.label_style.startswith("numeric"):
                return upper
            return f"{int(upper):02d}" if self.settings.label_zero_pad else str(int(upper))
        return text if _LENIENT_LABEL.fullmatch(text) else None

    def level_of(self, id: str) -> str | None:
        """The name of the level that an id belongs to; None where ids do not show it."""
        if len(id) > _LONGEST:
            return None
        match = self._canonical.fullmatch(id)
        written = match.groupdict().get("level") if match is not None else None
        return self._level(written)[0] if written else None

    def composed(self, level: str, component: str) -> str | None:
        """The id of a component on a level; None where that would be none of this project."""
        known = self.settings.level(level)
        spelling = "" if known is None else known.name if "{level}" in self._template else known.letter
        spelled = self._patterns.component(component)
        if spelled is None:
            return None
        id = self._patterns.compose(self._template, {}, spelling, spelled)
        parsed = self.parse_header(id)
        return id if parsed is not None and parsed.target == id else None

    def is_journey(self, text: str) -> bool:
        match = _JOURNEY.fullmatch(text) if len(text) <= _LONGEST else None
        return match is not None and match[2] is None

    def resembles(self, text: str) -> bool:
        """True if a text begins the way ids of this project do, so that it was certainly meant as one."""
        return self._resembling.match(text) is not None or any(other.resembles(text) for other in self._others)

    def associate_of(self, id: str) -> Associate | None:
        """The associate whose namespace an id has; None for ids of this project."""
        if not self._others or self._canonically_spelled(id) is not None:
            return None
        pairs = zip(self.settings.associates, self._others, strict=True)
        return next((each for each, other in pairs if other._canonically_spelled(id) is not None), None)

    def from_test_name(self, name: str) -> tuple[ParsedReference, ...]:
        """The references in the name of a test, where every boundary is spelled `_`: `test_REQ_d00062_A_B_works`."""
        if self._test_name is None or len(name) > 2 * _LONGEST:
            return ()
        found = []
        for match in self._test_name.finditer(name):
            parsed = self._understood({**match.groupdict(), "labels": None}, match[0], None)
            if parsed is not None:
                labels = tuple(filter(None, (self.label(label) for label in match["labels"].split("_") if label)))
                found.append(ParsedReference(parsed.target, labels))
        return tuple(found)

    def _reference(self, text: str) -> ParsedReference | None:
        parsed = self._canonically_spelled(text)
        for pattern in self._aliases:
            if parsed is not None:
                break
            parsed = self._matched(pattern, text, "alias")
        for other in self._others:
            if parsed is not None:
                break
            parsed = other._canonically_spelled(text)
        return parsed

    def _header(self, text: str) -> ParsedReference | None:
        parsed = self._canonically_spelled(text)
        return parsed if parsed is not None and not parsed.labels else None

    def _canonically_spelled(self, text: str) -> ParsedReference | None:
        if journey := _JOURNEY.fullmatch(text):
            return ParsedReference(journey[1], (str(int(journey[2])),) if journey[2] else ())
        return self._matched(self._canonical, text, None)

    def _matched(self, pattern: Pattern, text: str, note: str | None) -> ParsedReference | None:
        match = pattern.fullmatch(text)
        return self._understood(match.groupdict(), text, note) if match is not None else None

    def _understood(self, parts: dict[str, str | None], text: str, note: str | None) -> ParsedReference | None:
        written = parts["component"] or ""
        component = self._patterns.component(written)
        if component is None:
            return None
        level = self._level(parts.get("level") or "")[1]
        target = self._patterns.compose(self._template, parts, level, component)
        labels_text = parts.get("labels") or ""
        labels = self._labels(labels_text)
        if labels is None:
            return None
        notes = [note] if note else []
        namespace = self.settings.namespace
        if (parts.get("level") or level, parts.get("namespace") or namespace) != (level, namespace):
            notes.append("case")
        if component != written:
            notes.append("padding")
        own = text[: len(text) - len(labels_text)] if labels_text else text
        if not note and self._other_separator(own, parts, written):
            notes.append("separator")
        notes.extend(self._label_notes(labels_text, labels))
        return ParsedReference(target, labels, tuple(dict.fromkeys(notes)))

    def _other_separator(self, own: str, parts: dict[str, str | None], component: str) -> bool:
        """True if the id has another sign between its parts than the template."""
        level = parts.get("level") or ""
        expected = self._patterns.compose(self._template, parts, level, component)
        if parts.get("labels"):
            expected += self.settings.label_separator
        return own.casefold() != expected.casefold()

    def _labels(self, text: str) -> tuple[str, ...] | None:
        if not text:
            return ()
        labels = [self.label(label) for label in self._joint.split(text)]
        return None if None in labels else tuple(dict.fromkeys(label for label in labels if label))

    def _label_notes(self, text: str, labels: tuple[str, ...]) -> list[str]:
        if not text:
            return []
        notes = []
        if any(label.upper() != label for label in self._joint.split(text)):
            notes.append("case")
        if not all(map(self.is_label, labels)):
            notes.append("label")
        joints = self._joint.findall(text)
        if any(joint != self.settings.label_multi_separator for joint in joints):
            notes.append("dash_labels")
        return notes

    def _level(self, written: str) -> tuple[str, str]:
        spellings = self._patterns.spelling_of
        return spellings.get(written) or spellings.get(written.casefold()) or ("", written)


def _of_associate(associate: Associate, own: ElspaisSettings) -> ElspaisSettings:
    """The settings of an associate; one that is not read is taken to spell its ids as this project does."""
    known = associate.settings or own
    return msgspec.structs.replace(known, namespace=associate.namespace, id_aliases=(), associates=())


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_MOST = 10_000


def label_at(position: int, settings: ElspaisSettings) -> str | None:
    """The label at a position of the series, from 0; None behind its end."""
    signs = _signs(settings)
    if signs is not None:
        return signs[position] if 0 <= position < len(signs) else None
    number = position + (settings.label_style == "numeric_1based")
    if not 0 <= position < _MOST or number >= _MOST:
        return None
    return f"{number:02d}" if settings.label_zero_pad else str(number)


def position_of(label: str, settings: ElspaisSettings) -> int | None:
    """Position of a label in the series; None for a label of another style."""
    signs = _signs(settings)
    if signs is not None:
        return signs.find(label) if len(label) == 1 and label in signs else None
    position = int(label) - (settings.label_style == "numeric_1based") if label.isdecimal() else -1
    return position if position >= 0 else None


def describe_labels(settings: ElspaisSettings) -> str:
    signs = _signs(settings)
    first, second = label_at(0, settings), label_at(1, settings)
    return f"{signs[0]} to {signs[-1]}" if signs is not None else f"{first}, {second} and so on"


def _signs(settings: ElspaisSettings) -> str | None:
    """The one-character labels of the style; None where labels are numbers."""
    if settings.label_style == "uppercase":
        return _LETTERS
    return _DIGITS + _LETTERS if settings.label_style == "alphanumeric" else None
