"""The part of YAML that Doorstop writes: keys with scalars, block texts, lists and one level of lists of pairs.

A whole YAML reader is more than this needs, and more than a file of somebody else should be able to ask for: there are
no anchors, no tags and no types here. What is something else is refused with its line.
"""

import re
import sys
from typing import Any

from clew.errors import FormatError

_WHITE = " \t"
"""What YAML takes for white space; other spaces are text."""
_KEY = re.compile(r"([A-Za-z_][\w .-]*):(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"([|>])([+-]?)\d?")
_ESCAPES = dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True))
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_CLOSING = {"'": re.compile(r"(?:[^']|'')*'"), '"': re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)}
"""What ends a text in quotes, or a line of it."""
_CLOSED = {"[": "]", "{": "}"}


def read_yaml(text: str, name: str) -> dict[str, Any]:
    lines = ["" if line.startswith("#") or line.rstrip(_WHITE) in ("---", "...") else line for line in text.split("\n")]
    found, index = _mapping(lines, 0, 0, name)
    if index < len(lines):
        raise _refused(name, index, lines[index])
    return found


def _refused(name: str, index: int, line: str) -> FormatError:
    return FormatError(
        f"'{name}' has YAML that is not understood in line {index + 1}: {line.strip(_WHITE)[:80]!r}.",
        hint="Doorstop writes `key: value`, lists and block texts. Nothing was changed.",
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _mapping(lines: list[str], index: int, depth: int, name: str) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while index < len(lines):
        line = lines[index]
        if not line.strip(_WHITE):
            index += 1
            continue
        match = _KEY.fullmatch(line.strip(_WHITE)) if _indent(line) == depth else None
        if match is None:
            break
        if match[1] in found:
            raise _refused(name, index, line)
        value, index = _value((match[2] or "").strip(_WHITE), lines, index, depth, name)
        found[match[1]] = value
    return found, index


def _value(text: str, lines: list[str], index: int, depth: int, name: str) -> tuple[Any, int]:
    """What a key says: on its line, in the lines below it, or both."""
    block = _BLOCK.fullmatch(text)
    if block is not None:
        return _block(lines, index + 1, depth, folded=block[1] == ">", keep=block[2])
    if text:
        return _scalar_over_lines(text, lines, index, depth, name)
    following = next((at for at in range(index + 1, len(lines)) if lines[at].strip(_WHITE)), len(lines))
    if following < len(lines):
        inner = _indent(lines[following])
        if lines[following].lstrip(_WHITE).startswith("- ") and inner >= depth:
            return _list(lines, following, inner, name)
        if inner > depth:
            return _mapping(lines, following, inner, name)
    return None, index + 1


def _block(lines: list[str], index: int, depth: int, *, folded: bool, keep: str) -> tuple[str, int]:
    body: list[str] = []
    while index < len(lines) and (not lines[index].strip(_WHITE) or _indent(lines[index]) > depth):
        body.append(lines[index])
        index += 1
    width = min((_indent(line) for line in body if line.strip(_WHITE)), default=0)
    texts = [line[width:] for line in body]
    while texts and not texts[-1]:
        texts.pop()
    if folded:
        text = re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(texts)).replace("\n\n", "\n")
    else:
        text = "\n".join(texts)
    return (text if keep == "-" or not text else f"{text}\n"), index


def _scalar_over_lines(text: str, lines: list[str], index: int, depth: int, name: str) -> tuple[Any, int]:
    """A plain or quoted text may go on in lines that are indented further; in quotes, also after empty ones."""
    begin, parts, closing = index, [text], _CLOSING.get(text[:1])
    index += 1
    if closing is not None:
        is_closed = closing.fullmatch(text[1:]) is not None
        while not is_closed and index < len(lines) and not lines[index][: depth + 1].strip(_WHITE):
            parts.append(lines[index].strip(_WHITE))
            is_closed = closing.fullmatch(parts[-1]) is not None
            index += 1
        text = _folded(parts)
        is_whole = is_closed and closing.fullmatch(text[1:]) is not None
    else:
        while index < len(lines) and lines[index].strip(_WHITE) and _indent(lines[index]) > depth:
            parts.append(lines[index].strip(_WHITE))
            index += 1
        text = " ".join(parts)
        is_whole = text.endswith(_CLOSED.get(text[:1], ""))
    if not is_whole:
        raise _refused(name, begin, lines[begin])
    return _scalar(text), index


def _folded(parts: list[str]) -> str:
    """The lines of a text in quotes: joined by a space, and an empty line stands for the end of one."""
    text: list[str] = []
    empty = 0
    for number, part in enumerate(parts, start=1):
        if not part and number < len(parts):
            empty += 1
            continue
        if text:
            # A backslash at the end of a line in double quotes joins it to the next one as it is.
            joined = parts[0].startswith('"') and (len(text[-1]) - len(text[-1].rstrip("\\"))) % 2 == 1
            text[-1] = text[-1][:-1] if joined else text[-1]
            text.append("\n" * empty or ("" if joined else " "))
        text.append(part)
        empty = 0
    return "".join(text)


def _list(lines: list[str], index: int, depth: int, name: str) -> tuple[list[Any], int]:
    found: list[Any] = []
    while index < len(lines):
        line = lines[index]
        if not line.strip(_WHITE):
            index += 1
            continue
        if _indent(line) != depth or not line.lstrip(_WHITE).startswith("- "):
            break
        text = line.strip(_WHITE)[2:].strip(_WHITE)
        match = _KEY.fullmatch(text)
        if match is not None and not text.startswith(("'", '"')):
            # A pair, whose further keys stand below the first.
            lines[index] = " " * (depth + 2) + text
            pair, index = _mapping(lines, index, depth + 2, name)
            found.append(pair)
        else:
            value, index = _scalar_over_lines(text, lines, index, depth, name)
            found.append(value)
    return found, index


def _scalar(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _ESCAPE.sub(_unescaped, text[1:-1])
    if text in ("[]", "{}"):
        return [] if text == "[]" else {}
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part.strip(_WHITE)) for part in text[1:-1].split(",") if part.strip(_WHITE)]
    return {"null": None, "~": None, "true": True, "false": False}.get(text, text)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if not code:
        return _ESCAPES.get(found[4], found[4])
    return chr(int(code, 16)) if int(code, 16) <= sys.maxunicode else found[0]
