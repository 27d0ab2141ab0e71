"""Notes of git-ai, versions 1 to 3: lines of a commit by session.

A note lists the files of a commit with ranges of lines for each key, then `---`, then JSON on the keys.
"""

# Implements: REQ-d00795

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from clew.formats.sessions.model import AgentSession, AttributedLines, decoded_json, member, name_in, prompts_among

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MOST_KEYS = 1_000


def attributed(note: bytes, path: str, lines: Sequence[int]) -> list[AttributedLines]:
    """The sessions of these lines of a file, and the persons whom the note knows as their authors. A line without a key
    belongs to nobody that the note knows."""
    head, _, tail = f"\n{note.decode('utf-8', 'replace')}".partition("\n---\n")
    by_key: dict[str, set[int]] = {}
    left = sorted(set(lines))
    for key, ranges in _entries(head, path):
        found = set(_among(ranges, left))
        if found:
            by_key.setdefault(key, set()).update(found)
            left = [line for line in left if line not in found]
    if not by_key:
        return []
    about = decoded_json(tail)
    by_session: dict[AgentSession, set[int]] = {}
    for key, found in by_key.items():
        session = _session(about, key)
        if session is not None:
            by_session.setdefault(session, set()).update(found)
    return [AttributedLines(session, frozenset(found)) for session, found in by_session.items()]


def sessions_in(note: bytes) -> tuple[AgentSession, ...]:
    """The sessions and persons that a note names, in whatever file."""
    head, _, tail = f"\n{note.decode('utf-8', 'replace')}".partition("\n---\n")
    about = decoded_json(tail)
    keys = dict.fromkeys(key for key, _ in _entries(head, None))
    found = (_session(about, key) for key in list(keys)[:_MOST_KEYS])
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _entries(head: str, path: str | None) -> Iterator[tuple[str, str]]:
    is_wanted = path is None
    for row in head.split("\n"):
        if not row.startswith((" ", "\t")):
            is_wanted = path is None or row in (path, f'"{path}"')
        elif is_wanted:
            key, _, ranges = row.strip().partition(" ")
            yield key.partition("::")[0], ranges


def _among(ranges: str, lines: Sequence[int]) -> Iterator[int]:
    for first, last in _RANGE.findall(ranges):
        yield from lines[bisect_left(lines, int(first)) : bisect_right(lines, int(last or first))]


def _session(about: Any, key: str) -> AgentSession | None:
    person = member(about, "humans", key)
    if person is not None:
        return AgentSession(person=name_in(member(person, "author")), by_person=True)
    session = member(about, "sessions", key)
    if session is None:
        session = member(about, "prompts", key)
    if session is None:
        return None
    messages = member(session, "messages")
    said = [member(each, "text") for each in messages if member(each, "type") == "user"] if _is_list(messages) else []
    return AgentSession(
        agent=name_in(member(session, "agent_id", "tool")),
        model=name_in(member(session, "agent_id", "model")),
        person=name_in(member(session, "human_author")),
        id=name_in(member(session, "agent_id", "id")),
        prompts=prompts_among(said),
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list)
