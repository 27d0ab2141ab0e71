"""Toolset memory: merging, forgetting, restoring, annotating and weighing."""

from typing import Annotated

from msgspec import Meta

from clew.memory.arguments import NodeId, Rationale
from clew.memory.curation.curate import AnnotatedMemory, Annotations, Boosted, Deleted, Reason, Restored
from clew.memory.curation.merge import Merged, Strategy
from clew.memory.operations.operation import MemoryOperation
from clew.operation.call import Call


class MergeConcepts(
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

    source_node_ids: Annotated[tuple[NodeId, ...], Meta(min_length=2, max_length=50, description="Memories to merge")]
    target_name: Annotated[str, Meta(min_length=1, max_length=256, description="Title of the merged memory")]
    merge_strategy: Annotated[Strategy, Meta(description="How the text is made")] = "summarize"
    rationale: Rationale = ""
    force_merge: Annotated[bool, Meta(description="Also with different priors")] = False

    def run(self, call: Call) -> Merged:
        return call.project.memory.view(call).merger.merge(
            self.source_node_ids,
            self.target_name,
            self.merge_strategy,
            self.rationale,
            force=self.force_merge,
            model=call.client_model,
            check=call.check,
        )


class ForgetConcept(
    MemoryOperation,
    tool="forget_concept",
    outlined=True,
    title="Forget a memory",
    writes=True,
    destructive=True,
    idempotent=False,
    default=True,
    demands=("rationale",),
):
    """Forgets a memory that is wrong, obsolete or a duplicate; reversal_hash restores it for 30 days. For good only for
    reason user_requested. To correct one, store another that supersedes it."""

    node_id: NodeId
    reason: Annotated[Reason, Meta(description="Why")]
    rationale: Rationale = ""
    soft_delete: Annotated[bool, Meta(description="Can be restored")] = True

    def run(self, call: Call) -> Deleted:
        curator = call.project.memory.view(call).curator
        return curator.forget(self.node_id, self.reason, self.rationale, soft=self.soft_delete)


class RestoreFromHash(
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

    reversal_hash: Annotated[str, Meta(max_length=200, description="As a tool returned it")]
    cascade: Annotated[bool, Meta(description="Also undo later changes of the same memories")] = False

    def run(self, call: Call) -> Restored:
        return call.project.memory.view(call).curator.restore(self.reversal_hash, cascade=self.cascade)


class AnnotateNode(
    MemoryOperation,
    tool="annotate_node",
    title="Annotate a memory",
    writes=True,
):
    """Adds tags, a domain, a confidence, notes or related memories to a memory. Its text and embeddings stay as they
    are; lists are added to what is there. To change the text, store a new memory that supersedes it. Returns the
    annotations after the change."""

    node_id: NodeId
    annotations: Annotated[
        Annotations, Meta(description="tags, domain, confidence (0 to 1), notes, related_concepts (ids)")
    ]

    def run(self, call: Call) -> AnnotatedMemory:
        return call.project.memory.view(call).curator.annotate(self.node_id, self.annotations)


class BoostImportance(
    MemoryOperation,
    tool="boost_importance",
    title="Weigh a memory",
    writes=True,
    idempotent=False,
    demands=("rationale",),
):
    """Raises or lowers the importance of a memory by -0.5 to 0.5; the result stays between 0 and 1. Refused where a
    memory that many different things are linked to would become too important. Returns the old and the new value."""

    node_id: NodeId
    delta: Annotated[float, Meta(ge=-0.5, le=0.5, description="-0.5 to 0.5")]
    rationale: Rationale = ""

    def run(self, call: Call) -> Boosted:
        return call.project.memory.view(call).curator.boost(self.node_id, self.delta, self.rationale)
