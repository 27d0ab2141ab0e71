"""A register that is being changed. Either all of a draft becomes the register, or nothing of it.

Who changes a register, when, and through which surface.
"""

import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from clew.errors import NotFound, Rejected
from clew.formats.register.ids import PREFIX, format_id, nearest, normalise, number_of
from clew.formats.register.model import ActorKind, HistoryEntry, Register, Requirement
from clew.register.change.kept_history import REMOVED
from clew.register.rules.codes import RuleViolation
from clew.register.rules.validator import validate_requirement
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.operation.call import Call

ACTOR, ACTOR_KIND = "REQ_ACTOR", "REQ_ACTOR_KIND"


BATCH = "batch"
"""The channel of changes that a batch makes."""


class Author(msgspec.Struct, frozen=True):
    """The author of one change. Everything that belongs to the change carries the same time."""

    at: str
    actor: str
    actor_kind: ActorKind = ActorKind.UNKNOWN
    channel: str = ""
    """The origin of the change in history entries: empty on the command line, `MCP` for agents, `batch`."""

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


def author_of(call: "Call") -> Author:
    """The author of a call's changes: over MCP an agent, unless the environment says otherwise."""
    if call.surface == "mcp":
        return current_author("MCP", otherwise=ActorKind.AGENT)
    return current_author()


def current_author(
    channel: str = "", environment: Mapping[str, str] = os.environ, *, otherwise: ActorKind = ActorKind.UNKNOWN
) -> Author:
    """The author that the environment names, now; `otherwise` is the kind of an author that names none."""
    names = (environment.get(name, "") for name in (ACTOR, "USER", "USERNAME"))
    kinds = {"human": ActorKind.HUMAN, "agent": ActorKind.AGENT}
    kind = kinds.get(environment.get(ACTOR_KIND, "").strip().lower(), otherwise)
    return Author(timestamp(time.time_ns()), next(filter(None, names), "unknown"), kind, channel)


SAFETY_PREFIXES = ("HAZ-", "SF-", "SR-")


class Draft:
    def __init__(self, register: Register, author: Author) -> None:
        self.register = register
        """As it was before."""
        self.author = author
        self.requirements: dict[str, Requirement] = dict(register.requirements)
        self.purpose = register.purpose
        self._next_id = register.next_id
        self._history: list[HistoryEntry] = []
        self._changed = False
        self._counted = False

    def find(self, written: str, what: str = "requirement") -> Requirement:
        """The requirement that an id means, or an error with the id that may have been meant."""
        return find(self.requirements, written, what, self.register.history)

    def skip_to(self, number: int) -> None:
        """Hand out no id below this number: somebody else may have."""
        self._next_id = max(self._next_id, number)

    def allocate(self) -> str:
        """An id that no requirement has or ever had."""
        if not self._counted:
            self._counted = True
            # A counter that was edited by hand must not hand out what is taken.
            taken = (number_of(id) or 0 for id in self.requirements if id.startswith(PREFIX))
            self._next_id = max(self._next_id, max(taken, default=0) + 1)
        id = format_id(self._next_id)
        self._next_id += 1
        self._changed = True
        return id

    def put(self, requirement: Requirement) -> None:
        self.requirements[requirement.id] = requirement
        self._changed = True

    def remove(self, id: str) -> None:
        del self.requirements[id]
        self._changed = True

    def change(self, requirement: Requirement, *entries: HistoryEntry, **fields: object) -> Requirement:
        """Change fields of a requirement and add to its history."""
        changed: Requirement = msgspec.structs.replace(
            requirement, updated=self.author.at, history=(*requirement.history, *entries), **fields
        )
        self.put(changed)
        return changed

    def record(self, action: str, reason: str | None) -> None:
        """Add an entry to the history of the register as a whole."""
        self._history.append(self.author.entry(self.author.with_channel(action), reason))
        self._changed = True

    def finished(self) -> Register:
        """The register with all changes; the same object if there are none."""
        if not self._changed and self.purpose == self.register.purpose:
            return self.register
        return msgspec.structs.replace(
            self.register,
            requirements=self.requirements,
            next_id=self._next_id,
            updated=self.author.at,
            purpose=self.purpose,
            history=(*self.register.history, *self._history),
        )


def find(
    requirements: Mapping[str, Requirement],
    written: str,
    what: str = "requirement",
    history: Sequence[HistoryEntry] = (),
) -> Requirement:
    """The requirement with an id. `history` is the register's own, which tells about removed requirements."""
    found = requirements.get(written) or requirements.get(id := normalise(written))
    if found is not None:
        return found
    for entry in history:
        if entry.action.startswith(f"{REMOVED} {id} "):
            because = f": {entry.reason}" if entry.reason else ""
            raise NotFound(
                f"There is no {what} {id} any more: {entry.actor} removed it on {entry.at[:10]}{because}.",
                hint="git has the register as it was before; its id is never given again.",
            )
    if id.upper().startswith(SAFETY_PREFIXES):
        raise NotFound(
            f"{shortened(id)} is an id of the safety case.", hint=f"`clew req safety {shortened(id)}` shows it."
        )
    near = nearest(id, requirements)
    suggestion = f"Did you mean {near} ('{requirements[near].title}')? " if near else ""
    raise NotFound(
        f"There is no {what} '{shortened(written)}'.", hint=f"{suggestion}req_list shows every requirement with its id."
    )


def checked(requirement: Requirement) -> list[RuleViolation]:
    """The warnings about a requirement that may be written; Rejected where it may not."""
    found = validate_requirement(requirement)
    errors = [each for each in found if each.is_error]
    if errors:
        raise rejection(errors)
    return found


def rejection(errors: Sequence[RuleViolation]) -> Rejected:
    return Rejected(
        "rejected: " + "; ".join(each.text for each in errors),
        hint=" ".join(dict.fromkeys(each.hint for each in errors)),
        data={"findings": [msgspec.to_builtins(each) for each in errors]},
    )
