"""Editing a TOML file as text, so that comments, order and layout of everything else stay as they are.

The standard library reads TOML and does not write it. Every edit here is therefore proved by reading the result back:
it must say what the file said before, plus the one table that was asked for. Where that fails, nothing is offered.
"""

import json
import re
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
    newline = "\r\n" if "\r\n" in text else "\n"
    tables = before.get(parent, {})
    if not isinstance(tables, dict):
        raise FormatError(f"its '{parent}' is not a table")
    if name in tables:
        after = _changed(text, parent, name, entry, newline)
    else:
        after = _appended(text, table_text(f"{parent}.{name}", entry, newline), newline)
    expected = {**before, parent: {**tables, name: {**_own(tables.get(name)), **entry}}}
    if _reads_as(after) != expected:
        raise FormatError(f"its '{parent}' is written in a form that cannot be extended without rewriting it")
    return after


def _own(existing: object) -> dict[str, Any]:
    return existing if isinstance(existing, dict) else {}


def _reads_as(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _appended(text: str, block: str, newline: str) -> str:
    if not text.strip():
        return block
    gap = newline if text.endswith(("\n", "\r")) else newline * 2
    return text + gap + block


def _changed(text: str, parent: str, name: str, entry: Mapping[str, Any], newline: str) -> str:
    """Replace the statements of the entry's keys inside the table, wherever its header stands."""
    lines = text.splitlines(keepends=True)
    header = re.compile(rf"\s*\[\s*[\"']?{re.escape(parent)}[\"']?\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*\]\s*(#.*)?")
    start = next((number for number, line in enumerate(lines) if header.fullmatch(line.rstrip())), None)
    if start is None:
        return text
    fresh = [f"{key} = {toml_value(value)}{newline}" for key, value in entry.items()]
    kept: list[str] = []
    position = start + 1
    while position < len(lines) and not lines[position].lstrip().startswith("["):
        end = _statement_end(lines, position)
        keys = _reads_as("".join(lines[position:end])) or {}
        if keys.keys().isdisjoint(entry):
            kept.extend(lines[position:end])
        position = end
    return "".join([*lines[: start + 1], *fresh, *kept, *lines[position:]])


def _statement_end(lines: list[str], start: int) -> int:
    """The line after a statement, which may run over several lines: the shortest run that reads as TOML."""
    for end in range(start + 1, len(lines) + 1):
        if _reads_as("".join(lines[start:end])) is not None:
            return end
    return start + 1
