"""Consequences: a walk along causes, from a memory or from the memories that a text is about."""

from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.graph.walk import Walk
from clew.memory.judging.causes import causes_in
from clew.memory.model import Link, Memory, MemoryLinkKind
from clew.memory.navigation.navigate import MOST_NODES, MemoryWalk
from clew.memory.navigation.requests import CausalQuestion

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_STARTS = 3
_DEEPEST = 6
_RELATED_FROM = 0.3


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    description: str
    strength: float
    """The product of the weights and confidences along the path."""
    path: tuple[str, ...]


class StatedCause(msgspec.Struct, frozen=True):
    cause: str
    effect: str
    quote: str


class CausalAnswer(msgspec.Struct, frozen=True, kw_only=True):
    effects: tuple[Effect, ...]
    stated: tuple[StatedCause, ...]
    """Causes that the memories themselves state."""
    confidence: float | None
    """The strength of the best path; null where nothing was found."""
    starts: tuple[str, ...]
    explanation: str
    truncated: bool = False


def query_causal(view: "MemoryView", asked: CausalQuestion) -> CausalAnswer:
    """List the consequences of an action; with an outcome, the strength with which it leads there."""
    starts = _meant(view, asked.action)
    ends = {memory.id for memory in _meant(view, asked.outcome)} if asked.outcome else None
    walk: Walk[Link] = Walk(
        MemoryWalk(view.library), [memory.id for memory in starts], (MemoryLinkKind.CAUSES,), "out", most=MOST_NODES
    )
    reached = [step.id for layer in walk.layers(_DEEPEST) for step in layer]
    effects: list[Effect] = []
    for id, memory in view.library.get_many(reached).items():
        if ends is not None and id not in ends:
            continue
        steps = walk.path_to(id)
        strength = 1.0
        for step in steps:
            strength *= step.edge.weight * step.edge.confidence
        path = (*(step.own for step in steps), id)
        effects.append(Effect(node_id=id, description=memory.title, strength=round(strength, 4), path=path))
    effects.sort(key=lambda effect: -effect.strength)
    stated = tuple(
        StatedCause(each.cause, each.effect, each.quote) for memory in starts for each in causes_in(memory.text)
    )
    return CausalAnswer(
        effects=tuple(effects),
        stated=stated,
        confidence=effects[0].strength if effects else None,
        starts=tuple(memory.id for memory in starts),
        explanation=_explanation(starts, effects, asked.intervention_type),
        truncated=walk.is_cut,
    )


def _meant(view: "MemoryView", given: str) -> list[Memory]:
    """The memory that an id means, or those that a text is about."""
    try:
        return [view.library.named(given)]
    except ClewError:
        ranked, _ = view.recall.rank(given, _STARTS)
        return [each.memory for each in ranked if each.similarity >= _RELATED_FROM]


def _explanation(starts: list[Memory], effects: list[Effect], intervention: str) -> str:
    if not starts:
        return "Insufficient data: no memory is about this."
    # A walk along causes never uses what leads into its start, so doing and observing give the same answer.
    kind = {"do": "If it is done", "counterfactual": "Had it been so"}.get(intervention, "Where it is seen")
    if not effects:
        return f"{kind}, nothing is known to follow: no causes are linked from “{starts[0].title}”."
    return f"{kind}, “{starts[0].title}” leads to {len(effects)} known effects, most of all “{effects[0].description}”."
