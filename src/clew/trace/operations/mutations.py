"""Toolset trace: mutations of the requirements graph, their undo, and saving them."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from clew.operation.call import Call
from clew.operation.registry import Freshness, Request, Tool, Toolset
from clew.trace.edit import results as mutations
from clew.trace.operations import mutation_requests as requests

_DRAFT = "A draft: kept over restarts, in no file until save_mutations; undo_last_mutation undoes it."


def _runs(operation: str, guarded: str, removes: str = "") -> Callable[[Call, Any], mutations.MutationResult]:
    """A handler that passes its request on to the service. `guarded` names the argument whose version counts."""

    def run(call: Call, request: Any) -> mutations.MutationResult:
        arguments = structs.asdict(request)
        if_version = arguments.pop("if_version")
        if removes:
            from clew.trace.edit.service import confirmed

            confirmed(arguments.pop("confirm"), removes)
        return call.project.mutations.mutate(
            operation,
            {name: value for name, value in arguments.items() if value is not None},
            if_version=if_version,
            guarded=arguments[guarded],
            progress=call.progress,
        )

    return run


def _mutation(
    operation: str,
    title: str,
    description: str,
    request: type[Request],
    guarded: str,
    *,
    removes: str = "",
    example: dict[str, Any] | None = None,
) -> Tool:
    return Tool(
        name=f"mutate_{operation}",
        toolset=Toolset.TRACE,
        title=title,
        description=f"{description} {_DRAFT}",
        request=request,
        result=mutations.MutationResult,
        run=_runs(operation, guarded, removes),
        needs=Freshness.NONE,
        read_only=False,
        destructive=bool(removes),
        idempotent=False,
        trim=("notes",),
        example=example or {},
    )


MUTATE_RENAME_NODE = _mutation(
    "rename_node",
    "Rename a requirement",
    "Gives a requirement another id. Its assertions, and references to it in specs and in comments of code and tests, "
    "follow; names of tests do not and are listed in notes. Returns the MutationEntry.",
    requests.RenameNodeRequest,
    "old_id",
    example={"old_id": "REQ-d00001", "new_id": "REQ-d00099"},
)
MUTATE_UPDATE_TITLE = _mutation(
    "update_title",
    "Change a title",
    "Changes the title of a requirement, in its header and its End marker. For the text of an assertion call "
    "mutate_update_assertion. Returns the MutationEntry.",
    requests.UpdateTitleRequest,
    "node_id",
    example={"node_id": "REQ-d00001", "new_title": "Reading tables of tides"},
)
MUTATE_CHANGE_STATUS = _mutation(
    "change_status",
    "Change a status",
    "Changes the status of a requirement to one that the project knows; an unknown one is refused with the list. "
    "Returns the MutationEntry.",
    requests.ChangeStatusRequest,
    "node_id",
    example={"node_id": "REQ-d00001", "new_status": "Deprecated"},
)
MUTATE_ADD_REQUIREMENT = _mutation(
    "add_requirement",
    "Add a requirement",
    "Adds a requirement without assertions, below a parent or on its own; mutate_add_assertion adds those. The id must "
    "be free and fit the level. Returns the MutationEntry with the file it goes to.",
    requests.AddRequirementRequest,
    "parent_id",
    example={"req_id": "REQ-d00099", "title": "Warn of gales", "level": "dev", "parent_id": "REQ-o00001"},
)
MUTATE_DELETE_REQUIREMENT = _mutation(
    "delete_requirement",
    "Delete a requirement",
    "Removes a requirement with its assertions; needs confirm=true. What cites it is left with a broken reference. "
    "Returns the MutationEntry with the whole text.",
    requests.DeleteRequirementRequest,
    "node_id",
    removes="a requirement and its assertions",
    example={"node_id": "REQ-d00001", "confirm": True},
)
MUTATE_ADD_ASSERTION = _mutation(
    "add_assertion",
    "Add an assertion",
    "Adds an assertion at the end of a requirement, under the next free label or the one given. Past the last label of "
    "the project's style it is refused. Returns the MutationEntry, label and id.",
    requests.AddAssertionRequest,
    "req_id",
    example={"req_id": "REQ-d00001", "text": "It SHALL warn of gaps."},
)
MUTATE_UPDATE_ASSERTION = _mutation(
    "update_assertion",
    "Change an assertion",
    "Changes the text of an assertion; the hash of its requirement follows. A text that would read as something else, "
    "such as a heading, is refused. Returns the MutationEntry.",
    requests.UpdateAssertionRequest,
    "assertion_id",
    example={"assertion_id": "REQ-d00001-A", "new_text": "It SHALL read tables."},
)
MUTATE_DELETE_ASSERTION = _mutation(
    "delete_assertion",
    "Delete an assertion",
    "Removes an assertion; needs confirm=true. References that name it are left broken. Later labels move down only "
    "where no reference would come to mean another assertion. Returns the MutationEntry.",
    requests.DeleteAssertionRequest,
    "assertion_id",
    removes="an assertion",
    example={"assertion_id": "REQ-d00001-A", "confirm": True},
)
MUTATE_RENAME_ASSERTION = _mutation(
    "rename_assertion",
    "Relabel an assertion",
    "Gives an assertion another label. References that name it, in specs and comments, follow; no other reference is "
    "touched. Returns the MutationEntry and the new id.",
    requests.RenameAssertionRequest,
    "old_id",
    example={"old_id": "REQ-d00001-A", "new_label": "Z"},
)
MUTATE_ADD_EDGE = _mutation(
    "add_edge",
    "Add a reference",
    "Lets a requirement cite another one, or some of its assertions. Unknown targets, self references and circles are "
    "refused. For code and tests call apply_link. Returns the MutationEntry.",
    requests.AddEdgeRequest,
    "source_id",
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00001", "edge_kind": "refines"},
)
MUTATE_CHANGE_EDGE_KIND = _mutation(
    "change_edge_kind",
    "Change a reference's kind",
    "Turns what a requirement cites from one kind into another, such as implements into refines. "
    "change_reference_type does so in the file at once. Returns the MutationEntry.",
    requests.ChangeEdgeKindRequest,
    "source_id",
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "new_kind": "refines"},
)
MUTATE_DELETE_EDGE = _mutation(
    "delete_edge",
    "Delete a reference",
    "Removes what a requirement says about another one; needs confirm=true. Neither requirement is deleted. Returns "
    "the MutationEntry with the edges.",
    requests.DeleteEdgeRequest,
    "source_id",
    removes="a reference",
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "confirm": True},
)
MUTATE_FIX_BROKEN_REFERENCE = _mutation(
    "fix_broken_reference",
    "Fix a broken reference",
    "Lets a broken reference, in a spec or in a comment of code or a test, name something that exists. get_requirement "
    "shows those of a requirement. Returns the MutationEntry.",
    requests.FixBrokenReferenceRequest,
    "source_id",
)
UNDO_LAST_MUTATION = Tool(
    name="undo_last_mutation",
    toolset=Toolset.TRACE,
    title="Undo the last mutation",
    description=(
        "Takes back the newest pending mutation exactly. Where nothing is pending, it takes back the newest one that "
        "was saved, as a new draft (reverts_saved is true) that save_mutations writes; called again, the one before. "
        "Returns the mutation."
    ),
    request=requests.UndoLastRequest,
    result=mutations.UndoResult,
    run=lambda call, request: call.project.mutations.undo_last(if_tip=request.if_mutation_id, progress=call.progress),
    needs=Freshness.NONE,
    read_only=False,
    idempotent=False,
)
UNDO_TO_MUTATION = Tool(
    name="undo_to_mutation",
    toolset=Toolset.TRACE,
    title="Undo down to a mutation",
    description=(
        "Takes back every mutation down to and including this one, pending or saved; what was saved is taken back by "
        "new drafts. A draft that is in conflict with the files is dropped alone. Returns them, newest first."
    ),
    request=requests.UndoToRequest,
    result=mutations.UndoToResult,
    run=lambda call, request: call.project.mutations.undo_to(
        request.mutation_id, if_tip=request.if_tip_mutation_id, progress=call.progress
    ),
    needs=Freshness.NONE,
    read_only=False,
    idempotent=False,
    trim=("mutations",),
)
GET_MUTATION_LOG = Tool(
    name="get_mutation_log",
    toolset=Toolset.TRACE,
    title="Pending mutations",
    description=(
        "The mutations that are not saved yet, newest first, at most `limit` and 4,000 tokens a page, and the drafts "
        "that no longer apply because the files changed, each with both sides. Its ids are for undo_to_mutation."
    ),
    request=requests.LogRequest,
    result=mutations.LogPage,
    run=lambda call, request: call.project.mutations.log(offset=call.offset, limit=request.limit),
    trim=("conflicts", "mutations"),
    pages="mutations",
    example={"limit": 10},
)
SAVE_MUTATIONS = Tool(
    name="save_mutations",
    toolset=Toolset.TRACE,
    title="Save the mutations",
    description=(
        "Writes all pending mutations to their files, or none of them. Only the text of what was mutated changes, with "
        "its hash. A file that changed on disk, or a draft in conflict, is an error that shows both sides. "
        "save_branch=true makes a git safety branch first. Returns files and ids; undo works afterwards."
    ),
    request=requests.SaveRequest,
    result=mutations.SaveResult,
    run=lambda call, request: call.project.mutations.save(
        save_branch=request.save_branch,
        message=request.message,
        if_tip=request.if_tip_mutation_id,
        progress=call.progress,
    ),
    needs=Freshness.NONE,
    read_only=False,
    destructive=True,
    trim=("saved_mutations", "files_modified"),
    example={"message": "Nothing yet"},
)

TOOLS = (
    MUTATE_RENAME_NODE,
    MUTATE_UPDATE_TITLE,
    MUTATE_CHANGE_STATUS,
    MUTATE_ADD_REQUIREMENT,
    MUTATE_DELETE_REQUIREMENT,
    MUTATE_ADD_ASSERTION,
    MUTATE_UPDATE_ASSERTION,
    MUTATE_DELETE_ASSERTION,
    MUTATE_RENAME_ASSERTION,
    MUTATE_ADD_EDGE,
    MUTATE_CHANGE_EDGE_KIND,
    MUTATE_DELETE_EDGE,
    MUTATE_FIX_BROKEN_REFERENCE,
    UNDO_LAST_MUTATION,
    UNDO_TO_MUTATION,
    GET_MUTATION_LOG,
    SAVE_MUTATIONS,
)
