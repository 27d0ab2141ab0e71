"""The place in a file at which a new block is put in, and the text that parts it from its neighbours."""

from itertools import pairwise

import msgspec

from clew.errors import NotFound, Refused
from clew.formats.elspais.write.blocks import Style, style_of
from clew.graph.model import NodeKind, Source
from clew.trace.edit.text.blocks import GAP, is_in_fence
from clew.trace.edit.text.draft import AUTHORED, ChangeDraft


class InsertionPoint(msgspec.Struct, frozen=True):
    position: int
    lead: bytes
    """The text that parts the new block from the one before it."""
    style: Style


def insertion_point(draft: ChangeDraft, path: str) -> InsertionPoint:
    """The end of the last block of a file, which may be new."""
    try:
        data = draft.file(path)
    except NotFound:
        return InsertionPoint(0, b"", Style())
    written = _blocks(draft, path)
    if not written:
        _refuse_fence(path, data, len(data))
        end = Style().line_end.encode()
        return InsertionPoint(len(data), end * (0 if not data else 1 if data.endswith(b"\n") else 2), Style())
    last = written[-1]
    _refuse_fence(path, data, last.end)
    # A journey has no level, so it does not show how levels are written.
    model = (_blocks(draft, path, (NodeKind.REQUIREMENT,)) or written)[-1]
    style = style_of(data[model.start : model.end], draft.grammar)
    line_end = style.line_end.encode()
    lead = _gap(data, written, line_end)
    if data[last.end - 1 : last.end] not in (b"\n", b"\r"):
        lead = line_end + lead
    return InsertionPoint(last.end, lead, style)


def _blocks(draft: ChangeDraft, path: str, kinds: tuple[NodeKind, ...] = AUTHORED) -> list[Source]:
    """The places of the blocks that are in the file already."""
    nodes = (node for node in draft.graph.nodes_in_file(path) if node.kind in kinds)
    return sorted(
        (node.source for node in nodes if node.source is not None and node.source.end), key=lambda each: each.start
    )


def _gap(data: bytes, written: list[Source], line_end: bytes) -> bytes:
    """The text between the last two blocks, or after the last one; a blank line without them."""
    candidates = [data[one.end : other.start] for one, other in list(pairwise(written))[-1:]]
    found = GAP.match(data, written[-1].end)
    if not candidates and found is not None and b"---" in found[0]:
        candidates = [line_end + b"---" + line_end + line_end]
    is_plain = bool(candidates) and not candidates[0].strip(b" \t\r\n-")
    return candidates[0] if is_plain and candidates[0].startswith((b"\n", b"\r")) else line_end


def _refuse_fence(path: str, data: bytes, position: int) -> None:
    if is_in_fence(data, position):
        raise Refused(
            f"A code block in {path} is never closed, so a requirement behind it would be read as code.",
            hint="Close the code block, or pass another file_path.",
        )
