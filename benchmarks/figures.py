"""A figure: what was measured, how often, and the limit it is held against."""

import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    unit: str
    samples: tuple[float, ...]
    limit: float | None = None
    """For the median; None where the figure only informs."""
    cpu: tuple[float, ...] = ()
    """Of each sample, the part in which a processor worked on it. Where it is much less, the machine was busy."""

    @property
    def least(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def slow(self) -> float:
        """What 19 of 20 samples stay under; of few samples, the largest."""
        return sorted(self.samples)[int(len(self.samples) * 0.95) if len(self.samples) >= 20 else -1]

    @property
    def share(self) -> float | None:
        """The median as a share of the limit."""
        return None if self.limit is None else self.median / self.limit

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return "-"
        return "ok" if self.median <= self.limit else "over"

    def as_data(self) -> dict[str, Any]:
        derived = {name: getattr(self, name) for name in ("least", "median", "slow", "share", "verdict")}
        return {**asdict(self), **derived}


def milliseconds(seconds: Iterable[float]) -> tuple[float, ...]:
    return tuple(value * 1_000 for value in seconds)


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark's figures under a heading."""

    title: str
    figures: tuple[Figure, ...]


def paired(figures: tuple[float, ...], against: tuple[float, ...]) -> tuple[float, ...]:
    """Ratios round by round: what slows the machine down for a while slows both sides of a pair."""
    return tuple(figure / other for figure, other in zip(figures, against, strict=True))


def over(figures: tuple[float, ...], against: tuple[float, ...]) -> tuple[float, ...]:
    """Differences round by round."""
    return tuple(figure - other for figure, other in zip(figures, against, strict=True))
