"""Results that resemble each other vouch for each other.

What several results have in common is likely to be what the query is about. So a result's score becomes in part the
mean score of the results nearest to it in vector space, weighted by how near they are. Only results that were found
already take part: it costs a few hundred vectors, not a second search.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from clew.search.lexical.query import LexicalQuery, content_words
from clew.search.rank.fuse import Contribution, Fused, in_order
from clew.search.rank.recipes import Agreement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]

AGREEMENT = "agreement"

_RESULTS_PER_NEIGHBOUR = 10
"""With fewer results, the nearest are not near: everything would vouch for everything."""
_BLOCK = 500_000
"""Multiplications at a time. Larger products are shared out to all processors, which on a busy machine takes many times
as long as doing so little on one."""


def asks_around(query: LexicalQuery, agreement: Agreement) -> bool:
    """Whether the query is about a subject, rather than after one thing that it names."""
    telling = {word for clause in query.clauses for word in content_words(clause)}
    return len(telling) >= agreement.from_words and query.named_share <= agreement.named_share


def agree(fused: Sequence[Fused[int]], vectors: "Mapping[int, Vector]", agreement: Agreement) -> tuple[Fused[int], ...]:
    """The ranking again, with what its best say of each other. A result without a vector keeps its score."""
    head = [result for result in fused[: agreement.among] if result.id in vectors]
    count = min(agreement.neighbours, len(head) // _RESULTS_PER_NEIGHBOUR)
    if count == 0 or agreement.share == 0:
        return tuple(fused)
    means = _means_of_nearest([vectors[result.id] for result in head], [result.score for result in head], count)
    order = sorted(range(len(head)), key=lambda place: (-means[place], head[place].id))
    changed = {
        head[place].id: _joined(head[place], rank, means[place], agreement.share)
        for rank, place in enumerate(order, start=1)
    }
    return in_order(changed.get(result.id, result) for result in fused)


def _joined(result: Fused[int], rank: int, mean: float, share: float) -> Fused[int]:
    own = tuple(msgspec.structs.replace(part, value=(1 - share) * part.value) for part in result.contributions)
    return Fused(
        result.id,
        (1 - share) * result.score + share * mean,
        (*own, Contribution(AGREEMENT, rank, mean, share * mean)),
    )


def _means_of_nearest(vectors: "Sequence[Vector]", scores: Sequence[float], count: int) -> list[float]:
    import numpy as np

    rows = np.stack(vectors)
    block = max(1, _BLOCK // rows.size)
    likeness = np.concatenate([rows[start : start + block] @ rows.T for start in range(0, len(rows), block)])
    likeness = np.clip(likeness, 0, None)
    np.fill_diagonal(likeness, -1)
    nearest = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
    weights = np.take_along_axis(likeness, nearest, axis=1).astype(np.float64)
    totals = weights.sum(axis=1)
    found = (weights * np.asarray(scores)[nearest]).sum(axis=1) / np.where(totals > 0, totals, 1)
    # What resembles nothing is left to itself.
    means: list[float] = np.where(totals > 0, found, np.asarray(scores)).tolist()
    return means
