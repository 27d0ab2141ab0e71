"""Python, and other languages whose blocks are indented (Ruby, Lua, Elixir: indented and closed by `end`)."""

import re

import msgspec

from clew.formats.definitions.model import CLASS, DEEPEST, FUNCTION, INSIDE, Definition

_HEAD = re.compile(
    r"(?:(?:async|local|export|pub|private|public)\s+)*"
    r"(def|defp|defmodule|class|module|function|proc|macro)\s+(?:self\.)?([\w.:?!]+)"
)
_CLASS_WORDS = frozenset({"class", "module", "defmodule"})
_OPENING, _CLOSING = "([{", ")]}"
_NOT_CODE = frozenset(f"{INSIDE}#{_CLOSING}")


class _Open(msgspec.Struct):
    """A definition whose end has not been reached."""

    qualname: str
    kind: str
    indent: int
    line: int
    last: int
    is_test: bool
    holds_tests: bool


class IndentScan:
    def __init__(self, code: str) -> None:
        self._code = code
        self._found: list[Definition] = []
        self._stack: list[_Open] = []
        self._decorators: list[str] = []
        self._decorated_from = 0
        self._depth = 0
        """Of open brackets, counted up to `_counted`."""
        self._counted = 0

    def scan(self) -> list[Definition]:
        offset = 0
        for number, line in enumerate(self._code.split("\n"), start=1):
            stripped = line.lstrip(" \t")
            if stripped:
                indent = len(line) - len(stripped)
                if stripped[0] in _NOT_CODE:
                    self._extend(stripped[0], indent, number)
                else:
                    self._code_line(stripped, indent, number, offset)
            offset += len(line) + 1
        self._close(-1)
        return self._found

    def _extend(self, first: str, indent: int, number: int) -> None:
        """A line that is no code: it belongs to the open block, a comment only where it is indented into it."""
        if self._stack and (first != "#" or indent > self._stack[-1].indent):
            self._stack[-1].last = number

    def _code_line(self, stripped: str, indent: int, number: int, offset: int) -> None:
        head = _HEAD.match(stripped)
        if self._stack and indent <= self._stack[-1].indent:
            if head is None and self._in_brackets(offset):
                self._stack[-1].last = number
                return
            if indent == self._stack[-1].indent and stripped.startswith("end"):
                self._stack[-1].last = number
            self._close(indent)
        if stripped[0] == "@":
            self._decorated_from = self._decorated_from or number
            self._decorators.append(stripped)
        elif head is not None and len(self._stack) < DEEPEST:
            self._open(head[1], head[2].rstrip(":."), stripped, indent, number)
            # Brackets left open above a definition are a syntax error; they must not swallow the rest of the file.
            self._depth, self._counted = 0, offset
        elif self._decorators and not self._in_brackets(offset):
            self._decorators, self._decorated_from = [], 0
        if self._stack:
            self._stack[-1].last = number

    def _in_brackets(self, offset: int) -> bool:
        """Whether the line at `offset` continues one that opened a bracket."""
        start, self._counted = self._counted, offset
        opened = sum(self._code.count(sign, start, offset) for sign in _OPENING)
        closed = sum(self._code.count(sign, start, offset) for sign in _CLOSING)
        self._depth = max(0, self._depth + opened - closed)
        return self._depth > 0

    def _open(self, word: str, name: str, head: str, indent: int, number: int) -> None:
        parent = self._stack[-1] if self._stack else None
        kind = CLASS if word in _CLASS_WORDS else FUNCTION
        may_hold_tests = parent is None or parent.holds_tests
        is_fixture = any("fixture" in decorator for decorator in self._decorators)
        self._stack.append(
            _Open(
                qualname=f"{parent.qualname}.{name}" if parent is not None else name,
                kind=kind,
                indent=indent,
                line=self._decorated_from or number,
                last=number,
                is_test=kind == FUNCTION and name.startswith("test") and may_hold_tests and not is_fixture,
                holds_tests=kind == CLASS and may_hold_tests and "Test" in head,
            )
        )
        self._decorators, self._decorated_from = [], 0

    def _close(self, indent: int) -> None:
        """Close the definitions that a line of this indent ends."""
        while self._stack and indent <= self._stack[-1].indent:
            done = self._stack.pop()
            self._found.append(Definition(done.qualname, done.kind, done.line, done.last, done.is_test))
            if self._stack:
                self._stack[-1].last = max(self._stack[-1].last, done.last)
