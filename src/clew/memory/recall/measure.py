"""Quality of a project's own memory: recall, false injections, duplicates and contradictions.

There are no questions with known answers in a store, so each memory is asked for by the reason for which it was stored,
which is another text about the same thing. Whether memory keeps still is tried with prompts that concern no project.
"""

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from clew.memory.judging.verdict import judge
from clew.memory.model import SIMILARITY, Memory, MemoryLinkKind
from clew.memory.recall.injection import inject

if TYPE_CHECKING:
    from clew.memory.service import MemoryView
    from clew.operation.call import Call

FEWEST = 10
"""Memories below which a share says nothing."""
_ASKED = 200
_LOOKED_AT = 500
_DEPTH = 10
_BUDGET = 300
_SHORTEST = 3
"""Words of a reason that can be asked for."""

FOREIGN = (
    "What should I cook for six guests on Saturday evening?",
    "Recommend three novels about the sea in winter.",
    "How do I get red wine out of a white tablecloth?",
    "Which museum in Vienna is best for children?",
    "Write a birthday poem for my grandmother.",
    "How many kilometres is it from Lisbon to Porto by train?",
    "What is the offside rule in football?",
    "Explain photosynthesis to a ten year old.",
    "Plan a week of easy workouts at home.",
    "Which houseplants survive in a dark bathroom?",
    "Translate 'good luck on your trip' into Italian.",
    "Why do cats purr at night?",
    "What was the biggest hit of 1987?",
    "How do I politely decline a wedding invitation?",
    "Is it healthy to drink coffee before breakfast?",
    "Suggest a name for a small bakery.",
    "How long does a passport renewal take?",
    "Which gift suits a retiring colleague?",
    "How do I fix a dripping kitchen tap?",
    "What is the difference between jam and marmalade?",
)


class RecallFigures(msgspec.Struct, frozen=True):
    asked: int
    found_at_5: float | None
    found_at_10: float | None
    """The share of memories among the first so many results; null with too few memories."""


class GateFigures(msgspec.Struct, frozen=True):
    own: int
    own_kept: float | None
    foreign: int
    foreign_injected: float | None


class PairFigures(msgspec.Struct, frozen=True):
    pairs: int
    examples: tuple[tuple[str, str], ...]


class MemoryFigures(msgspec.Struct, frozen=True):
    memories: int
    recall: RecallFigures
    gate: GateFigures
    duplicates: PairFigures
    conflicts: PairFigures


def measure_memory(view: "MemoryView", call: "Call") -> MemoryFigures:
    count = view.library.index.count(view.viewer)
    asked = _with_own_reason([memory for memory, _ in view.library.latest(_ASKED)])
    enough = len(asked) >= FEWEST
    ranks = [_rank(view, memory, call, at, len(asked)) for at, memory in enumerate(asked)] if enough else []
    kept = [_is_injected(view, memory.rationale) for memory in asked] if enough else []
    foreign = [_is_injected(view, prompt) for prompt in FOREIGN] if count else []
    alike = [
        link for link in view.library.index.links_of_kind(MemoryLinkKind.RELATED, view.viewer, _LOOKED_AT)
        if link.origin == SIMILARITY
    ]  # fmt: skip
    same = [(link.source, link.target) for link in alike if _say_the_same(view, link.source, link.target, link.weight)]
    contradicting = view.library.index.links_of_kind(MemoryLinkKind.CONTRADICTS, view.viewer, _LOOKED_AT)
    return MemoryFigures(
        memories=count,
        recall=RecallFigures(len(ranks), _share([rank < 5 for rank in ranks]), _share([rank < 10 for rank in ranks])),
        gate=GateFigures(len(kept), _share(kept), len(foreign), _share(foreign)),
        duplicates=_pairs(same),
        conflicts=_pairs([(link.source, link.target) for link in contradicting]),
    )


def _with_own_reason(memories: list[Memory]) -> list[Memory]:
    """The memories with a reason of their own: `clew remember` without --why has the same for all."""
    reasons = Counter(memory.rationale for memory in memories)
    return [
        memory for memory in memories if reasons[memory.rationale] == 1 and len(memory.rationale.split()) >= _SHORTEST
    ]


def _rank(view: "MemoryView", memory: Memory, call: "Call", at: int, total: int) -> int:
    """The rank of a memory among the results for its reason, from 0; far below if it is not among them."""
    call.progress(at, total, "asking for memories")
    found = [each.memory.id for each in view.recall.rank(memory.rationale, _DEPTH)[0]]
    return found.index(memory.id) if memory.id in found else _DEPTH


def _is_injected(view: "MemoryView", prompt: str) -> bool:
    block = inject(view.recall, prompt, view.service.context.clock(), max_tokens=_BUDGET)
    return block.abstained is None


def _say_the_same(view: "MemoryView", one: str, other: str, cosine: float) -> bool:
    texts = [memory.text for memory in view.library.get_many((one, other)).values()]
    return len(texts) == 2 and judge(texts[0], texts[1], cosine).is_joinable


def _pairs(found: list[tuple[str, str]]) -> PairFigures:
    return PairFigures(len(found), tuple(found[:5]))


def _share(values: list[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
