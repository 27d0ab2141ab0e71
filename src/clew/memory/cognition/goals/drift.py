"""Drift: how far what was stored lately is from what the memory was about.

In each space, the mean similarity of the recent memories to the reference is divided by that of the reference to
itself: 1 means that the new ones fit in as well as the old ones do. The reference is the goal where there is one, else
what was stored before. The whole is the mean over the spaces that look at what memories say; when something was written
down says nothing about what it is about.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import NotFound
from clew.memory.cognition.compare import TIMES, Comparer, Values, rounded
from clew.memory.cognition.goals.goals import Goal, exemplars, north_star, shared
from clew.memory.cognition.goals.requests import DriftHistoryQuery, DriftQuery
from clew.memory.cognition.records import INSUFFICIENT, CognitionRecords, SampledAnswer
from clew.memory.model import Memory
from clew.memory.navigation.spaces import SPACES
from clew.memory.storage.changes import spelled

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

SPANS = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "all": timedelta(days=364),
}
_LEVELS = ((0.85, "none"), (0.70, "low"), (0.55, "medium"), (0.40, "high"), (0.0, "critical"))
_RECENT, _REFERENCE = 10, 5
_FEWEST = 3
_BINS = 6


class SpaceDrift(msgspec.Struct, frozen=True):
    space: str
    similarity: float | None
    drift_score: float | None
    level: str


class DriftAdvice(msgspec.Struct, frozen=True):
    embedder: str
    priority: str
    issue: str
    suggestion: str


class Trend(msgspec.Struct, frozen=True):
    direction: str
    velocity: float | None
    """Change of the similarity from one span to the next."""
    samples: int
    projected_critical_in: float | None
    """In how many spans it would be critical at this pace."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    since: str
    until: str
    analyzed: int
    similarity: float | None
    drift_score: float | None
    delta: float | None = None
    per_embedder: Values | None = None


class Drift(SampledAnswer, frozen=True, kw_only=True):
    overall_drift: dict[str, Any]
    per_embedder_drift: tuple[SpaceDrift, ...]
    most_drifted_embedders: tuple[str, ...]
    recommendations: tuple[DriftAdvice, ...]
    trend: Trend
    reference_type: str
    analyzed_count: int
    history: tuple[Point, ...] = ()
    truncated: bool = False


class DriftHistory(SampledAnswer, frozen=True, kw_only=True):
    history: tuple[Point, ...]
    trend: Trend
    summary: str
    goal_id: str | None
    truncated: bool = False


class GoalCorrection(SampledAnswer, frozen=True, kw_only=True):
    correction_result: dict[str, Any] | None
    before_state: dict[str, Any]
    after_state: dict[str, Any]
    skipped: bool
    reason: str
    reversal_hash: str | None = None


class _Reference:
    """The older memories with which recent ones are compared."""

    def __init__(self, view: "MemoryView", before: datetime) -> None:
        self._view = view
        self._library = shared(view)
        goal = exemplars(view, north_star(view))
        self.kind = "north_star" if len(goal) >= 2 else "earlier memories"
        earlier = self._between("", spelled(before), _REFERENCE) if len(goal) < 2 else []
        self.memories = goal if len(goal) >= 2 else earlier
        self._usual: Values | None = None
        """Similarity of the memories among themselves."""

    def _between(self, since: str, until: str, limit: int) -> list[Memory]:
        rows = self._library.index.recorded(self._library.viewer, since, until, limit)
        return list(self._library.get_many(row.id for row in rows).values())

    def compared(self, since: datetime, until: datetime) -> tuple[Values | None, int]:
        """The similarity of what was stored in a span to the reference, and how many memories that is."""
        return self.similarity(self._between(spelled(since), spelled(until), _RECENT))

    def similarity(self, recent: Sequence[Memory]) -> tuple[Values | None, int]:
        own = [memory for memory in recent if memory.id not in {each.id for each in self.memories}]
        if len(own) < _FEWEST or len(self.memories) < 2:
            return None, len(own)
        comparer = Comparer(self._view, [*own, *self.memories])
        if self._usual is None:
            self._usual = comparer.mean(self.memories, self.memories)[0]
        usual, found = self._usual, comparer.mean(own, self.memories)[0]
        return tuple(
            min(value / base, 1.0) if value is not None and base else None
            for value, base in zip(found, usual, strict=True)
        ), len(own)


def drift(view: "MemoryView", asked: DriftQuery) -> Drift:
    now = view.service.context.clock()
    reference = _Reference(view, now - SPANS[asked.timeframe])
    if asked.memory_ids:
        library = shared(view)
        values, count = reference.similarity([library.get(id) for id in dict.fromkeys(asked.memory_ids)])
    else:
        values, count = reference.compared(now - SPANS[asked.timeframe], now + timedelta(seconds=1))
    points = (
        _points(reference, now, SPANS[asked.timeframe], _BINS if asked.include_history else 2)
        if not asked.memory_ids
        else ()
    )
    overall = whole(values)
    spaces = tuple(_space_drift(space.id, value) for space, value in zip(SPACES, values or (), strict=False))
    drifted = sorted(
        (each for each in spaces if each.drift_score and each.space not in TIMES),
        key=lambda each: -(each.drift_score or 0),
    )[:3]
    return Drift(
        sufficient_data=overall is not None,
        samples=count,
        note=_note(overall, count, len(reference.memories)),
        overall_drift=_overall(overall),
        per_embedder_drift=spaces,
        most_drifted_embedders=tuple(each.space for each in drifted),
        recommendations=tuple(_recommended(each) for each in drifted if each.level in ("high", "critical")),
        trend=_trend([point.similarity for point in points]),
        reference_type=reference.kind,
        analyzed_count=count,
        history=points if asked.include_history else (),
    )


def whole(values: Values | None) -> float | None:
    present = [
        value for space, value in zip(SPACES, values or (), strict=False) if value is not None and space.id not in TIMES
    ]
    return sum(present) / len(present) if present else None


def level_of(similarity: float | None) -> str:
    if similarity is None:
        return INSUFFICIENT
    return next(name for least, name in _LEVELS if similarity >= least)


def _overall(similarity: float | None) -> dict[str, Any]:
    return {
        "level": level_of(similarity),
        "similarity": None if similarity is None else round(similarity, 4),
        "drift_score": None if similarity is None else round(1 - similarity, 4),
        "has_drifted": None if similarity is None else similarity < _LEVELS[0][0],
    }


def _space_drift(space: str, value: float | None) -> SpaceDrift:
    if value is None:
        return SpaceDrift(space, None, None, INSUFFICIENT)
    return SpaceDrift(space, round(value, 4), round(1 - value, 4), level_of(value))


def _recommended(drifted: SpaceDrift) -> DriftAdvice:
    name = next(space.purpose for space in SPACES if space.id == drifted.space)
    return DriftAdvice(
        embedder=drifted.space,
        priority="high" if drifted.level == "critical" else "medium",
        issue=f"{name}: {drifted.similarity} of what is usual",
        suggestion="If the work really moved on, trigger_drift_correction takes the new topic as the goal.",
    )


def _note(overall: float | None, count: int, references: int) -> str:
    if overall is None:
        return (
            f"{INSUFFICIENT}: {count} memories of this time and {references} to compare them with; {_FEWEST} and 2 are"
            " needed."
        )
    return "How like the reference the memories of this time are, against how alike it is itself."


def _points(reference: _Reference, now: datetime, span: timedelta, count: int) -> tuple[Point, ...]:
    """The similarity of each of the last spans, the earliest first."""
    found: list[Point] = []
    for back in range(count, 0, -1):
        since, until = now - span * back, now - span * (back - 1)
        values, analyzed = reference.compared(since, until + timedelta(seconds=back == 1))
        similarity = whole(values)
        before = found[-1].similarity if found else None
        found.append(
            Point(
                since=spelled(since),
                until=spelled(until),
                analyzed=analyzed,
                similarity=None if similarity is None else round(similarity, 4),
                drift_score=None if similarity is None else round(1 - similarity, 4),
                delta=None if similarity is None or before is None else round(similarity - before, 4),
                per_embedder=None if values is None else rounded(values),
            )
        )
    return tuple(found)


def _trend(similarities: Sequence[float | None]) -> Trend:
    present = [value for value in similarities if value is not None]
    if len(present) < 2:
        return Trend(INSUFFICIENT, None, len(present), None)
    velocity = (present[-1] - present[0]) / (len(present) - 1)
    direction = "improving" if velocity > 0.02 else "worsening" if velocity < -0.02 else "stable"
    critical = max(present[-1] - _LEVELS[3][0], 0.0) / -velocity if velocity < -0.02 else None
    return Trend(direction, round(velocity, 4), len(present), None if critical is None else round(critical, 2))


def history(view: "MemoryView", asked: DriftHistoryQuery) -> DriftHistory:
    """The drift of each of the equal spans that a time is made of."""
    goal = north_star(view)
    if asked.goal_id is not None and (goal is None or goal.goal_id != asked.goal_id):
        raise NotFound(
            f"There is no goal '{asked.goal_id[:80]}'.", hint="get_autonomous_status gives the id of the goal."
        )
    now, count = view.service.context.clock(), min(asked.limit, _BINS if asked.time_range != "all" else 52)
    span = SPANS[asked.time_range] / (_BINS if asked.time_range != "all" else 52)
    points = tuple(
        msgspec.structs.replace(
            point,
            per_embedder=point.per_embedder if asked.include_per_embedder else None,
            delta=point.delta if asked.compute_deltas else None,
        )
        for point in _points(_Reference(view, now - SPANS[asked.time_range]), now, span, count)
        if point.analyzed
    )
    trend = _trend([point.similarity for point in points])
    measured = [point for point in points if point.similarity is not None]
    return DriftHistory(
        sufficient_data=len(measured) > 1,
        samples=sum(point.analyzed for point in points),
        note=("" if len(measured) > 1 else f"{INSUFFICIENT}: ")
        + f"{len(measured)} of {count} spans have the {_FEWEST} memories that are needed.",
        history=points,
        trend=trend,
        summary=f"{trend.direction} over {len(measured)} spans of {span}",
        goal_id=goal.goal_id if goal else None,
    )


def correct(view: "MemoryView", target: float | None, *, force: bool) -> GoalCorrection:
    """Take what is stored now as a part of the goal, where the work has moved on. Memories stay as they are."""
    goal, state = north_star(view), drift(view, DriftQuery(timeframe="7d"))
    before = {"goal": goal.goal_id if goal else None, **state.overall_drift}
    similarity = state.overall_drift["similarity"]
    reason = _refusal(goal, similarity, target, force=force)
    if reason is not None or goal is None:
        return _skipped(state, before, reason or "")
    library, now = shared(view), view.service.context.clock()
    rows = library.index.recorded(
        library.viewer, spelled(now - SPANS["7d"]), spelled(now + timedelta(seconds=1)), _RECENT
    )
    new = [row.id for row in rows if row.id not in goal.exemplars][:_REFERENCE]
    if not new:
        return _skipped(state, before, f"{INSUFFICIENT}: nothing new was stored in seven days.")
    moved = msgspec.structs.replace(goal, exemplars=(*goal.exemplars[: _REFERENCE - len(new[:3])], *new[:3]))
    hash = CognitionRecords(view).update(
        "north star", Goal, lambda _: moved, "trigger_drift_correction", "the work moved on"
    )
    after = drift(view, DriftQuery(timeframe="7d")).overall_drift
    gained = (after["similarity"] or 0.0) - (similarity or 0.0)
    return GoalCorrection(
        sufficient_data=True,
        samples=state.samples,
        note="Three of the memories that represent the goal were replaced by the latest ones.",
        correction_result={
            "strategy_applied": "goal_reinforcement",
            "alignment_before": similarity,
            "alignment_after": after["similarity"],
            "improvement": round(gained, 4),
            "success": gained >= 0.01,
        },
        before_state=before,
        after_state={"goal": goal.goal_id, **after},
        skipped=False,
        reason="",
        reversal_hash=hash,
    )


def _refusal(goal: Goal | None, similarity: float | None, target: float | None, *, force: bool) -> str | None:
    if goal is None:
        return f"{INSUFFICIENT}: there is no goal; auto_bootstrap_north_star finds one."
    if similarity is None:
        return f"{INSUFFICIENT}: too few memories of the last seven days."
    wanted = _LEVELS[0][0] if target is None else target
    if similarity >= wanted and not force:
        return f"No drift: {similarity} is at least {wanted}."
    return None


def _skipped(state: Drift, before: dict[str, Any], reason: str) -> GoalCorrection:
    return GoalCorrection(
        sufficient_data=state.sufficient_data,
        samples=state.samples,
        note=reason,
        correction_result=None,
        before_state=before,
        after_state=before,
        skipped=True,
        reason=reason,
    )
