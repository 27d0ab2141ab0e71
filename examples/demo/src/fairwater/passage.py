"""When a vessel may cross the bar."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise

from fairwater.curve import moment_at
from fairwater.tables import TideTable

LEAST_MARGIN = 0.2
"""Metres. Below this a ripple decides, and Fairwater will not plan on ripples."""

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Window:
    """A period with enough water, both ends included."""

    begins: datetime
    ends: datetime


# Implements: REQ-d00004-A+B, REQ-o00003-A, REQ-0001
def height_needed(draught: float, margin: float, bar_depth: float) -> float:
    """The tide, in metres above chart datum, that floats this vessel over the bar with its margin."""
    if not draught > 0:
        raise ValueError(f"a draught of {draught:g} m is not a boat; give metres below the waterline, such as 1.8")
    if not margin >= LEAST_MARGIN:
        raise ValueError(f"a margin of {margin:g} m is too small; the least is {LEAST_MARGIN:g} m")
    return draught + margin - bar_depth


# Implements: REQ-d00003-A+B+C, REQ-o00001-A
def windows(table: TideTable, day: date, needed: float) -> tuple[Window, ...]:
    """Every longest period of the day with at least the height needed, earliest first."""
    periods = (_within(day, begins, ends) for begins, ends in _joined(_stretches(table, needed)))
    return tuple(window for window in periods if window)


# Implements: REQ-p00001-B
def covered(table: TideTable, day: date) -> Window | None:
    """The part of the day that the table knows anything about."""
    return _within(day, table.extremes[0].time, table.extremes[-1].time)


def _within(day: date, begins: datetime, ends: datetime) -> Window | None:
    midnight = datetime.combine(day, time())
    window = Window(_up_to_minute(max(begins, midnight)), _down_to_minute(min(ends, midnight + timedelta(days=1))))
    return window if window.begins < window.ends else None


def _stretches(table: TideTable, needed: float) -> Iterator[tuple[datetime, datetime]]:
    """For each leg from turn to turn, the part of it that is high enough. A leg only rises or only falls."""
    for before, after in pairwise(table.extremes):
        if min(before.height, after.height) >= needed:
            yield before.time, after.time
        elif crossing := moment_at(before, after, needed):
            rises = after.height > before.height
            yield (crossing, after.time) if rises else (before.time, crossing)


def _joined(stretches: Iterator[tuple[datetime, datetime]]) -> Iterator[tuple[datetime, datetime]]:
    """Stretches that touch at a turn of the tide are one period to a skipper."""
    current: tuple[datetime, datetime] | None = None
    for begins, ends in stretches:
        if current and current[1] == begins:
            current = (current[0], ends)
        else:
            if current:
                yield current
            current = (begins, ends)
    if current:
        yield current


def _up_to_minute(moment: datetime) -> datetime:
    whole = _down_to_minute(moment)
    return whole if whole == moment else whole + MINUTE


def _down_to_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)
