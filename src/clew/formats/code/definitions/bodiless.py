"""Definitions without a block of their own: `const ring = () => 1`, `data class Bell(val size: Int)`, `struct Bell;`.

Only those count that stand in no function. Who cites requirements is told without them.
"""

import bisect
import re
from collections.abc import Iterator

from clew.formats.code.definitions.model import CLASS, FUNCTION, Definition

_BEFORE = r"^[ \t]*(?:(?:export|default|declare|public|private|protected|internal|static|abstract|final|override|open"
_BEFORE += r"|data|sealed|inline|suspend|async|case|implicit|lazy|pub(?:\([^()]*\))?|readonly|virtual|partial)\s+)*"
_ARGUMENTS = r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\)(?:\s*:[^=;\n]+)?|[\w$]+)"
_ARROW = rf"(?:async\s+)?(?:<[^<>()]*(?:<[^<>]*>)?[^<>()]*>\s*)?{_ARGUMENTS}\s*=>"
_PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    "script": (
        (rf"{_BEFORE}(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*{_ARROW}", FUNCTION),
        (rf"{_BEFORE}(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*{_ARROW}", FUNCTION),
        (rf"{_BEFORE}type\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?:<[^=;]*>)?\s*=", CLASS),
    ),
    "rust": (
        (rf"{_BEFORE}struct\s+(?P<name>\w+)\s*(?:<[^<>;{{]*>)?\s*[;(]", CLASS),
        (rf"{_BEFORE}type\s+(?P<name>\w+)[^=;{{]*=", CLASS),
        (r"^[ \t]*macro_rules!\s*(?P<name>\w+)", FUNCTION),
    ),
    "kotlin": (
        (rf"{_BEFORE}(?:enum\s+|annotation\s+|value\s+)?(?:class|interface|object|trait)\s+(?P<name>\w+)", CLASS),
        (rf"{_BEFORE}(?:fun|def)\s+(?:<[^()\n]*>\s*)?(?:[\w<>?]+\.)?(?P<name>\w+)\s*[(:=\[]", FUNCTION),
        (rf"{_BEFORE}typealias\s+(?P<name>\w+)", CLASS),
    ),
    "csharp": (
        (rf"{_BEFORE}record\s+(?:struct\s+|class\s+)?(?P<name>\w+)\s*(?:<[^<>]*>)?\s*\(", CLASS),
        (rf"{_BEFORE}[\w<>?,.\[\] ]{{1,200}}?\s(?P<name>\w+)\s*(?:<[^<>()]*>)?\s*\([^(){{}};]*\)\s*=>", FUNCTION),
    ),
    "go": ((r"^type\s+(?P<name>\w+)(?:\[[^\]\n]*\])?\s+=?\s*[\w.*\[\]]", CLASS),),
    "c": ((r"^@(?:implementation|interface|protocol)\s+(?P<name>\w+)(?![\w;,])", CLASS),),
    "zig": ((rf"{_BEFORE}const\s+(?P<name>\w+)\s*=\s*(?:packed\s+|extern\s+)?(?:struct|enum|union)\b", CLASS),),
    "lua": ((r"^[ \t]*(?:local\s+)?(?P<name>[\w.]+)\s*=\s*function\b", FUNCTION),),
}
_BRACKETS = re.compile(r"[()\[\]{}]|;|\n(?!\s*(?:[-.?:|&=+*<>,)\]}]|where\b|else\b|extends\b|with\b))")
_CLOSED = re.compile(r"^@end", re.MULTILINE)
"""What ends a class of Objective-C."""
_LONGEST = 20_000


def bodiless(code: str, family: str, found: list[Definition]) -> list[Definition]:
    """Those with the others, in the order they begin, the outer before the inner."""
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
        result.append(Definition(names, each.kind, each.line, each.end_line, each.is_test, parent))
        around.append(len(result) - 1)
    return result


def _holds(outer: Definition, inner: Definition) -> bool:
    """Whether one stands in the other; of two on one line, only what is named after the other does."""
    is_one_line = outer.line == outer.end_line == inner.line
    return not is_one_line or inner.names[: len(outer.names)] == outer.names != inner.names


def _of_family(code: str, family: str, found: list[Definition]) -> Iterator[Definition]:
    patterns = _PATTERNS.get(family)
    if patterns is None:
        return
    newlines = [match.start() for match in re.finditer("\n", code)]
    taken = {(each.line, each.names[-1]) for each in found}
    functions = [(each.line, each.end_line) for each in found if each.kind == FUNCTION]
    functions.sort()
    known = {
        (each.names[-1], line) for each in found for line in range(each.line, min(each.end_line, each.line + 4) + 1)
    }
    closing = [match.start() for match in _CLOSED.finditer(code)] if family == "c" else []
    for source, kind in patterns:
        for match in re.compile(source, re.MULTILINE).finditer(code):
            name = match["name"].rpartition(".")[2]
            line = bisect.bisect_left(newlines, match.start("name")) + 1
            if (line, name) in taken or (name, line) in known or _is_inside(functions, line):
                continue
            taken.add((line, name))
            behind = bisect.bisect_left(closing, match.end())
            offset = closing[behind] if behind < len(closing) else _end(code, match.end())
            end = bisect.bisect_left(newlines, offset) + 1
            yield Definition((name,), kind, line, end, False)


def _is_inside(functions: list[tuple[int, int]], line: int) -> bool:
    return any(first <= line <= last for first, last in functions[: bisect.bisect_right(functions, (line, 1 << 30))])


def _end(code: str, start: int) -> int:
    """Where a statement ends: at a semicolon, or at the end of a line after which it does not go on."""
    depth, at = 0, start
    for match in _BRACKETS.finditer(code, max(start - 1, 0), start + _LONGEST):
        sign, at = match[0], match.start()
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth < 0:
                return at
        elif depth == 0:
            return at
    return min(at + 1, len(code))
