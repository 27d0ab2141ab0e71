"""Inference along causes, and the shortcuts that repeated walks make worth having."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import msgspec

from clew.errors import InvalidArgument
from clew.graph.walk import Direction, Step, Walk
from clew.memory.cognition.learning.observations import observed
from clew.memory.cognition.records import INSUFFICIENT, SampledAnswer
from clew.memory.model import Link, Memory, MemoryLinkKind
from clew.memory.navigation.navigate import MOST_NODES, MemoryWalk
from clew.text.display import counted

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

Way = Literal["forward", "backward", "bidirectional", "bridge", "abduction"]
DESCRIPTIONS = {
    "forward": "what the source leads to",
    "backward": "what led to the source",
    "bidirectional": "causes between the two, in either direction",
    "bridge": "causes that connect memories of different domains",
    "abduction": "what would best explain the source",
}
DEEPEST = 5
_STRONG, _CONFIDENT = 0.7, 0.8
_SHOWN = 20
_HOPS, _TIMES = 3, 5
SHORTCUT = "shortcut"
"""Origin of links that a dream made of a path."""


class Inference(msgspec.Struct, frozen=True, kw_only=True):
    direction: str
    source: str
    target: str
    strength: float
    """The product of the weights along the path; of an explanation, times its importance."""
    confidence: float
    """The least confidence along the path."""
    path: tuple[str, ...]
    path_length: int
    is_direct: bool
    is_high_confidence: bool
    is_strong: bool
    explanation: str


class Inferences(SampledAnswer, frozen=True, kw_only=True):
    results: tuple[Inference, ...]
    result_count: int
    direction: str
    direction_description: str
    inference_config: dict[str, float]
    truncated: bool = False


class Shortcut(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    target: str
    hop_count: int
    traversal_count: int
    combined_weight: float
    """The product of the weights along the path."""
    min_confidence: float
    path: tuple[str, ...]
    is_linked: bool
    """True if a dream has made a direct link of it."""


class Shortcuts(SampledAnswer, frozen=True, kw_only=True):
    shortcuts: tuple[Shortcut, ...]
    total_candidates: int
    returned_count: int
    created_this_cycle: int
    """Number of them that are links by now."""
    truncated: bool = False


def infer(
    view: "MemoryView", source: str, target: str | None, way: Way, check: Callable[[], None] = lambda: None
) -> Inferences:
    start = view.library.named(source)
    end = view.library.named(target) if target is not None else None
    if end is None and way in ("forward", "backward", "bidirectional"):
        raise InvalidArgument(
            f"The argument 'target' is missing; the direction '{way}' needs one.",
            hint="Name a memory, or ask for abduction or bridge.",
        )
    sides: tuple[Direction, ...] = {  # type: ignore[assignment]
        "forward": ("out",),
        "backward": ("in",),
        "bidirectional": ("out", "in"),
        "bridge": ("out", "in"),
        "abduction": ("in",),
    }[way]
    found: dict[tuple[str, ...], Inference] = {}
    met = 0
    for side in sides:
        walk: Walk[Link] = Walk(
            MemoryWalk(view.library), (start.id,), (MemoryLinkKind.CAUSES,), side, most=MOST_NODES, check=check
        )
        reached = [step.id for layer in walk.layers(DEEPEST) for step in layer]
        met += len(reached)
        for other in view.library.get_many(reached).values():
            if (end is None or other.id == end.id) and (way != "bridge" or other.domain != start.domain):
                made = _inference(way, start, other, walk.path_to(other.id))
                found.setdefault(made.path, made)
    results = sorted(found.values(), key=lambda each: (-each.strength, each.path_length, each.target))[:_SHOWN]
    note_walks(view, "omni_infer", [each.path for each in results[:1]])
    return Inferences(
        sufficient_data=met > 0,
        samples=met,
        note=f"{counted(met, 'memory', 'memories')} linked to it by causes."
        if met
        else f"{INSUFFICIENT}: no causes are linked to the source.",
        results=tuple(results),
        result_count=len(results),
        direction=way,
        direction_description=DESCRIPTIONS[way],
        inference_config={"max_path": DEEPEST, "high_confidence": _CONFIDENT, "strong": _STRONG},
        truncated=len(found) > len(results),
    )


def _inference(way: Way, start: Memory, other: Memory, steps: list[Step[Link]]) -> Inference:
    strength, confidence = 1.0, 1.0
    for step in steps:
        strength *= step.edge.weight
        confidence = min(confidence, step.edge.confidence)
    if way == "abduction":
        strength *= other.importance
    forward = steps[0].edge.source == steps[0].own
    path = (*(step.own for step in steps), other.id)
    cause, effect = (start, other) if forward else (other, start)
    return Inference(
        direction=way,
        source=start.id,
        target=other.id,
        strength=round(strength, 4),
        confidence=round(confidence, 4),
        path=path if forward else path[::-1],
        path_length=len(steps),
        is_direct=len(steps) == 1,
        is_high_confidence=confidence >= _CONFIDENT,
        is_strong=strength >= _STRONG,
        explanation=f"“{cause.title}” leads to “{effect.title}” over {counted(len(steps), 'link')}.",
    )


def note_walks(view: "MemoryView", tool: str, paths: Iterable[tuple[str, ...]]) -> None:
    """Note along which paths somebody went: those of three links and more may become shortcuts."""
    for path in paths:
        if len(path) > _HOPS:
            view.note_exchange(tool, "", (), path=path, reason="walked")


def shortcuts(view: "MemoryView", min_confidence: float, limit: int) -> Shortcuts:
    """Paths of three links and more that were walked at least five times."""
    walked = Counter(path for path in observed(view).walks if len(path) > _HOPS)
    candidates = [path for path, count in walked.items() if count >= _TIMES]
    found = [made for path in candidates if (made := _shortcut(view, path, walked[path])) is not None]
    sure = [each for each in found if each.min_confidence >= min_confidence]
    sure.sort(key=lambda each: (-each.traversal_count, -each.combined_weight, each.path))
    return Shortcuts(
        sufficient_data=bool(walked),
        samples=sum(walked.values()),
        note=f"Paths of at least {_HOPS} links that were walked at least {_TIMES} times."
        if walked
        else f"{INSUFFICIENT}: no path of {_HOPS} links was followed yet.",
        shortcuts=tuple(sure[:limit]),
        total_candidates=len(candidates),
        returned_count=min(len(sure), limit),
        created_this_cycle=sum(each.is_linked for each in sure),
        truncated=len(sure) > limit,
    )


def _shortcut(view: "MemoryView", path: tuple[str, ...], count: int) -> Shortcut | None:
    """None where one of the memories or links is gone, or may not be seen."""
    if len(view.library.index.visible(path, view.viewer)) < len(set(path)):
        return None
    links = view.library.index.links(path)
    weight, confidence = 1.0, 1.0
    for one, other in pairwise(path):
        between = [link for link in links if {link.source, link.target} == {one, other} and link.origin != SHORTCUT]
        if not between:
            return None
        best = max(between, key=lambda link: link.weight)
        weight, confidence = weight * best.weight, min(confidence, best.confidence)
    return Shortcut(
        source=path[0],
        target=path[-1],
        hop_count=len(path) - 1,
        traversal_count=count,
        combined_weight=round(weight, 4),
        min_confidence=round(confidence, 4),
        path=path,
        is_linked=any(link.origin == SHORTCUT and (link.source, link.target) == (path[0], path[-1]) for link in links),
    )
