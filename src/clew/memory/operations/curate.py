"""Toolset memory: merging, forgetting, restoring, annotating and weighing."""

from clew.memory.curation.curate import AnnotatedMemory, Boosted, ForgottenMemory, RestoredMemories
from clew.memory.curation.linking import LinkedMemories
from clew.memory.curation.merge import MergeResult
from clew.memory.curation.requests import (
    AnnotationRequest,
    BoostRequest,
    ForgetRequest,
    MergeRequest,
    RestoreRequest,
    StatedLinkRequest,
)
from clew.memory.operations.operation import MemoryOperation
from clew.operation.call import Call
from clew.operation.declare import Toolset


class MergeConcepts(
    MergeRequest,
    MemoryOperation,
    tool="merge_concepts",
    title="Merge memories",
    writes=True,
    idempotent=False,
    demands=("rationale",),
):
    """Makes one memory of several that say the same; links, tags and citations are kept, and restore_from_hash brings
    the sources back for 30 days. Memories with different priors (domain, trust, purpose) are refused unless
    force_merge. Use critique_context to find what to merge. Returns merged_id and reversal_hash."""

    def run(self, call: Call) -> MergeResult:
        return call.project.memory.view(call).merger.merge(self, model=call.client_model, check=call.check)


class ForgetConcept(
    ForgetRequest,
    MemoryOperation,
    tool="forget_concept",
    outlined=True,
    title="Forget a memory",
    writes=True,
    destructive=True,
    idempotent=False,
    demands=("rationale",),
):
    """Forgets a memory that is wrong, obsolete or a duplicate; reversal_hash restores it for 30 days. For good only for
    reason user_requested. To correct one, store another that supersedes it."""

    def run(self, call: Call) -> ForgottenMemory:
        return call.project.memory.view(call).curator.forget(self)


class RestoreFromHash(
    RestoreRequest,
    MemoryOperation,
    tool="restore_from_hash",
    title="Undo a change of the memory",
    writes=True,
    idempotent=False,
):
    """Undoes a change of the memory by the reversal_hash that it returned: what was forgotten or merged is again as it
    was, with its links. Possible for 30 days, and as long as nothing changed it again, or with cascade.
    search_tombstones and
    get_node_lineage list the hashes."""

    def run(self, call: Call) -> RestoredMemories:
        return call.project.memory.view(call).curator.restore(self)


class AnnotateNode(
    AnnotationRequest,
    MemoryOperation,
    tool="annotate_node",
    title="Annotate a memory",
    writes=True,
):
    """Adds tags, a domain, a confidence, notes or related memories to a memory. Its text and embeddings stay as they
    are; lists are added to what is there. related_concepts also takes links with a kind: causes:ID, because_of:ID,
    part_of:ID, replaces:ID; both_hold:ID says that two which look contradictory or equal both hold, and notes why.
    Returns the annotations after the change."""

    def run(self, call: Call) -> AnnotatedMemory:
        return call.project.memory.view(call).curator.annotate(self)


class LinkMemories(
    StatedLinkRequest,
    MemoryOperation,
    tool="link_memories",
    toolset=Toolset.ADDED,
    title="Link two memories",
    writes=True,
    demands=("rationale",),
):
    """Links two memories that are stored: causes, because_of, replaces, supports, contradicts, part_of, has_part or
    related. both_hold says that two which look contradictory or equal both hold: no tool raises them again. The
    rationale is kept as evidence; restore_from_hash undoes it. Returns the circle of causes that the link closes."""

    def run(self, call: Call) -> LinkedMemories:
        return call.project.memory.view(call).linker.link(self)


class BoostImportance(
    BoostRequest,
    MemoryOperation,
    tool="boost_importance",
    title="Weigh a memory",
    writes=True,
    idempotent=False,
    demands=("rationale",),
):
    """Raises or lowers the importance of a memory by -0.5 to 0.5; the result stays between 0 and 1. Refused where a
    memory that many different things are linked to would become too important. Returns the old and the new value."""

    def run(self, call: Call) -> Boosted:
        return call.project.memory.view(call).curator.boost(self)
