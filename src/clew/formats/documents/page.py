"""A text that is put together from pieces: what a person would read of a file that is no text itself."""

import msgspec

from clew.formats.documents.model import Block, BlockKind

_APART = "\n\n"
_CLOSE = "\n"
_CLOSE_KINDS = (BlockKind.ITEM,)


class Page:
    """Grows by whole blocks; each keeps its place in the text, and its lines in the file."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0

    def text(self) -> str:
        return "".join(self._parts)

    def add(
        self,
        kind: BlockKind,
        text: str,
        line: int,
        end_line: int,
        *,
        level: int = 0,
        title: str = "",
        labels: tuple[str, ...] = (),
    ) -> int:
        """Append a block; returns where it begins. A text of nothing but space is none."""
        text = text.strip("\r\n")
        if not text.strip():
            return self._length
        start = self._begin(kind)
        self._append(text)
        block = Block(kind, start, self._length, line, end_line, level=level, title=title, labels=labels)
        self.blocks.append(block)
        return start

    def add_text(self, text: str, blocks: list[Block], line: int, end_line: int) -> int:
        """Append a text that was cut into blocks already; all of them are in the given lines of the file."""
        if not blocks:
            return self._length
        start = self._begin(blocks[0].kind)
        self._append(text)
        self.blocks += [
            msgspec.structs.replace(
                block, start=block.start + start, end=block.end + start, line=line, end_line=end_line
            )
            for block in blocks
        ]
        return start

    def _begin(self, kind: BlockKind) -> int:
        if self.blocks:
            close = kind in _CLOSE_KINDS and self.blocks[-1].kind is kind
            self._append(_CLOSE if close else _APART)
        return self._length

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
