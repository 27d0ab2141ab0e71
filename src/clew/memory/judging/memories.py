"""The relation of two memories: what their texts say, when they hold, and what somebody decided about the two."""

from collections.abc import Iterable

from clew.memory.judging.verdict import Judgement, judge
from clew.memory.model import Link, Memory, MemoryLinkKind

KEPT = "both hold"
"""The origin of a link between two memories of which somebody said so begins with this; the reason follows."""


def judge_memories(one: Memory, other: Memory, cosine: float | None) -> Judgement:
    """The relation of the later of two memories to the earlier one."""
    old, new = sorted((one, other), key=lambda each: (each.recorded_at, each.id))
    if _is_over(old, new) or _is_over(new, old):
        return Judgement("other_thing", None, ("they hold at different times",))
    return judge(old.text, new.text, cosine)


def _is_over(one: Memory, other: Memory) -> bool:
    return one.valid_to is not None and other.valid_from is not None and one.valid_to <= other.valid_from


def settled(links: Iterable[Link]) -> set[frozenset[str]]:
    """The pairs of memories of which somebody said that both hold."""
    return {
        frozenset((link.source, link.target))
        for link in links
        if link.kind is MemoryLinkKind.RELATED and link.origin.startswith(KEPT)
    }
