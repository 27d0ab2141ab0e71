"""The part of YAML that Doorstop writes: keys with scalars, block texts, lists and one level of lists of pairs.

A whole YAML reader is more than this needs, and more than a file of somebody else should be able to ask for: there are
no anchors, no tags and no types here. What is something else is refused with its line.
"""

import re
from typing import Any

from clew.errors import FormatError

_KEY = re.compile(r"([A-Za-z_][\w .-]*):(?:\s+(.*))?")
_BLOCK = re.compile(r"([|>])([+-]?)\d?")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "0": "\0", "/": "/", "e": "\x1b", "r": "\r", " ": " "}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))")


def read_yaml(text: str, name: str) -> dict[str, Any]:
    lines = [line for line in text.split("\n") if not line.startswith("#") and line.rstrip() not in ("---", "...")]
    found, index = _mapping(lines, 0, 0, name)
    if index < len(lines):
        raise _refused(name, index, lines[index])
    return found


def _refused(name: str, index: int, line: str) -> FormatError:
    return FormatError(
        f"'{name}' has YAML that is not understood in line {index + 1}: {line.strip()[:80]!r}.",
        hint="Doorstop writes `key: value`, lists and block texts. Nothing was changed.",
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _mapping(lines: list[str], index: int, depth: int, name: str) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while index < len(lines):
        line = lines[index]
        if not line.strip():
            index += 1
            continue
        match = _KEY.fullmatch(line.strip()) if _indent(line) == depth else None
        if match is None:
            break
        value, index = _value((match[2] or "").strip(), lines, index, depth, name)
        found[match[1]] = value
    return found, index


def _value(text: str, lines: list[str], index: int, depth: int, name: str) -> tuple[Any, int]:
    """What a key says: on its line, in the lines below it, or both."""
    block = _BLOCK.fullmatch(text)
    if block is not None:
        return _block(lines, index + 1, depth, folded=block[1] == ">", keep=block[2])
    if text:
        return _scalar_over_lines(text, lines, index, depth)
    following = next((at for at in range(index + 1, len(lines)) if lines[at].strip()), len(lines))
    if following < len(lines):
        inner = _indent(lines[following])
        if lines[following].lstrip().startswith("- ") and inner >= depth:
            return _list(lines, following, inner, name)
        if inner > depth:
            return _mapping(lines, following, inner, name)
    return None, index + 1


def _block(lines: list[str], index: int, depth: int, *, folded: bool, keep: str) -> tuple[str, int]:
    body: list[str] = []
    while index < len(lines) and (not lines[index].strip() or _indent(lines[index]) > depth):
        body.append(lines[index])
        index += 1
    width = min((_indent(line) for line in body if line.strip()), default=0)
    texts = [line[width:] for line in body]
    while texts and not texts[-1]:
        texts.pop()
    if folded:
        text = re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(texts)).replace("\n\n", "\n")
    else:
        text = "\n".join(texts)
    return (text if keep == "-" or not text else f"{text}\n"), index


def _scalar_over_lines(text: str, lines: list[str], index: int, depth: int) -> tuple[Any, int]:
    """A plain or quoted text may go on in lines that are indented further."""
    index += 1
    while index < len(lines) and lines[index].strip() and _indent(lines[index]) > depth:
        text = f"{text} {lines[index].strip()}"
        index += 1
    return _scalar(text), index


def _list(lines: list[str], index: int, depth: int, name: str) -> tuple[list[Any], int]:
    found: list[Any] = []
    while index < len(lines):
        line = lines[index]
        if not line.strip():
            index += 1
            continue
        if _indent(line) != depth or not line.lstrip().startswith("- "):
            break
        text = line.strip()[2:].strip()
        match = _KEY.fullmatch(text)
        if match is not None and not text.startswith(("'", '"')):
            # A pair, whose further keys stand below the first.
            inner = [" " * (depth + 2) + text, *lines[index + 1 :]]
            pair, used = _mapping(inner, 0, depth + 2, name)
            found.append(pair)
            index += used
        else:
            value, index = _scalar_over_lines(text, lines, index, depth)
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
        return [_scalar(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    return {"null": None, "~": None, "true": True, "false": False}.get(text, text)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _ESCAPES.get(found[3], found[3])
