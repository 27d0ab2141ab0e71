"""Descriptions of interfaces as OpenAPI or Swagger has them: one section for each operation and each schema.

JSON is decoded. Of YAML the indentation is read, which is all that the sections need: what anchors, tags and flow
mappings say stays as it is written.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from clew.formats.documents.model import BlockKind
from clew.formats.documents.page import Page
from clew.text.lines import TextLines

METHODS = frozenset(("get", "put", "post", "delete", "options", "head", "patch", "trace", "query"))
_IS_ONE = re.compile(r"""^["']?(?:openapi|swagger)["']? *:""", re.MULTILINE)
_LOOKED_AT = 20_000
_KEY = re.compile(r"""( *)(?:"([^"\n]*)"|'([^'\n]*)'|([^\s#:"'{\[-][^:\n]*|/[^\s:]*)) *:(?:[ ]+(.*)|$)""")
_SAYS = ("summary", "description", "title")
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_MOST_SECTIONS = 20_000
_LONGEST_SHOWN = 20_000


class _Key(NamedTuple):
    indent: int
    name: str
    value: str


def is_openapi(text: str) -> bool:
    """True if a text may be a description; of JSON only reading it tells."""
    return text.lstrip()[:1] == "{" or _IS_ONE.search(text[:_LOOKED_AT]) is not None


def read_openapi(text: str, title: str) -> Page:
    """The operations and schemas of a description as one page."""
    return _of_json(text, title) if text.lstrip()[:1] == "{" else _of_yaml(TextLines(text), title)


# --- YAML ---


def _of_yaml(lines: TextLines, title: str) -> Page:
    page = Page()
    tops = list(_children(lines, 0, len(lines)))
    by_name = {key.name: (start, end) for key, start, end in tops}
    info = by_name.get("info", (0, 0))
    within = _children(lines, info[0] + 1, info[1])
    named = next((_value(lines, *each) for each in within if each[0].name == "title"), "") or title
    page.add(BlockKind.HEADING, named, info[0] + 1, info[0] + 1, level=1, title=named)
    _say(page, lines, info[0], info[1], ("description", "summary"))
    for heading, start, end in _yaml_sections(lines, by_name):
        if len(page.blocks) > 3 * _MOST_SECTIONS:
            break
        page.add(BlockKind.HEADING, heading, start + 1, start + 1, level=2, title=heading)
        _say(page, lines, start, end, _SAYS)
        source = "\n".join(lines.bare[start:end])[:_LONGEST_SHOWN]
        page.add(BlockKind.CODE, source, start + 1, end)
    return page


def _yaml_sections(lines: TextLines, tops: dict[str, tuple[int, int]]) -> Iterator[tuple[str, int, int]]:
    for part in ("paths", "webhooks"):
        start, end = tops.get(part, (0, 0))
        for path, first, last in _children(lines, start + 1, end):
            for method, begin, after in _children(lines, first + 1, last):
                if method.name.lower() in METHODS:
                    yield f"{method.name.upper()} {path.name}", begin, after
    start, end = tops.get("components", (0, 0))
    within = [(begin, after) for key, begin, after in _children(lines, start + 1, end) if key.name == "schemas"]
    for start, end in [*within, *([tops["definitions"]] if "definitions" in tops else [])]:
        for schema, first, last in _children(lines, start + 1, end):
            yield f"Schema {schema.name}", first, last


def _say(page: Page, lines: TextLines, start: int, end: int, names: Sequence[str]) -> None:
    for key, first, last in _children(lines, start + 1, end):
        if key.name in names and (said := _value(lines, key, first, last)):
            page.add(BlockKind.PROSE, said, first + 1, last)


def _children(lines: TextLines, start: int, end: int) -> Iterator[tuple[_Key, int, int]]:
    """The keys of the least indentation in a range of lines, each with its own range."""
    indent, opened = -1, None
    for index in range(start, end):
        line = lines.bare[index]
        if not line.strip() or line.lstrip()[0] == "#":
            continue
        depth = len(line) - len(line.lstrip(" "))
        indent = depth if indent < 0 else indent
        if depth > indent:
            continue
        found = _KEY.match(line)
        if opened is not None:
            yield opened[0], opened[1], index
            opened = None
        if depth < indent:
            return
        if found is not None:
            name = next(each for each in found.groups()[1:4] if each is not None)
            opened = _Key(depth, name.strip(), (found[5] or "").strip()), index
    if opened is not None:
        yield opened[0], opened[1], end


def _value(lines: TextLines, key: _Key, start: int, end: int) -> str:
    below = [line.strip() for line in lines.bare[start + 1 : end]]
    if _BLOCK.match(key.value):
        return ("\n" if key.value[0] == "|" else " ").join(below).strip()
    return " ".join((key.value, *below)).strip().strip("\"'")


# --- JSON ---


def _of_json(text: str, title: str) -> Page:
    page = Page()
    try:
        whole = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return page
    if not isinstance(whole, dict) or not whole.keys() & {"openapi", "swagger"}:
        return page
    places = _Places(text)
    info = _mapping(whole.get("info"))
    named = str(info.get("title") or title)
    page.add(BlockKind.HEADING, named, 1, 1, level=1, title=named)
    for name in ("summary", "description"):
        if isinstance(info.get(name), str):
            page.add(BlockKind.PROSE, info[name], 1, 1)
    for heading, key, value in _json_sections(whole):
        if len(page.blocks) > 3 * _MOST_SECTIONS:
            break
        line = places.line_of(key)
        page.add(BlockKind.HEADING, heading, line, line, level=2, title=heading)
        for name in _SAYS:
            if isinstance(value.get(name), str):
                page.add(BlockKind.PROSE, value[name], line, line)
        source = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()[:_LONGEST_SHOWN]
        page.add(BlockKind.CODE, source, line, line)
    return page


def _json_sections(whole: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for part in ("paths", "webhooks"):
        for path, methods in _mapping(whole.get(part)).items():
            for method, operation in _mapping(methods).items():
                if method.lower() in METHODS and isinstance(operation, dict):
                    yield f"{method.upper()} {path}", path, operation
    for schemas in (_mapping(whole.get("components")).get("schemas"), whole.get("definitions")):
        for name, schema in _mapping(schemas).items():
            if isinstance(schema, dict):
                yield f"Schema {name}", name, schema


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# Every text is taken as a whole: none is looked at again from its middle.
_JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*+)"(\s*+:)?')


class _Places:
    """Lines on which keys stand first; one pass over the text."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, int] = {}
        line, at = 1, 0
        for found in _JSON_TEXT.finditer(text):
            if found[2] is None:
                continue
            line += text.count("\n", at, found.start())
            at = found.start()
            self._lines.setdefault(found[1], line)

    def line_of(self, key: str) -> int:
        return self._lines.get(key, 1)
