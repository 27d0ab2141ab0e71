"""Doorstop: a folder of documents, each a folder with `.doorstop.yml` and one YAML or Markdown file for each item.

Only the part of YAML is read that Doorstop writes: keys with scalars, block texts, lists and one level of lists of
pairs. A whole YAML reader is more than this needs, and more than a file of somebody else should be able to ask for:
there are no anchors, no tags and no types here. What is something else is refused with its line.
"""

import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import FormatError
from clew.exchange.model import HEADING, INFORMATION, REQUIREMENT, Exchange, Item, Relation
from clew.exchange.sources import ImportSource, string

_SETTINGS = ".doorstop.yml"
_INACTIVE = "inactive"
_NOTHING: tuple[Any, ...] = (None, "", [])
_KEPT = ("derived", "reviewed", "ref", "references", "level")
_KNOWN = frozenset({*_KEPT, "active", "header", "links", "normative", "text"})

_WHITE = " \t"
"""The white space of YAML; other spaces are text."""
_KEY = re.compile(r"([A-Za-z_][\w .-]*):(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"([|>])([+-]?)\d?")
_ESCAPES = dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True))
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_CLOSING = {"'": re.compile(r"(?:[^']|'')*'"), '"': re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)}
"""The end of a text in quotes, or of a line of it."""
_CLOSED = {"[": "]", "{": "}"}


def read(source: ImportSource) -> Exchange:
    if not source.is_folder:
        raise FormatError(
            f"'{source.name}' is a file; Doorstop keeps documents in folders.",
            hint=f"Name the folder that holds {_SETTINGS}, or one above it.",
        )
    settings = source.files(_SETTINGS)
    if not settings:
        raise FormatError(f"'{source.name}' holds no {_SETTINGS}.", hint="Name a folder of Doorstop.")
    items: list[Item] = []
    for place in settings:
        options = read_yaml(ImportSource(place).text(), source.relative(place)).get("settings") or {}
        items.extend(_document(source, place.parent, str(options.get("prefix", ""))))
    return Exchange(items=tuple(items))


def _document(source: ImportSource, folder: Path, prefix: str) -> list[Item]:
    """The items of one document in the order of their levels; those that are inactive last, as another kind."""
    files = [path for path in source.files(".yml", ".md") if path.parent == folder and _is_item(path, prefix)]
    found = [(path, _fields(path, source)) for path in files]
    active = [(path, fields) for path, fields in found if fields.get("active", True) is not False]
    active.sort(key=lambda each: (_level(each[1]), each[0].name))
    items: list[Item] = []
    headings: list[tuple[tuple[int, ...], str]] = []
    for path, fields in active:
        level = tuple(number for number in _level(fields) if number) or (0,)
        headings = [each for each in headings if len(each[0]) < len(level) and level[: len(each[0])] == each[0]]
        item = _item(path, fields, source, headings[-1][1] if headings else None)
        if item.kind == HEADING:
            headings.append((level, item.id))
        items.append(item)
    inactive = (_item(path, fields, source, None) for path, fields in found if fields.get("active", True) is False)
    return [*items, *(msgspec.structs.replace(item, kind=_INACTIVE) for item in inactive)]


def _is_item(path: Path, prefix: str) -> bool:
    return path.name != _SETTINGS and path.stem.startswith(prefix) and path.stem != "index"


def _fields(path: Path, source: ImportSource) -> dict[str, Any]:
    text = ImportSource(path).text()
    if path.suffix == ".md" and text.startswith("---\n"):
        # Items in Markdown have their fields in front, and a heading for the header.
        front, _, body = text[4:].partition("\n---\n")
        fields = read_yaml(front, source.relative(path))
        first, _, rest = body.strip().partition("\n")
        header = first.lstrip("# ") if first.startswith("#") else ""
        return {**fields, "header": fields.get("header") or header, "text": rest if header else body}
    return read_yaml(text, source.relative(path))


def _level(fields: dict[str, Any]) -> tuple[int, ...]:
    parts = str(fields.get("level", "1")).split(".")
    return tuple(int(part) if part.isdecimal() else 0 for part in parts)


def _item(path: Path, fields: dict[str, Any], source: ImportSource, parent: str | None) -> Item:
    header, text = string(fields.get("header")).strip(), string(fields.get("text")).strip("\n")
    is_heading = fields.get("normative") is False and str(fields.get("level", "")).endswith(".0")
    kind = HEADING if is_heading else REQUIREMENT if fields.get("normative", True) is not False else INFORMATION
    if is_heading and not header:
        header, _, text = text.partition("\n")
    others = {name: string(value) for name, value in fields.items() if name not in _KNOWN and value not in _NOTHING}
    kept = {name: fields[name] for name in _KEPT if fields.get(name) not in (*_NOTHING, False)}
    return Item(
        id=path.stem,
        kind=kind,
        title=header.lstrip("# "),
        text=text.strip(),
        attributes=others,
        relations=tuple(Relation("implements", target) for target in _links(fields.get("links"))),
        parent=parent,
        path=source.relative(path),
        kept=kept,
    )


def _links(links: Any) -> list[str]:
    """The items above; newer files add to each the hash of its reviewed text."""
    found: list[str] = []
    for each in links if isinstance(links, list) else []:
        found.extend(map(str, each) if isinstance(each, dict) else [str(each)])
    return found


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
    """The value of a key: on its line, in the lines below it, or both."""
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
    """The lines of a quoted text: joined by spaces; an empty line is a line break."""
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
            # A pair, whose further keys are below the first.
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
