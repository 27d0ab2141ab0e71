"""Sources: which files answer to requirements, drawn by size as a tree map; one file with citations at
their lines, and why a line is there."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from clew.surfaces.web import addresses
from clew.surfaces.web.page_request import PageRequest, TemplateView
from clew.why.answer import TITLES
from clew.why.operations.thread import ShowWhy
from clew.why.sources import CitingPlace, SourceFigures, source_text, source_tree

MOST_LINES = 1_500
"""Lines of a file on one page."""

WIDTH, HEIGHT = 960, 300
MOST = 60
_LETTER = 7.2
"""Width of a letter, for what fits."""


class Entry(msgspec.Struct, frozen=True):
    """A file or folder, with the sums of its contents."""

    name: str
    path: str
    is_folder: bool
    files: int
    size: int
    symbols: int
    cited: int
    requirements: int
    tests: int
    failing: int
    to: str

    @property
    def share(self) -> float | None:
        return self.cited / self.symbols if self.symbols else None


def show_sources(request: PageRequest) -> TemplateView:
    folder = request.text("in").strip("/")
    with request.reading() as project:
        tree = source_tree(project)
    request.notes += tree.notes
    entries = _entries(tree.files, folder)
    total = _entry(folder or ".", folder, is_folder=True, files=_inside(tree.files, folder))
    return TemplateView(
        template="sources.html",
        title=f"Sources in {folder}" if folder else "Sources",
        section="sources",
        data={
            "folder": folder,
            "above": _above(folder),
            "entries": entries,
            # A column without a figure says nothing.
            "has_folders": any(each.is_folder for each in entries),
            "has_tests": any(each.tests for each in entries),
            "total": total,
            "map": treemap([each for each in entries if each.size]),
            "gaps": sorted(
                (each for each in _inside(tree.files, folder) if not each.cited and each.symbols and not each.tests),
                key=lambda each: -each.symbols,
            )[:8],
        },
    )


def _inside(files: Sequence[SourceFigures], folder: str) -> list[SourceFigures]:
    return [each for each in files if not folder or each.path.startswith(f"{folder}/")]


def _entries(files: Sequence[SourceFigures], folder: str) -> list[Entry]:
    """The entries of a folder. A folder with a single subfolder is shown together with it."""
    groups: dict[str, list[SourceFigures]] = {}
    start = len(folder) + 1 if folder else 0
    for each in _inside(files, folder):
        groups.setdefault(each.path[start:].partition("/")[0], []).append(each)
    entries = []
    for name, inside in groups.items():
        path = f"{folder}/{name}" if folder else name
        is_folder = inside[0].path != path
        entries.append(_entry(name, path, is_folder=is_folder, files=inside))
    return sorted(entries, key=lambda each: (not each.is_folder, each.name))


def _entry(name: str, path: str, *, is_folder: bool, files: Sequence[SourceFigures]) -> Entry:
    to = addresses.with_query("/sources", {"in": path}) if is_folder else addresses.of_place(path)
    return Entry(
        name=f"{name}/" if is_folder and path else name,
        path=path,
        is_folder=is_folder,
        files=len(files),
        size=sum(each.size for each in files),
        symbols=sum(each.symbols for each in files),
        cited=sum(each.cited for each in files),
        requirements=sum(each.requirements for each in files),
        tests=sum(each.tests for each in files),
        failing=sum(each.failing for each in files),
        to=to,
    )


def _above(folder: str) -> list[tuple[str, str]]:
    parts = folder.split("/") if folder else []
    steps = [("all", "/sources")]
    for number, part in enumerate(parts, start=1):
        steps.append((part, addresses.with_query("/sources", {"in": "/".join(parts[:number])})))
    return steps


class SourceLine(msgspec.Struct, frozen=True):
    number: int
    text: str
    citations: tuple[CitingPlace, ...]


def show_source(request: PageRequest) -> TemplateView:
    line = request.number("line", 0, most=10_000_000)
    with request.reading() as project:
        found = source_text(project, request.name)
    start = max(((line or 1) - 1) // MOST_LINES * MOST_LINES, 0)
    by_line: dict[int, list[CitingPlace]] = {}
    for each in found.citations:
        by_line.setdefault(each.line, []).append(each)
    rows = [
        SourceLine(number, text, tuple(by_line.get(number, ())))
        for number, text in enumerate(found.lines[start : start + MOST_LINES], start=start + 1)
    ]
    target = f"{request.name}:{line}" if line else request.name
    thread = request.tried(ShowWhy, target=target, max_tokens=6_000)
    return TemplateView(
        template="source.html",
        title=request.name,
        section="sources",
        data={
            "path": request.name,
            "line": line,
            "rows": rows,
            "total": len(found.lines),
            "before": start if start else 0,
            "after": start + MOST_LINES + 1 if len(found.lines) > start + MOST_LINES else 0,
            "cited": tuple(dict.fromkeys((each.target, each.title) for each in found.citations)),
            "thread": thread,
            "titles": TITLES,
            "above": _above(request.name.rpartition("/")[0]),
        },
        watches=(request.name,),
    )


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
    """The share of it that is cited, in steps from 0 to 4; -1 where nothing can be cited."""
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
