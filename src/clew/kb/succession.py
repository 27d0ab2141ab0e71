"""Which new section is the successor of one that is gone, so that whoever kept the old id still finds the text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from clew.text.keywords import keywords

ALIKE = 0.5
"""The share of words that two texts have in common when one is taken for an edit of the other."""
_MOST_COMPARED = 200


class Piece(NamedTuple):
    id: str
    title: str
    ordinal: int
    version: str
    text: str


def successors(gone: Sequence[Piece], fresh: Sequence[Piece], kept: Iterable[str]) -> dict[str, str]:
    """For each section that is gone the one that took its place, as far as that can be told.

    In this order: the same text, the same text below another heading, the same heading elsewhere, most of the words.
    A later piece of a section whose text grew shorter is followed by the first.
    """
    found: dict[str, str] = {}
    left = list(fresh)
    for same in (_text, _body, _heading):
        left = _matched(gone, left, same, found)
    for piece in gone[:_MOST_COMPARED]:
        if piece.id not in found and (best := _most_alike(piece, left[:_MOST_COMPARED])) is not None:
            found[piece.id] = best.id
            left.remove(best)
    known = {*kept, *(piece.id for piece in fresh)}
    for piece in gone:
        first = piece.id.rpartition("~")[0]
        if piece.id not in found and piece.ordinal > 1 and (first in known or first in found):
            found[piece.id] = found.get(first, first)
    return found


def _matched(
    gone: Sequence[Piece], fresh: list[Piece], same: Callable[[Piece], object], found: dict[str, str]
) -> list[Piece]:
    """Pair what is equal by a rule, in the order of the documents; returns the fresh ones that are left."""
    waiting: dict[object, list[Piece]] = {}
    for piece in reversed(fresh):
        waiting.setdefault(same(piece), []).append(piece)
    taken: set[str] = set()
    for piece in gone:
        key = same(piece)
        if piece.id not in found and key and waiting.get(key):
            found[piece.id] = waiting[key].pop().id
            taken.add(found[piece.id])
    return [piece for piece in fresh if piece.id not in taken]


def _text(piece: Piece) -> object:
    return piece.version


def _body(piece: Piece) -> object:
    """The text without its first line, which is the heading."""
    return piece.text.partition("\n")[2].strip() if piece.ordinal == 1 else ""


def _heading(piece: Piece) -> object:
    return (piece.title, piece.ordinal)


def _most_alike(piece: Piece, fresh: Sequence[Piece]) -> Piece | None:
    own = frozenset(keywords(piece.text))
    shares: Mapping[str, float] = {other.id: _share(own, frozenset(keywords(other.text))) for other in fresh}
    best = max(fresh, key=lambda other: shares[other.id], default=None)
    return best if best is not None and shares[best.id] >= ALIKE else None


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))
