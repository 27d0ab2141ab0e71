"""Edits of a file by spans: what they do not name keeps every byte."""

from collections.abc import Iterable

import msgspec

from clew.errors import Conflict


class Edit(msgspec.Struct, frozen=True):
    """A range of bytes and what takes its place."""

    start: int
    before: bytes
    after: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.before)


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The file after the edits, which stand in order and do not overlap."""
    parts: list[bytes] = []
    position = 0
    for edit in edits:
        if data[edit.start : edit.end] != edit.before or edit.start < position:
            raise _changed(edit.start)
        parts += (data[position : edit.start], edit.after)
        position = edit.end
    return b"".join((*parts, data[position:]))


def _changed(place: int) -> Conflict:
    return Conflict(
        f"The file is not the one that was edited: it differs at byte {place}.",
        hint="Read the file again and begin anew; nothing was changed.",
    )
