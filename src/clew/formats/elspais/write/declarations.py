"""Declarations in a settings file: `[scopes.NAME]`, the named selections of elspais's reports, added, changed, renamed
and removed in its text.

Every other byte stays, comments and spacing included. What comes out is parsed again: where it says anything else than
what was asked for, the text is left alone and the call refused.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from clew.errors import AlreadyExists, NotFound, Refused
from clew.formats.elspais.toml_values import parse_toml

TABLE = "scopes"
"""The only table that elspais holds declarations of."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

_HEADER = re.compile(rf"""([ \t]*\[[ \t]*{TABLE}[ \t]*\.[ \t]*)(["']?)([A-Za-z0-9_-]+)\2([ \t]*\][ \t]*(?:\#.*)?)""")
_ANY_HEADER = re.compile(r"[ \t]*\[")
_SETTING = re.compile(r"""[ \t]*(["']?)([A-Za-z0-9_-]+)\1[ \t]*=""")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_STRINGS = (
    *(r'"""(?:\\.|[^\\])*?"""(?!")', r"'''.*?'''(?!')"),
    *(r'"(?:\\.|[^"\\\n])*"', r"'[^'\n]*'"),
)
_TOKEN = re.compile("|".join((*_STRINGS, r"#[^\n]*", r"[\[\]{}\n]")), re.DOTALL)
"""Signs that decide where a value ends: strings and comments, whose content does not count, brackets, and line ends."""

Settings = Mapping[str, Any]


class _Setting(msgspec.Struct, frozen=True):
    key: str
    first: int
    stop: int
    """Lines of the file."""
    comment: str
    """Comment after the value, with the space before it."""


class _Table(msgspec.Struct, frozen=True):
    header: int
    settings: tuple[_Setting, ...]

    @property
    def end(self) -> int:
        """Behind its last setting."""
        return self.settings[-1].stop if self.settings else self.header + 1


def declared(data: bytes, file: str) -> dict[str, Settings]:
    """Declarations of a file by name, in their order."""
    found = parse_toml(data, file).get(TABLE)
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, dict)}


def spelled(data: bytes, file: str, name: str) -> str:
    """The name of a declaration as the file has it; case does not count."""
    known = declared(data, file)
    found = next((each for each in known if each.casefold() == name.casefold()), None)
    if found is None:
        hint = f"It declares: {', '.join(known) or 'none'}."
        raise NotFound(f"{file} declares no [{TABLE}.{name}].", hint=hint)
    return found


def add(data: bytes, file: str, name: str, settings: Settings) -> bytes:
    _check_free(data, file, name)
    lines, newline = _lines(data)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    gap = [newline] if lines and lines[-1].strip() else []
    new = [f"[{TABLE}.{name}]{newline}", *(f"{_written(*each)}{newline}" for each in settings.items())]
    return _checked(data, [*lines, *gap, *new], file, {**declared(data, file), name: settings})


def update(data: bytes, file: str, name: str, settings: Settings) -> bytes:
    """The declaration with these settings and no others. A setting that stays as it was keeps its line."""
    before = declared(data, file)
    lines, newline = _lines(data)
    table = _table(lines, file, name)
    inside = lines[table.header : table.end]
    for each in reversed(table.settings):
        own = slice(each.first - table.header, each.stop - table.header)
        if each.key not in settings:
            inside[own] = []
        elif settings[each.key] != before[name].get(each.key):
            inside[own] = [f"{_written(each.key, settings[each.key])}{each.comment}{newline}"]
    known = {each.key for each in table.settings}
    new = [f"{_written(key, value)}{newline}" for key, value in settings.items() if key not in known]
    if new and not inside[-1].endswith("\n"):
        inside[-1] += newline
    made = [*lines[: table.header], *inside, *new, *lines[table.end :]]
    return _checked(data, made, file, {**before, name: settings})


def rename(data: bytes, file: str, name: str, new_name: str) -> bytes:
    if new_name.casefold() != name.casefold():
        _check_free(data, file, new_name)
    _check_name(new_name)
    before = declared(data, file)
    lines, _ = _lines(data)
    at = _table(lines, file, name).header
    lines[at] = _HEADER.sub(rf"\g<1>{new_name}\g<4>", lines[at], count=1)
    return _checked(data, lines, file, {(new_name if each == name else each): said for each, said in before.items()})


def remove(data: bytes, file: str, name: str) -> bytes:
    before = declared(data, file)
    lines, _ = _lines(data)
    table = _table(lines, file, name)
    rest = lines[table.end :]
    if rest and not rest[0].strip():
        rest = rest[1:]  # the blank line that set it off from the next
    kept = lines[: table.header]
    while not rest and kept and not kept[-1].strip():
        kept.pop()
    return _checked(data, [*kept, *rest], file, {each: said for each, said in before.items() if each != name})


def _check_name(name: str) -> None:
    if NAME.fullmatch(name) is None:
        raise Refused(
            f"'{name}' cannot be the name of a declaration.",
            hint="A name begins with a letter and has letters, digits, '_' and '-'.",
        )


def _check_free(data: bytes, file: str, name: str) -> None:
    _check_name(name)
    taken = next((each for each in declared(data, file) if each.casefold() == name.casefold()), None)
    if taken is not None:
        raise AlreadyExists(
            f"{file} declares [{TABLE}.{taken}] already, and case does not count.",
            hint=f"Choose another name, or change [{TABLE}.{taken}].",
        )


def _lines(data: bytes) -> tuple[list[str], str]:
    text = data.decode("utf-8")
    return _LINE.findall(text), "\r\n" if "\r\n" in text else "\n"


def _table(lines: list[str], file: str, name: str) -> _Table:
    for at, line in enumerate(lines):
        found = _HEADER.match(line)
        if found is not None and found[3] == name:
            return _Table(at, tuple(_settings(lines, at + 1)))
    raise Refused(
        f"{file} declares '{name}' otherwise than under a heading [{TABLE}.{name}].", hint="Change it in the file."
    )


def _settings(lines: list[str], at: int) -> Iterator[_Setting]:
    """Settings from a line to the next header."""
    text, place = "".join(lines[at:]), 0
    while at < len(lines) and not _ANY_HEADER.match(lines[at]):
        first = at
        found = _SETTING.match(lines[at])
        end, comment = _end_of_value(text, place + found.end()) if found is not None else (place + 1, "")
        while place < end:
            place += len(lines[at])
            at += 1
        if found is not None:
            yield _Setting(found[2], first, at, comment)


def _end_of_value(text: str, start: int) -> tuple[int, str]:
    """End of a value's last line, and the comment after it."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if sign in ("[", "{"):
            depth += 1
        elif sign in ("]", "}"):
            depth -= 1
        elif depth == 0 and sign[0] in "#\n":
            value = text[start : token.start()].rstrip()
            return token.end(), text[start + len(value) : token.end()].rstrip() if sign[0] == "#" else ""
    return len(text), ""


def _written(key: str, value: Any) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _checked(data: bytes, lines: list[str], file: str, wanted: Mapping[str, Settings]) -> bytes:
    """The new text, where it says what is wanted and else what the old one says."""
    made = "".join(lines).encode()
    try:
        before, after = parse_toml(data, file), tomllib.loads(made.decode().removeprefix("\ufeff"))
    except ValueError:
        before, after = {}, None
    kept = {key: value for key, value in before.items() if key != TABLE}
    expected = {**kept, TABLE: dict(wanted)} if wanted else kept
    if after is None or {key: value for key, value in after.items() if key != TABLE or value} != expected:
        raise Refused(f"{file} is written in a way that Clew does not edit.", hint="Change it in the file.")
    return made
