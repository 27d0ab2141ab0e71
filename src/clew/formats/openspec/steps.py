"""The steps of a scenario: GIVEN, WHEN, THEN, AND, BUT, in all the ways they are written.

A keyword in bold at the beginning of a line, with or without a bullet and in any case, begins a step, and every further
one in bold on that line begins another. So does a plain one in capitals; one with only its first letter capital does so
in a bullet of the outermost level. What is indented below, wrapped, or set as code belongs to the step before it.
"""

import re
from collections.abc import Sequence

import msgspec

from clew.formats.openspec.lines import BLANK, CODE, FENCE, TEXT, Lines
from clew.formats.openspec.records import Step
from clew.text.spans import Span

_BULLET = r"(?:[-*+]|\d{1,9}[.)])\s+"
_WORD = r"GIVEN|WHEN|THEN|AND|BUT"
_BOLD = re.compile(rf"(\*\*|__)\s*({_WORD})\s*:?\s*\1\s*:?", re.IGNORECASE)
_FIRST_BOLD = re.compile(rf"\s*(?:{_BULLET})?(?=(?:\*\*|__)\s*(?:{_WORD})\b)", re.IGNORECASE)
_PLAIN = re.compile(rf"(\s*)({_BULLET})?({_WORD}|Given|When|Then|And|But)(?::|,|(?=\s)|$)")
_PLAIN_THEN = re.compile(r"\s(THEN)(?::|,|(?=\s))")
_INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_ITEM = re.compile(rf"\s*{_BULLET}")
_ROLES = {"GIVEN": "given", "WHEN": "when", "THEN": "then"}
_CONDITIONS = ("GIVEN", "WHEN")
_LONGEST_WITH_CODE = 2_000
"""In longer lines code is not told from text: finding its ends takes the square of the length."""


class _Start(msgspec.Struct, frozen=True, gc=False):
    """Where a step begins."""

    index: int
    column: int
    """0 for the first of its line: the bullet before it belongs to it."""
    keyword: str
    text_column: int


def read_steps(lines: Lines, first: int, stop: int) -> tuple[list[Step], int, int]:
    """The steps of a scenario whose body stands in these lines, the line where the first begins, and the line of an AND
    or BUT that continues nothing (0 where there is none)."""
    starts = _starts(lines, first, stop)
    steps: list[Step] = []
    role, adrift = "", 0
    for position, start in enumerate(starts):
        role = _ROLES.get(start.keyword, role)
        if not role:
            role, adrift = "given", start.index + 1
        following = starts[position + 1] if position + 1 < len(starts) else None
        steps.append(_step(lines, start, role, following, stop))
    return steps, starts[0].index if starts else stop, adrift


def _starts(lines: Lines, first: int, stop: int) -> list[_Start]:
    found: list[_Start] = []
    outermost: int | None = None
    """The indent of the first step."""
    for index in range(first, stop):
        if lines.kinds[index] != TEXT:
            continue
        line = lines.text[index]
        shown = _INLINE_CODE.sub(_masked, line) if "`" in line and len(line) <= _LONGEST_WITH_CODE else line
        here = _in_bold(shown, index) or _plain(shown, index, outermost)
        if here:
            found.extend(here)
            if outermost is None:
                outermost = len(line) - len(line.lstrip())
    return found


def _masked(code: re.Match[str]) -> str:
    return "`" * len(code[0])


def _in_bold(line: str, index: int) -> list[_Start]:
    if "**" not in line and "__" not in line:
        return []
    if _FIRST_BOLD.match(line) is None:
        return []
    return [
        _Start(index, 0 if position == 0 else match.start(), match[2].upper(), match.end())
        for position, match in enumerate(_BOLD.finditer(line))
    ]


def _plain(line: str, index: int, outermost: int | None) -> list[_Start]:
    match = _PLAIN.match(line)
    if match is None:
        return []
    indent, bullet, word = match[1], match[2], match[3]
    keyword = word.upper()
    deeper = outermost is not None and len(indent) > outermost
    if word != keyword and (bullet is None or deeper):
        return []
    found = [_Start(index, 0, keyword, match.end())]
    # "WHEN the lamp burns THEN the ship turns" is written on one line by some.
    if keyword in _CONDITIONS and (then := _PLAIN_THEN.search(line, match.end())) is not None:
        found.append(_Start(index, then.start(1), "THEN", then.end()))
    return found


def _step(lines: Lines, start: _Start, role: str, following: _Start | None, stop: int) -> Step:
    begin = lines.offset(start.index, start.column)
    if following is None:
        whole = lines.span(start.index, stop)
        last, end = stop, whole.end
    else:
        last, end = following.index, lines.offset(following.index, following.column)
    within = following is not None and following.index == start.index
    text = lines.text[start.index][start.text_column : following.column if within and following else None].strip()
    children: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    if last > start.index + 1:
        text, children, code = _below(lines, text, start.index + 1, last)
    end_line = start.index + 1 if within else max(last, start.index + 1)
    span = Span(begin, end, start.index + 1, end_line)
    return Step(start.keyword, role, text, children, code, lines.cut(begin, end), span)


def _below(lines: Lines, text: str, first: int, stop: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """What stands in the lines below a step: the rest of its own text, its children and its code."""
    paragraphs: list[list[str]] = [[text]]
    code: list[list[str]] = []
    in_code = apart = False
    for index in range(first, stop):
        kind, line = lines.kinds[index], lines.text[index]
        if kind == FENCE:
            if not in_code:
                code.append([])
            in_code, apart = not in_code, True
        elif kind == CODE:
            code[-1].append(line)
        elif kind == BLANK:
            apart = True
        elif (item := _ITEM.match(line)) is not None or apart:
            paragraphs.append([line[item.end() if item is not None else 0 :].strip()])
            apart = False
        else:
            paragraphs[-1].append(line.strip())
    own, *children = (_on_one_line(paragraph) for paragraph in paragraphs)
    return own, tuple(children), tuple("\n".join(block) for block in code)


def _on_one_line(words: Sequence[str]) -> str:
    return " ".join(filter(None, words))
