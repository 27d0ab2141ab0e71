"""Thresholds that learn from what happened to shown memories, and how well calibrated similarities are.

One of the ten can be learned from observations: `acceptable`, the similarity from which a shown memory is used. The
others keep their priors, or the values that were set, and say so. Nothing is learned from fewer
than ten observations.
"""

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import InvalidArgument
from clew.memory.cognition.learning.observations import FEWEST, MemoryUse, observed
from clew.memory.cognition.learning.requests import ThresholdPrior
from clew.memory.cognition.records import INSUFFICIENT, CognitionRecords, SampledAnswer
from clew.memory.navigation.spaces import SPACES
from clew.memory.storage.changes import moment_of, spelled_time
from clew.memory.texts.admit import check_rationale

if TYPE_CHECKING:
    from clew.memory.service import MemoryView
    from clew.memory.storage.changes import ChangeWriter


class Threshold(msgspec.Struct, frozen=True):
    prior: float
    low: float
    high: float
    strictness: float = 0.0
    """By how much a stricter domain raises it."""


THRESHOLDS: dict[str, Threshold] = {
    "optimal": Threshold(0.75, 0.60, 0.90, 0.10),
    "acceptable": Threshold(0.70, 0.55, 0.85, 0.08),
    "warning": Threshold(0.55, 0.40, 0.70, 0.05),
    "duplicate": Threshold(0.90, 0.80, 0.98),
    "edge": Threshold(0.70, 0.50, 0.85),
    "johari": Threshold(0.50, 0.35, 0.65),
    "kuramoto": Threshold(0.80, 0.65, 0.95),
    "entropy_high": Threshold(0.70, 0.55, 0.85),
    "entropy_low": Threshold(0.40, 0.25, 0.55),
    "tool_gate": Threshold(0.80, 0.65, 0.95, 0.15),
}
STRICTNESS = {"Medical": 1.0, "Code": 0.9, "Legal": 0.8, "Research": 0.5, "General": 0.5, "Creative": 0.2}
ORDER = (("optimal", "acceptable"), ("acceptable", "warning"), ("duplicate", "edge"), ("entropy_high", "entropy_low"))
"""The first of each pair stays above the second."""
_APART = 0.01
LEARNED = "acceptable"
ENOUGH = 30
_BINS = 10
_TARGETS = {"ece": (0.05, 0.10), "mce": (0.10, 0.20), "brier": (0.10, 0.15)}
_STATUS = ((0.05, "excellent"), (0.10, "good"), (0.15, "acceptable"), (0.25, "poor"), (math.inf, "critical"))
LEVELS = {1: "EWMA", 2: "temperature", 3: "bandit", 4: "search"}
_EWMA = 0.2
TIMEFRAMES = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}


class StoredThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """The stored thresholds of a domain."""

    priors: dict[str, float] = {}
    learned: dict[str, float] = {}
    temperature: float | None = None
    observations: int = 0
    level: int | None = None
    at: str | None = None


class Value(msgspec.Struct, frozen=True):
    value: float
    prior: float
    confidence: float | None
    """n / (n + 30) for n observations; null where none can be made."""


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    ece: float | None
    """The mean distance of similarity and share of used memories, in ten bins."""
    mce: float | None
    """Calibration error of the worst bin."""
    brier: float | None
    sample_count: int
    status: str


class ThresholdStatus(SampledAnswer, frozen=True, kw_only=True):
    domain: str
    thresholds: dict[str, Value]
    calibration: Metrics
    drift_scores: dict[str, float | None]
    should_recalibrate_level2: bool
    should_explore_level3: bool
    should_optimize_level4: bool
    adaptation: dict[str, Any]
    embedder: dict[str, Any] | None = None


class CalibrationMetrics(SampledAnswer, frozen=True, kw_only=True):
    timeframe: str
    metrics: dict[str, dict[str, float | None]]
    calibration: Metrics
    outcomes: dict[str, int]
    drift_scores: dict[str, float | None]
    recommendations: tuple[str, ...]


class Recalibration(SampledAnswer, frozen=True, kw_only=True):
    success: bool
    recalibration: dict[str, Any]
    metrics_before: Metrics
    metrics_after: Metrics
    observations_used: int
    new_thresholds: dict[str, float]
    reversal_hash: str | None = None


class PriorSet(msgspec.Struct, frozen=True, kw_only=True):
    threshold_type: str
    domain: str
    old_prior: float
    new_prior: float
    confidence_reset: bool
    reversal_hash: str | None


class ThresholdHistory(msgspec.Struct, frozen=True, kw_only=True):
    threshold_type: str
    history: tuple[dict[str, Any], ...]
    drift_events: tuple[dict[str, Any], ...]
    calibration_changes: tuple[dict[str, Any], ...]
    truncated: bool = False


class Explanation(SampledAnswer, frozen=True, kw_only=True):
    threshold_type: str
    domain: str
    value: float
    prior: float
    learned_delta: float | None
    confidence: float | None
    observations: int
    range: tuple[float, float]
    rationale: str


def _record(domain: str) -> str:
    return f"thresholds {domain}"


def kept(view: "MemoryView", domain: str) -> StoredThresholds:
    return CognitionRecords(view).get(_record(domain), StoredThresholds) or StoredThresholds()


def prior_of(name: str, domain: str, own: StoredThresholds) -> float:
    """The prior that was set, or the usual one, moved by the strictness of the domain."""
    about = THRESHOLDS[name]
    usual = about.prior + about.strictness * (STRICTNESS[domain] - STRICTNESS["General"])
    return own.priors.get(name, round(min(max(usual, about.low), about.high), 4))


def values(view: "MemoryView", domain: str = "General") -> dict[str, float]:
    """Every threshold as it is now."""
    own = kept(view, domain)
    return {name: own.learned.get(name, prior_of(name, domain, own)) for name in THRESHOLDS}


def ordered(name: str, value: float, others: dict[str, float]) -> float:
    """A value within its range that keeps its place among the others."""
    about = THRESHOLDS[name]
    low, high = about.low, about.high
    for above, below in ORDER:
        if name == above:
            low = max(low, others[below] + _APART)
        elif name == below:
            high = min(high, others[above] - _APART)
    return round(min(max(value, low), high), 4)


def measure(outcomes: Sequence[MemoryUse], temperature: float | None = None) -> Metrics:
    """Compare similarities with the share of memories that are used."""
    if len(outcomes) < FEWEST:
        return Metrics(ece=None, mce=None, brier=None, sample_count=len(outcomes), status=INSUFFICIENT)
    pairs = [(calibrated(each.similarity, temperature), each.actual) for each in outcomes]
    bins: list[list[tuple[float, float]]] = [[] for _ in range(_BINS)]
    for confidence, actual in pairs:
        bins[min(int(confidence * _BINS), _BINS - 1)].append((confidence, actual))
    gaps = [(abs(sum(c for c, _ in some) - sum(a for _, a in some)) / len(some), len(some)) for some in bins if some]
    ece = sum(gap * count for gap, count in gaps) / len(pairs)
    return Metrics(
        ece=round(ece, 4),
        mce=round(max(gap for gap, _ in gaps), 4),
        brier=round(sum((c - a) ** 2 for c, a in pairs) / len(pairs), 4),
        sample_count=len(pairs),
        status=next(name for most, name in _STATUS if ece < most),
    )


def calibrated(similarity: float, temperature: float | None) -> float:
    """The logistic function of the log odds divided by a temperature."""
    if temperature is None:
        return similarity
    share = min(max(similarity, 1e-6), 1 - 1e-6)
    return 1 / (1 + math.exp(-math.log(share / (1 - share)) / temperature))


def _drift(outcomes: Sequence[MemoryUse], prior: float) -> float | None:
    """By how many standard deviations the similarity of what is used is off the prior."""
    used = [each.similarity for each in outcomes if each.actual >= 0.5]
    if len(outcomes) < FEWEST or len(used) < 2:
        return None
    mean = sum(used) / len(used)
    spread = math.sqrt(sum((value - mean) ** 2 for value in used) / len(used))
    return round(abs(mean - prior) / max(spread, 0.01), 4)


def status(view: "MemoryView", domain: str, embedder: int | None) -> ThresholdStatus:
    own, known = kept(view, domain), _known(view, domain)
    metrics = measure(known, own.temperature)
    now = values(view, domain)
    drifted = _drift(known, prior_of(LEARNED, domain, own))
    ece, brier = metrics.ece or 0.0, metrics.brier or 0.0
    return ThresholdStatus(
        sufficient_data=metrics.ece is not None,
        samples=len(known),
        note=_note(len(known)),
        domain=domain,
        thresholds={
            name: Value(now[name], prior_of(name, domain, own), _confidence(name, len(known))) for name in THRESHOLDS
        },
        calibration=metrics,
        drift_scores={LEARNED: drifted},
        should_recalibrate_level2=ece > 0.10,
        should_explore_level3=brier > 0.15,
        should_optimize_level4=(drifted or 0.0) > 3,
        adaptation={
            "temperature": own.temperature,
            "last_level": own.level,
            "last_at": own.at,
            "observations_used": own.observations,
        },
        embedder=None if embedder is None else _embedder(embedder, own),
    )


def _note(count: int) -> str:
    if count < FEWEST:
        return f"{INSUFFICIENT}: {count} of {FEWEST} observations; thresholds are their priors."
    return "How far similarities foretell which shown memories are used."


def _embedder(number: int, own: StoredThresholds) -> dict[str, Any]:
    space = SPACES[number - 1]
    # What is shown is ranked by E1 and E6 together, so a temperature is known for their similarity alone.
    temperature = own.temperature if space.id == "E1" else None
    return {"id": space.id, "name": space.name, "temperature": temperature, "poorly_calibrated": None}


def _confidence(name: str, count: int) -> float | None:
    return round(count / (count + ENOUGH), 4) if name == LEARNED and count else None


def _known(view: "MemoryView", domain: str) -> list[MemoryUse]:
    # General takes in everything: most memories name no domain.
    return observed(view).outcomes(None if domain == "General" else domain)


def metrics(view: "MemoryView", timeframe: str) -> CalibrationMetrics:
    since = view.service.context.clock() - TIMEFRAMES[timeframe]
    known = observed(view).outcomes(since=since)
    own = kept(view, "General")
    found = measure(known, own.temperature)
    kinds: dict[str, int] = {}
    for each in known:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    return CalibrationMetrics(
        sufficient_data=found.ece is not None,
        samples=len(known),
        note=_note(len(known)),
        timeframe=timeframe,
        metrics={
            name: {"value": getattr(found, name), "target": target, "acceptable": most}
            for name, (target, most) in _TARGETS.items()
        },
        calibration=found,
        outcomes=kinds,
        drift_scores={LEARNED: _drift(known, prior_of(LEARNED, "General", own))},
        recommendations=_advice(found),
    )


def _advice(found: Metrics) -> tuple[str, ...]:
    if found.ece is None:
        return ("Go on using the memory: what happens to shown memories is noted.",)
    sentences = []
    if found.ece > 0.10:
        sentences.append("trigger_recalibration with level 2 fits a temperature.")
    if (found.brier or 0.0) > 0.15:
        sentences.append("trigger_recalibration with level 3 or 4 moves the threshold.")
    return tuple(sentences)


def recalibrate(view: "MemoryView", level: int, domain: str) -> Recalibration:
    own, known = kept(view, domain), _known(view, domain)
    before = measure(known, own.temperature)
    if len(known) < FEWEST:
        return _recalibration(known, before, before, level, "skipped", values(view, domain))
    new = fitted(own, known, level, values(view, domain))
    new = msgspec.structs.replace(new, observations=len(known), level=level, at=view.changes.now())
    why = f"level {level} ({LEVELS[level]}) from {len(known)} observations"
    hash = CognitionRecords(view).update(_record(domain), StoredThresholds, lambda _: new, "trigger_recalibration", why)
    after = measure(known, new.temperature)
    return _recalibration(known, before, after, level, "recalibrated", values(view, domain), hash)


def fit(view: "MemoryView", known: list[MemoryUse], give_way: Callable[[], None]) -> StoredThresholds | None:
    """Temperature and threshold as all observations make them; None where nothing changes."""
    own, now = kept(view, "General"), values(view)
    new = fitted(fitted(own, known, 2, now, give_way), known, 4, now, give_way)
    if (new.learned, new.temperature) == (own.learned, own.temperature):
        return None
    return msgspec.structs.replace(new, observations=len(known), level=4)


def fit_in(view: "MemoryView", change: "ChangeWriter", new: StoredThresholds) -> None:
    """Write what was fitted as a part of a larger change."""
    stored = msgspec.structs.replace(new, at=change.at)
    CognitionRecords(view).update_in(change, _record("General"), StoredThresholds, lambda _: stored)


def _recalibration(
    known: list[MemoryUse],
    before: Metrics,
    after: Metrics,
    level: int,
    action: str,
    now: dict[str, float],
    hash: str | None = None,
) -> Recalibration:
    return Recalibration(
        sufficient_data=action != "skipped",
        samples=len(known),
        note=_note(len(known)),
        success=action != "skipped",
        recalibration={"level": level, "level_name": LEVELS[level], "action": action},
        metrics_before=before,
        metrics_after=after,
        observations_used=len(known) if action != "skipped" else 0,
        new_thresholds=now,
        reversal_hash=hash,
    )


def fitted(
    own: StoredThresholds,
    known: list[MemoryUse],
    level: int,
    now: dict[str, float],
    give_way: Callable[[], None] = lambda: None,
) -> StoredThresholds:
    """The thresholds as observations fit them: a temperature at level 2, else another threshold."""
    if level == 2:
        steps = [0.5 + 0.05 * at for at in range(51)]
        best = min(steps, key=lambda step: (_brier(known, step, give_way), abs(step - 1)))
        return msgspec.structs.replace(own, temperature=round(best, 2))
    theta = now[LEARNED]
    if level == 1:
        used = [each.similarity for each in known if each.actual >= 0.5]
        theta = _EWMA * sum(used) / len(used) + (1 - _EWMA) * theta if used else theta
    else:
        give_way()
        theta = _best_cut(known, theta, smoothed=level == 3)
    return msgspec.structs.replace(own, learned={**own.learned, LEARNED: ordered(LEARNED, theta, now)})


def _brier(known: list[MemoryUse], temperature: float, give_way: Callable[[], None]) -> float:
    give_way()
    return sum((calibrated(each.similarity, temperature) - each.actual) ** 2 for each in known) / len(known)


def _best_cut(known: list[MemoryUse], theta: float, *, smoothed: bool) -> float:
    """The threshold that tells used from unused memories best. Level 3 takes one of seven bins by the mean of
    Beta(right + 1, wrong + 1); level 4 looks at every hundredth. The nearest to the present one wins a tie."""
    about = THRESHOLDS[LEARNED]
    count = 7 if smoothed else round((about.high - about.low) * 100) + 1
    cuts = [about.low + (about.high - about.low) * at / (count - 1) for at in range(count)]

    def right(cut: float) -> int:
        return sum((each.similarity >= cut) == (each.actual >= 0.5) for each in known)

    return max(cuts, key=lambda cut: ((right(cut) + 1) / (len(known) + 2), -abs(cut - theta)))


def set_prior(view: "MemoryView", asked: ThresholdPrior) -> PriorSet:
    why = check_rationale(asked.rationale)
    about, own, now = THRESHOLDS[asked.threshold_type], kept(view, asked.domain), values(view, asked.domain)
    if not about.low <= asked.value <= about.high:
        raise InvalidArgument(
            f"The argument 'value' is {asked.value}; {about.low} to {about.high} is allowed for"
            f" '{asked.threshold_type}'.",
            hint="explain_threshold gives the range of each.",
        )
    if ordered(asked.threshold_type, asked.value, now) != round(asked.value, 4):
        pair = next(
            pair
            for pair in ORDER
            if asked.threshold_type in pair and ordered(asked.threshold_type, asked.value, now) != round(asked.value, 4)
        )
        raise InvalidArgument(
            f"The argument 'value' is {asked.value}, which breaks the order: '{pair[0]}' stays above '{pair[1]}'.",
            hint=f"The other one is {now[pair[0] if asked.threshold_type == pair[1] else pair[1]]} now.",
        )
    old = prior_of(asked.threshold_type, asked.domain, own)
    learned = {each: theta for each, theta in own.learned.items() if each != asked.threshold_type}
    new = msgspec.structs.replace(own, priors={**own.priors, asked.threshold_type: asked.value}, learned=learned)
    hash = None
    if new != own:
        hash = CognitionRecords(view).update(
            _record(asked.domain), StoredThresholds, lambda _: new, "set_threshold_prior", why
        )
    return PriorSet(
        threshold_type=asked.threshold_type,
        domain=asked.domain,
        old_prior=old,
        new_prior=asked.value,
        confidence_reset=asked.threshold_type in own.learned,
        reversal_hash=hash,
    )


def history(view: "MemoryView", name: str, since: str | None) -> ThresholdHistory:
    """List the changes of a threshold in every domain, the earliest first."""
    oldest = spelled_time(since)
    found: list[dict[str, Any]] = []
    for domain in STRICTNESS:
        for event in CognitionRecords(view).history(_record(domain)):
            before, after = (msgspec.convert(each or {}, StoredThresholds) for each in (event.before, event.after))
            old, new = (each.learned.get(name, prior_of(name, domain, each)) for each in (before, after))
            if oldest is not None and moment_of(event.at) < moment_of(oldest):
                continue
            entry = {
                "at": event.at,
                "domain": domain,
                "old": old,
                "new": new,
                "temperature": after.temperature,
                "actor": event.actor,
                "reason": event.reason,
            }
            if old != new or (name == LEARNED and before.temperature != after.temperature):
                found.append(entry)
    found.sort(key=lambda entry: entry["at"])
    return ThresholdHistory(
        threshold_type=name,
        history=tuple(found),
        drift_events=tuple(entry for entry in found if abs(entry["new"] - entry["old"]) >= 0.05),
        calibration_changes=tuple(entry for entry in found if entry["reason"].startswith("level ")),
    )


def explain(view: "MemoryView", name: str, domain: str) -> Explanation:
    own, now = kept(view, domain), values(view, domain)[name]
    prior, about = prior_of(name, domain, own), THRESHOLDS[name]
    count = len(_known(view, domain)) if name == LEARNED else 0
    learned = name in own.learned
    how = (
        f"learned at level {own.level} from {own.observations} observations"
        if learned
        else "its prior was set by hand"
        if name in own.priors
        else f"the usual prior for {domain}, of strictness {STRICTNESS[domain]}"
    )
    can = (
        "" if name == LEARNED else " What happens to shown memories tells nothing about this one, so it is not learned."
    )
    return Explanation(
        sufficient_data=count >= FEWEST,
        samples=count,
        note=_note(count) if name == LEARNED else f"{INSUFFICIENT}: it cannot be learned from shown memories.",
        threshold_type=name,
        domain=domain,
        value=now,
        prior=prior,
        learned_delta=round(now - prior, 4) if learned else None,
        confidence=_confidence(name, count),
        observations=count,
        range=(about.low, about.high),
        rationale=f"{name} is {now}: {how}.{can}",
    )
