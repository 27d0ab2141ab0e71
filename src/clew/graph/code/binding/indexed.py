"""Uses that index files of other programs know, in one state of the project."""

# Implements: REQ-d00788

from collections.abc import Iterator
from typing import NamedTuple

from clew.derived.code_file import CodeFile
from clew.derived.code_indexed import CALLED, PLACE_SIZE, IndexedFile
from clew.formats.code.facts.model import SiteKind, Symbol
from clew.formats.code.scip import DEFINITION, IMPORT, WRITE, name_of

Spot = tuple[int, int]
"""Line and column of a name."""


class IndexedSite(NamedTuple):
    path: str
    line: int
    column: int
    kind: SiteKind


class IndexedSites:
    def __init__(self, file: CodeFile) -> None:
        self._file = file
        self.are_there = bool(file.indexed.indexes())
        self._spots: dict[str, dict[Spot, set[str]]] = {}

    def symbols_of(self, path: str, symbol: Symbol) -> frozenset[str]:
        """The names that indexes have for a definition."""
        lines = {place.at for place in symbol.places}
        return frozenset(
            named
            for each in self._file.indexed.of_file(path)
            for line, _, roles, named in _rows(each)
            if roles & DEFINITION and line in lines and name_of(named) == symbol.name
        )

    def uses_of(self, symbols: frozenset[str]) -> Iterator[IndexedSite]:
        files = {(each.path, each.symbols): each for named in symbols for each in self._file.indexed.with_symbol(named)}
        for each in files.values():
            for line, column, roles, named in _rows(each):
                if named in symbols and not roles & DEFINITION:
                    yield IndexedSite(each.path, line, column, _kind(roles))

    def meant(self, path: str, line: int, column: int) -> set[str]:
        """The names that indexes have for what is meant at a place; none where they do not know it."""
        spots = self._spots.get(path)
        if spots is None:
            spots = self._spots[path] = {}
            for each in self._file.indexed.of_file(path):
                for at, start, _, named in _rows(each):
                    spots.setdefault((at, start), set()).add(named)
        return spots.get((line, column), set())


def _rows(file: IndexedFile) -> Iterator[tuple[int, int, int, str]]:
    places, symbols = file.places, file.symbols
    for at in range(0, len(places), PLACE_SIZE):
        line, column, roles, number = places[at : at + PLACE_SIZE]
        yield line, column, roles, symbols[number]


def _kind(roles: int) -> SiteKind:
    if roles & IMPORT:
        return SiteKind.IMPORT
    if roles & WRITE:
        return SiteKind.WRITE
    return SiteKind.CALL if roles & CALLED else SiteKind.READ
