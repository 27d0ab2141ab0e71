"""Mutations of whole requirements: add, delete, id, title, status."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.formats.elspais.write.blocks import NewRequirement, requirement_text, with_id, with_status, with_title
from clew.graph import cycles
from clew.graph.model import HIERARCHY, EdgeKind, Node, NodeKind
from clew.trace.edit.mutations.mutation import (
    Confirm,
    Id,
    Long,
    Mutation,
    MutationEffect,
    NewId,
    Short,
    Title,
    Version,
    citing_ids,
    path_of_file,
)
from clew.trace.edit.text.draft import ChangeDraft, DraftContext
from clew.trace.edit.text.insertion import insertion_point
from clew.trace.edit.text.renaming import ReferenceTarget, follow

Status = Annotated[str, Meta(min_length=1, max_length=100, description="Such as Draft or Active")]


class RenameNode(Mutation, frozen=True, kw_only=True):
    """A new id for a requirement or journey. Its assertions and the references to it follow."""

    operation = "rename_node"
    guarded = "old_id"

    old_id: Id
    new_id: NewId
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        rules, graph = draft.rules, draft.graph
        node = rules.authored(self.old_id)
        id = rules.new_id(self.new_id, kind=node.kind)
        if id == node.id:
            raise InvalidArgument(f"'{node.id}' has that id already.", hint="Pass another new_id.")
        if node.kind is NodeKind.REQUIREMENT:
            rules.level_of_id(id, node.get_field("level", ""))
        block = draft.block(node.id)
        rules.free(id)
        above = cycles.above(graph, node.id)
        cycles.refuse_appearing(graph, id, _citing(draft, id), above, instead_of=node.id)
        draft.rewrite(block, with_id(block.data, draft.grammar, id), "", id=id)
        if node.id == block.id:  # references to an id that is defined twice mean the first
            follow(draft, node.id, lambda aim: ReferenceTarget(id, aim.labels))
        settled = self.settled(old_id=node.id, new_id=id)
        return MutationEffect(settled, node.id, id, {"id": node.id}, {"id": id}, f"{node.id} is now {id}.")


class UpdateTitle(Mutation, frozen=True, kw_only=True):
    """A new title for a requirement or journey, in its header and its End marker."""

    operation = "update_title"

    node_id: Id
    new_title: Title
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node, title = draft.rules.authored(self.node_id), draft.rules.title(self.new_title)
        block = draft.block(node.id)
        data = with_title(block.data, draft.grammar, title)
        draft.rewrite(block, data, "A title is one line without `*`.", title=title)
        settled = self.settled(node_id=node.id, new_title=title)
        message = f"The title of {node.id} is now '{title}'."
        return MutationEffect(settled, node.id, node.id, {"title": node.title}, {"title": title}, message)


class ChangeStatus(Mutation, frozen=True, kw_only=True):
    """A new status for a requirement."""

    operation = "change_status"

    node_id: Id
    new_status: Status
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node, status = draft.rules.resolver.requirement(self.node_id), draft.rules.status(self.new_status)
        block = draft.block(node.id)
        draft.rewrite(block, with_status(block.data, draft.grammar, status), "A status is one word.", status=status)
        settled = self.settled(node_id=node.id, new_status=status)
        before, message = {"status": node.get_field("status")}, f"The status of {node.id} is now {status}."
        return MutationEffect(settled, node.id, node.id, before, {"status": status}, message)


class AddRequirement(Mutation, frozen=True, kw_only=True):
    """A requirement without assertions. References that name its id are no longer broken."""

    operation = "add_requirement"
    guarded = "parent_id"

    req_id: NewId
    title: Title
    level: Annotated[str, Meta(min_length=1, max_length=100, description="Such as prd, ops or dev")]
    status: Status = "Draft"
    parent_id: Annotated[Short | None, Meta(description="What it cites; a label may follow, as in REQ-p00001-A")] = None
    edge_kind: Annotated[Short | None, Meta(description="How it cites its parent: implements if left out")] = None
    file_path: Annotated[Long | None, Meta(description="A spec file, new or not; that of the parent if left out")] = (
        None
    )
    file_id: Annotated[Long | None, Meta(description="The same as elspais spells it, such as file:REQ:spec/a.md")] = (
        None
    )
    if_version: Annotated[Short | None, Meta(description="Of the parent")] = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        rules, grammar, graph = draft.rules, draft.grammar, draft.graph
        id = rules.new_id(self.req_id)
        new = NewRequirement(id, rules.title(self.title), rules.level(self.level, id), rules.status(self.status))
        parent, kind = self._parent(draft, id)
        path = draft.files.choose(self._file, graph.get_node(parent.target) if parent is not None else None, new.level)
        after = {"id": id, "title": new.title, "level": new.level, "status": new.status}
        settled = self.settled(
            req_id=id, title=new.title, level=new.level, status=new.status, file_path=path, file_id=None
        )
        if parent is not None:
            written = parent.written(grammar)
            new = msgspec.structs.replace(new, reference=(kind.value, written))
            after |= {"parent_id": written, "edge_kind": kind.value}
            settled = msgspec.structs.replace(settled, parent_id=written, edge_kind=kind.value)
        rules.free(id)
        if parent is not None:
            rules.refuse_unknown(parent)
        above = [parent.target] if parent is not None else []
        cycles.refuse_appearing(graph, id, _citing(draft, id), above)
        spot = insertion_point(draft, path)
        draft.add(path, spot.position, spot.lead, requirement_text(new, spot.style))
        return MutationEffect(settled, id, id, {}, {**after, "path": path}, f"{id} will be written to {path}.")

    @property
    def _file(self) -> str | None:
        return path_of_file(self.file_id) if self.file_id and not self.file_path else self.file_path

    def _parent(self, draft: ChangeDraft, id: str) -> tuple[ReferenceTarget | None, EdgeKind]:
        source = Node(id, NodeKind.REQUIREMENT, "", {})
        kind = draft.rules.edge_kind(self.edge_kind or EdgeKind.IMPLEMENTS.value, source)
        if self.parent_id is None:
            if self.edge_kind is not None:
                raise InvalidArgument("edge_kind is given without parent_id.", hint="Pass both, or neither.")
            return None, kind
        return draft.rules.reference_target(self.parent_id), kind


class DeleteRequirement(Mutation, frozen=True, kw_only=True):
    """The end of a requirement with its assertions. Citations of it are left as broken references."""

    operation = "delete_requirement"
    removes = "a requirement and its assertions"

    node_id: Id
    confirm: Confirm = False
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = draft.rules.authored(self.node_id)
        citing = citing_ids(draft.graph, node.id)
        left = f" It is cited by {citing}, which are left with a broken reference." if citing else ""
        draft.remove(draft.block(node.id))
        settled, before = self.settled(node_id=node.id), _content(draft, node)
        return MutationEffect(settled, node.id, None, before, {}, f"{node.id} will be removed.{left}")

    def removed(self, context: DraftContext) -> str:
        citing = citing_ids(context.graph, context.rules.subject(self.node_id).id)
        return f"{self.removes}, cited by {citing}" if citing else self.removes


def _content(draft: ChangeDraft, node: Node) -> dict[str, Any]:
    edges = draft.graph.iter_outgoing_edges(node.id)
    cites = sorted(
        f"{edge.kind.value} {ReferenceTarget(edge.target, edge.labels).written(draft.grammar)}" for edge in edges
    )
    fields = {name: node.get_field(name) for name in ("level", "status", "body") if name in node.fields}
    return {"id": node.id, "title": node.title, **fields, "cites": cites}


def _citing(draft: ChangeDraft, id: str) -> set[str]:
    """The requirements that would be direct children of an id; it need not exist."""
    return {each.source for each in draft.linker.citations_of(id) if each.kind in HIERARCHY}
