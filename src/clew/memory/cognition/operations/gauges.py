"""Toolset cognition: gauges. They measure, and nothing is decided by them but what neuromodulators do to a ranking."""

from typing import Annotated

from msgspec import Meta

from clew.memory.arguments import SessionId
from clew.memory.cognition import modulators
from clew.memory.cognition.gauges import awareness, oscillators, workspace
from clew.memory.cognition.gauges.requests import BroadcastRequest
from clew.memory.cognition.goals import delta
from clew.memory.cognition.goals.requests import DeltaQuery
from clew.memory.cognition.operations.operation import CognitionOperation
from clew.operation.call import Call


class GetConsciousnessState(CognitionOperation, tool="get_consciousness_state", title="Composite state of a session"):
    """One figure C from three: how far the thirteen spaces agree in the last questions, how well the use of memories
    was foreseen, and how evenly this week's memories are alike in the spaces. Each comes with its samples. It is an
    index of how retrieval is doing, nothing more."""

    session_id: SessionId = None

    def run(self, call: Call) -> awareness.Consciousness:
        return awareness.consciousness(call.project.memory.view(call, session_id=self.session_id))


class GetKuramotoSync(CognitionOperation, tool="get_kuramoto_sync", title="How far the spaces agree"):
    """r from 0 to 1: how far the thirteen spaces order the memories of the last questions of this session as the
    answers did. A phase of 0 is full agreement, pi the reverse order, null a space that did not take part."""

    def run(self, call: Call) -> oscillators.Sync:
        return oscillators.sync(call.project.memory.view(call))


class GetWorkspaceStatus(
    CognitionOperation, tool="get_workspace_status", title="The memory that stands out", trim=("competing",)
):
    """The memory that stands out among those of the last questions: r times importance times how well it answered.
    Lists those that compete with it, and contradictions among them."""

    def run(self, call: Call) -> workspace.GlobalWorkspace:
        return workspace.workspace(call.project.memory.view(call))


class GetEgoState(CognitionOperation, tool="get_ego_state", title="How steady the subjects are"):
    """The similarity of this week's memories to those of the week before, in the thirteen spaces, times how far the
    spaces agree. Low values mean that the work moved to another subject. get_alignment_drift says where to."""

    def run(self, call: Call) -> awareness.Ego:
        return awareness.ego(call.project.memory.view(call))


class TriggerWorkspaceBroadcast(
    BroadcastRequest,
    CognitionOperation,
    tool="trigger_workspace_broadcast",
    title="Put a memory into the workspace",
    writes=True,
    idempotent=False,
):
    """Puts a memory into the workspace, if the spaces agree (r at least 0.8) and no other memory is more salient; force
    does it anyway. Raises dopamine by 0.2 for a few seconds. reversal_hash undoes it."""

    def run(self, call: Call) -> workspace.Broadcast:
        return workspace.broadcast(call.project.memory.view(call), self)


class AdjustCoupling(
    CognitionOperation, tool="adjust_coupling", title="Set the coupling of the oscillators", writes=True
):
    """Sets the coupling K of the oscillators, kept between 0 and 10, and simulates what it would do to the phases that
    were measured. r itself is measured and does not change."""

    new_K: Annotated[float, Meta(description="0 to 10; what is beyond is brought there")]  # noqa: N815

    def run(self, call: Call) -> oscillators.Coupled:
        return oscillators.adjust_coupling(call.project.memory.view(call), self.new_K)


class ComputeDeltaSc(DeltaQuery, CognitionOperation, tool="gwt/compute_delta_sc", title="How new and how fitting"):
    """Novelty and coherence of a memory or text among its nearest memories, in each of the thirteen spaces, its Johari
    quadrants, and how far it differs from an earlier one. Null where a space says nothing."""

    def run(self, call: Call) -> delta.DeltaSC:
        return delta.delta_sc(call.project.memory.view(call), self)


class GetNeuromodulationState(CognitionOperation, tool="get_neuromodulation_state", title="The four knobs"):
    """The four knobs with range, baseline and last cause: dopamine spreads scores, noradrenaline flattens them,
    serotonin lets more spaces count, acetylcholine is the learning rate. At their baselines they change nothing."""

    def run(self, call: Call) -> modulators.Neuromodulation:
        return modulators.state(call.project.memory.view(call))


class GetNeuromodulation(CognitionOperation, tool="get_neuromodulation", title="The four knobs of a session"):
    """The four knobs as they affect the searches of one session, with what changed each of them last; for what each of
    them does see get_neuromodulation_state."""

    session_id: SessionId = None

    def run(self, call: Call) -> modulators.Neuromodulation:
        return modulators.state(call.project.memory.view(call, session_id=self.session_id))


class AdjustNeuromodulator(
    CognitionOperation, tool="adjust_neuromodulator", title="Turn a knob", writes=True, idempotent=False
):
    """Turns dopamine, serotonin or noradrenaline for this session; the result stays within its range and fades back to
    the baseline within minutes. It touches the ranking of search_graph in this profile. Acetylcholine cannot be set."""

    modulator: Annotated[modulators.Settable, Meta(description="Which knob")]
    delta: Annotated[float, Meta(description="By how much")]

    def run(self, call: Call) -> modulators.Adjusted:
        return modulators.adjust(call.project.memory.view(call), self.modulator, self.delta)
