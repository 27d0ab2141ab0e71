"""An item as named texts: what a row of a table and the fields of a record hold.

| name | what it is |
|---|---|
| `id`, `kind`, `title`, `text`, `parent`, `version` | as in the item |
| `criteria` | one on each line, `A. text`; further lines of one are indented |
| `implements` and other kinds of relations | what is cited, as `REQ-1, REQ-2##A+B` |
| `xhtml` | the text as XHTML |
| `kept` | JSON of what has no name here |
| every other name | an attribute |
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from clew.errors import FormatError
from clew.exchange.model import Criterion, Item, Relation, relation_kind
from clew.text.display import shortened

OWN = ("id", "kind", "title", "text", "criteria", "parent", "xhtml", "version", "kept")
"""The names that are no attributes."""
KNOWN_RELATIONS = frozenset(
    {
        *("implements", "refines", "satisfies", "integrates", "addresses", "verifies", "validates", "depends_on"),
        *("conflicts", "parent_link", "relates", "links"),
    }
)
"""Names that are always relations."""
RELATION_PREFIX = "relation "
"""Before the name of a kind that could be taken for an attribute."""
_LABEL = re.compile(r"(\S+?)\. ?(.*)", re.DOTALL)
_TITLED = re.compile(r"\[(.*?)\] ?(.*)", re.DOTALL)
_INDENT = "   "


def flattened(item: Item) -> dict[str, str]:
    """The item as named texts; empty ones are left out."""
    found = {
        "id": item.id,
        "kind": item.kind,
        "title": item.title,
        "text": item.text,
        "criteria": "\n".join(map(_written, item.criteria)),
        "parent": item.parent or "",
        "xhtml": item.rich,
        "version": item.version,
    }
    for kind, references in _by_kind(item.relations).items():
        found[relation_name(kind)] = ", ".join(references)
    kept = dict(item.kept)
    for name, value in item.attributes.items():
        if _is_attribute(name) and name not in found:
            found[name] = value
        else:
            kept.setdefault("attributes", {})[name] = value
    found["kept"] = msgspec.json.encode(kept, order="deterministic").decode() if kept else ""
    return {name: value for name, value in found.items() if value}


def unflattened(fields: Mapping[str, str], where: str, *, relations: Iterable[str] = ()) -> Item:
    """The item that texts say; `where` names their place for errors, and `relations` further names of relations."""
    kept = _kept(fields.get("kept", ""), where)
    besides = kept.pop("attributes", {})
    cited = {*relations}
    attributes: dict[str, str] = {}
    found: list[Relation] = []
    for name, value in fields.items():
        if name in OWN:
            continue
        kind = _kind_of(name, cited)
        if kind is None:
            attributes[name] = value
        else:
            found.extend(parsed_relations(kind, value))
    if isinstance(besides, dict):
        attributes.update({str(name): str(value) for name, value in besides.items()})
    return Item(
        id=fields.get("id", "").strip(),
        kind=fields.get("kind", "").strip() or "requirement",
        title=fields.get("title", ""),
        text=fields.get("text", ""),
        criteria=tuple(parsed_criteria(fields.get("criteria", ""))),
        attributes=attributes,
        relations=tuple(dict.fromkeys(found)),
        parent=fields.get("parent", "").strip() or None,
        rich=fields.get("xhtml", ""),
        kept=kept,
        version=fields.get("version", "").strip(),
    )


_FIELDS = {"kind": "kind", "title": "title", "text": "text", "criteria": "criteria", "parent": "parent"}
_FIELDS |= {"rich": "xhtml", "kept": "kept"}


def field_name(name: str, relations: set[str]) -> str:
    """The name in `flattened` for a column; `relations` are further names of relations."""
    kind = None if name in OWN else _kind_of(name, relations)
    return relation_name(kind) if kind is not None else name


def completed(item: Item, here: Item, columns: Collection[str]) -> Item:
    """An item of a table, completed by the project's values for fields without a column."""
    named = {name.casefold() for name in columns}
    missing: dict[str, Any] = {own: getattr(here, own) for own, name in _FIELDS.items() if name not in columns}
    attributes = {
        name: value
        for name, value in here.attributes.items()
        if (name.casefold() if _is_attribute(name) else "kept") not in named
    }
    relations = (each for each in here.relations if relation_name(each.kind) not in columns)
    return msgspec.structs.replace(
        item,
        **missing,
        attributes=attributes | dict(item.attributes),
        relations=tuple(dict.fromkeys((*relations, *item.relations))),
    )


def _kept(text: str, where: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(
            f"{where}: the field 'kept' is {shortened(text)!r}, which is not an object of JSON.",
            hint="Leave it as it was exported, or empty it. Nothing was changed.",
        ) from error


# Relations


def relation_name(kind: str) -> str:
    return kind if kind in KNOWN_RELATIONS else f"{RELATION_PREFIX}{kind}"


def _kind_of(name: str, cited: set[str]) -> str | None:
    if name in cited or name in KNOWN_RELATIONS:
        return relation_kind(name)
    return name.removeprefix(RELATION_PREFIX) if name.startswith(RELATION_PREFIX) else None


def _is_attribute(name: str) -> bool:
    """A name that somebody could take for one of a relation, such as `Depends on`, is none of an attribute."""
    is_relation = _kind_of(name, set()) is not None or relation_kind(name) in KNOWN_RELATIONS
    return bool(name) and name not in OWN and not is_relation


def _by_kind(relations: Iterable[Relation]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in relations:
        found.setdefault(each.kind, []).append(reference(each))
    return found


def reference(relation: Relation) -> str:
    """A relation's target and labels in one word: `REQ-2##A+B`."""
    target = _spelled(relation.target)
    return f"{target}##{'+'.join(map(_spelled, relation.labels))}" if relation.labels else target


def parsed_relations(kind: str, text: str) -> Iterator[Relation]:
    for word in re.split(r"[,;\n]", text):
        if word.strip():
            target, _, labels = word.strip().partition("##")
            named = tuple(_plain(label) for label in labels.split("+") if label)
            yield Relation(kind, _plain(target), named)


_SIGNS = re.compile(r"[,;\n+%]|##")
_SPELLED = re.compile(r"%([0-9A-F]{2})")


def _spelled(text: str) -> str:
    """A word without the signs that part words."""
    return _SIGNS.sub(lambda found: "".join(f"%{ord(sign):02X}" for sign in found[0]), text)


def _plain(text: str) -> str:
    return _SPELLED.sub(lambda found: chr(int(found[1], 16)), text.strip())


# Criteria


def _written(criterion: Criterion) -> str:
    # A text that begins like a title gets an empty one, so that it is read back as it is.
    title = f"[{criterion.title}] " if criterion.title or criterion.text.startswith("[") else ""
    return f"{criterion.label}. {title}{criterion.text}".replace("\n", f"\n{_INDENT}")


def parsed_criteria(text: str) -> Iterator[Criterion]:
    """The criteria in a text, one for each line that is not indented. A line without label gets the number after the
    highest."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(_INDENT) and lines:
            lines[-1] += f"\n{line.removeprefix(_INDENT)}"
        elif line.strip():
            lines.append(line)
    labelled = [_LABEL.fullmatch(line) for line in lines]
    numbers = (each[1] for each in labelled if each is not None and each[1].isdecimal() and len(each[1]) < 19)
    last = max(map(int, numbers), default=0)
    for number, (line, found) in enumerate(zip(lines, labelled, strict=True), start=1):
        if found is not None:
            label, rest = found[1], found[2]
        else:
            last = max(last + 1, number)
            label, rest = str(last), line
        titled = _TITLED.fullmatch(rest)
        yield Criterion(label, titled[2], titled[1]) if titled is not None else Criterion(label, rest)
