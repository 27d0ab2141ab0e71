"""Toolset cognition: teleological vectors, profiles and inference along causes."""

from typing import Annotated

from msgspec import Meta

from clew.memory.arguments import Confidence, NodeId
from clew.memory.cognition import infer
from clew.memory.cognition.goals import similar, vectors
from clew.memory.cognition.goals.requests import FusionRequest, TeleologicalQuery, VectorRequest
from clew.memory.cognition.learning import profiles
from clew.memory.cognition.learning.requests import ProfileRequest, SynergyFeedback
from clew.memory.cognition.operations.operation import CognitionOperation
from clew.operation.call import Call


class OmniInfer(CognitionOperation, tool="omni_infer", title="Infer along causes", trim=("results",)):
    """Inferences from causal links: forward (does source lead to target), backward (did target lead to source),
    bidirectional, bridge (to other domains), abduction (what would best explain source). Strength is the product of
    weights along the path, confidence the least of it."""

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


class SearchTeleological(
    TeleologicalQuery, CognitionOperation, tool="search_teleological", title="Search by purpose", trim=("results",)
):
    """Memories that stand to the goal (or to the nearest memories, where there is none) as a text or a memory does:
    vectors of thirteen alignments are compared, not texts. For ordinary questions use search_graph."""

    def run(self, call: Call) -> similar.TeleologicalResults:
        return similar.search(call.project.memory.view(call), self)


class ComputeTeleologicalVector(
    VectorRequest, CognitionOperation, tool="compute_teleological_vector", title="How a text stands to the goal"
):
    """The mean similarity of a text to the memories of the goal in each of the thirteen spaces, the correlations of the
    78 pairs of spaces, and six groups. Without a goal, the nearest memories take its place; `reference` says which."""

    def run(self, call: Call) -> vectors.Teleological:
        return vectors.compute(call.project.memory.view(call), self)


class FuseEmbeddings(
    FusionRequest, CognitionOperation, tool="fuse_embeddings", title="One number for an alignment", writes=True
):
    """Fuses the thirteen alignments of a memory into one number, by plain or profile weights and the synergy of the
    spaces. The embeddings themselves are not fused. store_result keeps it, undoably."""

    def run(self, call: Call) -> vectors.FusedAlignment:
        return vectors.fuse(call.project.memory.view(call), self)


class UpdateSynergyMatrix(
    SynergyFeedback,
    CognitionOperation,
    tool="update_synergy_matrix",
    title="Learn which spaces go together",
    writes=True,
    idempotent=False,
    trim=("pairs_updated",),
):
    """Tells whether one memory was a relevant result for another: pairs of spaces that say something about both move up
    or down by learning_rate. The matrix stays symmetric with 1 on its diagonal. Undoable."""

    def run(self, call: Call) -> profiles.SynergyUpdate:
        return profiles.update_synergy(call.project.memory.view(call), self)


class ManageTeleologicalProfile(
    ProfileRequest,
    CognitionOperation,
    tool="manage_teleological_profile",
    title="Weights for a kind of task",
    writes=True,
    idempotent=False,
    trim=("profiles",),
):
    """Creates, reads, updates, deletes or lists profiles: thirteen weights from 0 to 1, priorities of groups and a way
    to fuse, for one kind of task. fuse_embeddings and compute_teleological_vector take their ids. Undoable."""

    def run(self, call: Call) -> profiles.Profiles:
        return profiles.manage(call.project.memory.view(call), self)
