"""An event of a host as the server handles it."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.memory.texts.scrub import scrub

EventKind = Literal["start", "prompt", "edit", "tool", "failure", "compact", "stop", "end"]


class HookEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    host: Annotated[str, Meta(max_length=64)]
    kind: EventKind
    session: Annotated[str, Meta(min_length=1, max_length=128)]
    root: str
    """The folder of the project."""
    at: float
    """When it happened, in seconds since 1970."""
    turn: Annotated[str, Meta(max_length=128)] = ""
    call: Annotated[str, Meta(max_length=128)] = ""
    """The id of a tool's call."""
    source: str = ""
    text: Annotated[str, Meta(max_length=8_000)] = ""
    """Text of the user, or of the assistant if that is switched on."""
    transcript: str = ""
    tool: str = ""
    command: Annotated[str, Meta(max_length=1_000)] = ""
    exit: int | None = None
    """The exit code of the command; None where the host does not tell."""
    paths: tuple[str, ...] = ()
    wrote: bool = False
    """True if the files were written, and not only read."""
    parts: tuple[Annotated[str, Meta(max_length=8_000)], ...] = ()
    """The texts that an edit replaces, or that it wrote: they tell the place in the file, and are not kept."""
    shown: tuple[str, ...] = ()
    """The memories that the hook showed by itself, where no server ran."""

    @property
    def is_read(self) -> bool:
        """True if files were only read, or are about to be edited: that brings what is known about them, and is not
        remembered itself."""
        return bool(self.paths) and (not self.wrote or self.kind == "edit")


def event_of(data: Any) -> HookEvent:
    """An event as it came from a hook or from the spool, without secrets. Raises ValidationError for anything else."""
    event = msgspec.convert(data, HookEvent)
    return msgspec.structs.replace(event, text=scrub(event.text).text, command=scrub(event.command).text)
