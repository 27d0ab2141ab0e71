"""Taking a block out of a file and adding one to another.

The block itself keeps every byte. What goes with it are the blank lines and the rule (`---`) that set it apart from the
next block: they belong to its place, not to its text.
"""

import re

from clew.formats.elspais.lines import BOM
from clew.text.spans import Span

_RULE = re.compile(rb"[ \t]*---[ \t]*")


def without_block(data: bytes, span: Span) -> bytes:
    """The file without the lines of a block and without what set it apart."""
    lines = data.splitlines(keepends=True)
    first, stop = span.line - 1, span.end_line
    behind = _skip_blank(lines, stop)
    has_rule = behind < len(lines) and _is_rule(lines[behind])
    if has_rule:
        behind = _skip_blank(lines, behind + 1)
    if behind == len(lines):
        # It was the last one: what stood in front of it sets nothing apart any more.
        first = _skip_blank_back(lines, first)
        if first and not has_rule and _is_rule(lines[first - 1]):
            first = _skip_blank_back(lines, first - 1)
    kept = b"".join((*lines[:first], *lines[behind:]))
    return BOM + kept if data.startswith(BOM) and not kept.startswith(BOM) else kept


def with_block(data: bytes, block: bytes) -> bytes:
    """The file with a block at its end, set apart as the others are."""
    lines = data.splitlines(keepends=True)
    end = _skip_blank_back(lines, len(lines))
    line_end = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    closed = block if block.endswith((b"\n", b"\r")) else block + line_end
    if not end or data.strip() == BOM:
        return data + closed
    if not data.endswith((b"\n", b"\r")):
        data += line_end
    gap = b"" if end < len(lines) else line_end
    if _is_rule(lines[end - 1]):
        return data + gap + closed + line_end + b"---" + line_end
    uses_rules = any(_is_rule(line) and index and not lines[index - 1].strip() for index, line in enumerate(lines))
    return data + gap + (b"---" + line_end + line_end if uses_rules else b"") + closed


def _is_rule(line: bytes) -> bool:
    return _RULE.fullmatch(line.rstrip(b"\r\n")) is not None


def _skip_blank(lines: list[bytes], index: int) -> int:
    while index < len(lines) and not lines[index].strip():
        index += 1
    return index


def _skip_blank_back(lines: list[bytes], index: int) -> int:
    while index and not lines[index - 1].strip():
        index -= 1
    return index
