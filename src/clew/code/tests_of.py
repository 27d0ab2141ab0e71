"""The tests of a symbol: those that use or replace it, themselves or through helpers, fixtures and tables."""

# Implements: REQ-d00743

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from clew.code.results import ReachingTest, SymbolTests
from clew.formats.code.facts.model import CALLABLES, CLASS, MODULE, SCOPES, VALUES, Form, SiteKind, Symbol
from clew.graph.code.binding.namespaces import Source
from clew.graph.code.binding.types import Ref
from clew.graph.code.binding.uses import EXACT, Binder, Use

FARTHEST = 3
"""Calls between a test and the symbol."""
_MOST_STEPS = 120
"""Helpers whose users are looked for."""
_MOST_TESTS = 2_000
_SILENT = frozenset({SiteKind.IMPORT, SiteKind.REEXPORT, SiteKind.EXPORT, SiteKind.OVERRIDE, SiteKind.DELETE})
"""Sites that run nothing of the symbol."""
_OF_CLASS = frozenset(
    {
        "setUp", "setUpClass", "setUpTestData", "asyncSetUp", "tearDown", "tearDownClass", "asyncTearDown",
        "setup_method", "setup_class", "teardown_method", "teardown_class", "setup", "teardown",
    }
)  # fmt: skip
"""Methods that a test framework runs around each test of a class."""
_OF_FILE = frozenset(
    {
        "setUpModule", "tearDownModule", "setup_module", "teardown_module", "setup_function", "teardown_function",
    }
)  # fmt: skip
"""Functions that a test framework runs around the tests of a file."""
_SHARED = "conftest.py"


class _Step(NamedTuple):
    """A definition in a file of tests through which the symbol is reached."""

    of: Ref
    distance: int
    how: str
    basis: str
    through: tuple[str, ...]
    """The helpers between, that nearest to a test first."""


def tests_reaching(
    binder: Binder, target: Ref, holds_tests: Callable[[str], bool], check: Callable[[], None]
) -> SymbolTests:
    """The tests that reach a symbol in at most `FARTHEST` calls."""
    return _Search(binder, holds_tests, check).run(target)


def ordered(tests: Iterable[ReachingTest]) -> tuple[ReachingTest, ...]:
    """The surest and nearest first; of one test that is found in several ways the best."""
    best: dict[tuple[str, str, str], ReachingTest] = {}
    for each in sorted(tests, key=_place):
        best.setdefault((each.path, each.name, each.how), each)
    return tuple(best.values())


def _place(test: ReachingTest) -> tuple[bool, bool, int, str, int]:
    return test.how != "use", test.basis != EXACT, test.distance, test.path, test.line


class _Search:
    def __init__(self, binder: Binder, holds_tests: Callable[[str], bool], check: Callable[[], None]) -> None:
        self._binder = binder
        self._holds_tests = holds_tests
        self._check = check
        self._found: dict[tuple[Ref, str], ReachingTest] = {}
        self._places: dict[tuple[str, str], ReachingTest] = {}
        self._seen: set[tuple[Ref, str]] = set()
        self._waiting: deque[_Step] = deque()
        self._shared: list[str] = []
        self._is_cut = False

    def run(self, target: Ref) -> SymbolTests:
        self._follow(_Step(target, -1, "use", EXACT, ()))
        steps = files = 0
        while self._waiting:
            step = self._waiting.popleft()
            steps += 1
            if steps > _MOST_STEPS or len(self._found) > _MOST_TESTS:
                self._is_cut = True
                break
            uses = self._binder.uses_of(step.of, self._check)
            files = files or uses.files
            for use in uses.uses:
                if use.kind not in _SILENT and self._holds_tests(use.path):
                    self._used(use, step)
        tests = ordered((*self._found.values(), *self._places.values()))
        return SymbolTests(tests, tuple(dict.fromkeys(self._shared)), files, self._is_cut)

    def _follow(self, step: _Step) -> None:
        """Look for the users of a definition later, if it is near enough and was not met in this way."""
        if (step.of, step.how) not in self._seen and step.distance < FARTHEST:
            self._seen.add((step.of, step.how))
            self._waiting.append(step)

    def _used(self, use: Use, step: _Step) -> None:
        how = "patch" if use.kind == SiteKind.PATCH else step.how
        basis = step.basis if use.basis == EXACT else use.basis
        source = self._binder.known_source(use.path)
        place = _around(source, use)
        if place == MODULE:
            if source.rules is None or source.rules.name != "python":
                # Tests are calls there, and no definitions.
                where = ReachingTest(use.path, use.line, "", how, basis, step.distance + 1, use.line, step.through)
                self._places.setdefault((use.path, how), where)
            return
        self._reached(source, place, _Step(step.of, step.distance + 1, how, basis, step.through), use.line)

    def _reached(self, source: Source, place: int, step: _Step, line: int) -> None:
        """Note the test in which something is used, or go on with the helper that uses it."""
        outer = place
        test = MODULE
        while outer != MODULE:
            if is_test(source, outer):
                test = outer
            outer = source.symbol(outer).parent
        if test != MODULE:
            self._note(source, test, step, line)
            return
        helper = _outermost_function(source, place)
        ref = Ref(source.path, helper)
        beyond = step._replace(of=ref, through=(source.symbol(helper).qualname, *step.through))
        around = self._run_around(source, helper)
        for each in around or ():
            self._note(self._binder.known_source(each.path), each.symbol, _farther(beyond), 0)
        if not around:
            self._follow(beyond)

    def _note(self, source: Source, place: int, step: _Step, line: int) -> None:
        key = (Ref(source.path, place), step.how)
        known = self._found.get(key)
        symbol = source.symbol(place)
        found = ReachingTest(
            source.path, symbol.at, symbol.qualname, step.how, step.basis, step.distance, line, step.through
        )
        if known is None or _place(found) < _place(known):
            self._found[key] = found

    def _run_around(self, source: Source, place: int) -> tuple[Ref, ...]:
        """The tests that a test framework runs a definition with, without a call of it: set-up, fixtures that need no
        name, a class of tests itself."""
        symbol, form = source.symbol(place), source.shape(place).form
        if symbol.kind == CLASS:
            return tuple(self._tests_below(Ref(source.path, place)))
        if symbol.kind not in CALLABLES:
            return ()
        if symbol.parent != MODULE and source.symbol(symbol.parent).kind == CLASS:
            if symbol.name in _OF_CLASS or form & Form.AUTOMATIC:
                return tuple(self._tests_below(Ref(source.path, symbol.parent)))
            return ()
        if form & Form.AUTOMATIC and source.path.rpartition("/")[2] == _SHARED:
            # Every test of the folder: a list of them would say nothing.
            self._shared.append(f"{source.path}::{symbol.qualname}")
            return ()
        return _tests_in(source) if symbol.name in _OF_FILE or form & Form.AUTOMATIC else ()

    def _tests_below(self, of: Ref) -> Iterator[Ref]:
        """The tests of a class and of the classes of tests below it."""
        waiting, seen = [of], {of}
        while waiting:
            one = waiting.pop()
            source = self._binder.known_source(one.path)
            for number in source.members(one.symbol).values():
                if is_test(source, number):
                    yield Ref(one.path, number)
            for use in self._binder.uses_of(one, self._check).uses:
                if use.kind != SiteKind.INHERIT or not self._holds_tests(use.path):
                    continue
                below = Ref(use.path, _around(self._binder.known_source(use.path), use))
                if below.symbol != MODULE and below not in seen and self._binder.is_class(below):
                    seen.add(below)
                    waiting.append(below)


def _farther(step: _Step) -> _Step:
    return step._replace(distance=step.distance + 1)


def is_test(source: Source, place: int) -> bool:
    """True if a definition in a file of tests is a test."""
    symbol = source.symbol(place)
    if symbol.kind not in CALLABLES:
        return False
    if symbol.is_test:
        return True
    parent = source.symbol(symbol.parent) if symbol.parent != MODULE else None
    return symbol.name.startswith("test") and parent is not None and parent.kind == CLASS and parent.parent == MODULE


def _tests_in(source: Source) -> tuple[Ref, ...]:
    return tuple(Ref(source.path, number) for number in range(len(source.symbols)) if is_test(source, number))


def _around(source: Source, use: Use) -> int:
    """The definition to which a use belongs: a decorator to what it decorates, a value to the name that is given it."""
    place = use.inside
    while place == MODULE or source.symbol(place).kind == CLASS:
        inner = next(
            (
                number
                for number, symbol in enumerate(source.symbols)
                if symbol.parent == place and _covers(symbol, use.line)
            ),
            None,
        )
        if inner is None:
            break
        place = inner
        if source.symbol(place).at >= use.line:
            break
    return place


def _covers(symbol: Symbol, line: int) -> bool:
    return symbol.around(line, line) > 0 and (symbol.kind in SCOPES or symbol.kind in VALUES)


def _outermost_function(source: Source, place: int) -> int:
    """The outermost function around a definition, or else the definition."""
    found = place
    outer = place
    while outer != MODULE:
        if source.symbol(outer).kind in CALLABLES:
            found = outer
        outer = source.symbol(outer).parent
    return found
