"""Tide tables: the high and low waters of one harbour, as its office publishes them."""

from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from pathlib import Path

KINDS = ("high", "low")


class TableError(ValueError):
    """A tide table that cannot be true. The message begins with the file and the line that shows it."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """One turn of the tide."""

    time: datetime
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class TideTable:
    name: str
    """The file the table was read from, without its folder."""
    place: str
    extremes: tuple[Extreme, ...]


# Implements: REQ-d00001-A, REQ-o00002-A
def read_table(path: Path) -> TideTable:
    """Read a table, or raise TableError; there is no such thing as half a table."""
    place = path.stem.replace("-", " ").title()
    extremes: list[Extreme] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.strip()
        if text.startswith("#"):
            key, _, value = text.lstrip("# ").partition(":")
            if key.strip().lower() == "place" and value.strip():
                place = value.strip()
        elif text:
            extreme = _parse(text, f"{path.name}, line {number}")
            if extremes:
                _check_turn(extremes[-1], extreme, f"{path.name}, line {number}")
            extremes.append(extreme)
    if len(extremes) < 2:
        raise TableError(f"{path.name}: a table needs at least two turns of the tide, this one has {len(extremes)}")
    return TideTable(path.name, place, tuple(extremes))


def _parse(text: str, where: str) -> Extreme:
    fields = [field.strip() for field in text.split(",")]
    if len(fields) != 3:
        raise TableError(f"{where}: expected time, height and kind, found {text!r}")
    time, height, kind = fields
    if kind not in KINDS:
        raise TableError(f"{where}: {kind!r} is neither high nor low")
    try:
        extreme = Extreme(datetime.fromisoformat(time), float(height), kind)
    except ValueError as error:
        raise TableError(f"{where}: {error}") from None
    if extreme.time.tzinfo or not isfinite(extreme.height):
        raise TableError(f"{where}: expected harbour time without a zone and a finite height, found {text!r}")
    return extreme


# Implements: REQ-d00001-B+C
def _check_turn(before: Extreme, after: Extreme, where: str) -> None:
    if after.time <= before.time:
        raise TableError(f"{where}: {after.time:%Y-%m-%d %H:%M} does not come after {before.time:%Y-%m-%d %H:%M}")
    if after.kind == before.kind:
        raise TableError(f"{where}: two {after.kind} waters in a row; the tide must turn between them")
    rises = after.kind == "high"
    if (after.height > before.height) != rises:
        raise TableError(f"{where}: a {after.kind} water of {after.height} m cannot follow {before.height} m")
