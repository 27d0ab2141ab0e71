"""What happens to a ranking before it is shown: variety.

All functions keep the order they are given (`spread` apart, whose purpose is another one) and keep or drop whole items.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from clew.errors import InvalidArgument

Item = TypeVar("Item")


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


def _require(name: str, value: object, fits: bool, rule: str) -> None:
    if not fits:
        raise InvalidArgument(f"{name} is {value}, but must be {rule}.", hint="Pass a value in that range.")
