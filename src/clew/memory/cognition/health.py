"""Health: what works, what does not, and mending. Mending tells only what it did."""

import time
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from clew.errors import ClewError
from clew.memory.cognition.gauges.awareness import ego
from clew.memory.cognition.gauges.oscillators import COUPLING, RECORD, coupling, synchronization
from clew.memory.cognition.goals.drift import drift
from clew.memory.cognition.goals.goals import Goal, north_star
from clew.memory.cognition.goals.requests import DriftQuery
from clew.memory.cognition.learning import learner
from clew.memory.cognition.modulators import RECORD as MODULATORS
from clew.memory.cognition.records import INSUFFICIENT, CognitionRecords, SampledAnswer
from clew.memory.storage.requests import LogQuery

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

Subsystem = Literal["utl", "gwt", "dream", "storage"]
Status = Literal["healthy", "degraded", "critical", "insufficient data"]
SUBSYSTEMS: tuple[Subsystem, ...] = ("utl", "gwt", "dream", "storage")
_LOW_ACCURACY = 0.7
_FRAGMENTED = 0.5
_SEVERITIES = ("low", "medium", "high", "critical")
_SCORES: dict[str, float] = {"healthy": 1.0, "degraded": 0.5, "critical": 0.0}


class PartHealth(msgspec.Struct, frozen=True, kw_only=True):
    status: Status
    figures: dict[str, Any]
    samples: int


class SuggestedRepair(msgspec.Struct, frozen=True):
    subsystem: str
    action: str
    description: str


class Health(SampledAnswer, frozen=True, kw_only=True):
    overall_status: Status
    subsystems: dict[str, PartHealth]
    recommendations: tuple[SuggestedRepair, ...]


class Healed(msgspec.Struct, frozen=True, kw_only=True):
    success: bool
    subsystem: str
    actions_taken: tuple[str, ...]
    """Only what was done; empty where there was nothing to do."""
    old_status: Status
    new_status: Status
    recovery_time_ms: float
    reversal_hash: str | None = None


class Autonomous(SampledAnswer, frozen=True, kw_only=True):
    north_star: Goal | None
    services: dict[str, str]
    overall_health: dict[str, Any]
    recommendations: tuple[str, ...]
    metrics: dict[str, Any] | None = None
    history: tuple[dict[str, Any], ...] | None = None
    truncated: bool = False


def health(view: "MemoryView", subsystem: Subsystem | Literal["all"]) -> Health:
    chosen = SUBSYSTEMS if subsystem == "all" else (subsystem,)
    parts: dict[str, PartHealth] = {name: _LOOK[name](view) for name in chosen}
    overall = _overall([part.status for part in parts.values()])
    advice = tuple(
        SuggestedRepair(name, *_ADVICE[name]) for name, part in parts.items() if part.status in ("degraded", "critical")
    )
    # A store that can be read is healthy, even if empty; the other parts show whether memory works well.
    judged = [name for name, part in parts.items() if part.status != INSUFFICIENT and (part.samples or len(parts) == 1)]
    return Health(
        sufficient_data=bool(judged),
        samples=sum(part.samples for part in parts.values()),
        note="The worst of the subsystems that can be judged." if judged else f"{INSUFFICIENT}: nothing was used yet.",
        overall_status=overall,
        subsystems=parts,
        recommendations=advice,
    )


def _overall(statuses: "list[Status]") -> Status:
    for worst in ("critical", "degraded", "healthy"):
        if worst in statuses:
            return worst
    return "insufficient data"


def _utl(view: "MemoryView") -> PartHealth:
    accuracy, outcomes = learner.accuracy_of(view)
    status: Status = "insufficient data"
    if accuracy is not None:
        status = "healthy" if accuracy >= _LOW_ACCURACY else "degraded" if accuracy >= _LOW_ACCURACY / 2 else "critical"
    weights = learner.lambdas(view)
    figures = {"accuracy": accuracy, "lambda_s": weights.delta_s, "lambda_c": weights.delta_c}
    return PartHealth(status=status, figures=figures, samples=outcomes)


def _gwt(view: "MemoryView") -> PartHealth:
    r, _, questions = synchronization(view)
    steady = ego(view).identity_coherence
    status: Status = "insufficient data"
    if r is not None:
        status = "degraded" if r < _FRAGMENTED or (steady is not None and steady < _FRAGMENTED) else "healthy"
    figures = {"r": None if r is None else round(r, 4), "identity_coherence": steady, "coupling": coupling(view)}
    return PartHealth(status=status, figures=figures, samples=questions)


def _dream(view: "MemoryView") -> PartHealth:
    state = view.service.dreams.status(view)
    left = state.steps_left if not state.is_dreaming else ()
    status: Status = "degraded" if left else "healthy" if state.completed_cycles else "insufficient data"
    figures = {"completed": state.completed_cycles, "left_over_steps": list(left), "is_dreaming": state.is_dreaming}
    return PartHealth(status=status, figures=figures, samples=state.completed_cycles)


def _storage(view: "MemoryView") -> PartHealth:
    home = view.service.home
    try:
        about = home.store.describe(counts=False)
        count = view.library.index.count(view.viewer)
    except ClewError as error:
        return PartHealth(status="critical", figures={"problem": error.message}, samples=0)
    notes = list(home.index.notes)
    figures = {
        "engine": about["engine"],
        "bytes": home.size(),
        "read_only": about["read_only"],
        "memories": count,
        "notes": notes,
    }
    return PartHealth(status="degraded" if about["read_only"] or notes else "healthy", figures=figures, samples=count)


_LOOK = {"utl": _utl, "gwt": _gwt, "dream": _dream, "storage": _storage}
_ADVICE = {
    "utl": ("trigger_lambda_recalibration", "Use of shown memories is foreseen badly."),
    "gwt": ("trigger_dream", "The spaces disagree, or the subject changed from last week."),
    "dream": ("trigger_dream", "A dream was left unfinished; the next one goes on."),
    "storage": ("trigger_healing", "The index was replaced, or the store can only be read."),
}


def heal(view: "MemoryView", subsystem: Subsystem, severity: str) -> Healed:
    """Mend a part, the more thoroughly the more severe; every action is reported where it was done."""
    began, before = time.perf_counter(), _LOOK[subsystem](view).status
    level = _SEVERITIES.index(severity)
    actions: list[str] = []
    hash = _HEAL[subsystem](view, level, actions)
    after = _LOOK[subsystem](view).status
    return Healed(
        success=after not in ("degraded", "critical"),
        subsystem=subsystem,
        actions_taken=tuple(actions),
        old_status=before,
        new_status=after,
        recovery_time_ms=round((time.perf_counter() - began) * 1000, 1),
        reversal_hash=hash,
    )


def _heal_utl(view: "MemoryView", level: int, actions: list[str]) -> str | None:
    view.service.observations.reset()
    actions.append("the observations in this process were dropped and read again from the store")
    if level == 0 or CognitionRecords(view).get(learner.RECORD, learner.StoredWeights) is None:
        return None
    actions.append("the weights were set back to those of the memory's stage")
    return CognitionRecords(view).update(
        learner.RECORD, learner.StoredWeights, lambda _: None, "trigger_healing", "weights set back"
    )


def _heal_gwt(view: "MemoryView", level: int, actions: list[str]) -> str | None:
    if count := view.service.questions.clear(view.viewer.session):
        actions.append(f"{count} questions of this session were dropped from the gauges")
    if level == 0:
        return None
    with view.changes.make("trigger_healing", view.actor, "gauges set back") as change:
        records = CognitionRecords(view)
        if coupling(view) != COUPLING:
            records.update_in(change, RECORD, float, lambda _: None)
            actions.append(f"the coupling was set back to {COUPLING:g}")
        if level >= 2 and records.get(MODULATORS, list[Any]) is not None:
            records.update_in(change, MODULATORS, list[Any], lambda _: None)
            actions.append("the modulators were set back to their baselines")
    return change.hash if change.touched else None


def _heal_dream(view: "MemoryView", level: int, actions: list[str]) -> str | None:
    state = view.service.dreams.status(view)
    if not state.steps_left or state.is_dreaming:
        return None
    actions.append(f"the {len(state.steps_left)} steps that an unfinished dream left were given up")
    return view.service.dreams.give_up(view)


def _heal_storage(view: "MemoryView", level: int, actions: list[str]) -> str | None:
    if level >= 1:
        view.service.home.index.renew()
        actions.append("the index of the memory was rebuilt from the store")
    if level >= 2:
        view.service.context.parts.rebuild_index()
        view.units.engine()
        actions.append("the search index was deleted and rebuilt")
    if level >= 3:
        problems = view.service.home.store.check()
        actions.append(
            f"the store was read whole: {len(problems)} problems" + "".join(f"; {each}" for each in problems[:5])
        )
    return None


_HEAL = {"utl": _heal_utl, "gwt": _heal_gwt, "dream": _heal_dream, "storage": _heal_storage}


def autonomous(view: "MemoryView", *, metrics: bool, history: int | None) -> Autonomous:
    """The goal, what is running, and how it all is doing."""
    goal, state = north_star(view), health(view, "all")
    # A part that was never used does not count as healthy; one that does not work still counts.
    scores = [
        _SCORES[part.status]
        for part in state.subsystems.values()
        if part.status in _SCORES and (part.samples or part.status != "healthy")
    ]
    score = round(sum(scores) / len(scores), 4) if scores else None
    drifted = drift(view, DriftQuery(timeframe="7d")) if goal is not None else None
    advice = [f"{each.action}: {each.description}" for each in state.recommendations]
    if goal is None:
        advice.append("auto_bootstrap_north_star: no goal is known yet.")
    if drifted is not None and drifted.overall_drift["has_drifted"]:
        advice.append("trigger_drift_correction: the work moved away from the goal.")
    return Autonomous(
        sufficient_data=score is not None,
        samples=state.samples,
        note="The score is the mean of the subsystems that can be judged, the status that of the worst."
        if scores
        else f"{INSUFFICIENT}: nothing was used yet.",
        north_star=goal,
        services={name: part.status for name, part in state.subsystems.items()},
        overall_health={
            "score": score,
            # One word for both tools: that of the worst part.
            "status": "not_configured" if score is None else state.overall_status,
            "judged": len(scores),
        },
        recommendations=tuple(advice),
        metrics={
            "subsystems": {name: part.figures for name, part in state.subsystems.items()},
            "drift": None if drifted is None else drifted.overall_drift,
        }
        if metrics
        else None,
        history=_history(view, history) if history is not None else None,
    )


def _history(view: "MemoryView", count: int) -> tuple[dict[str, Any], ...]:
    """The last changes that cognition made, the latest first."""
    entries = view.history.logs(LogQuery(limit=500)).entries
    own = [each for each in entries if each.component in ("dream", "gwt") or each.action in _OWN]
    return tuple({"at": each.timestamp, "action": each.action, "reason": each.reason} for each in own[:count])


_OWN = (
    "auto_bootstrap_north_star", "trigger_drift_correction", "trigger_recalibration", "set_threshold_prior",
    "trigger_lambda_recalibration", "observe_outcome", "update_synergy_matrix", "fuse_embeddings", "trigger_healing",
    "manage_teleological_profile",
)  # fmt: skip
