"""Four named knobs with a range, a baseline and a decay.

Three of them touch the ranking of search_graph, in the profile of Context Graph only; at their baselines they change
nothing.

| knob | higher means |
|---|---|
| dopamine | a sharper ranking: scores lie further apart |
| serotonin | more spaces count: above its baseline, what the other spaces say is added to the score |
| noradrenaline | a flatter ranking: scores lie closer together |
| acetylcholine | larger steps when weights are learned; it cannot be set |

A change fades by itself: what is left of it after t seconds is the share exp(-decay * t). Rewards of stores, searches
that find nothing and memories that enter the workspace change levels too, which is shown; the ranking follows only
what was set with adjust_neuromodulator.
"""

import math
import threading
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from clew.errors import InvalidArgument
from clew.memory.cognition.agreement import as_memory
from clew.memory.cognition.records import CognitionRecords
from clew.memory.model import Memory
from clew.memory.navigation.spaces import SPACES, PairContext
from clew.memory.storage.changes import moment_of
from clew.operation.declare import Toolset

if TYPE_CHECKING:
    from clew.memory.recall.ranking import RecalledMemory
    from clew.memory.service import MemoryView
    from clew.memory.storage.changes import ChangeWriter
    from clew.operation.call import Call

Settable = Literal["dopamine", "serotonin", "noradrenaline"]


class Modulator(msgspec.Struct, frozen=True):
    low: float
    baseline: float
    high: float
    decay: float
    """Per second."""
    parameter: str


MODULATORS: dict[str, Modulator] = {
    "dopamine": Modulator(1.0, 3.0, 5.0, 0.05, "sharpness of the ranking"),
    "serotonin": Modulator(0.0, 0.5, 1.0, 0.02, "weight of the spaces beside words and meaning"),
    "noradrenaline": Modulator(0.5, 1.0, 2.0, 0.1, "flatness of the ranking"),
    "acetylcholine": Modulator(0.001, 0.001, 0.002, 0.1, "learning rate of the weights"),
}
RECORD = "modulators"
_SET = "adjust_neuromodulator"
_KEPT = 50
_NEUTRAL = 0.01
_RANKING = ("E1", "E6", "E13")
_NOBODY: frozenset[str] = frozenset()


class Adjustment(msgspec.Struct, frozen=True):
    at: str
    session: str | None
    modulator: str
    delta: float
    cause: str


class ModulatorLevel(msgspec.Struct, frozen=True, kw_only=True):
    level: float
    range: dict[str, float]
    parameter: str
    read_only: bool
    last_change: str | None
    last_cause: str | None
    changes: int
    """Number of changes behind it; with none it is its baseline."""


class Neuromodulation(msgspec.Struct, frozen=True, kw_only=True):
    modulators: dict[str, ModulatorLevel]
    space_weights: tuple[float, ...]
    """By what each of the thirteen spaces counts in the ranking, as serotonin makes it."""
    derived_parameters: dict[str, float | bool]
    neutral: bool
    """True if modulators do not change the ranking."""
    session_id: str | None


class Adjusted(msgspec.Struct, frozen=True, kw_only=True):
    modulator: str
    old_level: float
    new_level: float
    delta_requested: float
    delta_applied: float
    clamped: bool
    range: dict[str, float]
    reversal_hash: str | None


class SessionAdjustments:
    """The adjustments of modulators that nobody asked for, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Adjustment] = deque(maxlen=_KEPT)

    def note(self, at: str, session: str | None, modulator: str, delta: float, cause: str) -> None:
        if delta:
            with self._lock:
                self._kept.append(Adjustment(at, session, modulator, delta, cause))

    def last(self) -> list[Adjustment]:
        with self._lock:
            return list(self._kept)


def note_reward(view: "MemoryView", value: float) -> None:
    """A good store raises dopamine, a bad one lowers it by half as much."""
    delta = value * 0.2 if value > 0 else value * 0.1
    view.service.adjustments.note(
        view.changes.now(), view.viewer.session, "dopamine", delta, f"reward {value:+.2f} of a store"
    )


def note_search(view: "MemoryView", found: int) -> None:
    """A search that finds nothing asks for looking around."""
    if not found:
        view.service.adjustments.note(
            view.changes.now(), view.viewer.session, "noradrenaline", 0.5, "a search that found nothing"
        )


def levels(view: "MemoryView", *, only_set: bool = False) -> dict[str, ModulatorLevel]:
    """The modulators of the viewer's session as they are now; with `only_set`, those that were set."""
    now = view.service.context.clock()
    kept = CognitionRecords(view).get(RECORD, tuple[Adjustment, ...]) or ()
    own = [each for each in (*kept, *view.service.adjustments.last()) if each.session == view.viewer.session]
    own = [each for each in own if not only_set or each.cause == _SET]
    found = {name: _level(name, [each for each in own if each.modulator == name], now) for name in MODULATORS}
    return _cascaded(found)


def _level(name: str, changes: Sequence[Adjustment], now: datetime) -> ModulatorLevel:
    about = MODULATORS[name]
    left = sum(each.delta * _left(each, about, now) for each in changes)
    last = max(changes, key=lambda each: each.at, default=None)
    return ModulatorLevel(
        level=round(min(max(about.baseline + left, about.low), about.high), 6),
        range={"min": about.low, "baseline": about.baseline, "max": about.high},
        parameter=about.parameter,
        read_only=name == "acetylcholine",
        last_change=last.at if last else None,
        last_cause=last.cause if last else None,
        changes=len(changes),
    )


def _left(change: Adjustment, about: Modulator, now: datetime) -> float:
    seconds = max((now - moment_of(change.at)).total_seconds(), 0.0)
    return math.exp(-about.decay * seconds)


def _cascaded(found: dict[str, ModulatorLevel]) -> dict[str, ModulatorLevel]:
    """Much dopamine brings some serotonin, little takes some away."""
    dopamine = found["dopamine"].level
    shift = 0.05 if dopamine > 4 else -0.05 if dopamine < 2 else 0.0
    serotonin = found["serotonin"]
    level = min(max(serotonin.level + shift, 0.0), 1.0)
    return {**found, "serotonin": msgspec.structs.replace(serotonin, level=round(level, 6))}


def state(view: "MemoryView") -> Neuromodulation:
    now, set_ = levels(view), levels(view, only_set=True)
    return Neuromodulation(
        modulators=now,
        space_weights=tuple(1.0 if space.id in _RANKING else round(_breadth(set_), 4) for space in SPACES),
        derived_parameters={
            "beta": now["dopamine"].level,
            "attention_temp": now["noradrenaline"].level,
            "learning_rate": now["acetylcholine"].level,
            "spread": round(_spread(set_), 4),
            "is_alert": now["noradrenaline"].level > 1.5,
            "is_learning_elevated": now["acetylcholine"].level > 0.001,
        },
        neutral=_is_neutral(set_),
        session_id=view.viewer.session,
    )


def adjust(view: "MemoryView", name: Settable, delta: float) -> Adjusted:
    if not math.isfinite(delta):
        raise InvalidArgument(f"The argument 'delta' is {delta}; a number is allowed.", hint="Pass such as 0.5.")
    about, old = MODULATORS[name], levels(view)[name].level
    new = min(max(old + delta, about.low), about.high)
    hash = None
    if new != old:
        made = Adjustment(view.changes.now(), view.viewer.session, name, new - old, _SET)
        hash = CognitionRecords(view).update(
            RECORD,
            tuple[Adjustment, ...],
            lambda kept: (*(kept or ()), made)[-_KEPT:],
            "adjust_neuromodulator",
            f"{name} {old:.3f} to {new:.3f}",
        )
    return Adjusted(
        modulator=name,
        old_level=round(old, 6),
        new_level=round(new, 6),
        delta_requested=delta,
        delta_applied=round(new - old, 6),
        clamped=new != old + delta,
        range={"min": about.low, "baseline": about.baseline, "max": about.high},
        reversal_hash=hash,
    )


def raise_in(view: "MemoryView", change: "ChangeWriter", name: str, delta: float, cause: str) -> None:
    """Change a modulator as a part of a larger change."""
    made = Adjustment(change.at, view.viewer.session, name, delta, cause)
    kept = lambda before: (*(before or ()), made)[-_KEPT:]  # noqa: E731
    CognitionRecords(view).update_in(change, RECORD, tuple[Adjustment, ...], kept)


def _spread(now: dict[str, ModulatorLevel]) -> float:
    """The factor on distances between scores; 1 at the baselines."""
    return now["dopamine"].level / MODULATORS["dopamine"].baseline / now["noradrenaline"].level


def _breadth(now: dict[str, ModulatorLevel]) -> float:
    return max(now["serotonin"].level - MODULATORS["serotonin"].baseline, 0.0) * 2


def _is_neutral(now: dict[str, ModulatorLevel]) -> bool:
    return abs(_spread(now) - 1) < _NEUTRAL and _breadth(now) < _NEUTRAL


def is_profile(call: "Call") -> bool:
    """True if the caller uses the profile of Context Graph, in which modulators count."""
    return all(tool.toolset in (Toolset.MEMORY, Toolset.COGNITION) for tool in call.tools)


def modulated(view: "MemoryView", query: str, ranked: "list[RecalledMemory]") -> "list[RecalledMemory]":
    """The ranking adjusted by the modulators of the session. Current memories stay before others."""
    now = levels(view, only_set=True)
    if not ranked or _is_neutral(now):
        return ranked
    mean = sum(each.score for each in ranked) / len(ranked)
    spread, breadth = _spread(now), _breadth(now)
    asked = as_memory(query, view.changes.now())
    scored: list[RecalledMemory] = []
    for each in ranked:
        score = mean + (each.score - mean) * spread + breadth * _others(asked, each)
        scored.append(msgspec.structs.replace(each, score=score))
    places = {standing: place for place, standing in enumerate(("current", "stale", "superseded"))}
    return sorted(scored, key=lambda each: (places[each.standing], -each.score))


def _others(asked: Memory, ranked: "RecalledMemory") -> float:
    """The mean of the spaces that do not rank."""
    values = [
        value
        for space in SPACES
        if space.id not in _RANKING
        and (value := space.compare(asked, ranked.memory, PairContext(None, None, _NOBODY, _NOBODY))) is not None
    ]
    return sum(values) / len(values) if values else 0.0
