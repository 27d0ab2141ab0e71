"""The tests of a symbol for every answer that names tests: those that reach it, or else those of its callers."""

# Implements: REQ-d00781

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from clew.derived.code_file import FiledSymbol
from clew.formats.code.facts.model import CALLABLES, MODULE, SiteKind

if TYPE_CHECKING:
    from clew.code.results import ReachingTest
    from clew.code.service import CodeService
    from clew.graph.code.binding.uses import Use

FARTHEST = 3
"""Callers of callers that are followed where no test reaches the symbol itself."""
_MOST_CALLERS = 24
"""Callers at one distance whose tests are looked for."""
_SILENT = frozenset({SiteKind.IMPORT, SiteKind.REEXPORT, SiteKind.EXPORT, SiteKind.DELETE, SiteKind.ANNOTATION})


class FoundTests(msgspec.Struct, frozen=True):
    tests: tuple["ReachingTest", ...] = ()
    """The surest and nearest first. `through` begins with the callers of the symbol."""
    callers: int = 0
    """Calls between the symbol and what the tests reach; 0 where they reach the symbol itself."""
    run_by_all: tuple[str, ...] = ()
    """Fixtures that use it, with which every test below their folder runs."""
    looked_at: int = 0
    is_cut: bool = False


def tests_reaching(
    service: "CodeService", symbol: FiledSymbol, check: Callable[[], None], until: float, fewest: int
) -> FoundTests:
    """The tests that reach a symbol; where they are fewer than `fewest`, also those of the nearest callers that have
    some."""
    own = service.tests_of(symbol, check)
    if own.run_by_all or len(own.tests) >= fewest:
        return FoundTests(own.tests, 0, own.run_by_all, own.looked_at, own.truncated)
    seen = {(symbol.path, symbol.place)}
    level: list[tuple[FiledSymbol, tuple[str, ...]]] = [(symbol, ())]
    for distance in range(1, FARTHEST + 1):
        following: list[tuple[FiledSymbol, tuple[str, ...]]] = []
        for each, through in level:
            for caller in _callers(service, each, check):
                key = caller.path, caller.place
                if key not in seen and len(following) < _MOST_CALLERS:
                    seen.add(key)
                    following.append((caller, (*through, caller.qualname)))
        found: list[ReachingTest] = []
        for caller, through in following:
            if time.monotonic() > until:
                return FoundTests(_best([*own.tests, *found]), distance, (), own.looked_at, True)
            found += [_beyond(test, distance, through) for test in service.tests_of(caller, check).tests]
        if found or not following:
            return FoundTests(_best([*own.tests, *found]), distance if found else 0, (), own.looked_at)
        level = following
    return FoundTests(own.tests, 0, (), own.looked_at)


def _callers(service: "CodeService", symbol: FiledSymbol, check: Callable[[], None]) -> Iterable[FiledSymbol]:
    """The functions and methods outside of tests that use a symbol."""
    found: dict[tuple[str, int], FiledSymbol] = {}
    for use in service.uses_of(symbol, check).uses:
        if use.kind not in _SILENT and use.basis != "name" and not service.tests.holds(use.path):
            caller = _function_around(service, use)
            if caller is not None:
                found[caller.path, caller.place] = caller
    return found.values()


def _function_around(service: "CodeService", use: "Use") -> FiledSymbol | None:
    symbols, place = service.keeper.file.symbols_of(use.path), use.inside
    found = None
    while MODULE < place < len(symbols):
        if symbols[place].kind in CALLABLES:
            found = symbols[place]
        place = symbols[place].parent
    return found


def _beyond(test: "ReachingTest", distance: int, through: tuple[str, ...]) -> "ReachingTest":
    return msgspec.structs.replace(test, distance=test.distance + distance, through=(*through[::-1], *test.through))


def _best(found: "Iterable[ReachingTest]") -> "tuple[ReachingTest, ...]":
    from clew.code.tests_of import ordered

    return ordered({(each.path, each.name, each.how): each for each in reversed(tuple(found))}.values())
