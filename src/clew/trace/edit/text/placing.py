"""Where a new requirement goes in a file: behind the last one, parted from it as the others are."""

from itertools import pairwise

import msgspec

from clew.errors import NotFound, Refused
from clew.formats.elspais.write.blocks import NewRequirement, Style, requirement_text, style_of
from clew.graph.model import NodeKind, Source
from clew.trace.edit.text.author import Block, Draft
from clew.trace.edit.text.blocks import GAP, is_in_fence


class InsertionPoint(msgspec.Struct, frozen=True):
    position: int
    lead: bytes
    """What parts the new block from what stands before it."""
    style: Style


def add_block(draft: Draft, path: str, new: NewRequirement) -> Block:
    """Put a new requirement into a file, which is made where it does not exist."""
    spot = _spot(draft, path)
    return draft.add(path, spot.position, spot.lead, requirement_text(new, spot.style))


def _spot(draft: Draft, path: str) -> InsertionPoint:
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
    style = style_of(data[last.start : last.end], draft.author.grammar)
    line_end = style.line_end.encode()
    lead = _gap(data, written, line_end)
    if data[last.end - 1 : last.end] not in (b"\n", b"\r"):
        lead = line_end + lead
    return InsertionPoint(last.end, lead, style)


def _blocks(draft: Draft, path: str) -> list[Source]:
    """Where the blocks of the file stand that are in it already."""
    authored = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
    nodes = (node for node in draft.author.graph.nodes_in_file(path) if node.kind in authored)
    return sorted(
        (node.source for node in nodes if node.source is not None and node.source.end), key=lambda each: each.start
    )


def _gap(data: bytes, written: list[Source], line_end: bytes) -> bytes:
    """What parts the last two blocks, or the last from what follows; else a blank line."""
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
