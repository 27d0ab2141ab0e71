"""Predictions of which shown memories are used: their accuracy, and the weights behind them.

A prediction is lambda_S times novelty plus lambda_C times similarity. The two lambdas sum to 1, stay between 0.1 and
0.9 and begin as the stage of the memory has them.
"""

import math
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import InvalidArgument, NotFound
from clew.memory.cognition.learning.observations import FEWEST, KEPT, OBSERVED, MemoryUse, expected, observed
from clew.memory.cognition.learning.requests import LambdaRecalibration, OutcomeReport, WeightLogQuery
from clew.memory.cognition.modulators import MODULATORS, levels
from clew.memory.cognition.records import INSUFFICIENT, CognitionRecords, SampledAnswer
from clew.memory.storage.changes import moment_of, spelled_time
from clew.memory.writing.reward import STAGE_WEIGHTS, stage_of
from clew.store.interface import Event
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

RECORD = "lambdas"
LOWEST, HIGHEST = 0.1, 0.9
_LARGE_ERROR = 0.2
_LOW, _LONG = 0.7, 100
_IN_A_ROW = 5
_OPEN_SHOWN = 10
_GRID = 81


class Lambdas(msgspec.Struct, frozen=True):
    delta_s: float
    delta_c: float


class StoredWeights(msgspec.Struct, frozen=True):
    """The weights as they are stored, with what the last change came from."""

    delta_s: float
    delta_c: float
    domain: str | None = None
    accuracy: float | None = None
    """Of what was foreseen, with these weights; null below ten outcomes."""
    searched: bool = False
    """True if all weights were tried, instead of one step."""


class LearnerState(SampledAnswer, frozen=True, kw_only=True):
    accuracy: float | None
    prediction_count: int
    domain_stats: dict[str, dict[str, Any]]
    lambda_weights: Lambdas
    last_adjustment: str | None
    escalation_pending: bool
    open_predictions: tuple[dict[str, Any], ...]
    """Memories shown lately whose outcome nobody knows yet; observe_outcome takes their ids."""
    truncated: bool = False


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    accepted: bool
    prediction_id: str
    predicted_value: float
    prediction_error: float
    lambda_adjusted: bool
    lambda_weights: Lambdas
    new_accuracy: float | None
    observations: int
    domain: str
    reversal_hash: str


class MetaStatus(SampledAnswer, frozen=True, kw_only=True):
    enabled: bool
    current_accuracy: float | None
    bias: float | None
    """The mean of prediction minus outcome: above 0, use is foreseen too often."""
    meta_score: float | None
    """The logistic function of twice the bias: 0.5 without one."""
    consecutive_low_count: int
    current_lambdas: Lambdas
    base_lambdas: Lambdas
    lambda_deviation: float
    escalation_status: str
    adjustment_count: int
    recent_events_count: int
    """Changes of the weights in the last 24 hours."""
    last_adjustment_at: str | None
    accuracy_history: tuple[float, ...] | None = None
    embedder_breakdown: dict[str, float | None] | None = None


class Recalibrated(SampledAnswer, frozen=True, kw_only=True):
    success: bool
    adjustment: dict[str, float | None] | None
    """Changes, the step alpha of a gradient, and the mean error that it comes from."""
    previous_lambdas: Lambdas
    new_lambdas: Lambdas
    method: str
    bo_iterations: int
    expected_improvement: float | None
    """By how much the Brier score of what was observed gets better."""
    dry_run: bool
    reversal_hash: str | None = None


class MetaLog(msgspec.Struct, frozen=True, kw_only=True):
    events: tuple[dict[str, Any], ...]
    total_count: int
    has_more: bool
    truncated: bool = False


def base_lambdas(view: "MemoryView") -> Lambdas:
    """The weights of novelty and similarity by the stage of the memory: at first novelty counts more, later
    similarity."""
    count = view.library.index.count(view.viewer)
    return Lambdas(*STAGE_WEIGHTS[stage_of(count)])


def lambdas(view: "MemoryView") -> Lambdas:
    kept = CognitionRecords(view).get(RECORD, StoredWeights)
    return base_lambdas(view) if kept is None else Lambdas(kept.delta_s, kept.delta_c)


def accuracy_of(view: "MemoryView", domain: str | None = None) -> tuple[float | None, int]:
    """1 minus the mean error of the predictions, and the number of outcomes; None below ten outcomes."""
    known = observed(view).outcomes(domain)
    return _accuracy(known, lambdas(view).delta_s), len(known)


def weighed(delta_s: float) -> Lambdas:
    """Two weights within their bounds that sum to 1."""
    new = round(min(max(delta_s, LOWEST), HIGHEST), 6)
    return Lambdas(new, round(1 - new, 6))


def learning_rate(view: "MemoryView") -> float:
    """The step of a correction: larger while acetylcholine is raised."""
    resting = MODULATORS["acetylcholine"].baseline
    level = levels(view)["acetylcholine"].level
    return min(max(0.05 * (1 + (level - resting) / resting), 0.01), 0.1)


def _alert(view: "MemoryView", known: list[MemoryUse], delta_s: float) -> None:
    """Five predictions in a row that foresaw too little raise acetylcholine by half."""
    if _low_in_a_row(known, delta_s) >= _IN_A_ROW:
        half = MODULATORS["acetylcholine"].baseline / 2
        view.service.adjustments.note(
            view.changes.now(), view.viewer.session, "acetylcholine", half, "use was not foreseen"
        )


def state(view: "MemoryView", domain: str | None) -> LearnerState:
    seen = observed(view)
    known, weights = seen.outcomes(domain), lambdas(view)
    by_domain: dict[str, list[MemoryUse]] = {}
    for each in known:
        by_domain.setdefault(each.domain, []).append(each)
    accuracy = _accuracy(known, weights.delta_s)
    last = CognitionRecords(view).history(RECORD)
    waiting = seen.latest_open(_OPEN_SHOWN * 5)
    visible = view.library.index.visible([each.memory for each in waiting], view.viewer)
    return LearnerState(
        sufficient_data=accuracy is not None,
        samples=len(known),
        note=_note(len(known)),
        accuracy=accuracy,
        prediction_count=len(known) + len(waiting),
        domain_stats={
            name: {"outcomes": len(several), "accuracy": _accuracy(several, weights.delta_s)}
            for name, several in by_domain.items()
        },
        lambda_weights=weights,
        last_adjustment=last[-1].at if last else None,
        escalation_pending=_escalates(known, weights.delta_s),
        open_predictions=tuple(
            {
                "prediction_id": each.id,
                "memory_id": each.memory,
                "predicted": round(expected(each, weights.delta_s), 4),
                "shown_at": each.at,
            }
            for each in waiting
            if each.memory in visible
        )[:_OPEN_SHOWN],
    )


def _note(count: int) -> str:
    if count < FEWEST:
        return f"{INSUFFICIENT}: {count} of {FEWEST} outcomes; they come from what happens to memories that were shown."
    return "How well it was foreseen which of the shown memories are used."


def _accuracy(known: list[MemoryUse], delta_s: float) -> float | None:
    if len(known) < FEWEST:
        return None
    return round(1 - sum(abs(expected(each, delta_s) - each.actual) for each in known) / len(known), 4)


def _escalates(known: list[MemoryUse], delta_s: float) -> bool:
    accuracy = _accuracy(known[-_LONG:], delta_s) if len(known) >= _LONG else None
    return accuracy is not None and accuracy < _LOW


def _low_in_a_row(known: list[MemoryUse], delta_s: float) -> int:
    """The number of the last predictions, in a row, that foresaw too little."""
    count = 0
    for each in reversed(known):
        if expected(each, delta_s) >= each.actual:
            break
        count += 1
    return count


def observe(view: "MemoryView", asked: OutcomeReport) -> Observed:
    if not math.isfinite(asked.actual_outcome):
        raise InvalidArgument(
            f"The argument 'actual_outcome' is {asked.actual_outcome}; 0 to 1 is allowed.", hint="1 for used."
        )
    if unknown := set(asked.context) - {"domain", "query_type"}:
        raise InvalidArgument(f"'context' has no field '{sorted(unknown)[0]}'.", hint="It has: domain, query_type.")
    seen = observed(view)
    found = seen.prediction(asked.prediction_id)
    visible = found is not None and found.memory in view.library.index.visible([found.memory], view.viewer)
    now = view.service.context.clock()
    if found is None or not visible or now - moment_of(found.at) > KEPT:
        raise NotFound(
            f"There is no prediction '{shortened(asked.prediction_id)}' of the last 24 hours.",
            hint="get_learner_state lists the open ones.",
        )
    weights = lambdas(view)
    predicted = expected(found, weights.delta_s)
    error = predicted - asked.actual_outcome
    new = weights
    if abs(error) > _LARGE_ERROR:
        _alert(view, seen.outcomes(), weights.delta_s)
        new = weighed(weights.delta_s - learning_rate(view) * error)
    details = {
        "prediction_id": asked.prediction_id,
        "actual": asked.actual_outcome,
        "domain": found.domain,
        "query_type": asked.context.get("query_type"),
    }
    with view.changes.make(
        OBSERVED, view.actor, f"outcome {asked.actual_outcome:g} where {predicted:.2f} was foreseen"
    ) as change:
        change.details = details
        if new != weights:
            kept = StoredWeights(new.delta_s, new.delta_c, found.domain, _accuracy(seen.outcomes(), new.delta_s))
            CognitionRecords(view).update_in(change, RECORD, StoredWeights, lambda _: kept)
    known = observed(view).outcomes()
    return Observed(
        accepted=True,
        prediction_id=asked.prediction_id,
        predicted_value=round(predicted, 4),
        prediction_error=round(error, 4),
        lambda_adjusted=new != weights,
        lambda_weights=new,
        new_accuracy=_accuracy(known, new.delta_s),
        observations=len(known),
        domain=found.domain,
        reversal_hash=change.hash,
    )


def status(view: "MemoryView", *, with_history: bool, with_spaces: bool) -> MetaStatus:
    known, weights, base = observed(view).outcomes(), lambdas(view), base_lambdas(view)
    accuracy = _accuracy(known, weights.delta_s)
    errors = [expected(each, weights.delta_s) - each.actual for each in known]
    bias = sum(errors) / len(errors) if accuracy is not None else None
    events = CognitionRecords(view).history(RECORD)
    return MetaStatus(
        sufficient_data=accuracy is not None,
        samples=len(known),
        note=_note(len(known)),
        enabled=True,
        current_accuracy=accuracy,
        bias=None if bias is None else round(bias, 4),
        meta_score=None if bias is None else round(1 / (1 + math.exp(-2 * bias)), 4),
        consecutive_low_count=_low_in_a_row(known, weights.delta_s),
        current_lambdas=weights,
        base_lambdas=base,
        lambda_deviation=round(abs(weights.delta_s - base.delta_s), 6),
        escalation_status="pending" if _escalates(known, weights.delta_s) else "none",
        adjustment_count=len(events),
        recent_events_count=sum(moment_of(event.at) >= view.service.context.clock() - KEPT for event in events),
        last_adjustment_at=events[-1].at if events else None,
        accuracy_history=tuple(round(1 - abs(error), 4) for error in errors[-20:]) if with_history else None,
        embedder_breakdown=_by_signal(known) if with_spaces else None,
    )


def _by_signal(known: list[MemoryUse]) -> dict[str, float | None]:
    """The accuracy of either signal alone; of the thirteen spaces only these two are noted with what is shown."""
    return {"similarity": _accuracy(known, 0.0), "novelty": _accuracy(known, 1.0)}


def recalibrate(view: "MemoryView", asked: LambdaRecalibration) -> Recalibrated:
    """Move the weights towards the outcomes: one step along the mean error, or the best of all by a search."""
    known, weights = observed(view).outcomes(asked.domain), lambdas(view)
    if len(known) < FEWEST:
        return _recalibrated(known, weights, weights, "none", dry_run=asked.dry_run)
    step = None
    if asked.force_bayesian or _escalates(known, weights.delta_s):
        steps = [LOWEST + (HIGHEST - LOWEST) * at / (_GRID - 1) for at in range(_GRID)]
        new, method = weighed(min(steps, key=lambda weight: brier(known, weight))), "bayesian"
    else:
        error = sum(expected(each, weights.delta_s) - each.actual for each in known) / len(known)
        if not asked.dry_run:
            _alert(view, known, weights.delta_s)
        step = learning_rate(view)
        new, method = weighed(weights.delta_s - step * error), "gradient"
    hash = None
    if new != weights and not asked.dry_run:
        why = f"lambda_S {weights.delta_s} to {new.delta_s} from {len(known)} outcomes"
        kept = StoredWeights(
            new.delta_s, new.delta_c, asked.domain, _accuracy(known, new.delta_s), method == "bayesian"
        )
        hash = CognitionRecords(view).update(RECORD, StoredWeights, lambda _: kept, "trigger_lambda_recalibration", why)
    return _recalibrated(known, weights, new, method, step=step, dry_run=asked.dry_run, hash=hash)


def brier(known: list[MemoryUse], delta_s: float) -> float:
    return sum((expected(each, delta_s) - each.actual) ** 2 for each in known) / len(known)


def _recalibrated(
    known: list[MemoryUse],
    old: Lambdas,
    new: Lambdas,
    method: str,
    *,
    dry_run: bool,
    step: float | None = None,
    hash: str | None = None,
) -> Recalibrated:
    enough = method != "none"
    return Recalibrated(
        sufficient_data=enough,
        samples=len(known),
        note=_note(len(known)),
        success=enough,
        adjustment={
            "delta_s": round(new.delta_s - old.delta_s, 6),
            "delta_c": round(new.delta_c - old.delta_c, 6),
            "alpha": None if step is None else round(step, 6),
            "trigger_error": round(sum(expected(e, old.delta_s) - e.actual for e in known) / len(known), 4),
        }
        if enough
        else None,
        previous_lambdas=old,
        new_lambdas=new,
        method=method,
        bo_iterations=_GRID if method == "bayesian" else 0,
        expected_improvement=round(brier(known, old.delta_s) - brier(known, new.delta_s), 6) if enough else None,
        dry_run=dry_run,
        reversal_hash=hash,
    )


def log(view: "MemoryView", asked: WeightLogQuery) -> MetaLog:
    """List the changes of the lambdas, the latest first."""
    since, until = spelled_time(asked.start_time), spelled_time(asked.end_time)
    events = [_shown_event(event) for event in reversed(CognitionRecords(view).history(RECORD))]
    chosen = [
        each
        for each in events
        if (since is None or each["timestamp"] >= since)
        and (until is None or each["timestamp"] <= until)
        and (asked.event_type is None or each["event_type"] == asked.event_type)
        and (asked.domain is None or each["domain"] == asked.domain)
    ]
    shown = tuple(chosen[asked.offset : asked.offset + asked.limit])
    return MetaLog(events=shown, total_count=len(chosen), has_more=asked.offset + len(shown) < len(chosen))


def _event_type(before: dict[str, Any], after: dict[str, Any]) -> str:
    """The most notable event of a change: all weights were tried, one reached its bound, or the accuracy fell below 0.7
    or rose above it since the change before."""
    if after.get("searched"):
        return "bayesian_escalation"
    if after.get("delta_s") in (LOWEST, HIGHEST):
        return "weight_clamped"
    was, is_now = before.get("accuracy"), after.get("accuracy")
    if is_now is not None and is_now < _LOW and (was is None or was >= _LOW):
        return "accuracy_alert"
    if was is not None and is_now is not None and was < _LOW <= is_now:
        return "accuracy_recovery"
    return "lambda_adjustment"


def _shown_event(event: Event) -> dict[str, Any]:
    before, after = (event.before or {}).get("delta_s"), (event.after or {}).get("delta_s")
    return {
        "timestamp": event.at,
        "event_type": _event_type(event.before or {}, event.after or {}),
        "embedder_index": None,
        "previous_value": before,
        "new_value": after,
        "description": event.reason,
        "actor": event.actor,
        "accuracy": (event.after or {}).get("accuracy"),
        "domain": (event.after or {}).get("domain"),
    }
