"""Mutations that are saved in the turn in which they are made. None of them becomes a draft."""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.errors import Conflict, InvalidArgument, NotFound, Refused
from clew.formats.elspais.ids.grammar import ParsedReference
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Reference, Requirement
from clew.formats.elspais.write.blocks import with_block, without_block
from clew.formats.elspais.write.edits import with_reference_kind
from clew.graph.model import Source
from clew.text.display import shortened
from clew.text.lines import Span
from clew.trace.edit.mutations.mutation import Mutation, MutationEffect
from clew.trace.edit.mutations.rewriting import Original, rewritten
from clew.trace.edit.requests import DryRun, IfVersion, RequirementId, SaveBranch
from clew.trace.edit.text.blocks import GAP, split_block
from clew.trace.edit.text.draft import ChangeDraft, DraftBlock

KINDS = ("implements", "refines")


class ReferenceType(Mutation, frozen=True, kw_only=True):
    """Another kind for the references to a target; with labels, only for references with exactly these."""

    operation = "change_reference_type"
    guarded = "req_id"

    req_id: RequirementId
    target_id: Annotated[str, Meta(min_length=1, description="What it cites; with labels, exactly that citation")]
    new_type: Annotated[str, Meta(min_length=1, description="implements or refines, in any case")]
    save_branch: SaveBranch = False
    dry_run: DryRun = False
    if_version: IfVersion = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        kind, written = self.new_type.strip().casefold(), self.target_id.strip()
        if kind not in KINDS:
            raise InvalidArgument(
                f"'{shortened(self.new_type)}' is not a type of reference between requirements.",
                hint=f"Pass one of: {', '.join(KINDS)}.",
            )
        id = draft.rules.resolver.requirement(self.req_id).id
        block, target = draft.block(id), draft.grammar.parse_reference(written) or ParsedReference(written)
        meant = self._meant(id, block, target, kind)
        references = tuple(
            msgspec.structs.replace(each, kind=kind) if each in meant else each for each in block.record.references
        )
        data = with_reference_kind(block.data, draft.grammar, target, kind)
        draft.rewrite(block, data, "A reference is one item of a list.", hashed=False, references=references)
        return MutationEffect(self, id, id, {}, {}, f"{id} {kind} {written}")

    def _meant(self, id: str, block: DraftBlock, target: ParsedReference, kind: str) -> list[Reference]:
        meant = [
            reference
            for reference in block.record.references
            if reference.target == target.target and (not target.labels or set(reference.labels) == set(target.labels))
        ]
        if not meant:
            cited = ", ".join(reference.written for reference in block.record.references) or "nothing"
            raise NotFound(
                f"{id} does not cite '{target.target}'.", hint=f"It cites {cited}; mutate_add_edge adds one."
            )
        already = {reference.labels for reference in meant if reference.kind == kind}
        if any(reference.labels in already for reference in meant if reference.kind != kind):
            raise Refused(
                f"{id} cites {target.target} both ways; as {kind} it is there already.",
                hint="mutate_delete_edge removes one of them.",
            )
        return meant


class MoveToEnd(Mutation, frozen=True, kw_only=True):
    """Another file, new or existing, for a requirement, with every byte of its text."""

    operation = "move_requirement"
    guarded = "req_id"

    req_id: RequirementId
    target_file: Annotated[
        str, Meta(min_length=1, description="A file of requirements, new or there already, relative to the project")
    ]
    save_branch: SaveBranch = False
    dry_run: DryRun = False
    if_version: IfVersion = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        id = draft.rules.resolver.requirement(self.req_id).id
        block, path = draft.block(id), draft.files.inside(self.target_file)
        files = {"source_file": block.path}, {"dest_file": path}
        if path == block.path:
            return MutationEffect(self, id, id, *files, f"{id} is in {path}")
        try:
            before = draft.file(path)
        except NotFound:
            before = b""
        if any(isinstance(each, Requirement) and each.id == block.id for each in read(before, draft.grammar).blocks):
            raise Conflict(f"'{path}' holds {block.id} already.", hint="Give one of the two another id.")
        # First the new place: whatever happens in between, the requirement is somewhere.
        source = draft.file(block.path)
        moved = with_block(before, block.data)[len(before) :]
        lead, data, tail = split_block(moved + _rule_behind(source, block.definition.node.source, moved))
        draft.add(path, len(before), lead, data, tail)
        draft.remove(block, _with_gaps(source, block.definition.node.source))
        return MutationEffect(self, id, id, *files, f"Moved {id} from {block.path} to {path}")


def _rule_behind(data: bytes, source: Source | None, moved: bytes) -> bytes:
    """The rule that closes a block in its file, where the moved block would have none on either side."""
    gap = GAP.match(data, source.end) if source is not None else None
    if gap is None or b"---" not in gap[0] or moved.lstrip().startswith(b"---") or moved.rstrip().endswith(b"---"):
        return b""
    line_end = b"\r\n" if moved.endswith(b"\r\n") else b"\n"
    return line_end + b"---" + line_end


def _with_gaps(data: bytes, source: Source | None) -> tuple[int, int] | None:
    """The range of a file that moves with a block: the block and the blank lines around it."""
    if source is None:
        return None
    rest = without_block(data, Span(source.start, source.end, source.line, source.end_line))
    start = source.start
    while not rest.startswith(data[:start]):
        start -= 1
    return start, start + len(data) - len(rest)


class RewriteText(Mutation, frozen=True, kw_only=True):
    """A new text for a requirement from a language model. It is checked like a foreign text."""

    operation = "transform_with_ai"
    guarded = "req_id"

    req_id: RequirementId
    answer: str
    model: str
    """The name of the model."""
    if_version: IfVersion = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        id = draft.rules.resolver.requirement(self.req_id).id
        block = draft.block(id)
        data = rewritten(self.answer, Original(block.requirement, block.data), draft.grammar, draft.graph, id)
        if (record := draft.context.read(data)) is None:
            raise Refused("The text would not read as one requirement.", hint="Ask again, more precisely.")
        draft.write(block, data, record, "", hashed=False)
        message = f"{self.model} rewrote {id}; its hash stays stale until the text is reviewed"
        return MutationEffect(self, id, id, {}, {}, message)
