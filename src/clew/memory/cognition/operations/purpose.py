"""Toolset cognition: teleological vectors, profiles and inference along causes."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.memory.arguments import Confidence, NodeId, Weights
from clew.memory.cognition import infer
from clew.memory.cognition.goals import similar, vectors
from clew.memory.cognition.learning import profiles
from clew.memory.cognition.operations.operation import CognitionOperation
from clew.operation.call import Call

ProfileId = Annotated[Annotated[str, Meta(min_length=1, max_length=80)] | None, Meta(description="Id of a profile")]
GroupName = Literal["factual", "temporal", "causal", "relational", "qualitative", "implementation"]
Rank = Annotated[int, Meta(ge=1, le=512)]


class OmniInfer(CognitionOperation, tool="omni_infer", title="Infer along causes", trim=("results",)):
    """What causal links say: forward (does source lead to target), backward (did target lead to source), bidirectional,
    bridge (to other domains), abduction (what would best explain source). Strength is the product of weights along the
    path, confidence the least of it."""

    source: NodeId
    target: Annotated[NodeId | None, Meta(description="Needed for forward, backward and bidirectional")] = None
    direction: Annotated[infer.Way, Meta(description="Which way")] = "forward"

    def run(self, call: Call) -> infer.Inferences:
        return infer.infer(call.project.memory.view(call), self.source, self.target, self.direction, call.check)


class GetAmortizedShortcuts(
    CognitionOperation, tool="get_amortized_shortcuts", title="Paths worth a link", trim=("shortcuts",)
):
    """Paths of three links and more along which get_neighborhood, find_causal_path and omni_infer went at least five
    times, with the product of their weights and their least confidence."""

    min_confidence: Confidence = 0.7
    limit: Annotated[int, Meta(ge=1, le=100, description="Paths at most")] = 20

    def run(self, call: Call) -> infer.Shortcuts:
        return infer.shortcuts(call.project.memory.view(call), self.min_confidence, self.limit)


class SearchTeleological(CognitionOperation, tool="search_teleological", title="Search by purpose", trim=("results",)):
    """Memories that stand to the goal (or to the nearest memories, where there is none) as a text or a memory does:
    vectors of thirteen alignments are compared, not texts. For ordinary questions use search_graph."""

    query_content: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4_096)] | None, Meta(description="A text, or")
    ] = None
    query_vector_id: Annotated[NodeId | None, Meta(description="a memory")] = None
    strategy: Annotated[similar.Strategy, Meta(description="How vectors are compared")] = "adaptive"
    scope: Annotated[similar.Scope, Meta(description="Which parts of them")] = "full"
    specific_groups: Annotated[tuple[GroupName, ...], Meta(description="Only these groups")] = ()
    specific_embedder: Annotated[
        Annotated[int, Meta(ge=0, le=12)] | None, Meta(description="Also this space, 0 to 12")
    ] = None
    weight_purpose: Confidence = 0.4
    weight_correlations: Confidence = 0.35
    weight_groups: Confidence = 0.15
    min_similarity: Confidence = 0.3
    max_results: Annotated[int, Meta(ge=1, le=1_000, description="Results at most")] = 20
    include_breakdown: Annotated[bool, Meta(description="Parts of each similarity")] = True

    def run(self, call: Call) -> similar.TeleologicalResults:
        return similar.search(
            call.project.memory.view(call),
            self.query_content,
            self.query_vector_id,
            self.strategy,
            self.scope,
            similar.Weights(self.weight_purpose, self.weight_correlations, self.weight_groups),
            groups=self.specific_groups,
            space=self.specific_embedder,
            least=self.min_similarity,
            most=self.max_results,
            explain=self.include_breakdown,
        )


class ComputeTeleologicalVector(
    CognitionOperation, tool="compute_teleological_vector", title="How a text stands to the goal"
):
    """The mean similarity of a text to the memories of the goal in each of the thirteen spaces, the correlations of the
    78 pairs of spaces, and six groups. Without a goal, the nearest memories take its place; `reference` says which."""

    content: Annotated[str, Meta(min_length=1, max_length=65_536, description="The text")]
    profile_id: ProfileId = None
    compute_tucker: Annotated[bool, Meta(description="Also the singular values")] = False
    tucker_ranks: Annotated[tuple[Rank, Rank, Rank], Meta(description="At most so many")] = (4, 4, 128)
    include_per_embedder: Annotated[bool, Meta(description="Also by name")] = False

    def run(self, call: Call) -> vectors.Teleological:
        return vectors.compute(
            call.project.memory.view(call),
            self.content,
            self.profile_id,
            ranks=self.tucker_ranks if self.compute_tucker else None,
            with_spaces=self.include_per_embedder,
        )


class FuseEmbeddings(CognitionOperation, tool="fuse_embeddings", title="One number for an alignment", writes=True):
    """Fuses the thirteen alignments of a memory into one number, by plain or profile weights and the synergy of the
    spaces. The embeddings themselves are not fused. store_result keeps it, undoably."""

    memory_id: NodeId
    fusion_method: Annotated[vectors.Fusion, Meta(description="How")] = "hierarchical"
    profile_id: ProfileId = None
    custom_weights: Annotated[Weights | None, Meta(description="13 numbers from 0 up")] = None
    apply_synergy: Annotated[bool, Meta(description="Weigh by synergy")] = True
    store_result: Annotated[bool, Meta(description="Keep it")] = True

    def run(self, call: Call) -> vectors.Fused:
        return vectors.fuse(
            call.project.memory.view(call),
            self.memory_id,
            self.fusion_method,
            self.profile_id,
            self.custom_weights,
            with_synergy=self.apply_synergy,
            keep=self.store_result,
        )


class UpdateSynergyMatrix(
    CognitionOperation,
    tool="update_synergy_matrix",
    title="Learn which spaces go together",
    writes=True,
    idempotent=False,
    trim=("pairs_updated",),
):
    """Tells whether one memory was a relevant result for another: pairs of spaces that say something about both move up
    or down by learning_rate. The matrix stays symmetric with 1 on its diagonal. Undoable."""

    query_vector_id: NodeId
    result_vector_id: NodeId
    feedback: Annotated[profiles.Feedback, Meta(description="Whether it was relevant")]
    relevance_score: Annotated[Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="How much, 0 to 1")] = None
    learning_rate: Annotated[float, Meta(ge=0.001, le=0.5, description="0.001 to 0.5")] = 0.01
    update_scope: Annotated[profiles.UpdateScope, Meta(description="Which pairs")] = "contributing_pairs"

    def run(self, call: Call) -> profiles.SynergyUpdate:
        return profiles.update_synergy(
            call.project.memory.view(call),
            self.query_vector_id,
            self.result_vector_id,
            self.feedback,
            self.relevance_score,
            self.learning_rate,
            self.update_scope,
        )


class ManageTeleologicalProfile(
    CognitionOperation,
    tool="manage_teleological_profile",
    title="Weights for a kind of task",
    writes=True,
    idempotent=False,
    trim=("profiles",),
):
    """Creates, reads, updates, deletes or lists profiles: thirteen weights from 0 to 1, priorities of groups and a way
    to fuse, for one kind of task. fuse_embeddings and compute_teleological_vector take their ids. Undoable."""

    action: Annotated[Literal["create", "read", "update", "delete", "list"], Meta(description="What to do")]
    profile_id: ProfileId = None
    name: Annotated[Annotated[str, Meta(min_length=1, max_length=256)] | None, Meta(description="For people")] = None
    task_type: Annotated[profiles.TaskType | None, Meta(description="Kind of task")] = None
    embedder_weights: Annotated[Weights | None, Meta(description="13 numbers from 0 to 1")] = None
    group_priorities: Annotated[dict[str, float] | None, Meta(description="By group, 0 to 1")] = None
    fusion_strategy: Annotated[vectors.Fusion | None, Meta(description="How to fuse")] = None

    def run(self, call: Call) -> profiles.Profiles:
        fields = ("name", "task_type", "embedder_weights", "group_priorities", "fusion_strategy")
        given = {field: value for field in fields if (value := getattr(self, field)) is not None}
        return profiles.manage(call.project.memory.view(call), self.action, self.profile_id, given)
