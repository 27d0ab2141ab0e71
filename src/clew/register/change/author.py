"""Who changes a register, when, and through which surface."""

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from clew.formats.register.model import ActorKind, HistoryEntry

ACTOR, ACTOR_KIND = "REQ_ACTOR", "REQ_ACTOR_KIND"


class Author(msgspec.Struct, frozen=True):
    """The author of one change. Everything that belongs to the change carries the same time."""

    at: str
    actor: str
    actor_kind: ActorKind = ActorKind.UNKNOWN
    channel: str = ""
    """Where the change came from, as history entries say it: empty on the command line, `MCP` for agents."""

    def entry(self, action: str, reason: str | None = None) -> HistoryEntry:
        return HistoryEntry(
            at=self.at, actor=self.actor, actor_kind=self.actor_kind, action=action, reason=reason or None
        )

    def with_channel(self, action: str) -> str:
        return f"{action} via {self.channel}" if self.channel else action


def timestamp(nanoseconds: int) -> str:
    """A moment in UTC; its fraction has 3, 6 or 9 digits, as few as are exact, and none for a whole second."""
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    digits = f"{fraction:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{digits}Z" if digits else f"{moment}Z"


def current_author(
    channel: str = "", environment: Mapping[str, str] = os.environ, *, otherwise: ActorKind = ActorKind.UNKNOWN
) -> Author:
    """The author that the environment names, now; `otherwise` is the kind of an author that names none."""
    names = (environment.get(name, "") for name in (ACTOR, "USER", "USERNAME"))
    kinds = {"human": ActorKind.HUMAN, "agent": ActorKind.AGENT}
    kind = kinds.get(environment.get(ACTOR_KIND, "").strip().lower(), otherwise)
    return Author(timestamp(time.time_ns()), next(filter(None, names), "unknown"), kind, channel)
