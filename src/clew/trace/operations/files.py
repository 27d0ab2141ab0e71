"""Toolset trace: changing requirements in their files, and safety branches."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from clew.operation.call import Call
from clew.operation.registry import Freshness, MaxTokens, PageCursor, Request, Tool, Toolset
from clew.trace.files import results

if TYPE_CHECKING:
    from clew.trace.files.service import Manner

RequirementId = Annotated[str, Meta(min_length=1, description="Such as REQ-d00062, or d62 for short")]
SaveBranch = Annotated[
    bool, Meta(description="First keep the state of all files, uncommitted ones included, in a safety branch")
]
DryRun = Annotated[bool, Meta(description="Show the difference, write nothing")]
IfVersion = Annotated[
    str | None, Meta(description="Refuse unless the requirement has this version, as get_requirement gave it")
]


class ChangeReferenceRequest(Request, frozen=True, kw_only=True):
    req_id: RequirementId
    target_id: Annotated[str, Meta(min_length=1, description="What it cites; with labels, exactly that citation")]
    new_type: Annotated[str, Meta(min_length=1, description="implements or refines, in any case")]
    save_branch: SaveBranch = False
    dry_run: DryRun = False
    if_version: IfVersion = None
    max_tokens: MaxTokens = None


class MoveRequest(Request, frozen=True, kw_only=True):
    req_id: RequirementId
    target_file: Annotated[
        str, Meta(min_length=1, description="A file of requirements, new or there already, relative to the project")
    ]
    save_branch: SaveBranch = False
    dry_run: DryRun = False
    if_version: IfVersion = None
    max_tokens: MaxTokens = None


class TransformRequest(Request, frozen=True, kw_only=True):
    req_id: RequirementId
    prompt: Annotated[str, Meta(min_length=1, max_length=8_000, description="What should become of its text")]
    save_branch: SaveBranch = False
    dry_run: DryRun = False
    if_version: IfVersion = None
    max_tokens: MaxTokens = None


class RestoreRequest(Request, frozen=True, kw_only=True):
    branch_name: Annotated[str, Meta(min_length=1, description="Such as safety/REQ-d00001-20260215-093000")]
    max_tokens: MaxTokens = None


class SafetyBranchesRequest(Request, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=500, description="Branches at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


def run_change_reference_type(call: Call, request: ChangeReferenceRequest) -> results.FileChange:
    call.project.ensure_graph(call.progress)
    return call.project.files.change_reference_type(
        request.req_id, request.target_id, request.new_type, _manner(request)
    )


def run_move_requirement(call: Call, request: MoveRequest) -> results.Moved:
    call.project.ensure_graph(call.progress)
    return call.project.files.move_requirement(request.req_id, request.target_file, _manner(request))


def run_transform_with_ai(call: Call, request: TransformRequest) -> results.Rewritten:
    call.project.ensure_graph(call.progress)
    return call.project.files.transform_with_ai(
        request.req_id, request.prompt, _manner(request), call.client_model, call.check
    )


def run_restore(call: Call, request: RestoreRequest) -> results.RestoreReport:
    call.project.ensure_graph(call.progress)
    return call.project.files.restore_from_safety_branch(request.branch_name)


def run_list_safety_branches(call: Call, request: SafetyBranchesRequest) -> results.SafetyBranches:
    return call.project.files.safety_branches(offset=call.offset, limit=request.limit)


def branches_of(call: Call, request: SafetyBranchesRequest) -> str:
    """A further page belongs to the list of the first."""
    newest = call.project.files.safety_branches(limit=1)
    return f"{newest.total} {newest.branches[0].name if newest.branches else ''}"


def _manner(request: ChangeReferenceRequest | MoveRequest | TransformRequest) -> "Manner":
    from clew.trace.files.service import Manner  # only a call needs it, not the listing of the tools

    return Manner(save_branch=request.save_branch, dry_run=request.dry_run, if_version=request.if_version)


CHANGE_REFERENCE_TYPE = Tool(
    name="change_reference_type",
    toolset=Toolset.TRACE,
    title="Implements or Refines",
    description=(
        "Changes, in the file and at once, how one requirement cites another: Implements or Refines. Only that "
        "requirement's citation of target_id changes, every other byte stays. Returns the difference and reads the "
        "graph again. save_branch=true keeps the state before; dry_run=true only shows the difference. For a draft "
        "that can be undone use mutate_change_edge_kind."
    ),
    request=ChangeReferenceRequest,
    result=results.FileChange,
    run=run_change_reference_type,
    needs=Freshness.NONE,
    read_only=False,
    destructive=True,
    trim=("diff",),
    example={"req_id": "REQ-d00001", "target_id": "REQ-o00002", "new_type": "refines", "dry_run": True},
)

MOVE_REQUIREMENT = Tool(
    name="move_requirement",
    toolset=Toolset.TRACE,
    title="Move a requirement to another file",
    description=(
        "Moves one requirement to the end of another file of requirements, which is made if it is not there. The text "
        "keeps every byte, the id stays, and all citations hold. Returns both files and the difference, and reads the "
        "graph again. save_branch=true keeps the state before; dry_run=true only shows the difference."
    ),
    request=MoveRequest,
    result=results.Moved,
    run=run_move_requirement,
    needs=Freshness.NONE,
    read_only=False,
    destructive=True,
    trim=("diff",),
    example={"req_id": "REQ-d00001", "target_file": "spec/moved.md", "dry_run": True},
)

TRANSFORM_WITH_AI = Tool(
    name="transform_with_ai",
    toolset=Toolset.TRACE,
    title="Rewrite a requirement with a model",
    description=(
        "Has a language model rewrite one requirement as the prompt says: the configured one, or the client's own. "
        "The answer is written only if it is a sound requirement of the same id that keeps every cited assertion; its "
        "hash stays stale until reviewed. Returns the difference. Where you can write the text yourself, "
        "mutate_update_assertion is better. Without a model the error says how to configure one."
    ),
    request=TransformRequest,
    result=results.Rewritten,
    run=run_transform_with_ai,
    needs=Freshness.NONE,
    read_only=False,
    destructive=True,
    idempotent=False,
    trim=("diff",),
)

RESTORE_FROM_SAFETY_BRANCH = Tool(
    name="restore_from_safety_branch",
    toolset=Toolset.TRACE,
    title="Restore a safety branch",
    description=(
        "Makes the project's files what they were when a safety branch was made, byte for byte: changed files are put "
        "back, files created since are removed. The present state becomes a new safety branch first, so nothing is "
        "lost. Index, HEAD and ignored files stay. list_safety_branches lists the names."
    ),
    request=RestoreRequest,
    result=results.RestoreReport,
    run=run_restore,
    needs=Freshness.NONE,
    read_only=False,
    destructive=True,
    trim=("files_restored", "files_removed"),
)

LIST_SAFETY_BRANCHES = Tool(
    name="list_safety_branches",
    toolset=Toolset.TRACE,
    title="Safety branches",
    description=(
        "Lists the safety branches that Clew made before it changed files, latest first, with what each was made "
        "before: at most `limit` (default 50); next_cursor leads to the rest. restore_from_safety_branch brings one "
        "back. Branches of others are not listed."
    ),
    request=SafetyBranchesRequest,
    result=results.SafetyBranches,
    run=run_list_safety_branches,
    needs=Freshness.BUILT,
    trim=("branches",),
    pages="branches",
    state=branches_of,
)

TOOLS = (
    CHANGE_REFERENCE_TYPE,
    MOVE_REQUIREMENT,
    TRANSFORM_WITH_AI,
    RESTORE_FROM_SAFETY_BRANCH,
    LIST_SAFETY_BRANCHES,
)
