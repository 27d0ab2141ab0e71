"""Definitions without a block of their own: `const ring = () => 1`, `data class Bell(val size: Int)`, `struct Bell;`.

Only those outside of functions count. Citations of requirements do not use them.
"""

import bisect
import re
import sys
from collections.abc import Iterator

from clew.formats.code.definitions.model import CLASS, DEEPEST, FUNCTION, Definition
from clew.once import Once

# Every pattern takes time linear in the file: what may repeat is never given back (`++`), and what could reach over the
# beginnings of other matches is bounded.
_BEFORE = r"^[ \t]*+(?:(?:export|default|declare|public|private|protected|internal|static|abstract|final|override|open"
_BEFORE += r"|data|sealed|inline|suspend|async|case|implicit|lazy|pub(?:\([^()]*+\))?+|readonly|virtual|partial)\s++"
_BEFORE += r"(?![=:])){0,12}+"
_ARGUMENTS = r"(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)(?:\s*+:[^=;\n]++)?+|[\w$]++)"
_ARROW = rf"(?:async\s++(?!=))?+(?:<[^<>()]*+(?:<[^<>]*+>)?+[^<>()]*+>\s*+)?+{_ARGUMENTS}\s*+=>"
_SCRIPT_NAME = r"(?P<name>[A-Za-z_$][\w$]*+)\s*+"
_PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    "script": (
        (rf"{_BEFORE}(?:const|let|var)\s++{_SCRIPT_NAME}(?::[^=;\n]++)?+=\s*+{_ARROW}", FUNCTION),
        (rf"{_BEFORE}{_SCRIPT_NAME}(?::[^=;\n]++)?+=\s*+{_ARROW}", FUNCTION),
        (rf"{_BEFORE}type\s++{_SCRIPT_NAME}(?:<[^=;]{{0,400}}>)?\s*+=", CLASS),
    ),
    "rust": (
        (rf"{_BEFORE}struct\s++(?P<name>\w++)\s*+(?:<[^<>;{{]*+>)?+\s*+[;(]", CLASS),
        (rf"{_BEFORE}type\s++(?P<name>\w++)[^=;{{]{{0,400}}+=", CLASS),
        (r"^[ \t]*+macro_rules!\s*+(?P<name>\w++)", FUNCTION),
    ),
    "kotlin": (
        (rf"{_BEFORE}(?:(?:enum|annotation|value)\s++)?+(?:class|interface|object|trait)\s++(?P<name>\w++)", CLASS),
        (
            rf"{_BEFORE}(?:fun|def)\s++(?:<[^()\n]{{0,400}}>\s*+)?(?:[\w<>?]{{1,100}}\.)?(?P<name>\w++)\s*+[(:=\[]",
            FUNCTION,
        ),
        (rf"{_BEFORE}typealias\s++(?P<name>\w++)", CLASS),
    ),
    "csharp": (
        (rf"{_BEFORE}record\s++(?:(?:struct|class)\s++)?+(?P<name>\w++)\s*+(?:<[^<>]*+>)?+\s*+\(", CLASS),
        (r"(?<=\s)(?P<name>\w++)\s*+(?:<[^<>()]*+>\s*+)?+\([^(){};]*+\)\s*+=>", FUNCTION),
    ),
    "go": ((r"^type\s++(?P<name>\w++)(?:\[[^\]\n]*+\])?+\s++=?+\s*+[\w.*\[\]]", CLASS),),
    "c": ((r"^@(?:implementation|interface|protocol)\s++(?P<name>\w++)(?![;,])", CLASS),),
    "zig": ((rf"{_BEFORE}const\s++(?P<name>\w++)\s*+=\s*+(?:(?:packed|extern)\s++)?+(?:struct|enum|union)\b", CLASS),),
    "lua": ((r"^[ \t]*+(?:local\s++)?+(?P<name>[\w.]++)\s*+=\s*+function\b", FUNCTION),),
}
_TYPE_SIGNS = frozenset("_<>?,.[] \t")
"""Beside letters and digits."""
_LONGEST_TYPE = 200
_SIGNS = re.compile(r"[()\[\]{};]|\n\s*+(?=([-.?:|&=+*<>,)\]}]|where\b|else\b|extends\b|with\b)?)")
"""Brackets and what ends a statement; the group is what makes it go on on the next line."""
_NOWHERE = sys.maxsize
_CLOSED = re.compile(r"^@end", re.MULTILINE)
"""End of a class of Objective-C."""


def bodiless(code: str, family: str, found: list[Definition]) -> list[Definition]:
    """These definitions and the others, in the order of their beginnings, the outer before the inner."""
    more = list(_of_family(code, family, found))
    if not more:
        return found
    ranked = sorted([*found, *more], key=lambda each: (each.line, -each.end_line))
    around: list[int] = []
    result: list[Definition] = []
    for each in ranked:
        while around and (result[around[-1]].end_line < each.end_line or not _holds(result[around[-1]], each)):
            around.pop()
        parent = around[-1] if around else -1
        above = result[parent].names if parent >= 0 else ()
        names = (*above, each.names[-1]) if each.parent < 0 else each.names
        if len(names) > DEEPEST:
            continue
        result.append(Definition(names, each.kind, each.line, each.end_line, each.is_test, parent))
        around.append(len(result) - 1)
    return result


def _holds(outer: Definition, inner: Definition) -> bool:
    """True if one contains the other; on one line, only if the inner is named after the outer."""
    is_one_line = outer.line == outer.end_line == inner.line
    return not is_one_line or inner.names[: len(outer.names)] == outer.names != inner.names


def _of_family(code: str, family: str, found: list[Definition]) -> Iterator[Definition]:
    patterns = _PATTERNS.get(family)
    if patterns is None:
        return
    newlines = [match.start() for match in re.finditer("\n", code)]
    taken = {(each.line, each.names[-1]) for each in found}
    functions = _Extents(found)
    known = {
        (each.names[-1], line) for each in found for line in range(each.line, min(each.end_line, each.line + 4) + 1)
    }
    closing = [match.start() for match in _CLOSED.finditer(code)] if family == "c" else []
    statements = Once(lambda: _Statements(code))
    for source, kind in patterns:
        for match in re.compile(source, re.MULTILINE).finditer(code):
            name = match["name"].rpartition(".")[2]
            line = bisect.bisect_left(newlines, match.start("name")) + 1
            if (line, name) in taken or (name, line) in known or functions.hold(line):
                continue
            if family == "csharp" and kind == FUNCTION and not _follows_type(code, newlines, line, match.start()):
                continue
            taken.add((line, name))
            behind = bisect.bisect_left(closing, match.end())
            offset = closing[behind] if behind < len(closing) else statements.get().end(match.end())
            end = bisect.bisect_left(newlines, offset) + 1
            yield Definition((name,), kind, line, end, False)


def _follows_type(code: str, newlines: list[int], line: int, name: int) -> bool:
    """True if only words of a type and modifiers precede a name on its line, or on the line above if the name begins
    its line."""
    for number in (line, line - 1):
        begin = newlines[number - 2] + 1 if number > 1 else 0
        end = min(name, newlines[number - 1]) if number <= len(newlines) else name
        before = code[begin:end] if end - begin <= _LONGEST_TYPE * 2 else "="
        if not before.isspace() and before:
            return all(sign.isalnum() or sign in _TYPE_SIGNS for sign in before)
    return False


class _Extents:
    """The lines that functions cover."""

    def __init__(self, found: list[Definition]) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        for first, last in sorted((each.line, each.end_line) for each in found if each.kind == FUNCTION):
            if self._ends and first <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], last)
            else:
                self._begins.append(first)
                self._ends.append(last)

    def hold(self, line: int) -> bool:
        index = bisect.bisect_right(self._begins, line) - 1
        return index >= 0 and line <= self._ends[index]


class _Statements:
    """Ends of the statements in a file: at a semicolon, at the end of a line that is not continued, or at the end of
    the bracket around the statement. Computed in one pass over the file."""

    def __init__(self, code: str) -> None:
        self._size = len(code)
        self._signs: list[int] = []
        """Offsets of brackets and ends of statements."""
        after: list[int] = []
        """For each sign: where a statement that has reached it goes on, which is behind what a bracket holds; the sign
        itself where the statement ends."""
        opened: list[int] = []
        for match in _SIGNS.finditer(code):
            if match[1]:
                continue
            number = len(self._signs)
            self._signs.append(match.start())
            after.append(number)
            if match[0] in "([{":
                opened.append(number)
                after[number] = _NOWHERE
            elif match[0] in ")]}" and opened:
                after[opened.pop()] = number + 1
        for number in range(len(after) - 1, -1, -1):
            behind = after[number]
            if behind > number:
                # Where nothing closes a bracket, or nothing follows, the statement goes on to the last sign.
                after[number] = after[behind] if behind < len(after) else _NOWHERE
        self._ends = after

    def end(self, start: int) -> int:
        number = bisect.bisect_left(self._signs, start - 1)
        if number == len(self._signs):
            return min(start + 1, self._size)
        end = self._ends[number]
        return self._signs[end] if end != _NOWHERE else min(self._signs[-1] + 1, self._size)
