"""Transcripts that coding agents keep on the disk: Claude Code, Codex and Gemini CLI.

Their formats are those of no standard; what is not understood is left out.
"""

# Implements: REQ-d00797

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from clew.formats.sessions.model import decoded_json, member, prompts_among

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,79}")
_SHORT_ID = 8
_MOST_ROWS = 50_000
_TELLING = (b'"user', b'"cwd"', b"session_meta")
"""Parts of the rows that are read."""


class Transcript(msgspec.Struct, frozen=True):
    folder: str
    """The folder in which the session began; empty where the transcript does not say it."""
    prompts: tuple[str, ...]
    """The words of the person, oldest first."""


class TranscriptPlace(msgspec.Struct, frozen=True):
    """Where an agent keeps its transcripts."""

    variable: str
    """The environment variable that names its folder; empty without one."""
    usual: str
    """Its usual folder, below the home folder."""
    patterns: tuple[str, ...]
    """Patterns of the files of a session, by its id."""


_PLACES = {
    "claude": TranscriptPlace("CLAUDE_CONFIG_DIR", ".claude", ("projects/*/{id}.jsonl",)),
    "codex": TranscriptPlace(
        "CODEX_HOME", ".codex", ("sessions/*/*/*/rollout-*-{id}.jsonl", "archived_sessions/rollout-*-{id}.jsonl")
    ),
    "gemini": TranscriptPlace("", ".gemini", ("tmp/*/chats/session-*{short}*.json*",)),
}


def place_of(agent: str, id: str) -> TranscriptPlace | None:
    """The place of the transcript of a session; None for an agent that keeps none that is known, and for an id that can
    be none."""
    name = re.split(r"[^a-z]", agent.casefold(), maxsplit=1)[0]
    place = _PLACES.get(name)
    if place is None or _ID.fullmatch(id) is None:
        return None
    patterns = tuple(each.format(id=id, short=id[:_SHORT_ID]) for each in place.patterns)
    return msgspec.structs.replace(place, patterns=patterns)


def transcript_in(data: bytes, id: str) -> Transcript | None:
    """The transcript in the content of a file; None where it is of another session."""
    whole = decoded_json(data)
    # Rows of tools, which are most of a transcript, are not even decoded.
    kept = (row for row in data.split(b"\n") if any(word in row for word in _TELLING))
    rows = [whole] if isinstance(whole, dict) else [decoded_json(row) for row in islice(kept, _MOST_ROWS)]
    if member(rows[0] if rows else None, "messages") is not None:
        return _of_gemini(rows[0], id)
    named = {value for row in rows for value in (member(row, "sessionId"), member(row, "payload", "id")) if value}
    if named and id not in named:
        return None
    folders = (member(row, "cwd") or member(row, "payload", "cwd") for row in rows)
    folder = next((each for each in folders if isinstance(each, str)), "")
    return Transcript(folder, prompts_among([text for row in rows for text in _said(row)]))


def _of_gemini(chat: Any, id: str) -> Transcript | None:
    if member(chat, "sessionId") != id:
        return None
    messages = member(chat, "messages")
    texts = [
        text
        for each in (messages if isinstance(messages, list) else ())
        if member(each, "type") == "user"
        for text in _texts(member(each, "content"))
    ]
    folder = member(chat, "projectRoot")
    return Transcript(folder if isinstance(folder, str) else "", prompts_among(texts))


def _said(row: Any) -> Iterator[str]:
    """The texts of a row that a person wrote."""
    if member(row, "type") == "user" and not member(row, "isMeta") and not member(row, "isSidechain"):
        yield from _texts(member(row, "message", "content"))
    elif member(row, "type") == "event_msg" and member(row, "payload", "type") == "user_message":
        yield from _texts(member(row, "payload", "message"))


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (text for each in content if isinstance(text := member(each, "text"), str))
