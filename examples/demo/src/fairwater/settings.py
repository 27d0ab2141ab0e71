"""What a plan is made with: command line first, environment second, defaults last."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

DEFAULT_MARGIN = 0.5


@dataclass(frozen=True, slots=True)
class Settings:
    table: Path
    margin: float
    bar_depth: float


# Implements: REQ-d00005-A, REQ-o00003-B
def settle(
    environment: Mapping[str, str], table: str | None = None, margin: str | None = None, bar_depth: str | None = None
) -> Settings:
    """Choose each setting from the first place that has it."""
    path = table or environment.get("FAIRWATER_TABLE")
    if not path:
        raise ValueError("no tide table; give --table FILE or set FAIRWATER_TABLE")
    return Settings(
        Path(path),
        _metres("--margin", margin, "FAIRWATER_MARGIN", environment, DEFAULT_MARGIN),
        _metres("--bar-depth", bar_depth, "FAIRWATER_BAR_DEPTH", environment, 0.0),
    )


# Implements: REQ-d00005-B
def _metres(option: str, given: str | None, variable: str, environment: Mapping[str, str], default: float) -> float:
    name, text = (option, given) if given is not None else (variable, environment.get(variable))
    if text is None:
        return default
    try:
        metres = float(text)
        if isfinite(metres):
            return metres
    except ValueError:
        pass
    raise ValueError(f"{name} is {text!r}, which is not a number of metres such as 0.5")
