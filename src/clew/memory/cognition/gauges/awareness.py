"""Two composite figures about a session: how much the spaces agree, foresee and differ (called consciousness by Context
Graph), and how steady the memory's subjects are from week to week (called ego). Both are read by nothing that decides.
"""

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from clew.memory.cognition.agreement import order
from clew.memory.cognition.compare import ABSENT, Comparer, Values, cosine, rounded
from clew.memory.cognition.gauges.oscillators import COHERENT, synchronization
from clew.memory.cognition.gauges.workspace import workspace
from clew.memory.cognition.goals.goals import exemplars, north_star, shared
from clew.memory.cognition.learning.learner import accuracy_of
from clew.memory.cognition.records import INSUFFICIENT, SampledAnswer
from clew.memory.navigation.spaces import SPACES
from clew.memory.storage.changes import spelled

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_WEEK = timedelta(days=7)
_SAMPLE = 8
_FEWEST = 3
_STATES = ((0.95, "hypersync"), (0.8, "conscious"), (0.5, "emerging"), (0.3, "fragmented"), (0.0, "dormant"))
IDENTITY = {"healthy": 0.9, "warning": 0.7, "degraded": 0.5, "critical": 0.0}
_ENOUGH = 0.5


class Ego(SampledAnswer, frozen=True, kw_only=True):
    purpose_vector: Values
    """Similarity of this week's memories to those of the goal in each space; without a goal, among themselves."""
    reference: str
    identity_coherence: float | None
    """The cosine of this week's vector to that of the week before, times r."""
    coherence_with_actions: float | None
    """Quality of the answers to the last questions of the session."""
    identity_status: str
    trajectory_length: int
    """Number of the last two weeks that have enough memories."""
    thresholds: dict[str, float]
    identity_continuity: dict[str, Any]


class Consciousness(SampledAnswer, frozen=True, kw_only=True):
    C: float | None
    """Integration times reflection times differentiation; null where one of them is."""
    r: float | None
    psi: float | None
    """Mean phase of the spaces; 0 is full agreement with the answers."""
    integration: float | None
    """r: how far the spaces agree."""
    reflection: float | None
    """The logistic function of 4 * meta_score - 2."""
    differentiation: float | None
    """Evenness of this week's vector over its spaces, from 0 to 1."""
    meta_score: float | None
    """Accuracy of the predictions which shown memories are used, from 0 to 1."""
    state: str
    workspace: dict[str, Any]
    identity: dict[str, Any]
    component_analysis: dict[str, Any]


def ego(view: "MemoryView") -> Ego:
    now = view.service.context.clock()
    this, count = _week(view, now - _WEEK, now + timedelta(seconds=1))
    before, earlier = _week(view, now - 2 * _WEEK, now - _WEEK)
    r, _, _ = synchronization(view)
    steady = cosine(this, before)
    continuity = None if steady is None or r is None else round(min(max(steady * r, 0.0), 1.0), 4)
    status = INSUFFICIENT if continuity is None else next(n for n, least in IDENTITY.items() if continuity >= least)
    questions = view.service.questions.last(view.viewer.session)
    answered = [max((each.similarity for each in question.ranked), default=0.0) for question in questions]
    return Ego(
        sufficient_data=continuity is not None,
        samples=count + earlier,
        note=_missing(count, earlier, r),
        purpose_vector=rounded(this),
        reference="north_star" if len(exemplars(view, north_star(view))) > 1 else "memories of the same week",
        identity_coherence=continuity,
        coherence_with_actions=round(sum(answered) / len(answered), 4) if answered else None,
        identity_status=status,
        trajectory_length=sum(values != ABSENT for values in (this, before)),
        thresholds=IDENTITY,
        identity_continuity={
            "ic": continuity,
            "status": status,
            "in_crisis": None if continuity is None else continuity < IDENTITY["warning"],
            "similarity_to_last_week": None if steady is None else round(steady, 4),
            "r": None if r is None else round(r, 4),
            "history_len": sum(values != ABSENT for values in (this, before)),
        },
    )


def _missing(count: int, earlier: int, r: float | None) -> str:
    if count < _FEWEST or earlier < _FEWEST:
        return (
            f"{INSUFFICIENT}: {count} memories of this week and {earlier} of the week before; {_FEWEST} of each are"
            " needed."
        )
    if r is None:
        return f"{INSUFFICIENT}: no question of this session has shown three memories."
    return "How like the memories of this week those of the week before are, times how far the spaces agree."


def _week(view: "MemoryView", since: Any, until: Any) -> tuple[Values, int]:
    """The mean similarities of the memories of a week to the goal's, or among themselves, and how many there are."""
    library = shared(view)
    rows = library.index.recorded(library.viewer, spelled(since), spelled(until), _SAMPLE)
    memories = list(library.get_many(row.id for row in rows).values())
    if len(memories) < _FEWEST:
        return ABSENT, len(memories)
    goal = exemplars(view, north_star(view))
    ideals = goal if len(goal) > 1 else memories
    return Comparer(view, [*memories, *goal]).mean(memories, ideals)[0], len(memories)


def differentiation(values: Values) -> float | None:
    """The entropy of a vector's shares, 1 where all thirteen spaces are equal; None for a vector of zeros."""
    present = [value for value in values if value]
    total = sum(present)
    if not total:
        return None
    return -sum(value / total * math.log(value / total) for value in present) / math.log(len(SPACES))


def consciousness(view: "MemoryView") -> Consciousness:
    r, angles, questions = synchronization(view)
    own, space = ego(view), workspace(view)
    accuracy, outcomes = accuracy_of(view)
    reflection = None if accuracy is None else 1 / (1 + math.exp(-(4 * accuracy - 2)))
    different = differentiation(own.purpose_vector)
    parts = {"integration": r, "reflection": reflection, "differentiation": different}
    missing = [name for name, value in parts.items() if value is None]
    c = None if missing else math.prod(value for value in parts.values() if value is not None)
    return Consciousness(
        sufficient_data=c is not None,
        samples=questions + outcomes + own.samples,
        note=f"{INSUFFICIENT}: {', '.join(missing)} cannot be computed yet." if missing else _WHAT,
        C=_round(c),
        r=_round(r),
        psi=_round(order(list(angles.values()))[1]) if r is not None else None,
        integration=_round(r),
        reflection=_round(reflection),
        differentiation=_round(different),
        meta_score=_round(accuracy),
        state=INSUFFICIENT if c is None else next(name for least, name in _STATES if c >= least),
        workspace={
            "active_memory": space.active_memory,
            "is_broadcasting": space.is_broadcasting,
            "has_conflict": space.has_conflict,
            "coherence_threshold": COHERENT,
            "competing_count": len(space.competing),
            "time_in_workspace_ms": space.broadcasting_for_ms,
        },
        identity={
            "coherence": own.identity_coherence,
            "purpose_vector": list(own.purpose_vector),
            "status": own.identity_status,
            "trajectory_length": own.trajectory_length,
            "drift_warning": own.identity_continuity["in_crisis"],
        },
        component_analysis={
            **{f"{name}_sufficient": None if value is None else value >= _ENOUGH for name, value in parts.items()},
            "limiting_factor": next((n for n, v in parts.items() if v is not None and v < _ENOUGH), None),
            "samples": {"questions": questions, "outcomes": outcomes, "memories": own.samples},
        },
    )


_WHAT = "Agreement of the spaces, times how well use was foreseen, times how evenly the week's vector is spread."


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
