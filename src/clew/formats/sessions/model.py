"""A session with a coding agent, and the reading of values that may be anything."""

# Implements: REQ-d00795

import re
from typing import Any

import msgspec

from clew.text.display import one_line

LONGEST_NAME = 80
MOST_PROMPTS = 200
LONGEST_PROMPT = 20_000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BY_MACHINE = re.compile(
    r"<|\[[^\]]*\]\Z|Operation stopped by|Base directory for this skill|Caveat: |This session is being continued"
)
"""Texts in the place of a prompt that a program wrote."""


class AgentSession(msgspec.Struct, frozen=True):
    """A session as its record tells it; what the record does not say is empty."""

    agent: str = ""
    model: str = ""
    person: str = ""
    date: str = ""
    """Year, month and day."""
    id: str = ""
    prompts: tuple[str, ...] = ()
    """The words of the person, oldest first."""
    by_person: bool = False
    """True if the record says that a person wrote the lines without an agent."""


class AttributedLines(msgspec.Struct, frozen=True):
    """Lines of one file in one commit that a record attributes to a session."""

    session: AgentSession
    lines: frozenset[int]


def decoded_json(data: bytes | str) -> Any:
    """The value in a text of JSON; None where it is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def member(value: Any, *names: str) -> Any:
    """The value below names of nested objects; None where one of them is not there."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def name_in(value: Any) -> str:
    """A short text on one line; empty for anything that is none."""
    return one_line(value, LONGEST_NAME) if isinstance(value, str) else ""


def day_in(value: Any) -> str:
    found = _DAY.match(value) if isinstance(value, str) else None
    return found[0] if found else ""


def prompts_among(texts: Any) -> tuple[str, ...]:
    """The texts that a person may have written."""
    kept = (each.strip()[:LONGEST_PROMPT] for each in texts if isinstance(each, str))
    return tuple(each for each in kept if each and not _BY_MACHINE.match(each))[-MOST_PROMPTS:]
