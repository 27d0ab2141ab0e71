"""The height of the tide between two turns.

The curve is half a cosine wave. Why it is that and not the rule of twelfths: docs/decisions/0001-cosine-curve.md.
"""

from bisect import bisect_right
from datetime import datetime, timedelta
from math import acos, cos, pi

from fairwater.tables import Extreme, TideTable


class OutsideTable(LookupError):
    """The table says nothing about this moment."""


# Implements: REQ-d00002-A+B+C
def height_at(table: TideTable, when: datetime) -> float:
    """Metres above chart datum."""
    extremes = table.extremes
    if not extremes[0].time <= when <= extremes[-1].time:
        raise OutsideTable(f"{table.name} covers {extremes[0].time} to {extremes[-1].time}, not {when}")
    index = min(bisect_right(extremes, when, key=lambda extreme: extreme.time), len(extremes) - 1)
    before, after = extremes[index - 1], extremes[index]
    share = (when - before.time) / (after.time - before.time)
    middle, swing = (before.height + after.height) / 2, (before.height - after.height) / 2
    return middle + swing * cos(pi * share)


def moment_at(before: Extreme, after: Extreme, height: float) -> datetime | None:
    """When the tide passes a height on its way from one turn to the next; None if it never does."""
    low, high = sorted((before.height, after.height))
    if not low <= height <= high:
        return None
    middle, swing = (before.height + after.height) / 2, (before.height - after.height) / 2
    share = acos(max(-1.0, min(1.0, (height - middle) / swing))) / pi
    return before.time + timedelta(seconds=share * (after.time - before.time).total_seconds())
