"""What an attack found."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Outcome:
    tried: int
    """How often Clew was attacked."""
    faults: tuple[str, ...]
    """What got through, one sentence each; empty when Clew held."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What else is worth knowing, such as how often something happened."""
    skipped: str = ""
    """Why nothing was tried, where this machine cannot."""
