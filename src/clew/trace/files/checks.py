"""Looking at an edited file before it is written: whatever was not to change must read as it did.

The edits themselves are small, but files are not always sound: a code fence that is never closed, or a requirement
without End marker, can make a harmless edit change how its neighbours are read. Such an edit is refused.
"""

import msgspec

from clew.errors import Conflict, Refused
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords, Journey, Remainder, Requirement
from clew.graph.model import Node


class Located(msgspec.Struct, frozen=True):
    """A requirement and the file it stands in, as both are now."""

    node: Node
    path: str
    data: bytes
    records: FileRecords
    record: Requirement

    @property
    def block(self) -> bytes:
        return self.data[self.record.span.start : self.record.span.end]

    def with_block(self, block: bytes) -> bytes:
        """The file with another block in the place of this one."""
        return self.data[: self.record.span.start] + block + self.data[self.record.span.end :]


def expect_others(found: Located, after: bytes, grammar: IdGrammar) -> None:
    """The edited file holds the same blocks, and all but the one are unchanged."""
    start = found.record.span.start
    before, now = found.records.blocks, read(after, grammar).blocks
    unchanged = [block.raw for block in now if block.span.start != start or not isinstance(block, Requirement)]
    if len(now) != len(before) or unchanged != [block.raw for block in before if block is not found.record]:
        raise _would_harm(found.path)


def expect_arrival(found: Located, target: str, before: bytes, after: bytes, grammar: IdGrammar) -> None:
    """The file that a requirement moved to holds what it held, and the requirement at its end."""
    present, now = _blocks(read(before, grammar)), _blocks(read(after, grammar))
    if any(block.id == found.record.id for block in present):
        raise Conflict(f"'{target}' holds {found.record.id} already.", hint="Give one of the two another id.")
    if [block.raw for block in now[:-1]] != [block.raw for block in present] or not now:
        raise _would_harm(target)
    arrived = now[-1]
    if arrived.id != found.record.id or arrived.raw.rstrip("\r\n") != found.record.raw.rstrip("\r\n"):
        raise _would_harm(target)


def expect_rest(found: Located, rest: bytes, grammar: IdGrammar) -> None:
    """The file that a requirement came from holds everything else."""
    left = [block.raw for block in _blocks(found.records) if block is not found.record]
    now = read(rest, grammar)
    if [block.raw for block in _blocks(now)] != left or _prose(now) != _prose(found.records):
        raise _would_harm(found.path)


def _blocks(records: FileRecords) -> list[Requirement | Journey]:
    return [block for block in records.blocks if not isinstance(block, Remainder)]


def _prose(records: FileRecords) -> list[str]:
    """The free text of a file, line by line, without what only sets blocks apart."""
    texts = [block.raw for block in records.blocks if isinstance(block, Remainder)]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [line for line in lines if line not in ("", "---", "\ufeff")]


def _would_harm(path: str) -> Refused:
    return Refused(
        f"The change would alter how other text of '{path}' is read, so nothing was written.",
        hint="Mend it first: a code fence may never be closed, or a requirement may have no End marker.",
    )
