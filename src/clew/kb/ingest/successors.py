"""Which new section is the successor of one that is gone, so that whoever kept the old id still finds the text."""

from collections.abc import Callable, Iterable, Sequence
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
    found |= _alike([piece for piece in gone if piece.id not in found][:_MOST_COMPARED], left[:_MOST_COMPARED])
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


def _alike(gone: Sequence[Piece], fresh: Sequence[Piece]) -> dict[str, str]:
    """For each piece that is gone the one of the others that has most words in common with it, if those are many."""
    found: dict[str, str] = {}
    waiting = {piece.id: frozenset(keywords(piece.text)) for piece in fresh}
    for piece in gone:
        own = frozenset(keywords(piece.text))
        shares = {id: _share(own, words) for id, words in waiting.items()}
        best = max(shares, key=lambda id: shares[id], default=None)
        if best is not None and shares[best] >= ALIKE:
            found[piece.id] = best
            del waiting[best]
    return found


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of all their words two texts have in common."""
    both = len(one & other)
    return both / max(1, len(one) + len(other) - both)
