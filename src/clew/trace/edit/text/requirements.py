"""Mutations of requirements and journeys, each as one recorded change.

Every method reads the graph, refuses what cannot be done, and returns the change; `History.apply` carries it out.
What an id, a level or a status may look like is decided by the calling service, which knows the rules of the project.
"""

from itertools import pairwise

import msgspec

from clew.errors import AlreadyExists, NotFound, Refused
from clew.formats.elspais.write.blocks import (
    NewRequirement,
    Style,
    requirement_text,
    style_of,
    with_id,
    with_status,
    with_title,
)
from clew.graph import cycles
from clew.graph.changes import Change
from clew.graph.model import HIERARCHY, NodeKind, Source
from clew.trace.edit.text.blocks import GAP, is_in_fence
from clew.trace.edit.text.draft import Block, Draft, DraftContext
from clew.trace.edit.text.edges import refuse_unknown
from clew.trace.edit.text.renaming import ReferenceTarget, follow

_TITLE_RULE = "A title is one line without `*`."


class Mutations:
    def __init__(self, drafting: DraftContext) -> None:
        self._drafting = drafting

    # Nodes

    def rename_node(self, old_id: str, new_id: str) -> Change:
        """Give a requirement or journey another id. Its assertions and the references to it follow."""
        drafting, draft = self._drafting, Draft(self._drafting)
        block = draft.block(old_id)
        self._free(new_id)
        parents = cycles.above(drafting.graph, old_id)
        cycles.refuse_appearing(drafting.graph, new_id, self._citing(new_id), parents, instead_of=old_id)
        expected = msgspec.structs.replace(block.record, id=new_id)
        draft.write(block, with_id(block.data, drafting.grammar, new_id), expected, "", hashed=True)
        if old_id == block.id:  # references to an id that is defined twice mean the first
            follow(draft, old_id, lambda aim: ReferenceTarget(new_id, aim.labels))
        return draft.change("rename_node", old_id)

    def update_title(self, id: str, title: str) -> Change:
        draft = Draft(self._drafting)
        block = draft.block(id)
        expected = msgspec.structs.replace(block.record, title=title)
        draft.write(block, with_title(block.data, self._drafting.grammar, title), expected, _TITLE_RULE, hashed=True)
        return draft.change("update_title", id)

    def change_status(self, id: str, status: str) -> Change:
        draft = Draft(self._drafting)
        block = draft.block(id)
        expected = msgspec.structs.replace(block.requirement, status=status)
        data = with_status(block.data, self._drafting.grammar, status)
        draft.write(block, data, expected, "A status is one word.", hashed=True)
        return draft.change("change_status", id)

    def add_requirement(self, new: NewRequirement, path: str, parent: ReferenceTarget | None = None) -> Change:
        """Add a requirement without assertions to a file. References that name its id are no longer broken."""
        self._free(new.id)
        if parent is not None:
            refuse_unknown(self._drafting, parent)
        parents = [parent.target] if parent is not None else []
        cycles.refuse_appearing(self._drafting.graph, new.id, self._citing(new.id), parents)
        draft = Draft(self._drafting)
        add_block(draft, path, new)
        return draft.change("add_requirement", new.id)

    def delete_requirement(self, id: str) -> Change:
        """Remove a requirement with its assertions. What cites it is left with a broken reference."""
        draft = Draft(self._drafting)
        draft.remove(draft.block(id))
        return draft.change("delete_requirement", id)

    # What is refused

    def _free(self, id: str) -> None:
        node = self._drafting.graph.get_node(id)
        if node is not None:
            where = f" by {_place(node.source)}" if node.source is not None else ""
            raise AlreadyExists(
                f"The id '{id}' is taken{where}.",
                hint="Choose another id; search shows those in use.",
                data={"node_id": id},
            )

    def _citing(self, id: str) -> set[str]:
        """The requirements that would stand directly below an id; it need not exist."""
        return {each.source for each in self._drafting.linker().citations_of(id) if each.kind in HIERARCHY}


def _place(source: Source) -> str:
    return f"{source.path}:{source.line}" if source.line else f"a draft for {source.path}"


class InsertionPoint(msgspec.Struct, frozen=True):
    position: int
    lead: bytes
    """What parts the new block from what stands before it."""
    style: Style


def add_block(draft: Draft, path: str, new: NewRequirement) -> Block:
    """Put a new requirement into a file, which is made where it does not exist."""
    spot = insertion_point(draft, path)
    return draft.add(path, spot.position, spot.lead, requirement_text(new, spot.style))


def insertion_point(draft: Draft, path: str) -> InsertionPoint:
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
    style = style_of(data[model.start : model.end], draft.drafting.grammar)
    line_end = style.line_end.encode()
    lead = _gap(data, written, line_end)
    if data[last.end - 1 : last.end] not in (b"\n", b"\r"):
        lead = line_end + lead
    return InsertionPoint(last.end, lead, style)


_AUTHORED = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)


def _blocks(draft: Draft, path: str, kinds: tuple[NodeKind, ...] = _AUTHORED) -> list[Source]:
    """Where the blocks of the file stand that are in it already."""
    nodes = (node for node in draft.drafting.graph.nodes_in_file(path) if node.kind in kinds)
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
