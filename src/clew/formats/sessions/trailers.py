"""Trailers of commit messages that name sessions, agents and decisions."""

# Implements: REQ-d00795, REQ-d00796

import re
from collections.abc import Iterator

import msgspec

from clew.formats.sessions.model import AgentSession, name_in

_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]{1,40}):[ \t]+(\S.*)")
_CHECKPOINT = re.compile(r"^\s*Entire-Checkpoint:\s*([0-9a-f]{12})\s*$", re.MULTILINE | re.IGNORECASE)
_SESSION = re.compile(
    r"(?:x-)?(agent|ai|entire|claude(?:-code)?|codex|copilot|cursor|gemini|opencode|amp|devin|aider)-session(?:-id)?",
    re.IGNORECASE,
)
_NO_AGENT = frozenset({"agent", "ai", "entire"})
_CREDITS = frozenset({"co-authored-by", "assisted-by", "generated-by"})
_AGENT = re.compile(
    r"@anthropic\.com>|@cursor\.com>|@openai\.com>|\+copilot@users\.noreply|copilot@github\.com>|@aider\.chat>"
    r"|devin-ai-integration|google-labs-jules|gemini-code-assist|@ampcode\.com>|factory-droid|@opencode\.ai>"
    r"|openhands@all-hands\.dev|@windsurf\.(?:ai|com)>|cursoragent"
    r"|^(?:claude(?: code)?|codex|(?:github )?copilot|gemini(?: cli)?|cursor|aider|opencode|devin|jules)(?::[^<]*)?$",
    re.IGNORECASE,
)
"""Addresses by which agents sign; a name counts only where there is no address, because people have such names."""
_MOST_TRAILERS = 200
_LONGEST_VALUE = 2_000
_RULED_OUT = frozenset({"ruled-out", "rejected"})
_SAID = {"limit": "limit", "constraint": "limit", "warn": "warning", "directive": "warning"}
_RECORDS = frozenset({*_RULED_OUT, *_SAID, "record-id", "entire-checkpoint"})
_BREAK = re.compile(r"\n[ \t]*\n")


class Trailer(msgspec.Struct, frozen=True):
    key: str
    """In lower case."""
    value: str


class RecordedDecision(msgspec.Struct, frozen=True):
    """A trailer that tells a part of a decision."""

    kind: str
    """`ruled out`, `limit` or `warning`."""
    text: str
    why: str = ""


def trailers_of(message: str) -> tuple[Trailer, ...]:
    """The trailers of all paragraphs that hold nothing else: a squash keeps those of each commit."""
    found: list[Trailer] = []
    for paragraph in _BREAK.split(message)[1:]:
        found += _trailers_in(paragraph)
        if len(found) >= _MOST_TRAILERS:
            break
    return tuple(found[:_MOST_TRAILERS])


def without_records(message: str) -> str:
    """A message without the paragraphs in which a record of a decision or a session stands."""
    first, *paragraphs = _BREAK.split(message)
    return "\n\n".join([first, *(each for each in paragraphs if not any(map(_is_record, _trailers_in(each))))])


def _is_record(trailer: Trailer) -> bool:
    return trailer.key in _RECORDS or _SESSION.fullmatch(trailer.key) is not None


def _trailers_in(paragraph: str) -> list[Trailer]:
    """The trailers of a paragraph; none where another text stands in it."""
    rows = [row.rstrip() for row in paragraph.split("\n") if row.strip()]
    found: list[Trailer] = []
    for row in rows:
        if (match := _TRAILER.fullmatch(row)) is not None:
            found.append(Trailer(match[1].lower(), match[2][:_LONGEST_VALUE]))
        elif found and row[0] in " \t":
            value = f"{found[-1].value} {row.strip()}"
            found[-1] = Trailer(found[-1].key, value[:_LONGEST_VALUE])
        elif not row.startswith("(cherry picked from"):
            return []
    return found


def checkpoints_in(message: str) -> tuple[str, ...]:
    """The ids of checkpoints of Entire, which a squash may leave anywhere."""
    return tuple(dict.fromkeys(each.lower() for each in _CHECKPOINT.findall(message)))


def sessions_in(message: str) -> Iterator[AgentSession]:
    """The sessions that trailers name by an id."""
    seen = set()
    for each in trailers_of(message):
        match = _SESSION.fullmatch(each.key)
        if match is not None and each.value not in seen:
            seen.add(each.value)
            agent = match[1].lower()
            yield AgentSession(agent="" if agent in _NO_AGENT else agent, id=name_in(each.value))


def agents_in(message: str) -> tuple[str, ...]:
    """The names of agents to which a commit gives credit."""
    found = (each.value for each in trailers_of(message) if each.key in _CREDITS and _AGENT.search(each.value))
    return tuple(dict.fromkeys(filter(None, (name_in(value.partition("<")[0]) for value in found))))


def decisions_in(message: str) -> Iterator[RecordedDecision]:
    """Rejected alternatives with their reasons, limits and warnings, as CommitLore writes them."""
    for each in trailers_of(message):
        if each.key in _RULED_OUT:
            text, _, why = each.value.partition(" | ")
            yield RecordedDecision("ruled out", text.strip(), why.strip())
        elif each.key in _SAID:
            yield RecordedDecision(_SAID[each.key], each.value)


def record_ids_in(message: str) -> tuple[str, ...]:
    """The ids of the CommitLore records that a message holds."""
    return tuple(name_in(each.value) for each in trailers_of(message) if each.key == "record-id")


def superseded_in(message: str) -> tuple[str, ...]:
    """The ids of the CommitLore records that a message replaces."""
    return tuple(name_in(each.value) for each in trailers_of(message) if each.key == "supersedes")
