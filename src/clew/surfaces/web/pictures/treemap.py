"""A tree map: rectangles whose areas are sizes, laid out in rows that keep them as square as they can be."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

WIDTH, HEIGHT = 960, 300
MOST = 60
_LETTER = 7.2
"""Width of a letter, for what fits."""


class Sized(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def to(self) -> str: ...
    @property
    def cited(self) -> int: ...
    @property
    def symbols(self) -> int: ...
    @property
    def share(self) -> float | None: ...


class Tile(msgspec.Struct, frozen=True):
    name: str
    said: str
    """The name, or nothing where it does not fit."""
    to: str
    x: float
    y: float
    width: float
    height: float
    step: int
    """How much of it is cited, from 0 to 4; -1 where there is nothing to cite from."""
    cited: int
    symbols: int


def treemap(items: Sequence[Sized]) -> tuple[Tile, ...]:
    """The largest first, squarified (Bruls, Huizing and van Wijk)."""
    wanted = sorted(items, key=lambda each: (-each.size, each.name))[:MOST]
    total = sum(each.size for each in wanted)
    if not total:
        return ()
    scale = WIDTH * HEIGHT / total
    tiles: list[Tile] = []
    x, y, width, height = 0.0, 0.0, float(WIDTH), float(HEIGHT)
    place = 0
    while place < len(wanted):
        side = min(width, height)
        row = [wanted[place]]
        while place + len(row) < len(wanted):
            longer = [*row, wanted[place + len(row)]]
            if _worst(longer, side, scale) > _worst(row, side, scale):
                break
            row = longer
        area = sum(each.size for each in row) * scale
        depth = area / side if side else 0.0
        along = y if width >= height else x
        for each in row:
            length = each.size * scale / depth if depth else 0.0
            box = (x, along, depth, length) if width >= height else (along, y, length, depth)
            tiles.append(_tile(each, *box))
            along += length
        if width >= height:
            x, width = x + depth, width - depth
        else:
            y, height = y + depth, height - depth
        place += len(row)
    return tuple(tiles)


def _worst(row: Sequence[Sized], side: float, scale: float) -> float:
    """The largest ratio of sides in a row."""
    areas = [max(each.size * scale, 1e-9) for each in row]
    whole = sum(areas)
    if not side:
        return float("inf")
    return max(max(side * side * area / whole**2, whole**2 / (side * side * area)) for area in areas)


def _tile(item: Sized, x: float, y: float, width: float, height: float) -> Tile:
    share = item.share
    step = -1 if share is None else min(int(share * 4 + (0.999 if share > 0 else 0)), 4)
    fits = len(item.name) * _LETTER < width - 8 and height > 18
    left, top, wide, high = (round(each, 1) for each in (x, y, width, height))
    said = item.name if fits else ""
    return Tile(item.name, said, item.to, left, top, wide, high, step, item.cited, item.symbols)
