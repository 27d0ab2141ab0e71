"""Thirteen coupled oscillators, one for each space: a picture of how far the spaces agree.

The order parameter r is measured, not simulated: it is that of the phases in `agreement`. The simulation (Kuramoto's
equations with frequencies divided by their mean) answers only what another coupling would do to these phases.
"""

import math
from typing import TYPE_CHECKING

from clew.errors import InvalidArgument
from clew.memory.cognition.agreement import order, phases
from clew.memory.cognition.records import INSUFFICIENT, CognitionRecords, SampledAnswer
from clew.memory.navigation.spaces import SPACES

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

COHERENT, FRAGMENTED, HYPERSYNC = 0.8, 0.5, 0.95
COUPLING = 2.0
_STRONGEST = 10.0
RECORD = "coupling"
_HERTZ = (40.0, 8.0, 8.0, 8.0, 25.0, 4.0, 25.0, 12.0, 80.0, 40.0, 15.0, 60.0, 4.0)
_MEAN = sum(_HERTZ) / len(_HERTZ)
FREQUENCIES = {space.id: hertz / _MEAN for space, hertz in zip(SPACES, _HERTZ, strict=True)}
"""Divided by their mean: with the raw values no coupling up to 10 brings them together."""
_STEP, _STEPS = 0.01, 1_000


class Sync(SampledAnswer, frozen=True, kw_only=True):
    r: float | None
    """From 0 to 1: 1 where all spaces order memories alike."""
    psi: float | None
    synchronization: float | None
    state: str
    phases: tuple[float | None, ...]
    """For each of the thirteen spaces; null where it did not take part."""
    natural_freqs: tuple[float, ...]
    coupling: float
    elapsed_seconds: float | None
    """Since the last question."""
    embedding_labels: tuple[str, ...]
    thresholds: dict[str, float]


class Coupled(SampledAnswer, frozen=True, kw_only=True):
    old_K: float  # noqa: N815
    new_K: float  # noqa: N815
    K_clamped: bool
    current_r: float | None
    predicted_r: float | None
    """The mean r of the second half of ten simulated seconds, from the phases as they are now."""
    reversal_hash: str | None


def synchronization(view: "MemoryView") -> tuple[float | None, dict[str, float], int]:
    """r of the last questions, the phases, and how many questions they come from."""
    questions = [each for each in view.service.questions.last(view.viewer.session) if each.agreement()]
    angles = phases(questions)
    return (order(list(angles.values()))[0] if len(angles) > 1 else None), angles, len(questions)


def sync(view: "MemoryView") -> Sync:
    r, angles, samples = synchronization(view)
    last = view.service.questions.last(view.viewer.session)
    return Sync(
        sufficient_data=r is not None,
        samples=samples,
        note=missing_questions(r),
        r=_rounded(r),
        psi=_rounded(order(list(angles.values()))[1]) if r is not None else None,
        synchronization=_rounded(r),
        state=state_of(r),
        phases=tuple(_rounded(angles.get(space.id)) for space in SPACES),
        natural_freqs=tuple(round(FREQUENCIES[space.id], 4) for space in SPACES),
        coupling=coupling(view),
        elapsed_seconds=(
            round(max((view.service.context.clock() - last[-1].at).total_seconds(), 0.0), 3) if last else None
        ),
        embedding_labels=tuple(f"{space.id} {space.name}" for space in SPACES),
        thresholds={"coherent": COHERENT, "fragmented": FRAGMENTED, "hypersync": HYPERSYNC},
    )


def missing_questions(r: float | None) -> str:
    if r is None:
        return f"{INSUFFICIENT}: no question of this session has shown three memories that two spaces can order."
    return "How far the spaces order the memories of the last questions of this session as the answers did."


def state_of(r: float | None) -> str:
    if r is None:
        return INSUFFICIENT
    if r > HYPERSYNC:
        return "hypersync"
    return "coherent" if r >= COHERENT else "partial" if r >= FRAGMENTED else "fragmented"


def coupling(view: "MemoryView") -> float:
    kept = CognitionRecords(view).get(RECORD, float)
    return COUPLING if kept is None else kept


def adjust_coupling(view: "MemoryView", wanted: float) -> Coupled:
    if not math.isfinite(wanted):
        raise InvalidArgument(f"The argument 'new_K' is {wanted}; a number is allowed.", hint="Pass 0 to 10.")
    old, new = coupling(view), min(max(wanted, 0.0), _STRONGEST)
    r, angles, samples = synchronization(view)
    hash = None
    if new != old:
        hash = CognitionRecords(view).update(
            RECORD, float, lambda _: new, "adjust_coupling", f"coupling {old:g} to {new:g}"
        )
    return Coupled(
        sufficient_data=r is not None,
        samples=samples,
        note=missing_questions(r),
        old_K=old,
        new_K=new,
        K_clamped=new != wanted,
        current_r=_rounded(r),
        predicted_r=_rounded(simulated(angles, new)) if r is not None else None,
        reversal_hash=hash,
    )


def simulated(start: dict[str, float], strength: float) -> float:
    """The mean r of the second half of ten seconds of Kuramoto's equations."""
    spaces, angles = list(start), list(start.values())
    total = 0.0
    for step in range(_STEPS):
        r, psi = order(angles)
        if step >= _STEPS // 2:
            total += r
        # The sum over all others is r times the sine of the distance to the mean phase.
        angles = [
            angle + _STEP * (FREQUENCIES[space] + strength * r * math.sin(psi - angle))
            for space, angle in zip(spaces, angles, strict=True)
        ]
    return total / (_STEPS - _STEPS // 2)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
