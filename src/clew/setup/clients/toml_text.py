"""Editing a TOML file as text, so that comments, order and layout of everything else stay as they are.

A new table is appended; a table that is there is edited by tomlkit. Every edit is checked by reading the result back
with the standard library: it must say what the file said before, plus the one table that was asked for. Where that
fails, nothing is offered.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from clew.errors import FormatError


def toml_value(value: str | Sequence[str]) -> str:
    """A string or a list of strings as TOML."""
    if isinstance(value, str):
        # JSON's escapes are TOML's, except that TOML also forbids a bare DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(toml_value(item) for item in value)}]"


def read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FormatError(f"it is not valid TOML ({error})") from None


def table_text(table: str, entry: Mapping[str, str | Sequence[str]], newline: str = "\n") -> str:
    lines = [f"[{table}]", *(f"{key} = {toml_value(value)}" for key, value in entry.items())]
    return newline.join(lines) + newline


def with_table(text: str, parent: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with the table `parent.name` holding this entry; further keys of an existing table stay."""
    before = read_toml(text)
    tables = before.get(parent, {})
    if not isinstance(tables, dict):
        raise FormatError(f"its '{parent}' is not a table")
    own = tables.get(name, {})
    expected = {**before, parent: {**tables, name: {**(own if isinstance(own, dict) else {}), **entry}}}
    after = _appended(text, f"{parent}.{name}", entry)
    if _reads_as(after) != expected:
        after = _edited(text, parent, name, entry)
    if _reads_as(after) != expected:
        raise FormatError(f"its '{parent}' is written in a form that cannot be extended without rewriting it")
    return after


def without_table(text: str, parent: str, name: str) -> str | None:
    """The text without the table `parent.name`; None if nothing else was in it."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    before = read_toml(text)
    tables = {key: value for key, value in before[parent].items() if key != name}
    expected = {key: value for key, value in before.items() if key != parent} | ({parent: tables} if tables else {})
    windows = text.count("\n") == text.count("\r\n") > 0
    try:
        document: Any = tomlkit.parse(text.replace("\r\n", "\n") if windows else text)
        del document[parent][name]
        if not tables:
            del document[parent]
    except (TOMLKitError, KeyError, TypeError) as error:
        raise FormatError(f"its '{parent}.{name}' cannot be taken out ({error})") from None
    after = tomlkit.dumps(document)
    after = after.replace("\n", "\r\n") if windows else after
    if _reads_as(after) != expected:
        raise FormatError(f"its '{parent}.{name}' cannot be taken out without rewriting it")
    return after if after.strip() else None


def _reads_as(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _appended(text: str, table: str, entry: Mapping[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    block = table_text(table, entry, newline)
    if not text.strip():
        return block
    gap = newline if text.endswith(("\n", "\r")) else newline * 2
    return text + gap + block


def _edited(text: str, parent: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with the entry's values in place of the present ones, and the missing keys added."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    # What tomlkit adds ends in \n, so a file with the line ends of Windows is edited with those of Unix.
    windows = text.count("\n") == text.count("\r\n") > 0
    try:
        document: Any = tomlkit.parse(text.replace("\r\n", "\n") if windows else text)
        document[parent].setdefault(name, tomlkit.inline_table()).update(entry)
    except (TOMLKitError, TypeError, AttributeError):
        return text
    after = tomlkit.dumps(document)
    return after.replace("\n", "\r\n") if windows else after
