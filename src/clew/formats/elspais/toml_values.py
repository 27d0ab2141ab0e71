"""Typed access to a parsed TOML document: the wrong type is an error that names key, value and rule."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from clew.errors import ConfigError

_AT_LINE = re.compile(r"at line (\d+)")
_LONGEST_SHOWN = 60
_LARGEST = 1_000_000
_DEEPEST = 64
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP_KEY = re.compile(rf"[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{_DEEPEST + 1}}}")
_KEY_BEGINS = re.compile(r"[\n{,]")


def parse_toml(data: bytes, name: str) -> dict[str, Any]:
    """The document in `data`; `name` is what an error calls the file."""
    if len(data) > _LARGEST:
        raise ConfigError(f"{name} has {len(data)} bytes; at most {_LARGEST} are read.", hint="Shorten the file.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{name} line {line}: byte {data[error.start]:#04x} is not UTF-8.", hint="Save the file as UTF-8."
        ) from None
    too_deep = ConfigError(f"{name} nests values too deeply.", hint="Flatten the nested lists or tables.")
    # The time a parser takes for a dotted key grows with the square of its parts.
    if any(key.count(".") > _DEEPEST for key in _keys(text)) or any(map(_DEEP_KEY.match, _ends(text))):
        raise too_deep
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise too_deep from None
    except ValueError as error:  # TOMLDecodeError, but also an integer of more digits than Python converts
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise ConfigError(f"{name} line {line} is not TOML: {error}.", hint="Correct that line.") from None


def _keys(text: str) -> Iterator[str]:
    """Texts at the places of keys: in a line that begins with a bracket, and before each equals sign."""
    yield from (line.partition(",")[0] for line in text.split("\n") if line.lstrip().startswith("["))
    for part in text.split("=")[:-1]:
        yield part[max(part.rfind(sign) for sign in "\n{,") + 1 :]


def _ends(text: str) -> list[str]:
    """After the last equals sign: there may be a key without a value, which a parser still reads."""
    return _KEY_BEGINS.split(text.rpartition("=")[2])


def merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `over` laid on top, table by table."""
    merged = dict(base)
    waiting = [(merged, over)]
    while waiting:  # a loop, because dotted keys nest deeper than Python recurses
        target, source = waiting.pop()
        for key, value in source.items():
            below = target.get(key)
            if isinstance(below, dict) and isinstance(value, dict):
                target[key] = dict(below)
                waiting.append((target[key], value))
            else:
                target[key] = value
    return merged


def shown(value: object) -> str:
    """A value for an error message: short, and safe for values of any depth."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


class TomlValues:
    """Reads values by dotted key and remembers which keys it was asked for.

    Each method takes several keys because the same setting is in different places in different layouts;
    the first one present counts.
    """

    def __init__(self, document: Mapping[str, Any], name: str) -> None:
        self._document = document
        self._name = name
        self._asked: set[str] = set()

    def refuse(self, key: str, value: object, rule: str) -> ConfigError:
        return ConfigError(f"{self._name}: `{key}` is {shown(value)}, but must be {rule}.", hint=f"Correct `{key}`.")

    def has(self, key: str) -> bool:
        """True if the document has a key; it does not count as used."""
        return self._lookup(key) is not None

    def text(self, *keys: str, default: str = "") -> str:
        key, value = self._first(keys)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.refuse(key, value, "text")
        return value

    def choice(self, allowed: Iterable[str], *keys: str, default: str) -> str:
        options = tuple(allowed)
        value = self.text(*keys, default=default)
        if value not in options:
            raise self.refuse(self._first(keys)[0], value, f"one of {', '.join(options)}")
        return value

    def flag(self, *keys: str, default: bool) -> bool:
        answer = self.optional_flag(*keys)
        return default if answer is None else answer

    def optional_flag(self, *keys: str) -> bool | None:
        key, value = self._first(keys)
        if value is None or isinstance(value, bool):
            return value
        raise self.refuse(key, value, "true or false")

    def integer(self, *keys: str, default: int, least: int, most: int) -> int:
        key, value = self._first(keys)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.refuse(key, value, f"a whole number from {least} to {most}")
        return value

    def texts(self, *keys: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one."""
        key, value = self._first(keys)
        if value is None:
            return default
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.refuse(key, value, "a list of texts")
        return tuple(value)

    def table(self, *keys: str) -> tuple[str, Mapping[str, Any]]:
        """The first of the tables that exists, with its key; an empty one where none does."""
        key, value = self._first(keys)
        if value is None:
            return keys[0], {}
        if not isinstance(value, dict):
            raise self.refuse(key, value, "a table")
        return key, value

    def tables(self, *keys: str) -> Iterator[Self]:
        """The items of an array of tables, each with its own keys."""
        key, value = self._first(keys)
        if value is None:
            return
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.refuse(key, value, "an array of tables")
        for number, item in enumerate(value):
            yield self.inner(item, f"{key}[{number}]")

    def inner(self, table: Mapping[str, Any], key: str) -> Self:
        """The values of a table inside this document, under keys of their own."""
        return type(self)(table, f"{self._name} {key}")

    def unread(self, known: frozenset[str]) -> Iterator[str]:
        """The keys nobody asked for, except those in or below `known`."""
        read = known | self._asked
        waiting: list[tuple[str, Mapping[str, Any]]] = [("", self._document)]
        while waiting:
            above, table = waiting.pop()
            for name, value in table.items():
                key = f"{above}{name}"
                if key in read:
                    continue
                if isinstance(value, dict) and any(other.startswith(f"{key}.") for other in read):
                    waiting.append((f"{key}.", value))
                else:
                    yield key

    def _first(self, keys: tuple[str, ...]) -> tuple[str, Any]:
        self._asked.update(keys)
        for key in keys:
            value = self._lookup(key)
            if value is not None:
                return key, value
        return keys[0], None

    def _lookup(self, key: str) -> Any:
        table: Any = self._document
        *path, last = key.split(".")
        for depth, name in enumerate(path):
            table = table.get(name)
            if table is None:
                return None
            if not isinstance(table, dict):
                raise self.refuse(".".join(path[: depth + 1]), table, "a table")
        return table.get(last)
