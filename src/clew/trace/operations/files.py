"""Toolset trace: changing requirements in their files, and safety branches."""

from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, PageCursor, Toolset
from clew.trace.edit import file_results as results
from clew.trace.edit.mutations.at_once import MoveToEnd, ReferenceType
from clew.trace.edit.requests import ListBranches, PromptModel, RestoreBranch


class ChangeReferenceType(
    ReferenceType,
    Operation,
    tool="change_reference_type",
    toolset=Toolset.TRACE,
    title="Implements or Refines",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    trim=("diff",),
    example={"req_id": "REQ-d00001", "target_id": "REQ-o00002", "new_type": "refines", "dry_run": True},
):
    """Changes, in the file and at once, how one requirement cites another: Implements or Refines. Only that
    requirement's citation of target_id changes, every other byte stays. Returns the difference and reads the graph
    again. save_branch=true keeps the state before; dry_run=true only shows the difference. For a draft that can be
    undone use mutate_change_edge_kind."""

    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.FileChange:
        return call.project.files.change_reference_type(self)


class MoveRequirement(
    MoveToEnd,
    Operation,
    tool="move_requirement",
    toolset=Toolset.TRACE,
    title="Move a requirement to another file",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    trim=("diff",),
    example={"req_id": "REQ-d00001", "target_file": "spec/moved.md", "dry_run": True},
):
    """Moves one requirement to the end of another file of requirements, which is made if it is not there. The text
    keeps every byte, the id stays, and all citations hold. Returns both files and the difference, and reads the graph
    again. save_branch=true keeps the state before; dry_run=true only shows the difference."""

    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.MoveResult:
        return call.project.files.move_requirement(self)


class TransformWithAi(
    PromptModel,
    Operation,
    tool="transform_with_ai",
    toolset=Toolset.TRACE,
    title="Rewrite a requirement with a model",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    idempotent=False,
    trim=("diff",),
):
    """Has a language model rewrite one requirement as the prompt says: the configured one, or the client's own. The
    answer is written only if it is a sound requirement of the same id that keeps every cited assertion; its hash stays
    stale until reviewed. Returns the difference. Where you can write the text yourself, mutate_update_assertion is
    better. Without a model the error says how to configure one."""

    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.RewriteResult:
        return call.project.files.transform_with_ai(self, call.client_model, call.check)


class RestoreFromSafetyBranch(
    RestoreBranch,
    Operation,
    tool="restore_from_safety_branch",
    toolset=Toolset.TRACE,
    title="Restore a safety branch",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    trim=("files_restored", "files_removed"),
):
    """Makes the project's files what they were when a safety branch was made, byte for byte: changed files are put
    back, files created since are removed. The present state becomes a new safety branch first, so nothing is lost.
    Index, HEAD and ignored files stay. list_safety_branches lists the names."""

    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.RestoreReport:
        return call.project.files.restore_from_safety_branch(self)


class ListSafetyBranches(
    ListBranches,
    Operation,
    tool="list_safety_branches",
    toolset=Toolset.TRACE,
    title="Safety branches",
    needs=Freshness.BUILT,
    trim=("branches",),
    pages="branches",
):
    """Lists the safety branches that Clew made before it changed files, latest first, with what each was made before:
    at most `limit` (default 50); next_cursor leads to the rest. restore_from_safety_branch brings one back. Branches of
    others are not listed."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.SafetyBranches:
        return call.project.files.safety_branches(self, offset=call.offset)

    def state(self, call: Call) -> str:
        """A further page belongs to the list of the first."""
        newest = call.project.files.safety_branches(ListBranches(limit=1))
        return f"{newest.total} {newest.branches[0].name if newest.branches else ''}"
