"""Decisions about one memory and its file: both are compared with their state when they were last in step.

| file | memory | then |
|---|---|---|
| same | changed | the file is written |
| changed | same | the memory is edited |
| deleted | same | the memory is forgotten, and can be restored |
| same | forgotten | the file is removed |
| new | unknown | it is remembered, as text that the user has to accept |
| missing | new | the file is written |
| changed or deleted | changed or forgotten | a conflict: neither wins |
"""

from enum import Enum, auto

import msgspec


class Action(Enum):
    NOTHING = auto()
    SETTLE = auto()
    """Both say the same."""
    WRITE = auto()
    EDIT = auto()
    REMEMBER = auto()
    FORGET = auto()
    REMOVE = auto()
    DROP = auto()
    """Neither is there."""
    CONFLICT = auto()
    REFUSE = auto()
    """The file is of a memory that was purged, or cannot be read as one."""


class InStep(msgspec.Struct, frozen=True):
    """A file and its memory as they were when they were last in step."""

    path: str
    file: str
    """The hash of the file's bytes."""
    memory: str
    """The hash of the file that the memory would be written as."""


class FileSide(msgspec.Struct, frozen=True):
    path: str
    hash: str
    is_earlier: bool = False
    """True if the memory had exactly this text earlier."""
    is_refused: bool = False


class MemorySide(msgspec.Struct, frozen=True):
    hash: str
    """Empty where it is forgotten."""

    @property
    def is_forgotten(self) -> bool:
        return not self.hash


def decide(before: InStep | None, file: FileSide | None, memory: MemorySide | None) -> Action:
    if file is None:
        return _without_file(before, memory)
    if file.is_refused:
        return Action.REFUSE
    if memory is None:
        # Unknown here, or no longer to be shown to everybody.
        return Action.REMEMBER if before is None else Action.REMOVE
    is_edited = before is None or file.hash != before.file
    if memory.is_forgotten:
        return Action.CONFLICT if is_edited else Action.REMOVE
    if file.hash == memory.hash:
        return Action.SETTLE if before is None or before.memory != memory.hash or is_edited else Action.NOTHING
    is_changed = before is None or memory.hash != before.memory
    if is_edited and is_changed:
        return Action.WRITE if before is None and file.is_earlier else Action.CONFLICT
    if is_edited:
        return Action.EDIT
    return Action.WRITE if is_changed else Action.NOTHING


def _without_file(before: InStep | None, memory: MemorySide | None) -> Action:
    if memory is None or memory.is_forgotten:
        return Action.DROP
    if before is None:
        return Action.WRITE
    return Action.FORGET if memory.hash == before.memory else Action.CONFLICT
