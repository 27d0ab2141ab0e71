"""Agent Trace records: one JSON object in each line of a file, with ranges of lines of files at a revision."""

# Implements: REQ-d00795

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from clew.formats.sessions.model import AgentSession, day_in, decoded_json, member, name_in

FILE = ".agent-trace/traces.jsonl"
_LONGEST_RECORD = 1_000_000
_MOST_RANGES = 2_000


class TracedRange(msgspec.Struct, frozen=True):
    revision: str
    path: str
    first: int
    last: int
    session: AgentSession


def ranges_in(data: bytes, revisions: frozenset[str], paths: frozenset[str]) -> Iterator[TracedRange]:
    """The ranges of lines of these files at these revisions."""
    left = _MOST_RANGES
    for row in data.split(b"\n"):
        if not row.startswith(b"{") or len(row) > _LONGEST_RECORD:
            continue
        record = decoded_json(row)
        revision = member(record, "vcs", "revision")
        if not isinstance(revision, str) or revision not in revisions:
            continue
        for each in _ranges(record, revision, paths):
            yield each
            left -= 1
            if not left:
                return


def _ranges(record: Any, revision: str, paths: frozenset[str]) -> Iterator[TracedRange]:
    for file in _listed(member(record, "files")):
        path = member(file, "path")
        if not isinstance(path, str) or path not in paths:
            continue
        for talk in _listed(member(file, "conversations")):
            for each in _listed(member(talk, "ranges")):
                first, last = member(each, "start_line"), member(each, "end_line")
                if not isinstance(first, int) or not isinstance(last, int):
                    continue
                who = member(each, "contributor") or member(talk, "contributor")
                kind = member(who, "type")
                yield TracedRange(
                    revision,
                    path,
                    first,
                    last,
                    AgentSession(
                        agent=name_in(member(record, "tool", "name")),
                        model=name_in(member(who, "model_id")),
                        date=day_in(member(record, "timestamp")),
                        id=name_in(member(talk, "url")),
                        by_person=kind == "human",
                    ),
                )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
