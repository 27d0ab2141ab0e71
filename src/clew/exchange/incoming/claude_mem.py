"""The database of claude-mem: its observations and the summaries of its sessions. It is opened for reading only."""

from typing import Any

import msgspec

from clew.errors import FormatError
from clew.exchange.memories import kind_of, left_out, memory_lines
from clew.exchange.model import Exchange
from clew.exchange.sources import ImportSource, string
from clew.store.sqlite.other_programs import read_rows

_OBSERVATIONS, _SUMMARIES = "observations", "session_summaries"
_PARTS = (("Facts", "facts"), ("Concepts", "concepts"), ("Files", "files_modified"))
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_PLACED = frozenset({"id", "title", "subtitle", "narrative", "text", "type", "created_at", "created_at_epoch", "facts"})


def read(source: ImportSource) -> Exchange:
    tables = read_rows(source.place, (_OBSERVATIONS, _SUMMARIES))
    if not tables:
        raise FormatError(
            f"'{source.name}' has neither {_OBSERVATIONS} nor {_SUMMARIES}; it is not a database of claude-mem.",
            hint="It is usually ~/.claude-mem/claude-mem.db. Nothing was changed.",
        )
    lines: list[str] = []
    empty: list[str] = []
    for row in tables.get(_OBSERVATIONS, ()):
        text, id = _observation(row), f"observation {string(row.get('id'))}"
        empty += [id] if not text.strip() else []
        lines.extend(
            memory_lines(
                source.name,
                id,
                text,
                title=string(row.get("title")),
                kind=kind_of(string(row.get("type"))),
                at=string(row.get("created_at")),
                tags=[*_listed(row.get("concepts")), string(row.get("type"))],
                metadata={name: value for name, value in row.items() if name not in _PLACED},
            )
        )
    for row in tables.get(_SUMMARIES, ()):
        texts = [f"{name.replace('_', ' ').capitalize()}: {string(row[name])}" for name in _SUMMARY if row.get(name)]
        id = f"summary {string(row.get('id'))}"
        empty += [id] if not texts else []
        lines.extend(
            memory_lines(
                source.name,
                id,
                "\n".join(texts),
                title=string(row.get("request")),
                at=string(row.get("created_at")),
                tags=["session summary"],
                metadata={name: value for name, value in row.items() if name not in (*_PLACED, *_SUMMARY)},
            )
        )
    return Exchange(memories=tuple(lines), notes=left_out(empty))


def _observation(row: dict[str, Any]) -> str:
    parts = [string(row.get(name)) for name in ("subtitle", "narrative", "text")]
    for heading, name in _PARTS:
        if listed := _listed(row.get(name)):
            parts.append("\n".join((f"{heading}:", *(f"- {each}" for each in listed))))
    return "\n\n".join(part for part in parts if part.strip()) or string(row.get("title"))


def _listed(value: Any) -> list[str]:
    """A list that is kept as JSON, or as one text."""
    if not isinstance(value, str) or not value.strip():
        return []
    try:
        found = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return [value]
    return [string(each) for each in found] if isinstance(found, list) else [string(found)]
