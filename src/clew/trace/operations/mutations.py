"""Toolset trace: mutations of the requirements graph, their undo, and saving them."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, PageCursor, Toolset
from clew.operation.one_line import MANY_LINES
from clew.trace.edit import results

Short = Annotated[str, Meta(max_length=300)]
Long = Annotated[str, Meta(max_length=2_000)]

Id = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062")]
AssertionId = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062-A")]
NewId = Annotated[str, Meta(min_length=1, max_length=300, description="A free id in the project's grammar")]
Title = Annotated[str, Meta(min_length=1, max_length=1_000, description="One line without *")]
Status = Annotated[str, Meta(min_length=1, max_length=100, description="Such as Draft or Active")]
Text = Annotated[str, Meta(min_length=1, max_length=25_000, description="The statement, without its label"), MANY_LINES]
Label = Annotated[str, Meta(min_length=1, max_length=10, description="Such as B")]
Citing = Annotated[str, Meta(min_length=1, max_length=300, description="What cites: the child")]
Cited = Annotated[str, Meta(min_length=1, max_length=300, description="What is cited: the parent")]
Kind = Annotated[str, Meta(min_length=1, max_length=40, description="implements, refines, satisfies, addresses")]
WhichKind = Annotated[Short | None, Meta(description="Needed only where they are tied in several ways")]
Confirm = Annotated[bool, Meta(description="Must be true")]
Version = Annotated[Short | None, Meta(description="Refuse unless the requirement still has this version")]
Tip = Annotated[Short | None, Meta(description="Refuse unless this is the newest pending mutation; empty for none")]


class Mutation(Operation, toolset=Toolset.TRACE, needs=Freshness.NONE, writes=True, idempotent=False, trim=("notes",)):
    """A change of the graph that is a draft until it is saved."""

    guarded: ClassVar[str]
    """The field that names the node whose version `if_version` means."""
    removes: ClassVar[str] = ""
    """What is gone afterwards, if anything is: it must be confirmed."""

    def run(self, call: Call) -> results.MutationResult:
        arguments = self.arguments()
        if_version = arguments.pop("if_version")
        if self.removes:
            from clew.trace.edit.service import confirmed

            confirmed(arguments.pop("confirm"), lambda: self.removed(call))
        return call.project.mutations.mutate(
            self.operation(),
            {name: value for name, value in arguments.items() if value is not None},
            if_version=if_version,
            guarded=arguments[self.guarded],
            progress=call.progress,
        )

    def operation(self) -> str:
        """What the log calls the mutation, and what it is planned by."""
        return (self.about.tool or "").removeprefix("mutate_")

    def arguments(self) -> dict[str, Any]:
        """What the mutation is planned with, `if_version` and `confirm` among it."""
        named = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        return {argument: getattr(self, field) for argument, field in named}

    def removed(self, call: Call) -> str:
        """What would be gone, as a refusal says it."""
        return self.removes


def path_of_file(id: str) -> str:
    """The path in the id of a file, which may name its namespace: `file:REQ:spec/a.md`."""
    bare = id.removeprefix("file:")
    namespace, separator, path = bare.partition(":")
    return path if separator and "/" not in namespace else bare


class RenameNode(
    Mutation,
    tool="mutate_rename_node",
    title="Rename a requirement",
    example={"old_id": "REQ-d00001", "new_id": "REQ-d00099"},
):
    """Gives a requirement another id. Its assertions, and references to it in specs and in comments of code and tests,
    follow; names of tests do not and are listed in notes. Returns the MutationEntry. A draft: kept over restarts, in no
    file until save_mutations; undo_last_mutation undoes it."""

    guarded = "old_id"

    old_id: Id
    new_id: NewId
    if_version: Version = None


class UpdateTitle(
    Mutation,
    tool="mutate_update_title",
    title="Change a title",
    example={"node_id": "REQ-d00001", "new_title": "Reading tables of tides"},
):
    """Changes the title of a requirement, in its header and its End marker. For the text of an assertion call
    mutate_update_assertion. Returns the MutationEntry. A draft: kept over restarts, in no file until saved
    (save_mutations); undo_last_mutation undoes it."""

    guarded = "node_id"

    node_id: Id
    new_title: Title
    if_version: Version = None


class ChangeStatus(
    Mutation,
    tool="mutate_change_status",
    title="Change a status",
    example={"node_id": "REQ-d00001", "new_status": "Deprecated"},
):
    """Changes the status of a requirement to one that the project knows; an unknown one is refused with the list.
    Returns the MutationEntry. A draft: kept over restarts, in no file until saved (save_mutations); undo_last_mutation
    undoes it."""

    guarded = "node_id"

    node_id: Id
    new_status: Status
    if_version: Version = None


class AddRequirement(
    Mutation,
    tool="mutate_add_requirement",
    title="Add a requirement",
    example={"req_id": "REQ-d00099", "title": "Warn of gales", "level": "dev", "parent_id": "REQ-o00001"},
):
    """Adds a requirement without assertions, below a parent or on its own; mutate_add_assertion adds those. The id must
    be free and fit the level. Returns the MutationEntry with the file it goes to. A draft: kept over restarts, in no
    file until save_mutations; undo_last_mutation undoes it."""

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

    def arguments(self) -> dict[str, Any]:
        given = super().arguments()
        spelled = given.pop("file_id", None)
        if spelled and not given.get("file_path"):
            given["file_path"] = path_of_file(spelled)
        return given


class DeleteRequirement(
    Mutation,
    tool="mutate_delete_requirement",
    title="Delete a requirement",
    destructive=True,
    example={"node_id": "REQ-d00001", "confirm": True},
):
    """Removes a requirement with its assertions; needs confirm=true. What cites it is named, and left with a broken
    reference. Returns the MutationEntry with the whole text. A draft: kept over restarts, in no file until saved
    (save_mutations); undo_last_mutation undoes it."""

    guarded = "node_id"
    removes = "a requirement and its assertions"

    node_id: Id
    confirm: Confirm = False
    if_version: Version = None

    def removed(self, call: Call) -> str:
        citing = call.project.mutations.who_cites(self.node_id, call.progress)
        return f"{self.removes}, cited by {citing}" if citing else self.removes


class AddAssertion(
    Mutation,
    tool="mutate_add_assertion",
    title="Add an assertion",
    example={"req_id": "REQ-d00001", "text": "It SHALL warn of gaps."},
):
    """Adds an assertion at the end of a requirement, under the next free label or the one given. Past the last label of
    the project's style it is refused. Returns the MutationEntry, label and id. A draft: kept over restarts, in no file
    until saved (save_mutations); undo_last_mutation undoes it."""

    guarded = "req_id"

    req_id: Id
    label: Annotated[Short | None, Meta(description="The next free one if left out")] = None
    text_: Text = msgspec.field(name="text")  # type: ignore[misc]  # fields are named, so their order is free
    if_version: Version = None


class UpdateAssertion(
    Mutation,
    tool="mutate_update_assertion",
    title="Change an assertion",
    example={"assertion_id": "REQ-d00001-A", "new_text": "It SHALL read tables."},
):
    """Changes the text of an assertion; the hash of its requirement follows. A text that would read as something else,
    such as a heading, is refused. Returns the MutationEntry. A draft: kept over restarts, in no file until
    saved (save_mutations); undo_last_mutation undoes it."""

    guarded = "assertion_id"

    assertion_id: AssertionId
    new_text: Text
    if_version: Version = None


class DeleteAssertion(
    Mutation,
    tool="mutate_delete_assertion",
    title="Delete an assertion",
    destructive=True,
    example={"assertion_id": "REQ-d00001-A", "confirm": True},
):
    """Removes an assertion; needs confirm=true. References that name it are left broken. Later labels move down only
    where no reference would come to mean another assertion. Returns the MutationEntry. A draft: kept over restarts, in
    no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "assertion_id"
    removes = "an assertion"

    assertion_id: AssertionId
    compact: Annotated[
        bool | None,
        Meta(description="Move later labels down by one: true, false, or where no reference changes its meaning"),
    ] = None
    confirm: Confirm = False
    if_version: Version = None


class RenameAssertion(
    Mutation,
    tool="mutate_rename_assertion",
    title="Relabel an assertion",
    example={"old_id": "REQ-d00001-A", "new_label": "Z"},
):
    """Gives an assertion another label. References that name it, in specs and comments, follow; no other reference is
    touched. Returns the MutationEntry and the new id. A draft: kept over restarts, in no file until saved
    (save_mutations); undo_last_mutation undoes it."""

    guarded = "old_id"

    old_id: AssertionId
    new_label: Label
    if_version: Version = None


class AddEdge(
    Mutation,
    tool="mutate_add_edge",
    title="Add a reference",
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00001", "edge_kind": "refines"},
):
    """Lets a requirement cite another one, or some of its assertions. Unknown targets, self references and circles are
    refused. For code and tests call apply_link. Returns the MutationEntry. A draft: kept over restarts, in no file
    until saved (save_mutations); undo_last_mutation undoes it."""

    guarded = "source_id"

    source_id: Citing
    target_id: Cited
    edge_kind: Kind
    assertion_targets: Annotated[
        tuple[Label, ...], Meta(max_length=100, description="Labels of the parent that are meant; none means all of it")
    ] = ()
    if_version: Version = None


class ChangeEdgeKind(
    Mutation,
    tool="mutate_change_edge_kind",
    title="Change a reference's kind",
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "new_kind": "refines"},
):
    """Turns what a requirement cites from one kind into another, such as implements into refines. change_reference_type
    does so in the file at once. Returns the MutationEntry. A draft: kept over restarts, in no file until
    saved (save_mutations); undo_last_mutation undoes it."""

    guarded = "source_id"

    source_id: Citing
    target_id: Cited
    new_kind: Kind
    edge_kind: WhichKind = None
    if_version: Version = None


class DeleteEdge(
    Mutation,
    tool="mutate_delete_edge",
    title="Delete a reference",
    destructive=True,
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "confirm": True},
):
    """Removes what a requirement says about another one; needs confirm=true. Neither requirement is deleted. Returns
    the MutationEntry with the edges. A draft: kept over restarts, in no file until saved (save_mutations);
    undo_last_mutation undoes it."""

    guarded = "source_id"
    removes = "a reference"

    source_id: Citing
    target_id: Cited
    confirm: Confirm = False
    edge_kind: WhichKind = None
    if_version: Version = None


class FixBrokenReference(
    Mutation,
    tool="mutate_fix_broken_reference",
    title="Fix a broken reference",
):
    """Lets a broken reference, in a spec or in a comment of code or a test, name something that exists. get_requirement
    shows those of a requirement. Returns the MutationEntry. A draft: kept over restarts, in no file until
    saved (save_mutations); undo_last_mutation undoes it."""

    guarded = "source_id"

    source_id: Annotated[str, Meta(min_length=1, max_length=1_000, description="A requirement, journey, test or code")]
    old_target_id: Annotated[str, Meta(min_length=1, max_length=300, description="The broken reference as written")]
    new_target_id: Cited
    if_version: Version = None


class UndoLastMutation(
    Operation,
    tool="undo_last_mutation",
    toolset=Toolset.TRACE,
    title="Undo the last mutation",
    needs=Freshness.NONE,
    writes=True,
    idempotent=False,
):
    """Takes back the newest pending mutation exactly. Where nothing is pending, it takes back the newest one that was
    saved, as a new draft (reverts_saved is true); called again, the one before. Returns the
    mutation."""

    if_mutation_id: Tip = None

    def run(self, call: Call) -> results.UndoResult:
        return call.project.mutations.undo_last(if_tip=self.if_mutation_id, progress=call.progress)


class UndoToMutation(
    Operation,
    tool="undo_to_mutation",
    toolset=Toolset.TRACE,
    title="Undo down to a mutation",
    needs=Freshness.NONE,
    writes=True,
    idempotent=False,
    trim=("mutations",),
):
    """Takes back every mutation down to and including this one, pending or saved; what was saved is taken back by new
    drafts. A draft that is in conflict with the files is dropped alone. Returns them, newest first."""

    mutation_id: Annotated[str, Meta(min_length=1, max_length=100, description="From the log of mutations or a save")]
    if_tip_mutation_id: Tip = None

    def run(self, call: Call) -> results.UndoToResult:
        return call.project.mutations.undo_to(self.mutation_id, if_tip=self.if_tip_mutation_id, progress=call.progress)


class GetMutationLog(
    Operation,
    tool="get_mutation_log",
    toolset=Toolset.TRACE,
    title="Pending mutations",
    trim=("conflicts", "mutations"),
    pages="mutations",
    example={"limit": 10},
):
    """The mutations that are not saved yet, newest first, at most `limit` and 4,000 tokens a page, and the drafts that
    no longer apply because the files changed, each with both sides. Its ids are for undo_to_mutation."""

    limit: Annotated[int, Meta(ge=1, le=500, description="Mutations at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.LogPage:
        return call.project.mutations.log(offset=call.offset, limit=self.limit)


class SaveMutations(
    Operation,
    tool="save_mutations",
    toolset=Toolset.TRACE,
    title="Save the mutations",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    trim=("saved_mutations", "files_modified", "diff"),
    example={"message": "Nothing yet"},
):
    """Writes all pending mutations to their files, or none of them. Only the text of what was mutated changes, with its
    hash. A file that changed on disk, or a draft in conflict, is an error that shows both sides. save_branch=true makes
    a git safety branch first. Returns files and ids; undo works afterwards."""

    save_branch: Annotated[bool, Meta(description="Make a git safety branch first")] = False
    message: Annotated[Long | None, Meta(description="Why, for the record"), MANY_LINES] = None
    if_tip_mutation_id: Tip = None
    dry_run: Annotated[bool, Meta(description="Show the difference of the files, write nothing")] = False

    def run(self, call: Call) -> results.SaveResult:
        return call.project.mutations.save(
            save_branch=self.save_branch,
            message=self.message,
            if_tip=self.if_tip_mutation_id,
            dry_run=self.dry_run,
            progress=call.progress,
        )
