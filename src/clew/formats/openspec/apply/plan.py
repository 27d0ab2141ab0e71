"""The requirements of a spec while a delta is applied to them, and the edits that come of it."""

from collections.abc import Iterable, Iterator

import msgspec

from clew.errors import Conflict
from clew.formats.openspec.records import FileSection, Requirement, SectionKind, Spec
from clew.text.lines import newline_of, with_newlines


class Edit(msgspec.Struct, frozen=True):
    """A range of bytes and what takes its place."""

    start: int
    before: bytes
    after: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.before)


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The file after the edits, which are in order and do not overlap."""
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
        hint="Read the file again and start over; nothing was changed.",
    )


_SPACE = b" \t\r\n\x0b\x0c"


class _Block(msgspec.Struct):
    """A requirement in the file. Its text ends before the blank lines that part it from the next."""

    requirement: Requirement
    start: int
    text_end: int
    end: int
    heading: bytes | None = None
    """The new heading of a renamed one."""
    text: bytes | None = None
    """The new text of a modified one."""
    removed: bool = False


class SpecEditor:
    """Holds requirements by their present names. Nothing is written; `edits` says what would be."""

    def __init__(self, data: bytes, spec: Spec) -> None:
        self._data = data
        self._newline = newline_of(data)
        section = next(spec.document.of_kind(SectionKind.REQUIREMENTS))
        self._head_end = self._text_end(section)
        self._blocks = [self._block(requirement) for requirement in section.requirements]
        self._by_name = {block.requirement.name: block for block in self._blocks}
        self._added: dict[str, Requirement] = {}

    def _block(self, requirement: Requirement) -> _Block:
        span = requirement.span
        text_end = span.start + len(self._data[span.start : span.end].rstrip(_SPACE))
        return _Block(requirement, span.start, text_end, span.end)

    def _text_end(self, section: FileSection) -> int:
        end = section.requirements[0].span.start if section.requirements else section.span.end
        return section.span.start + len(self._data[section.span.start : end].rstrip(_SPACE))

    def names(self) -> Iterator[str]:
        yield from self._by_name
        yield from self._added

    def __contains__(self, name: str) -> bool:
        return name in self._by_name or name in self._added

    def __len__(self) -> int:
        return len(self._by_name) + len(self._added)

    def get(self, name: str) -> Requirement | None:
        """The requirement that has this name now. A renamed one still shows its text from before."""
        block = self._by_name.get(name)
        return block.requirement if block is not None else self._added.get(name)

    def rename(self, old: str, new: str) -> None:
        block = self._by_name.pop(old)
        block.heading = f"### Requirement: {new}".encode()
        self._by_name[new] = block

    def remove(self, name: str) -> None:
        self._by_name.pop(name).removed = True

    def modify(self, name: str, requirement: Requirement) -> None:
        self._by_name[name].text = self._bytes(requirement)

    def add(self, requirement: Requirement) -> None:
        self._added[requirement.name] = requirement

    def _bytes(self, requirement: Requirement) -> bytes:
        return with_newlines(requirement.raw, self._newline).rstrip(_SPACE)

    def edits(self) -> tuple[Edit, ...]:
        """In order and apart. What follows the last requirement stays, whichever requirement is the last then."""
        staying = [block for block in self._blocks if not block.removed]
        last = staying[-1] if staying else None
        spans = [span for block in self._blocks if (span := self._own(block, last)) is not None]
        tail = last.text_end if last is not None else self._head_end
        tail_end = self._blocks[-1].text_end if self._blocks and self._blocks[-1].removed else tail
        appended = b"".join(2 * self._newline + self._bytes(each) for each in self._added.values())
        if appended and tail_end == len(self._data):
            appended += self._newline
        spans.append((tail, tail_end, appended))
        return tuple(
            Edit(start, before, after) for start, end, after in spans if (before := self._data[start:end]) != after
        )

    def _own(self, block: _Block, last: _Block | None) -> tuple[int, int, bytes] | None:
        """New bytes of a block's range; removed blocks after the last remaining one are part of the tail."""
        if block.removed:
            return (block.start, block.end, b"") if last is not None and block.start < last.start else None
        if block.text is not None:
            return block.start, block.text_end, block.text
        if block.heading is not None:
            line = self._data[block.start : block.text_end].splitlines()[0]
            return block.start, block.start + len(line), block.heading
        return None
