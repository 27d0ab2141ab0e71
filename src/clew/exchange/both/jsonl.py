"""The whole graph as lines of JSON, for other programs that want to be in step with it.

The first line says which version of this format the file has. Every other line is an object with one key:

| key | what it is |
|---|---|
| `item` | a requirement: id, kind, title, text, criteria, attributes, relations, parent, path, line, version |
| `memory`, `link` | a memory, and a link between two, as `clew memory export` writes them |
| `node`, `edge` | everything else: code, tests, results, specs, documents; made from files, and not read back |
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from clew.errors import FormatError, NewerFormat
from clew.exchange.model import Exchange, Item
from clew.exchange.sources import ImportSource, json_of
from clew.text.controls import escaped_json

VERSION = 1
_HINT = "See docs/import-export.md for the form of a line. Nothing was changed."


class ExportHeader(msgspec.Struct, frozen=True):
    version: int
    project: str = ""


def read(source: ImportSource) -> Exchange:
    items: list[Item] = []
    memories: list[str] = []
    others: Counter[str] = Counter()
    # Not by splitlines, which also ends a line where a text holds U+2028.
    for number, line in enumerate(source.data().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        key, value = _pair(json_of(line, source.name, number), number)
        match key:
            case "clew":
                _check_head(_as(value, ExportHeader, number))
            case "item":
                items.append(_as(value, Item, number))
            case "memory" | "link":
                memories.append(line.decode())
            case "node":
                others[str(value.get("kind")) if isinstance(value, dict) else "node"] += 1
            case "edge":
                others["edge"] += 1
            case _:
                raise FormatError(f"Line {number} has the unknown key '{key}'.", hint=_HINT)
    notes: tuple[str, ...] = ()
    if others:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(others.items()))
        notes = (f"Nodes that are made from files are not read back: {kinds}.",)
    return Exchange(items=tuple(items), memories=tuple(memories), notes=notes)


def _pair(value: Any, number: int) -> tuple[str, Any]:
    if not isinstance(value, dict) or len(value) != 1:
        raise FormatError(f"Line {number} is not an object with one key.", hint=_HINT)
    return next(iter(value.items()))


def _as(value: Any, type_: Any, number: int) -> Any:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise FormatError(f"Line {number}: {error}.", hint=_HINT) from error


def _check_head(head: ExportHeader) -> None:
    if head.version > VERSION:
        raise NewerFormat(
            f"The file has version {head.version} of the format; this Clew reads up to {VERSION}.",
            hint="Update Clew. Nothing was changed.",
        )


def write(exchange: Exchange, *, project: str, rest: Iterable[dict[str, Any]] = ()) -> bytes:
    return "".join(f"{line}\n" for line in _lines(exchange, project, rest)).encode()


def _lines(exchange: Exchange, project: str, rest: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield _line({"clew": ExportHeader(VERSION, project)})
    for item in exchange.items:
        yield _line({"item": item})
    yield from exchange.memories
    for each in rest:
        yield _line(each)


def _line(value: Any) -> str:
    return escaped_json(msgspec.json.encode(value).decode())
