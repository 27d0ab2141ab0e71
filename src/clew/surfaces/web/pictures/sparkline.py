"""How many calls there were in each minute, as bars."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

MINUTES = 60
BAR, GAP, HEIGHT = 8, 2, 48


class Bar(msgspec.Struct, frozen=True):
    x: int
    y: int
    height: int
    minute: str
    count: int


class Sparkline(msgspec.Struct, frozen=True):
    bars: tuple[Bar, ...]
    most: int
    total: int
    width: int = MINUTES * (BAR + GAP)
    height: int = HEIGHT


def sparkline(times: Sequence[str], now: datetime | None = None) -> Sparkline:
    """Of the last hour; `times` are ISO 8601."""
    end = (now or datetime.now(UTC)).replace(second=0, microsecond=0)
    first = end - timedelta(minutes=MINUTES - 1)
    counts = [0] * MINUTES
    for time in times:
        place = int((datetime.fromisoformat(time) - first).total_seconds() // 60)
        if 0 <= place < MINUTES:
            counts[place] += 1
    most = max(counts)
    bars = []
    for place, count in enumerate(counts):
        height = round(count / most * (HEIGHT - 2)) if most else 0
        minute = f"{first + timedelta(minutes=place):%H:%M}"
        bars.append(Bar(place * (BAR + GAP), HEIGHT - max(height, 1), max(height, 1), minute, count))
    return Sparkline(tuple(bars), most, sum(counts))
