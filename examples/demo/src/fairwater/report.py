"""A plan in words for people and in JSON for programs."""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from textwrap import wrap

from fairwater.passage import Window

WIDTH = 72


@dataclass(frozen=True, slots=True)
class Plan:
    place: str
    table: str
    day: date
    draught: float
    margin: float
    covered: Window | None
    """The part of the day the table knows; None if it knows nothing of it."""
    windows: tuple[Window, ...]


# Implements: REQ-d00006-A+B, REQ-o00001-B
def as_text(plan: Plan) -> str:
    lines = [
        f"{plan.place}, {plan.day:%a %d %b %Y}: draught {plan.draught:g} m, margin {plan.margin:g} m ({plan.table})"
    ]
    for window in plan.windows:
        minutes = int((window.ends - window.begins).total_seconds()) // 60
        lines.append(f"  {_clock(window, plan.day)}  ({minutes // 60} h {minutes % 60:02d} min)")
    if not plan.covered:
        lines.append("  no window: the table does not cover this day")
    elif not plan.windows:
        lines.append("  no window: there is not enough water on this day")
    if plan.covered and plan.covered.ends - plan.covered.begins < timedelta(days=1):
        lines.append(f"  (the table covers this day only from {_clock(plan.covered, plan.day)})")
    return "\n".join(_narrow(lines))


def _clock(window: Window, day: date) -> str:
    ends = "24:00" if window.ends.date() > day else f"{window.ends:%H:%M}"
    return f"{window.begins:%H:%M} to {ends}"


# Implements: REQ-d00006-C
def _narrow(lines: list[str]) -> list[str]:
    """The chart table's printer is 72 columns wide."""
    return [part for line in lines for part in wrap(line, WIDTH, subsequent_indent="    ", drop_whitespace=True)]


# Implements: REQ-d00007-A+B
def as_json(plan: Plan) -> str:
    def period(window: Window) -> dict[str, str]:
        return {"begins": window.begins.isoformat(), "ends": window.ends.isoformat()}

    return json.dumps(
        {
            "place": plan.place,
            "table": plan.table,
            "date": plan.day.isoformat(),
            "draught": plan.draught,
            "margin": plan.margin,
            "covered": period(plan.covered) if plan.covered else None,
            "windows": [period(window) for window in plan.windows],
        },
        indent=2,
    )
