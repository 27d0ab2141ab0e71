"""Tests without a block of their own.

They are calls, as `test("rings", () => ...)` and `describe("bell", ...)`, or functions that are one expression, as
`@Test fun rings() = ...` in Kotlin and C#.
"""

import re

import msgspec

from clew.formats.code.definitions.model import CLASS, FUNCTION, INSIDE

_GROUPS = frozenset({"describe", "fdescribe", "xdescribe", "group", "suite", "context", "feature"})
_WORDS = f"{'|'.join(sorted(_GROUPS))}|test|it|fit|xit|specify|scenario|testWidgets|blocTest|test_that"
_CALL = re.compile(
    rf"(?<![\w.$])(?:Deno\.|QUnit\.)?({_WORDS})\b((?:\.\w+)*)\s*(?:<[^<>()\n]*>\s*)?"
    rf"(?:\(\s*(\"+)|\"+(?:\n{INSIDE}*)*\s*\(\s*(\"+)|\()"
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
        r"\[(?:Fact|Theory|Test|TestCase|TestMethod)\b[^\]\n]*\]\s*(?:\[[^\]\n]*\]\s*){0,8}[\w<>?, \t]{0,200}?"
        r"\b(\w+)\s*(\()[^()\n]*\)\s*=>[^;{}]*;"
    ),
}
"""By family: a test that is one expression."""
_NO_TESTS = frozenset({"step", "use", "extend", "beforeEach", "afterEach", "beforeAll", "afterAll"})


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call that is a test, or a group of them; or the head of a function that is one expression."""

    name: str
    kind: str
    begin: int
    end: int = -1
    """Where it ends, if not where its parenthesis closes."""


class TestCalls:
    """The tests of one file that have no block of their own, by where their parenthesis opens."""

    __test__ = False  # keeps pytest from collecting the class itself

    def __init__(self, text: str, code: str, family: str) -> None:
        self._text = text
        self._code = code
        self._calls: dict[int, Call] = {}
        self._values: dict[int, re.Match[str]] = {}
        """Calls that take values first, `test.each([1, 2])("...")`, by where the values begin."""
        if family in _EXPRESSIONS:
            for test in _EXPRESSIONS[family].finditer(code):
                name = text[slice(*test.span(1))].strip("`")
                self._calls[test.start(2)] = Call(name, FUNCTION, test.start(), test.end())
        for call in _CALL.finditer(code) if family in _WITH_CALLS else ():
            if not _NO_TESTS.isdisjoint(call[2].split(".")):
                continue
            group = 3 if call[3] else 4
            if call[group]:
                self._add(call, code.rfind("(", call.start(), call.start(group)), *call.span(group))
            elif call[2]:
                self._values[call.end() - 1] = call

    def opening_at(self, position: int) -> Call | None:
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
        self._calls[opening] = Call(name.strip() or call[1], CLASS if is_group else FUNCTION, call.start())
