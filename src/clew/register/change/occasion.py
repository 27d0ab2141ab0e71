"""Who changes a register, when, and by which way."""

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from clew.formats.register.model import ActorKind, HistoryEntry

ACTOR, ACTOR_KIND = "REQ_ACTOR", "REQ_ACTOR_KIND"


class Occasion(msgspec.Struct, frozen=True):
    """One change. Everything that happens on one occasion carries the same time."""

    at: str
    actor: str
    actor_kind: ActorKind = ActorKind.UNKNOWN
    channel: str = ""
    """How the change came, as history entries tell it: empty on the command line, `MCP` for agents."""

    def entry(self, action: str, reason: str | None = None) -> HistoryEntry:
        return HistoryEntry(
            at=self.at, actor=self.actor, actor_kind=self.actor_kind, action=action, reason=reason or None
        )

    def by_way(self, action: str) -> str:
        return f"{action} via {self.channel}" if self.channel else action


def timestamp(nanoseconds: int) -> str:
    """A moment in UTC; its fraction has 3, 6 or 9 digits, as few as are exact, and none for a whole second."""
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    digits = f"{fraction:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{digits}Z" if digits else f"{moment}Z"


def occasion(
    channel: str = "", environment: Mapping[str, str] = os.environ, *, otherwise: ActorKind = ActorKind.UNKNOWN
) -> Occasion:
    """Now, by whom the environment says; `otherwise` is what an actor is taken for who says nothing."""
    names = (environment.get(name, "") for name in (ACTOR, "USER", "USERNAME"))
    kinds = {"human": ActorKind.HUMAN, "agent": ActorKind.AGENT}
    kind = kinds.get(environment.get(ACTOR_KIND, "").strip().lower(), otherwise)
    return Occasion(timestamp(time.time_ns()), next(filter(None, names), "unknown"), kind, channel)
