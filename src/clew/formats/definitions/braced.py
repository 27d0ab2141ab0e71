"""Languages whose blocks stand in braces: what precedes an opening brace says what the block defines."""

import re

from clew.formats.definitions.model import CLASS, DEEPEST, FUNCTION, INSIDE, Definition

_BOUNDARY = re.compile(r"[{};]")
_LONGEST_HEAD = 300
"""Of what precedes a brace, so that a file of one line costs no more than one of many."""

_TEST_CALL = re.compile(
    r"(?<![\w.])(test|it|describe|group|suite|context|specify|testWidgets|blocTest|@test)(?:\.\w+){0,3}\s*\(?\s*(\"+)"
)
_GROUPS = frozenset({"describe", "group", "suite", "context"})
_GTEST = re.compile(r"\bTEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*\Z")
_NAMED_FUNCTION = re.compile(
    r"\b(?:function|func|fn|fun)\b\s*\*?\s*(?:\([^()]*\)\s*)?(?:[A-Za-z_$][\w$<>?]*\.)?([A-Za-z_$][\w$]*)\s*[(<\[]"
)
_SUBROUTINE = re.compile(r"\b(?:function|sub)\s+([A-Za-z_][\w:-]*)\s*\Z")
_CLASS_HEAD = re.compile(
    r"\b(?:class|object|record|trait|impl|interface)\s*(?:<[^<>]*>\s*)?\s([A-Za-z_$][\w$]*)[^=]*\Z"
)
_TYPE_HEAD = re.compile(
    r"\b(?:type|struct|enum|extension|mixin|namespace|module|mod|union|protocol)\s+([A-Za-z_$][\w$]*)[^()=]*\Z"
)
_ASSIGNED_FUNCTION = re.compile(
    r"(?<![\w$])([A-Za-z_$][\w$]*)\s*[:=]\s*(?:async\s*)?(?:function\b|(?:\([^()]*\)|[\w$]+)\s*(?::[^=]*)?=>)[^=]*\Z"
)
_PLAIN_FUNCTION = re.compile(
    r"(?<![\w$])([A-Za-z_~$][\w$]*)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)"
    r"\s*(?:(?:const|noexcept|override|final|async)\s*)*(?:(?:throws\b|->|:)[^;{}()]*)?\Z"
)
_CONTROL = """
    if for while switch catch return else do try with match unless synchronized using lock foreach when guard defer
    select until elif and or not function func fn fun
"""
_NOT_FUNCTIONS = frozenset(_CONTROL.split())
_TEST_ATTRIBUTE = re.compile(r"@Test\b|@ParameterizedTest\b|\[(?:\w+::)*test\b|\[(?:Fact|Theory|Test|TestMethod)\b")


class BraceScan:
    def __init__(self, text: str, code: str) -> None:
        self._text = text
        self._code = code

    def scan(self) -> list[Definition]:
        code = self._code
        found: list[Definition] = []
        blocks: list[Definition | None] = []
        """The open braces: what each defines, with the end line still to come, or None."""
        names: list[str] = []
        line, counted, boundary = 1, 0, 0
        for match in _BOUNDARY.finditer(code):
            position = match.start()
            if match[0] == "{":
                begin, named = self._head(boundary, position)
                if named is not None and len(names) < DEEPEST:
                    names.append(named[0])
                    begin_line = line + code.count("\n", counted, begin)
                    blocks.append(Definition(".".join(names), named[1], begin_line, 0, named[2]))
                else:
                    blocks.append(None)
            line += code.count("\n", counted, position)
            counted = position
            if match[0] == "}" and blocks and (closed := blocks.pop()) is not None:
                names.pop()
                found.append(_ended(closed, line))
            boundary = match.end()
        last = line + code.count("\n", counted)
        found.extend(_ended(block, last) for block in blocks if block is not None)
        return found

    def _head(self, start: int, end: int) -> tuple[int, tuple[str, str, bool] | None]:
        """Where what precedes the brace at `end` begins, and what it defines: name, kind, whether it is a test."""
        start = max(start, end - _LONGEST_HEAD)
        head = self._code[start:end]
        begin = start + len(head) - len(head.lstrip(f" \t\n#{INSIDE}"))
        if call := _TEST_CALL.search(head):
            name = self._text[start + call.start(2) + 1 : start + call.end(2) - 1].strip()
            return begin, (name, CLASS, False) if call[1] in _GROUPS else (name, FUNCTION, True)
        return begin, _defined(head)


def _defined(head: str) -> tuple[str, str, bool] | None:
    if gtest := _GTEST.search(head):
        return f"{gtest[1]}.{gtest[2]}", FUNCTION, True
    is_marked = _TEST_ATTRIBUTE.search(head) is not None
    if named := _NAMED_FUNCTION.search(head) or _SUBROUTINE.search(head):
        return named[1], FUNCTION, is_marked or named[1].startswith(("test", "Test"))
    if named := _CLASS_HEAD.search(head) or _TYPE_HEAD.search(head):
        return named[1], CLASS, False
    if named := _ASSIGNED_FUNCTION.search(head):
        return named[1], FUNCTION, False
    named = _PLAIN_FUNCTION.search(head)
    if named is None or named[1] in _NOT_FUNCTIONS:
        return None
    return named[1], FUNCTION, is_marked


def _ended(definition: Definition, line: int) -> Definition:
    return Definition(definition.qualname, definition.kind, definition.line, line, definition.is_test)
