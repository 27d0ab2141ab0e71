"""Python, and other languages whose blocks are indented (Ruby, Lua, Elixir: indented and closed by `end`)."""

import re

import msgspec

from clew.formats.code.definitions.model import CLASS, DEEPEST, FUNCTION, INSIDE, Definition

_HEAD = re.compile(
    r"(?:(?:async|local|export|pub|private|public)\s+)*"
    r"(def|defp|defmodule|class|module|function|proc|macro)\s+(?:self\.)?([\w.:?!]+)"
)
_CLASS_WORDS = frozenset({"class", "module", "defmodule"})
_TEST_BLOCK = re.compile(
    r"(?:RSpec\.)?[fx]?(describe|context|feature|suite|it|specify|scenario|example|should|test)\b"
    r"[ \t(]*+(?:(\"++|[A-Z]\w*+(?:[:.]++\w++)*+)[^\n]*?(?:\bdo\b|\{|\bfunction\b|:\s*+\Z)|do\b|\{)"
)
"""A test or group of tests as RSpec, ExUnit, busted and others write it: `it "rings" do`."""
_GROUPS = frozenset({"describe", "context", "feature", "suite"})
_OPENING, _CLOSING = "([{", ")]}"
_NOT_CODE = frozenset(f"{INSIDE}#{_CLOSING}")
_LONGEST_HEAD = 1_000


class _Open(msgspec.Struct):
    """A definition, while its end has not been reached."""

    names: tuple[str, ...]
    kind: str
    indent: int
    line: int
    last: int
    is_test: bool
    holds_tests: bool
    index: int
    parent: int


class IndentScan:
    def __init__(self, text: str, code: str, *, closed_by_end: bool) -> None:
        self._text = text
        self._code = code
        self._closed_by_end = closed_by_end
        self._found: list[_Open] = []
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
        return [
            Definition(each.names, each.kind, each.line, each.last, each.is_test, each.parent) for each in self._found
        ]

    def _extend(self, first: str, indent: int, number: int) -> None:
        """A line that is no code: it belongs to the open block, a comment to the one it is indented into."""
        if first != "#":
            if self._stack:
                self._stack[-1].last = number
            return
        for block in reversed(self._stack):
            if indent > block.indent:
                block.last = number
                return

    def _code_line(self, stripped: str, indent: int, number: int, offset: int) -> None:
        head = _HEAD.match(stripped)
        block = _TEST_BLOCK.match(stripped) if self._closed_by_end and head is None else None
        if self._stack and indent <= self._stack[-1].indent:
            if self._closed_by_end and stripped.startswith("end"):
                self._close(indent + 1)
                self._extend("", indent, number)
            elif head is None and block is None and self._in_brackets(offset):
                self._stack[-1].last = number
                return
            self._close(indent)
        if stripped[0] == "@":
            self._decorated_from = self._decorated_from or number
            self._decorators.append(stripped)
        elif (head is not None or block is not None) and len(self._stack) < DEEPEST:
            if head is not None:
                self._open_head(head, stripped, indent, number, offset + indent)
            elif block is not None:
                self._open_block(block, indent, number, offset + indent)
            # Brackets left open above a definition are a syntax error; they must not swallow the rest of the file.
            self._depth, self._counted = 0, offset
        elif self._decorators and not self._in_brackets(offset):
            self._decorators, self._decorated_from = [], 0
        if self._stack:
            self._stack[-1].last = number

    def _in_brackets(self, offset: int) -> bool:
        """True if the line at `offset` continues one that opened a bracket."""
        start, self._counted = self._counted, offset
        opened = sum(self._code.count(sign, start, offset) for sign in _OPENING)
        closed = sum(self._code.count(sign, start, offset) for sign in _CLOSING)
        self._depth = max(0, self._depth + opened - closed)
        return self._depth > 0

    def _open_head(self, head: re.Match[str], line: str, indent: int, number: int, offset: int) -> None:
        name = head[2].rstrip(":.")
        kind = CLASS if head[1] in _CLASS_WORDS else FUNCTION
        may_hold_tests = not self._stack or self._stack[-1].holds_tests
        is_test = False
        if kind == FUNCTION and may_hold_tests and name.startswith("test"):
            is_test = not any("fixture" in decorator for decorator in self._decorators)
        elif kind == CLASS and may_hold_tests and line.count("(") > line.count(")"):
            line = self._code[offset : offset + _LONGEST_HEAD].partition(":")[0]
        tests = "Test" in line or name.startswith("test_")
        self._open(name, kind, indent, number, is_test, kind == CLASS and may_hold_tests and tests)

    def _open_block(self, block: re.Match[str], indent: int, number: int, offset: int) -> None:
        name = block[2] or block[1]
        if name[0] == '"':
            name = self._text[offset + block.start(2) + 1 : offset + block.end(2) - 1].strip() or block[1]
        if block[1] in _GROUPS:
            self._open(name, CLASS, indent, number, False, True)
        else:
            self._open(name, FUNCTION, indent, number, True, False)

    def _open(self, name: str, kind: str, indent: int, number: int, is_test: bool, holds_tests: bool) -> None:
        parent = self._stack[-1] if self._stack else None
        opened = _Open(
            names=(*parent.names, name) if parent is not None else (name,),
            kind=kind,
            indent=indent,
            line=self._decorated_from or number,
            last=number,
            is_test=is_test,
            holds_tests=holds_tests,
            index=len(self._found),
            parent=parent.index if parent is not None else -1,
        )
        self._found.append(opened)
        self._stack.append(opened)
        self._decorators, self._decorated_from = [], 0

    def _close(self, indent: int) -> None:
        """Close the definitions that a line of this indent ends."""
        while self._stack and indent <= self._stack[-1].indent:
            done = self._stack.pop()
            if self._stack:
                self._stack[-1].last = max(self._stack[-1].last, done.last)
