"""Novelty and connectedness of a memory in each space, and the Johari quadrant that follows.

Novelty is how unlike the nearest memories it is; coherence is .4 connectivity + .4 fit to its nearest + .2 freedom from
contradiction. Where too few memories can be compared in a space, the space is absent.
"""

from typing import TYPE_CHECKING

import msgspec

from clew.memory.model import Memory, MemoryLinkKind
from clew.memory.navigation.spaces import SPACES, PairContext
from clew.memory.pulse import BOUNDARY, Quadrant, quadrant_of

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

COMPARED = 20
FEWEST = 3
_NEAREST = 3
_NEIGHBOURS = 10
_LINKED_FROM = 0.7


class SpaceSignature(msgspec.Struct, frozen=True):
    space: str
    delta_s: float
    delta_c: float
    compared: int


class SignatureNumbers(msgspec.Struct, frozen=True):
    """The numbers behind novelty and coherence of a memory in a space."""

    compared: int
    connectivity: float
    """The share of its ten nearest that are more than 0.7 alike."""
    intra: float
    """The mean distance to its three nearest."""
    inter: float
    """Mean similarity to the other memories."""
    silhouette: float
    """Closeness of its nearest memories compared with the others, from -1 to 1."""
    consistency: float
    """1 minus the confidence of its surest contradiction."""

    @property
    def delta_s(self) -> float:
        return round(min(max(self.intra, 0.0), 1.0), 3)

    @property
    def delta_c(self) -> float:
        fit = (self.silhouette + 1) / 2
        return round(min(max(0.4 * self.connectivity + 0.4 * fit + 0.2 * self.consistency, 0.0), 1.0), 3)


class Johari(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    quadrants: tuple[Quadrant, ...]
    """One for each of the thirteen spaces; Unknown with confidence 0 where the space is absent."""
    confidence: tuple[float, ...]
    insights: tuple[str, ...]
    spaces: dict[str, SpaceSignature]
    absent_spaces: tuple[str, ...]
    compared: int
    sufficient_data: bool


def signatures(view: "MemoryView", memory: Memory) -> dict[str, SpaceSignature]:
    """Novelty and coherence of a memory in each space that can say something about it."""
    found = parts_of(view, memory)
    return {space: SpaceSignature(space, each.delta_s, each.delta_c, each.compared) for space, each in found.items()}


def parts_of(view: "MemoryView", memory: Memory) -> dict[str, SignatureNumbers]:
    """Novelty and coherence of a memory in each space, with the numbers behind them."""
    pairs = _pairs(view, memory)
    contradicted = max(
        (link.confidence for link in view.library.index.links([memory.id], (MemoryLinkKind.CONTRADICTS,))), default=0.0
    )
    found: dict[str, SignatureNumbers] = {}
    for space in SPACES:
        values = [value for other, pair in pairs if (value := space.compare(memory, other, pair)) is not None]
        if len(values) >= FEWEST:
            found[space.id] = _parts(sorted(values, reverse=True), contradicted)
    return found


def classify(view: "MemoryView", id: str) -> Johari:
    with view.library.index.held():
        memory = view.library.get(id)
        found = signatures(view, memory)
    quadrants: list[Quadrant] = []
    confidence: list[float] = []
    for space in SPACES:
        own = found.get(space.id)
        quadrants.append("Unknown" if own is None else quadrant_of(own.delta_s, own.delta_c))
        known = 0.0 if own is None else abs(own.delta_s - BOUNDARY) + abs(own.delta_c - BOUNDARY)
        confidence.append(round(known, 3))
    named = {space.id: quadrant for space, quadrant in zip(SPACES, quadrants, strict=True) if space.id in found}
    return Johari(
        node_id=memory.id,
        quadrants=tuple(quadrants),
        confidence=tuple(confidence),
        insights=_insights(named),
        spaces=found,
        absent_spaces=tuple(space.id for space in SPACES if space.id not in found),
        compared=max((each.compared for each in found.values()), default=0),
        sufficient_data=bool(found),
    )


def _pairs(view: "MemoryView", memory: Memory) -> list[tuple[Memory, PairContext]]:
    """The memories nearest to one, with what is known of each pair."""
    ranked, _ = view.units.alike(memory.text, view.viewer, memory.id)
    own = next((each.lexical for each in ranked if each.id == memory.id and each.lexical), None)
    others = {each.id: each for each in ranked if each.id != memory.id}
    memories = view.library.get_many(list(others)[:COMPARED])
    around = view.library.index.around((memory.id, *memories))
    return [
        (
            other,
            PairContext(
                dense=others[id].dense,
                lexical=None if own is None else min((others[id].lexical or 0.0) / own, 1.0),
                neighbours=around[memory.id],
                other_neighbours=around[id],
            ),
        )
        for id, other in memories.items()
    ]


def _parts(values: list[float], contradicted: float) -> SignatureNumbers:
    near, far = values[:_NEAREST], values[_NEAREST:]
    inside = 1.0 - sum(near) / len(near)
    outside = 1.0 - sum(far) / len(far) if far else 1.0
    widest = max(outside, inside)
    return SignatureNumbers(
        compared=len(values),
        connectivity=min(sum(value > _LINKED_FROM for value in values) / min(len(values), _NEIGHBOURS), 1.0),
        intra=inside,
        inter=outside,
        silhouette=(outside - inside) / widest if widest > 0 else 0.0,
        consistency=1.0 - contradicted,
    )


def _insights(quadrants: dict[str, Quadrant]) -> tuple[str, ...]:
    """The meaning of the quadrants of several spaces together."""
    if not quadrants:
        return ("Insufficient data: there are too few memories to compare this one with.",)
    found: list[str] = []
    if quadrants.get("E1") == "Open" and quadrants.get("E5") == "Blind":
        found.append("Open(E1) but Blind(E5): knows WHAT but not WHY")
    if quadrants.get("E1") == "Blind" and quadrants.get("E7") == "Open":
        found.append("Blind(E1) but Open(E7): code without context")
    if len(set(quadrants.values())) == 1:
        only = next(iter(quadrants.values()))
        meaning = {
            "Unknown": "a true frontier: new, yet it fits in",
            "Hidden": "dormant or obsolete: familiar, but connected to nothing",
            "Open": "known and connected in every respect",
            "Blind": "new and connected to nothing yet",
        }
        found.append(f"{only} in every space: {meaning[only]}")
    for quadrant in ("Open", "Blind", "Hidden", "Unknown"):
        spaces = [space for space, own in quadrants.items() if own == quadrant]
        if spaces:
            found.append(f"{quadrant} in {', '.join(spaces)}")
    return tuple(found)
