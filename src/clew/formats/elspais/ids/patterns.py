"""From templates to patterns: the parts of an id as regular expressions, and an id put together from its parts."""

import re
from typing import Protocol

from clew.errors import ConfigError
from clew.formats.elspais.ids.templates import TOKEN
from clew.formats.elspais.settings import ElspaisSettings

_DIGITS = 64
_NAMED_LENGTH = 128
_PATTERN_SECONDS = 0.1

_NAMED_COMPONENTS = {
    "camelCase": r"[a-z][A-Za-z0-9]*",
    "PascalCase": r"[A-Z][A-Za-z0-9]*",
    "snake_case": r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*",
    "kebab-case": r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*",
    "alphanumeric": r"[A-Za-z0-9]+",
    "named": r"[A-Za-z][A-Za-z0-9]*",
}
_SPELLED_IN_NAMES = frozenset({"numeric", "camelCase", "PascalCase", "alphanumeric", "named"})


class Match(Protocol):
    def groupdict(self) -> dict[str, str | None]: ...


class Pattern(Protocol):
    def fullmatch(self, text: str, /) -> Match | None: ...


class _TimedPattern:
    """A pattern whose component comes from a settings file: it may take exponential time, so it gets little.

    One that ran out of time is never tried again, which bounds what a hostile settings file can cost in all.
    """

    def __init__(self, source: str) -> None:
        from clew.text.given_pattern import compile_given

        try:
            self._pattern = compile_given(source)
        except ValueError as error:
            raise ConfigError(
                f".elspais.toml: `id-patterns.component.pattern`, with the levels around it, cannot be used: {error}.",
                hint="Write a shorter pattern, which closes what it opens.",
            ) from error
        self._exhausted = False

    def fullmatch(self, text: str, /) -> Match | None:
        if self._exhausted:
            return None
        try:
            found: Match | None = self._pattern.fullmatch(text, timeout=_PATTERN_SECONDS)
        except TimeoutError:
            self._exhausted = True
            return None
        return found


class IdPatterns:
    """The patterns of one project's ids. Groups: namespace, associated, level, component, labels."""

    def __init__(self, settings: ElspaisSettings) -> None:
        self._settings = settings
        self._separators = "[" + "".join(re.escape(sign) for sign in settings.id_separators) + "]"
        self.spelling_of = self._spellings()
        """From how a level is written in an id, folded where that is unambiguous, to its name."""

    def template(self) -> str:
        template = self._settings.id_template
        if self._settings.associated_length and "{associated}" not in template:
            # The code of the other repository follows the namespace and its separator.
            template = re.sub(r"^(\{namespace\}.)", r"\1{associated}", template, count=1)
        return template

    def reference(self, template: str) -> Pattern:
        """Matches an id with or without labels."""
        label = "[A-Za-z0-9]{1,4}"
        source = f"{self._id(template)}(?:{self.label_separator()}(?P<labels>{label}(?:{self.label_joint()}{label})*))?"
        if self._settings.component_style == "regex":
            return _TimedPattern(source)
        return re.compile(source)

    def test_name(self) -> re.Pattern[str] | None:
        """Matches an id inside the name of a function; None if a component cannot be separated from what follows."""
        if self._settings.component_style not in _SPELLED_IN_NAMES:
            return None
        first, more = {
            "uppercase": ("[A-Za-z]", "[A-Z]"),
            "alphanumeric": ("[0-9A-Za-z]", "[0-9A-Z]"),
        }.get(self._settings.label_style, ("[0-9]{1,4}", "[0-9]{1,4}"))
        end = "(?![A-Za-z0-9])"
        source = self._id(self.template(), in_name=True)
        return re.compile(rf"(?<![A-Za-z0-9]){source}{end}(?P<labels>(?:_{first}{end}(?:_{more}{end})*)?)")

    def label_separator(self) -> str:
        return self._spelled(self._settings.label_separator)

    def label_joint(self) -> str:
        """Between two labels: today's sign, or the separator that February's spelling repeats."""
        return f"(?:{re.escape(self._settings.label_multi_separator)}|{self.label_separator()})"

    def compose(self, template: str, parts: dict[str, str | None], level: str, component: str) -> str:
        """An id from a match and its canonical level and component."""

        def part(token: re.Match[str]) -> str:
            match token[1]:
                case "namespace":
                    return self._settings.namespace
                case "component":
                    return component
                case "associated":
                    return (parts.get("associated") or "").upper()
                case _:
                    return level

        return TOKEN.sub(part, template)

    def component(self, written: str) -> str | None:
        """The canonical spelling of a component; None where it breaks a limit."""
        settings = self._settings
        if settings.component_style != "numeric":
            return written if len(written) <= (settings.component_max_length or _NAMED_LENGTH) else None
        significant = written.lstrip("0") or "0"
        if settings.component_digits and len(significant) > settings.component_digits:
            return None
        return significant.rjust(settings.component_digits, "0") if settings.leading_zeros else significant

    def _spellings(self) -> dict[str, tuple[str, str]]:
        """Level name and canonical spelling, by written and by folded spelling."""
        by_name = "{level}" in self._settings.id_template
        spellings: dict[str, tuple[str, str]] = {}
        folded: dict[str, list[tuple[str, str]]] = {}
        for level in self._settings.levels:
            spelling = level.name if by_name else level.letter
            spellings.setdefault(spelling, (level.name, spelling))
            folded.setdefault(spelling.casefold(), []).append((level.name, spelling))
        for key, candidates in folded.items():
            if len({spelling for _, spelling in candidates}) == 1:
                spellings.setdefault(key, candidates[0])
        return spellings

    def _id(self, template: str, *, in_name: bool = False) -> str:
        pieces, position = [], 0
        for token in TOKEN.finditer(template):
            pieces.append(self._literal(template[position : token.start()], in_name))
            pieces.append(self._token(token[1], in_name))
            position = token.end()
        pieces.append(self._literal(template[position:], in_name))
        return "".join(pieces)

    def _token(self, name: str, in_name: bool) -> str:
        settings = self._settings
        if name == "namespace":
            namespace = settings.namespace.replace("-", "_") if in_name else settings.namespace
            return f"(?P<namespace>(?i:{re.escape(namespace)}))"
        if name == "component":
            return f"(?P<component>{self._component_source()})"
        if name == "associated":
            separator = "_" if in_name else self._spelled("-")
            length = settings.associated_length
            return f"(?P<associated>[A-Za-z]{{{length}}}{separator})?" if length else ""
        longest_first = sorted({spelling for _, spelling in self.spelling_of.values()}, key=len, reverse=True)
        return f"(?P<level>(?i:{'|'.join(map(re.escape, longest_first))}))"

    def _component_source(self) -> str:
        settings = self._settings
        if settings.component_style == "numeric":
            return f"[0-9]{{1,{_DIGITS}}}"
        if settings.component_style == "regex":
            return f"(?:{settings.component_pattern})"
        return _NAMED_COMPONENTS[settings.component_style]

    def _literal(self, text: str, in_name: bool) -> str:
        if in_name:
            return re.sub(r"[^A-Za-z0-9_]", "_", text)
        return "".join(self._spelled(character) for character in text)

    def _spelled(self, sign: str) -> str:
        return self._separators if sign in self._settings.id_separators else re.escape(sign)
