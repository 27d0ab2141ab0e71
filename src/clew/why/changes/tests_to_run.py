"""The tests to run after a change of code: one rule, for `impact` and `changed`.

A test is to be run if it changed itself, if it reaches a changed symbol or the nearest callers of one, if a recorded
run of it executed the symbol, or if it cites what the symbol implements. Where few are known, the files of tests that
changed in the same commits are run too.
"""

# Implements: REQ-d00782

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from clew.derived.code_file import FiledSymbol
from clew.graph.model import Node, NodeKind
from clew.text.display import counted
from clew.trace.read.resolve import Subject
from clew.trace.reports.impact import impact
from clew.why.changes.reaching import tests_reaching
from clew.why.changes.test_commands import NamedTest, commands_for
from clew.why.changes.together import changed_together

if TYPE_CHECKING:
    from clew.project import Project

_FEWEST = 10
"""Where fewer tests reach a symbol itself, those of its callers are run too."""
_FEW = 3
"""Where fewer are known, those that changed in the same commits are run too."""
_MOST_PROOFS = 200
_MOST_UNKNOWN = 5
_HISTORY_SECONDS = 0.5
"""Longest wait for the history of commits."""
_ORDER = {
    "changed": 0,
    "uses it": 1,
    "replaces it": 2,
    "ran it": 3,
    "verifies": 4,
    "calls what calls it": 5,
    "changed together": 6,
}


class TestToRun(msgspec.Struct, frozen=True):
    __test__ = False

    path: str
    line: int
    name: str
    """The test in its file, as Class.name; empty for all of a file."""
    reason: str
    """changed, uses it, replaces it, ran it, verifies, calls what calls it, or changed together."""
    basis: str
    of: str
    """The symbol on whose account it is to be run."""
    distance: int = 0
    """Functions between the test and the symbol."""


class TestsToRun(msgspec.Struct, frozen=True):
    __test__ = False

    tests: tuple[TestToRun, ...] = ()
    total: int = 0
    commands: tuple[str, ...] = ()
    """For the project's folder; together they run all of the tests, those left out of the list included."""
    notes: tuple[str, ...] = ()


def tests_to_run(
    project: "Project", symbols: Iterable[FiledSymbol], *, limit: int, check: Callable[[], None], seconds: float
) -> TestsToRun:
    """The tests to run where these symbols change. Hold the graph's lock."""
    until = time.monotonic() + seconds
    symbols = tuple(symbols)
    found: dict[tuple[str, str], TestToRun] = {}
    left_out = 0
    for symbol in symbols:
        if time.monotonic() > until:
            left_out += 1
            continue
        for test in (*_own(project, symbol), *_reaching(project, symbol, check, until), *_recorded(project, symbol)):
            known = found.get((test.path, test.name))
            if known is None or _rank(test) < _rank(known):
                found[test.path, test.name] = test
    for test in _together(project, symbols, found, until):
        found.setdefault((test.path, test.name), test)
    tests = sorted(found.values(), key=_rank)
    commands = commands_for((NamedTest(test.path, test.name) for test in tests), _reader(project))
    notes = [f"There was no time to look for the tests of {left_out} of the symbols."] if left_out else []
    if without := sorted(commands.without):
        more = f" and {counted(len(without) - _MOST_UNKNOWN, 'more file')}" if len(without) > _MOST_UNKNOWN else ""
        notes.append(f"No command is known that runs {', '.join(without[:_MOST_UNKNOWN])}{more}.")
    return TestsToRun(tuple(tests[:limit]), len(tests), commands.commands, tuple(notes))


def _rank(test: TestToRun) -> tuple[int, bool, int, str, int]:
    return _ORDER[test.reason], test.basis == "name", test.distance, test.path, test.line


def _own(project: "Project", symbol: FiledSymbol) -> Iterator[TestToRun]:
    if project.uses.is_test(symbol):
        yield TestToRun(symbol.path, symbol.at, symbol.qualname, "changed", "exact", symbol.qualname)


def _reaching(project: "Project", symbol: FiledSymbol, check: Callable[[], None], until: float) -> Iterator[TestToRun]:
    own = {(test.path, test.name) for test in project.uses.tests_of(symbol, check).tests}
    for test in tests_reaching(project.uses, symbol, check, until, _FEWEST).tests:
        is_own = (test.path, test.name) in own
        reason = "replaces it" if test.how == "patch" else "uses it" if is_own else "calls what calls it"
        yield TestToRun(test.path, test.line, test.name, reason, test.basis, symbol.qualname, test.distance)


def _recorded(project: "Project", symbol: FiledSymbol) -> Iterator[TestToRun]:
    """Tests by the graph: those that executed lines of the symbol, and those that verify what it cites."""
    graph = project.graph
    counts = (graph.evidence.lines(symbol.path, each.line, each.end_line) for each in symbol.places)
    for id in dict.fromkeys(id for lines in counts if lines is not None for id in lines.tests):
        yield from _of_node(graph.get_node(id), "ran it", "run", symbol)
    nodes = [node for node in graph.memory.nodes_in_file(symbol.path) if node.kind is NodeKind.CODE]
    ids = tuple(node.id for node in nodes if _is_in(node, symbol))
    if ids:
        for proof in impact(graph, Subject(symbol.qualname, "symbol", "", ids), (), limit=_MOST_PROOFS).proofs:
            yield from _of_node(graph.get_node(proof.id), "verifies", "stated", symbol)


def _together(
    project: "Project", symbols: Iterable[FiledSymbol], found: Mapping[tuple[str, str], TestToRun], until: float
) -> Iterator[TestToRun]:
    """Files of tests that changed in the same commits, for files of whose symbols few tests are known."""
    by_file: dict[str, list[FiledSymbol]] = {}
    for symbol in symbols:
        by_file.setdefault(symbol.path, []).append(symbol)
    named = {path for path, _ in found}
    for path, those in by_file.items():
        names = {symbol.qualname for symbol in those}
        known = sum(test.of in names for test in found.values())
        left = until - time.monotonic()
        if known < _FEW and left > 0 and not project.uses.tests.holds(path):
            for each in changed_together(project, path, min(left, _HISTORY_SECONDS)):
                if each.path not in named:
                    yield TestToRun(each.path, 1, "", "changed together", "recorded", those[0].qualname)


def _is_in(node: Node, symbol: FiledSymbol) -> bool:
    return node.source is not None and symbol.around(node.source.line, node.source.line) > 0


def _of_node(node: Node | None, reason: str, basis: str, symbol: FiledSymbol) -> Iterator[TestToRun]:
    if node is not None and node.kind is NodeKind.TEST and node.source is not None:
        name = node.id.partition("::")[2].partition("[")[0].replace("::", ".")
        yield TestToRun(node.source.path, node.source.line, name, reason, basis, symbol.qualname)


def _reader(project: "Project") -> Callable[[str], str | None]:
    texts: dict[str, str | None] = {}

    def read(path: str) -> str | None:
        if path not in texts:
            texts[path] = project.uses.text_of(path)
        return texts[path]

    return read
