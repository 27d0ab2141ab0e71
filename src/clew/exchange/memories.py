"""Memories of other tools, as the lines that `clew memory import` reads.

A memory gets an id that is made from the import and its own id, so that the second import finds it. A text that is
longer than a memory may be becomes several.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from clew.text.controls import escaped_json
from clew.text.display import counted, one_line, shortened

_NAMESPACE = uuid.UUID("6f1d3c1e-6f6e-4a57-9a54-0b5a4b0b1f2e")
_LONGEST_TEXT = 60_000
_LONGEST_TITLE = 120
_MOST_TAGS, _LONGEST_TAG = 50, 100
_LARGEST_METADATA = 12_000
_KINDS = {
    **dict.fromkeys(("decision", "architecture", "adr", "choice"), "decision"),
    **dict.fromkeys(("preference", "preferences"), "preference"),
    **dict.fromkeys(("procedure", "howto", "how-to", "runbook", "workflow", "how-it-works"), "procedure"),
    **dict.fromkeys(("bugfix", "pitfall", "gotcha", "warning", "problem-solution"), "pitfall"),
    **dict.fromkeys(("question", "open-question"), "question"),
}


def kind_of(word: str) -> str:
    """The kind of a memory for a word of another tool; `fact` for an unknown word."""
    return _KINDS.get(word.strip().casefold(), "fact")


def memory_id(source: str, id: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{source}\0{id}"))


def memory_lines(
    source: str,
    id: str,
    text: str,
    *,
    title: str = "",
    kind: str = "fact",
    at: str = "",
    tags: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """The lines of one memory; none for a text that says nothing. Where several parts with NUL between them are its
    id, a space is shown instead."""
    shown = " ".join(id.split("\0"))
    parts = _parts(text.replace("\0", "").strip())
    for number, part in enumerate(parts, start=1):
        named = one_line(title or part, _LONGEST_TITLE)
        value = {
            "id": memory_id(source, id if number == 1 else f"{id}\0{number}"),
            "kind": kind,
            "text": part,
            "title": f"{named} ({number} of {len(parts)})" if len(parts) > 1 else named,
            "rationale": f"Imported from {source}, where it is {one_line(shown, 100)}.",
            "recorded_at": _time(at),
            "scope": {},
            "origin": {"trust": "document", "actor": f"import {one_line(source, 100)}"},
            "tags": [tag[:_LONGEST_TAG] for tag in dict.fromkeys(filter(None, tags))][:_MOST_TAGS],
            "metadata": _bounded(metadata or {}, source, shown),
        }
        yield escaped_json(msgspec.json.encode({"memory": value}).decode())


def left_out(ids: Sequence[str]) -> tuple[str, ...]:
    """A note about memories without a text; empty if there are none."""
    number = counted(len(ids), "memory has no text and is", "memories have no text and are")
    return (f"{number} left out: {shortened(', '.join(ids), 200)}.",) if ids else ()


def link_line(source: str, start: str, end: str, origin: str) -> str:
    value = {
        "source": memory_id(source, start),
        "target": memory_id(source, end),
        "kind": "related",
        "origin": one_line(origin, 100),
    }
    return escaped_json(msgspec.json.encode({"link": value}).decode())


def _parts(text: str) -> list[str]:
    """A text in pieces that a memory can hold, cut between paragraphs where there are any."""
    parts: list[str] = []
    while len(text) > _LONGEST_TEXT:
        cut = max(text.rfind("\n\n", 1, _LONGEST_TEXT), text.rfind("\n", _LONGEST_TEXT // 2, _LONGEST_TEXT))
        cut = cut if cut > 0 else _LONGEST_TEXT
        parts.append(text[:cut].strip())
        text = text[cut:].strip()
    return [part for part in (*parts, text) if part]


def _bounded(metadata: Mapping[str, Any], source: str, id: str) -> dict[str, Any]:
    """The other values of the source, as far as the metadata of a memory may hold them; the rest is named."""
    kept: dict[str, Any] = {"imported_from": source, "imported_id": id[:200]}
    for name, value in metadata.items():
        if value in (None, "", [], {}):
            continue
        if len(msgspec.json.encode({**kept, name: value})) > _LARGEST_METADATA:
            kept.setdefault("left_out", []).append(str(name)[:100])
        else:
            kept[str(name)] = value
    return kept


def _time(at: str) -> str:
    try:
        moment = datetime.fromisoformat(at.strip().replace("Z", "+00:00"))
    except ValueError:
        return datetime.now(UTC).isoformat()
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
