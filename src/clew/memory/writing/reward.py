"""The steering reward of a store: a number for how much it was worth remembering, with its parts."""

import msgspec

from clew.text.display import counted

INFANCY, GROWTH = 50, 500
"""Up to so many memories, what is new counts; up to so many, also what fits in; above, what fits in."""
STAGE_WEIGHTS = {"infancy": (0.7, 0.3), "growth": (0.5, 0.5), "maturity": (0.3, 0.7)}
"""Weights of novelty and fit in a reward, by stage."""
_DUPLICATE_PENALTY, _DOUBT_PENALTY = -0.4, -0.3
_DOUBTFUL = 0.3


class RewardPart(msgspec.Struct, frozen=True):
    name: str
    value: float
    because: str


class Reward(msgspec.Struct, frozen=True):
    value: float
    """From -1 to 1: above 0.3 keep doing it, below -0.3 do otherwise."""
    novelty: float
    """Distance from the nearest memory, from 0 to 1; 1 if no memory resembles it at all."""
    stage: str
    parts: tuple[RewardPart, ...]
    explanation: str
    suggestions: tuple[str, ...] = ()


def stage_of(memories: int) -> str:
    return "infancy" if memories < INFANCY else "growth" if memories < GROWTH else "maturity"


def reward(
    *, nearest: float | None, links: int, cites: int, confidence: float | None, memories: int, duplicate: str | None
) -> Reward:
    """The reward of a store. `nearest` is the similarity of the nearest memory; None where there is none. `duplicate`
    is a memory that says the same, as the judge found."""
    stage = stage_of(memories)
    novelty = 1.0 if nearest is None else 1.0 - max(nearest, 0.0)
    fit = min((links + 2 * cites) / 4, 1.0)
    for_novelty, for_fit = STAGE_WEIGHTS[stage]
    parts = [
        RewardPart("novelty", round(for_novelty * novelty, 3), f"{novelty:.0%} unlike the nearest memory"),
        RewardPart("linkage", round(for_fit * fit, 3), f"{counted(links, 'link')} and {counted(cites, 'citation')}"),
    ]
    suggestions: list[str] = []
    if duplicate is not None:
        parts.append(RewardPart("duplication", _DUPLICATE_PENALTY, f"{duplicate} says the same"))
        suggestions.append("Look with search_graph before storing; merge_concepts joins what is the same.")
    if confidence is not None and confidence < _DOUBTFUL:
        parts.append(RewardPart("doubt", _DOUBT_PENALTY, f"confidence is {confidence:.2f}"))
        suggestions.append("Check it first, or store it as a question.")
    if not links and not cites:
        suggestions.append("Say what it is about: link_to other memories, or about a file or requirement.")
    value = round(max(-1.0, min(1.0, sum(part.value for part in parts))), 3)
    shares = ", ".join(f"{part.name} {part.value:+.2f}" for part in parts)
    return Reward(value, round(novelty, 3), stage, tuple(parts), f"{shares} (stage: {stage})", tuple(suggestions))
