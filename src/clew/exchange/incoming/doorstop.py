"""Doorstop: a folder of documents, each a folder with `.doorstop.yml` and one YAML or Markdown file for each item."""

from pathlib import Path
from typing import Any

import msgspec

from clew.errors import FormatError
from clew.exchange.model import HEADING, INFORMATION, REQUIREMENT, Exchange, Item, Relation
from clew.exchange.sources import Source, string
from clew.exchange.yaml_subset import read_yaml

_SETTINGS = ".doorstop.yml"
_INACTIVE = "inactive"
_NOTHING: tuple[Any, ...] = (None, "", [])
_KEPT = ("derived", "reviewed", "ref", "references", "level")
_KNOWN = frozenset({*_KEPT, "active", "header", "links", "normative", "text"})


def read(source: Source) -> Exchange:
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
        options = read_yaml(Source(place).text(), source.relative(place)).get("settings") or {}
        items.extend(_document(source, place.parent, str(options.get("prefix", ""))))
    return Exchange(items=tuple(items))


def _document(source: Source, folder: Path, prefix: str) -> list[Item]:
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


def _fields(path: Path, source: Source) -> dict[str, Any]:
    text = Source(path).text()
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


def _item(path: Path, fields: dict[str, Any], source: Source, parent: str | None) -> Item:
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
    """The items above; newer files note beside each what it said when it was reviewed."""
    found: list[str] = []
    for each in links if isinstance(links, list) else []:
        found.extend(map(str, each) if isinstance(each, dict) else [str(each)])
    return found
