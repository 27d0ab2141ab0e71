"""What the assistant said last, from the transcript that a host keeps. Read only where the user switched it on."""

import json
import os
from typing import Any

import msgspec

from clew.memory.hooks.event import HookEvent
from clew.memory.hooks.payload import LONGEST_TEXT, without_private
from clew.memory.writing.scrub import scrub

_TAIL = 256 * 1024


def last_answer(event: HookEvent) -> HookEvent:
    """The event with the last text of the assistant in its transcript, JSON lines as Claude Code writes them; as it was
    where there is none."""
    for line in reversed(_last_lines(event.transcript)):
        said = _said(line)
        if said:
            text = scrub(without_private(said)[:LONGEST_TEXT]).text
            return msgspec.structs.replace(event, text=text)
    return event


def _last_lines(path: str) -> list[bytes]:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return []
    with os.fdopen(descriptor, "rb") as file:
        try:
            size = os.fstat(descriptor).st_size
            file.seek(max(size - _TAIL, 0))
            return file.read(_TAIL).splitlines()
        except OSError:
            return []


def _said(line: bytes) -> str:
    try:
        entry: Any = json.loads(line)
        if entry.get("type") != "assistant":
            return ""
        content = entry["message"]["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        return "\n".join(part["text"] for part in parts if part.get("type") == "text").strip()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""
