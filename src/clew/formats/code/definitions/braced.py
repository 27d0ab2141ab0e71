"""Languages whose blocks are in braces: what precedes an opening brace says what the block defines.

Tests without a block of their own are found as well. They are calls, as `test("rings", () => ...)` and
`describe("bell", ...)`, or functions that are one expression, as `@Test fun rings() = ...` in Kotlin and C#.
"""

import bisect
import itertools
import re

import msgspec

from clew.formats.code.definitions.heads import Head, defined, is_data
from clew.formats.code.definitions.model import CLASS, DEEPEST, FUNCTION, INSIDE, Definition

_SIGNS = re.compile(r"[(){};]")
_LONGEST_HEAD = 600
_MOST_PIECES = 30
"""Limit of the pieces read before a brace, so that a file of one statement costs no more than one of many."""
_NEAR = 100
"""Distance after a call within which its block begins."""
_CREATED = re.compile(r"\bnew\b[^;={}]*\Z")


class _Block(msgspec.Struct):
    """A definition whose end may not have been reached."""

    names: tuple[str, ...]
    kind: str
    is_test: bool
    parent: int
    begin: int
    end: int


class _Level(msgspec.Struct):
    """A bracket that is open, and the statement in it that is being read."""

    sign: str
    opening: int
    start: int
    """Offset at which the current stretch of the statement begins."""
    owner: int
    """Number of the definition that the bracket is in, or is; -1 for none."""
    defines: int = -1
    """Number of the definition that ends where the bracket closes."""
    is_data: bool = False
    """After the bracket, the statement goes on."""
    holds_functions: bool = True
    """True if `name(...) {` is a function here."""
    pieces: list[tuple[int, int]] = []
    """The earlier stretches of the statement; what lies between them are brackets that have closed."""


class BraceScan:
    def __init__(self, text: str, code: str, family: str) -> None:
        self._text = text
        self._code = code
        self._family = family
        self._found: list[_Block] = []
        self._levels = [_Level("", 0, 0, -1)]
        self._open_braces = 0
        self._calls = TestCalls(text, code, family)
        self._closed_call = (-1, -1)
        """The definition that a call was, and where its parenthesis closed."""

    def scan(self) -> list[Definition]:
        for match in _SIGNS.finditer(self._code):
            position = match.start()
            match match[0]:
                case "(":
                    self._open_parenthesis(position)
                case ")":
                    self._close_parenthesis(position)
                case "{":
                    self._open_brace(position)
                case "}":
                    self._close_brace(position)
                case _:
                    self._end_statement(position)
        return self._definitions()

    def _open_parenthesis(self, position: int) -> None:
        call = self._calls.opening_at(position)
        index = -1
        if call is not None:
            index = self._define((call.name,), call.kind, call.kind == FUNCTION, call.begin)
            if index >= 0 and call.end >= 0:
                self._found[index].end, index = call.end, -1
        self._push("(", position, index, False, self._levels[-1].holds_functions)

    def _close_parenthesis(self, position: int) -> None:
        if self._levels[-1].sign != "(":
            return
        closed = self._levels.pop()
        self._levels[-1].start = position
        if closed.defines >= 0:
            self._found[closed.defines].end = position
            self._closed_call = closed.defines, position
        else:
            self._calls.values_end(closed.opening, position)

    def _open_brace(self, position: int) -> None:
        level = self._levels[-1]
        self._open_braces += 1
        call, closed_at = self._closed_call
        if call >= 0 and position - closed_at < _NEAR and not self._code[closed_at + 1 : position].strip():
            self._push("{", position, call, False, level.holds_functions)
            return
        head = self._head(position) if level.pieces or level.start < position else None
        if head is None or not head.code.strip():
            is_argument = level.sign == "("
            self._push("{", position, -1, is_argument, is_argument or level.holds_functions)
        elif is_data(head, self._family):
            self._push("{", position, -1, True, True)
        else:
            found = defined(head, self._family, in_function=not level.holds_functions)
            index, holds_functions = -1, level.holds_functions or _CREATED.search(head.code) is not None
            if found is not None:
                index = self._define(found.names, found.kind, found.is_test, head.offset(found.index))
                holds_functions = found.kind == CLASS
            self._push("{", position, index, False, holds_functions)

    def _close_brace(self, position: int) -> None:
        if not self._open_braces:
            self._end_statement(position)
            return
        self._open_braces -= 1
        closed = None
        while closed is None or closed.sign != "{":
            # Parentheses that are still open are a mistake, which must not reach beyond the block.
            closed = self._levels.pop()
            if closed.defines >= 0:
                self._found[closed.defines].end = position
        if closed.is_data:
            self._levels[-1].start = position
        else:
            self._end_statement(position)

    def _end_statement(self, position: int) -> None:
        level = self._levels[-1]
        level.pieces.clear()
        level.start = position + 1

    def _push(self, sign: str, position: int, defines: int, is_data: bool, holds_functions: bool) -> None:
        level = self._levels[-1]
        level.pieces.append((level.start, position + 1))
        owner = defines if defines >= 0 else level.owner
        self._levels.append(_Level(sign, position, position + 1, owner, defines, is_data, holds_functions))

    def _define(self, names: tuple[str, ...], kind: str, is_test: bool, begin: int) -> int:
        """Add a definition inside the current one; -1 where that would be too deep."""
        parent = self._levels[-1].owner
        around = self._found[parent].names if parent >= 0 else ()
        if len(around) + len(names) > DEEPEST:
            return -1
        self._found.append(_Block((*around, *names), kind, is_test, parent, begin, len(self._code)))
        return len(self._found) - 1

    def _head(self, position: int) -> Head:
        """The statement in front of a brace, its end at least."""
        level = self._levels[-1]
        pieces = []
        left = _LONGEST_HEAD
        for start, end in itertools.chain(((level.start, position),), reversed(level.pieces)):
            pieces.append((max(start, end - left), end))
            left -= end - start
            if left <= 0 or len(pieces) == _MOST_PIECES:
                break
        pieces.reverse()
        return Head(self._text, self._code, pieces)

    def _definitions(self) -> list[Definition]:
        newlines = [match.start() for match in re.finditer("\n", self._code)] if self._found else []

        def line(offset: int) -> int:
            return bisect.bisect_left(newlines, offset) + 1

        return [
            Definition(each.names, each.kind, line(each.begin), line(each.end), each.is_test, each.parent)
            for each in self._found
        ]


_GROUPS = frozenset({"describe", "fdescribe", "xdescribe", "group", "suite", "context", "feature"})
_WORDS = f"{'|'.join(sorted(_GROUPS))}|test|it|fit|xit|specify|scenario|testWidgets|blocTest|test_that"
_CALL = re.compile(
    rf"(?<![\w.$])(?:Deno\.|QUnit\.)?({_WORDS})\b((?:\.\w+)*)\s*(?:<[^<>()\n]*>\s*)?"
    rf"(?:\(\s*+(\"++)|\"++(?:\n{INSIDE}*+)*+\s*+\(\s*+(\"++)|\()"
)
"""The name directly after the parenthesis, the name after a table of values in a string, or values first."""
_WITH_CALLS = frozenset({"script", "dart", "groovy", "kotlin", "swift", "r"})
_NAME_AFTER_VALUES = re.compile(r"\s*(\()\s*(\"+)")
_NOTHING_ELSE = re.compile(r"\s*\)(?!\s*\{)")
_ARGUMENTS = r"(?:\([^()\n]*\))?"
_EXPRESSIONS = {
    "kotlin": re.compile(
        rf"@Test\b{_ARGUMENTS}\s+(?:@\w+{_ARGUMENTS}\s+){{0,8}}(?:\w+\s+){{0,8}}?fun\s+(\"+|\w+)\s*(\()[^()\n]*\)"
        r"[^=\n{}]*=\s*+[^\n{}]++$",
        re.MULTILINE,
    ),
    "csharp": re.compile(
        r"\[(?:Fact|Theory|Test|TestCase|TestMethod)\b[^\]\n]*+\]\s*+(?:\[[^\]\n]*+\]\s*+){0,8}+[\w<>?, \t]{0,200}?"
        r"\b(\w++)\s*+(\()[^()\n]*+\)\s*+=>[^;{}]{0,4000}+;"
    ),
}
"""By family: a test that is one expression."""
_NO_TESTS = frozenset({"step", "use", "extend", "beforeEach", "afterEach", "beforeAll", "afterAll"})


class TestCall(msgspec.Struct, frozen=True, gc=False):
    """A call that is a test, or a group of them; or the head of a function that is one expression."""

    name: str
    kind: str
    begin: int
    end: int = -1
    """Offset of its end, if it is not the end of its parenthesis."""


class TestCalls:
    """The tests of one file that have no block of their own, by where their parenthesis opens."""

    __test__ = False  # keeps pytest from collecting the class itself

    def __init__(self, text: str, code: str, family: str) -> None:
        self._text = text
        self._code = code
        self._calls: dict[int, TestCall] = {}
        self._values: dict[int, re.Match[str]] = {}
        """Calls that take values first, `test.each([1, 2])("...")`, by where the values begin."""
        if family in _EXPRESSIONS:
            for test in _EXPRESSIONS[family].finditer(code):
                name = text[slice(*test.span(1))].strip("`")
                self._calls[test.start(2)] = TestCall(name, FUNCTION, test.start(), test.end())
        for call in _CALL.finditer(code) if family in _WITH_CALLS else ():
            if not _NO_TESTS.isdisjoint(call[2].split(".")):
                continue
            group = 3 if call[3] else 4
            if call[group]:
                self._add(call, code.rfind("(", call.start(), call.start(group)), *call.span(group))
            elif call[2]:
                self._values[call.end() - 1] = call

    def opening_at(self, position: int) -> TestCall | None:
        return self._calls.get(position)

    def values_end(self, opening: int, position: int) -> None:
        """The parenthesis at `opening` closes at `position`; where it held values, the name may follow."""
        call = self._values.get(opening)
        if call is not None and (named := _NAME_AFTER_VALUES.match(self._code, position + 1)):
            self._add(call, named.start(1), *named.span(2))

    def _add(self, call: re.Match[str], opening: int, start: int, end: int) -> None:
        if _NOTHING_ELSE.match(self._code, end) is not None:
            return
        is_group = call[1] in _GROUPS or "describe" in call[2].split(".")
        name = self._text[start + 1 : end]
        if name.endswith(self._text[start]):
            name = name[:-1]
        self._calls[opening] = TestCall(name.strip() or call[1], CLASS if is_group else FUNCTION, call.start())
