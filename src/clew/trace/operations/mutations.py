"""Toolset trace: mutations of the requirements graph, their undo, and saving them."""

from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, PageCursor, Toolset
from clew.trace.edit import results
from clew.trace.edit.mutations.assertions import AddAssertion, DeleteAssertion, RenameAssertion, UpdateAssertion
from clew.trace.edit.mutations.journeys import AddJourney, DeleteJourney, JourneySection, UpdateJourneyField
from clew.trace.edit.mutations.moves import MoveNodeToFile
from clew.trace.edit.mutations.mutation import Mutation
from clew.trace.edit.mutations.references import (
    AddEdge,
    ChangeEdgeKind,
    ChangeEdgeTargets,
    DeleteEdge,
    FixBrokenReference,
)
from clew.trace.edit.mutations.requirements import (
    AddRequirement,
    ChangeStatus,
    DeleteRequirement,
    RenameNode,
    UpdateTitle,
)
from clew.trace.edit.mutations.sections import AddRemainder, DeleteRemainder, SetStereotype, UpdateRemainder
from clew.trace.edit.requests import ListDrafts, SaveDrafts, UndoLast, UndoTo


class DraftOperation(
    Mutation,
    Operation,
    toolset=Toolset.TRACE,
    needs=Freshness.NONE,
    writes=True,
    idempotent=False,
    trim=("notes",),
    closing="A draft: kept over restarts, in no file until save_mutations; undo_last_mutation undoes it.",
):
    """A mutation that is a draft until it is saved."""

    def run(self, call: Call) -> results.MutationResult:
        return call.project.mutations.mutate(self, call.progress)


class MutateRenameNode(
    RenameNode,
    DraftOperation,
    tool="mutate_rename_node",
    title="Rename a requirement",
    example={"old_id": "REQ-d00001", "new_id": "REQ-d00099"},
):
    """Gives a requirement another id. Its assertions, and references to it in specs and in comments of code and tests,
    follow; names of tests do not and are listed in notes. Returns the MutationEntry."""


class MutateUpdateTitle(
    UpdateTitle,
    DraftOperation,
    tool="mutate_update_title",
    title="Change a title",
    example={"node_id": "REQ-d00001", "new_title": "Reading tables of tides"},
):
    """Changes the title of a requirement, in its header and its End marker. For the text of an assertion call
    mutate_update_assertion. Returns the MutationEntry."""


class MutateChangeStatus(
    ChangeStatus,
    DraftOperation,
    tool="mutate_change_status",
    title="Change a status",
    example={"node_id": "REQ-d00001", "new_status": "Deprecated"},
):
    """Changes the status of a requirement to one that the project knows; an unknown one is refused with the list.
    Returns the MutationEntry."""


class MutateAddRequirement(
    AddRequirement,
    DraftOperation,
    tool="mutate_add_requirement",
    title="Add a requirement",
    example={"req_id": "REQ-d00099", "title": "Warn of gales", "level": "dev", "parent_id": "REQ-o00001"},
):
    """Adds a requirement without assertions, below a parent or on its own; mutate_add_assertion adds those. The id must
    be free and fit the level. Returns the MutationEntry with the file it goes to."""


class MutateDeleteRequirement(
    DeleteRequirement,
    DraftOperation,
    tool="mutate_delete_requirement",
    title="Delete a requirement",
    destructive=True,
    example={"node_id": "REQ-d00001", "confirm": True},
):
    """Removes a requirement with its assertions; needs confirm=true. What cites it is named, and left with a broken
    reference. Returns the MutationEntry with the whole text."""


class MutateAddAssertion(
    AddAssertion,
    DraftOperation,
    tool="mutate_add_assertion",
    title="Add an assertion",
    example={"req_id": "REQ-d00001", "text": "It SHALL warn of gaps."},
):
    """Adds an assertion at the end of a requirement, under the next free label or the one given. Past the last label of
    the project's style it is refused. Returns the MutationEntry, label and id."""


class MutateUpdateAssertion(
    UpdateAssertion,
    DraftOperation,
    tool="mutate_update_assertion",
    title="Change an assertion",
    example={"assertion_id": "REQ-d00001-A", "new_text": "It SHALL read tables."},
):
    """Changes the text of an assertion; the hash of its requirement follows. A text that would read as something else,
    such as a heading, is refused. Returns the MutationEntry."""


class MutateDeleteAssertion(
    DeleteAssertion,
    DraftOperation,
    tool="mutate_delete_assertion",
    title="Delete an assertion",
    destructive=True,
    example={"assertion_id": "REQ-d00001-A", "confirm": True},
):
    """Removes an assertion; needs confirm=true. References that name it are left broken. Later labels move down only
    where no reference would come to mean another assertion. Returns the MutationEntry."""


class MutateRenameAssertion(
    RenameAssertion,
    DraftOperation,
    tool="mutate_rename_assertion",
    title="Relabel an assertion",
    example={"old_id": "REQ-d00001-A", "new_label": "Z"},
):
    """Gives an assertion another label. References that name it, in specs and comments, follow; no other reference is
    touched. Returns the MutationEntry and the new id."""


class MutateAddEdge(
    AddEdge,
    DraftOperation,
    tool="mutate_add_edge",
    title="Add a reference",
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00001", "edge_kind": "refines"},
):
    """Lets a requirement cite another one, or some of its assertions. Unknown targets, self references and circles are
    refused. For code and tests call apply_link. Returns the MutationEntry."""


class MutateChangeEdgeKind(
    ChangeEdgeKind,
    DraftOperation,
    tool="mutate_change_edge_kind",
    title="Change a reference's kind",
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "new_kind": "refines"},
):
    """Turns what a requirement cites from one kind into another, such as implements into refines. change_reference_type
    does so in the file at once. Returns the MutationEntry."""


class MutateDeleteEdge(
    DeleteEdge,
    DraftOperation,
    tool="mutate_delete_edge",
    title="Delete a reference",
    destructive=True,
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "confirm": True},
):
    """Removes what a requirement says about another one; needs confirm=true. Neither requirement is deleted. Returns
    the MutationEntry with the edges."""


class MutateFixBrokenReference(
    FixBrokenReference, DraftOperation, tool="mutate_fix_broken_reference", title="Fix a broken reference"
):
    """Lets a broken reference, in a spec or in a comment of code or a test, name something that exists. get_requirement
    shows those of a requirement. Returns the MutationEntry."""


class MutateAddRemainder(
    AddRemainder,
    DraftOperation,
    tool="mutate_add_remainder",
    title="Add a section",
    later=True,
    example={"req_id": "REQ-d00001", "heading": "Notes", "text": "See the tables."},
):
    """Adds a section such as Rationale or Notes at the end of a requirement or journey. Returns the MutationEntry with
    the section's id."""


class MutateUpdateRemainder(
    UpdateRemainder, DraftOperation, tool="mutate_update_remainder", title="Change a section", later=True
):
    """Changes the text or the heading of a section, named as get_node names it. Returns the MutationEntry."""


class MutateDeleteRemainder(
    DeleteRemainder,
    DraftOperation,
    tool="mutate_delete_remainder",
    title="Delete a section",
    later=True,
    destructive=True,
):
    """Removes a section; needs confirm=true. Returns the MutationEntry with its text."""


class MutateSetStereotype(
    SetStereotype,
    DraftOperation,
    tool="mutate_set_stereotype",
    title="Mark a template",
    later=True,
    example={"node_id": "REQ-d00001", "is_template": True},
):
    """Marks a requirement as a template, or takes the mark away; that is refused while others satisfy it, unless
    force=true. Returns the MutationEntry."""


class MutateUpdateJourneyField(
    UpdateJourneyField, DraftOperation, tool="mutate_update_journey_field", title="Change a journey's field", later=True
):
    """Changes actor, goal or context of a user journey. Returns the MutationEntry."""


class MutateJourneySection(
    JourneySection,
    DraftOperation,
    tool="mutate_journey_section",
    title="Change a journey's sections",
    later=True,
    destructive=True,
):
    """Adds, changes or deletes a section of a user journey, such as Steps. Returns the MutationEntry."""


class MutateAddJourney(AddJourney, DraftOperation, tool="mutate_add_journey", title="Add a journey", later=True):
    """Adds an empty user journey to a spec file, new or not; mutate_journey_section adds its steps. Returns the
    MutationEntry."""


class MutateDeleteJourney(
    DeleteJourney, DraftOperation, tool="mutate_delete_journey", title="Delete a journey", later=True, destructive=True
):
    """Removes a user journey; needs confirm=true. Tests that cite its steps are left with broken references. Returns
    the MutationEntry with its text."""


class MutateChangeEdgeTargets(
    ChangeEdgeTargets,
    DraftOperation,
    tool="mutate_change_edge_targets",
    title="Change what a reference names",
    later=True,
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "assertion_targets": ["A"]},
):
    """Lets a reference name other assertions of the requirement it cites; an empty list means all of it. Returns the
    MutationEntry."""


class MutateMoveNodeToFile(
    MoveNodeToFile,
    DraftOperation,
    tool="mutate_move_node_to_file",
    title="Move to another file",
    later=True,
    example={"node_id": "REQ-d00001", "target_file_id": "file:REQ:spec/moved.md"},
):
    """Moves a requirement or journey, byte for byte, to the end of another spec file, new or not. move_requirement does
    so at once. Returns the MutationEntry."""


class UndoLastMutation(
    UndoLast,
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

    def run(self, call: Call) -> results.UndoResult:
        return call.project.mutations.undo_last(self, call.progress)


class UndoToMutation(
    UndoTo,
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

    def run(self, call: Call) -> results.UndoToResult:
        return call.project.mutations.undo_to(self, call.progress)


class GetMutationLog(
    ListDrafts,
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

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.LogPage:
        return call.project.mutations.log(self, offset=call.offset)


class SaveMutations(
    SaveDrafts,
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

    def run(self, call: Call) -> results.SaveResult:
        return call.project.mutations.save(self, call.progress)
