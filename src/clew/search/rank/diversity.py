"""What happens to a ranking before it is shown: variety, and a size that fits.

All functions keep the order they are given (`spread` apart, whose purpose is another one) and keep or drop whole items.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import StrEnum
from typing import Generic, TypeVar

import msgspec

from clew.errors import InvalidArgument
from clew.text.tokens import estimate_tokens

Item = TypeVar("Item")


class Reason(StrEnum):
    """Why a ranking ends where it ends."""

    NONE = "none"
    TOKENS = "token_cap"
    BYTES = "byte_cap"


class Trimmed(msgspec.Struct, Generic[Item], frozen=True):
    items: tuple[Item, ...]
    tokens: int
    bytes: int
    limit_reason: Reason

    @property
    def truncated(self) -> bool:
        return self.limit_reason is not Reason.NONE


def at_most_per_document(
    items: Iterable[Item], document: Callable[[Item], Hashable], limit: int | None
) -> tuple[Item, ...]:
    """The items without those that come after `limit` others of the same document; all of them when it is None."""
    if limit is None:
        return tuple(items)
    _require("max_per_document", limit, limit >= 1, "1 or more, or None for any number")
    seen: Counter[Hashable] = Counter()
    kept = []
    for item in items:
        origin = document(item)
        seen[origin] += 1
        if seen[origin] <= limit:
            kept.append(item)
    return tuple(kept)


def spread(
    items: Sequence[Item],
    relevance: Callable[[Item], float],
    similarity: Callable[[Item, Item], float],
    *,
    novelty: float,
    limit: int,
) -> tuple[Item, ...]:
    """Maximal marginal relevance: `limit` items, each the best by (1 - novelty) * relevance - novelty * likeness.

    Likeness is the similarity to the most similar item already chosen. Both measures should run from 0 to 1. Equal
    items keep their order. Similarity is asked for fewer than limit * len(items) pairs.
    """
    _require("novelty", novelty, 0 <= novelty <= 1, "between 0 and 1")
    _require("limit", limit, limit >= 0, "0 or more")
    worth = [(1 - novelty) * relevance(item) for item in items]
    likeness = [0.0] * len(items)
    left = list(range(len(items)))
    chosen: list[Item] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda place: (worth[place] - novelty * likeness[place], -place))
        left.remove(best)
        chosen.append(items[best])
        if novelty > 0 and len(chosen) < limit:
            for place in left:
                likeness[place] = max(likeness[place], similarity(items[best], items[place]))
    return tuple(chosen)


def trim(
    items: Iterable[Item],
    rendered: Callable[[Item], str],
    *,
    max_tokens: int | None = None,
    max_bytes: int | None = None,
) -> Trimmed[Item]:
    """The first items that fit into both budgets together, as they are `rendered`.

    It ends at the first that does not fit, even when a smaller one follows, so that the next page begins there.
    """
    for name, budget in (("max_tokens", max_tokens), ("max_bytes", max_bytes)):
        _require(name, budget, budget is None or budget >= 0, "0 or more, or None for no limit")
    kept: list[Item] = []
    tokens = size = 0
    reason = Reason.NONE
    for item in items:
        text = rendered(item)
        cost, length = estimate_tokens(text), len(text.encode("utf-8", "surrogatepass"))
        if max_tokens is not None and tokens + cost > max_tokens:
            reason = Reason.TOKENS
        elif max_bytes is not None and size + length > max_bytes:
            reason = Reason.BYTES
        if reason is not Reason.NONE:
            break
        kept.append(item)
        tokens += cost
        size += length
    return Trimmed(tuple(kept), tokens, size, reason)


def _require(name: str, value: object, fits: bool, rule: str) -> None:
    if not fits:
        raise InvalidArgument(f"{name} is {value}, but must be {rule}.", hint="Pass a value in that range.")
