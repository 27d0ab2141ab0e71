"""StrictDoc: `.sdoc` files, or a folder of them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from clew.errors import FormatError
from clew.exchange.model import HEADING, INFORMATION, REQUIREMENT, Criterion, Exchange, Item, Relation
from clew.exchange.sources import ImportSource
from clew.formats.openspec.names import slug
from clew.text.display import shortened

_NODE = re.compile(r"\[(\[)?(/)?([A-Z][A-Z0-9_-]*)\]?\]")
_FIELD = re.compile(r"([A-Z][A-Z0-9_]*):(?: (.*))?")
_OPEN, _CLOSE = ">>>", "<<<"
_COMPOSITE = frozenset({"COMPOSITE_REQUIREMENT", "COMPOSITE-REQUIREMENT"})
_CONTAINERS = _COMPOSITE | {"SECTION"}
"""Elements that older files write with one bracket, and close."""
_FREE = "FREETEXT"
"""A text as older files write it: all up to where it is closed."""
_TEXTS = frozenset({"TEXT", _FREE})
_STRUCTURE = frozenset({"DOCUMENT", "GRAMMAR", "DOCUMENT_FROM_FILE", "VIEW", "TAGS"})
_RELATIONS = {"Parent": "implements", "Child": "implemented_by", "File": "file"}
_ITEM = re.compile(r"\s*- (TYPE|ROLE|VALUE): (.*)|\s+(TYPE|ROLE|VALUE): (.*)")


def read(source: ImportSource) -> Exchange:
    items: list[Item] = []
    files = list(source.each(".sdoc"))
    names = Counter(each.name for each in files)
    for each in files:
        # Items without a UID are called after their file; its folders tell two of one name apart.
        name = each.name if names[each.name] == 1 else source.relative(each.place)
        items.extend(_with_criteria(_Document(each.text(), name).items()))
    return Exchange(items=tuple(items))


def _with_criteria(items: Iterable[Item]) -> Iterator[Item]:
    """Criteria that were exported from Clew as nodes below their requirement are criteria again."""
    found = list(items)
    below: dict[str, list[Criterion]] = {}
    for item in found:
        if item.attributes.get("type") == _CRITERION and item.parent:
            label = item.attributes.get("Label") or item.id.rpartition("##")[2]
            below.setdefault(item.parent, []).append(Criterion(label, item.text, item.title))
    for item in found:
        if item.attributes.get("type") == _CRITERION and item.parent:
            continue
        own = [each for each in item.relations if "##" not in each.target]
        cited: dict[tuple[str, str], list[str]] = {}
        for each in item.relations:
            target, sign, label = each.target.rpartition("##")
            if sign:
                cited.setdefault((each.kind, target), []).append(label)
        labelled = [Relation(kind, target, tuple(labels)) for (kind, target), labels in cited.items()]
        yield msgspec.structs.replace(
            item, criteria=tuple(below.get(item.id, ())), relations=tuple(dict.fromkeys((*own, *labelled)))
        )


_CRITERION = "CRITERION"


class _Document:
    def __init__(self, text: str, name: str) -> None:
        self._lines = text.split("\n")
        self._name = name
        self._stem = slug(name.rpartition(".")[0] or name, "document")
        self._count = 0
        self._structures: Counter[str] = Counter()
        if not any(line.strip() == "[DOCUMENT]" for line in self._lines):
            raise FormatError(
                f"'{name}' has no [DOCUMENT]; it is not a file of StrictDoc.",
                hint="Name an .sdoc file, or a folder of them. Nothing was changed.",
            )

    def items(self) -> Iterator[Item]:
        parents: list[tuple[str, str]] = []
        index = 0
        while index < len(self._lines):
            found = _NODE.fullmatch(self._lines[index].strip())
            if found is None:
                self._refuse_text(index)
                index += 1
                continue
            line, (double, closing, kind) = index + 1, found.groups()
            index += 1
            if closing:
                if not parents or parents[-1][0] != kind:
                    raise FormatError(
                        f"'{self._name}' closes [{kind}] in line {line}, which is not open.",
                        hint="Correct the file. Nothing was changed.",
                    )
                parents.pop()
                continue
            fields, relations, index = self._free(index) if kind == _FREE else self._fields(index, kind)
            if kind in _STRUCTURE:
                yield self._structure(kind, line, "\n".join(self._lines[line:index]).strip())
                continue
            item = self._item(kind, fields, relations, parents[-1][1] if parents else None, line)
            yield item
            if double or kind in _CONTAINERS:
                parents.append((kind, item.id))
        if parents:
            raise FormatError(
                f"'{self._name}' never closes [{parents[-1][0]}] ('{parents[-1][1]}').",
                hint="Correct the file. Nothing was changed.",
            )

    def _fields(self, index: int, kind: str) -> tuple[dict[str, str], list[dict[str, str]], int]:
        """The fields of a node, and its relations, up to the line where the next node begins."""
        fields: dict[str, str] = {}
        relations: list[dict[str, str]] = []
        while index < len(self._lines):
            line = self._lines[index]
            if _NODE.fullmatch(line.strip()) and not line.startswith(" "):
                break
            found = _FIELD.fullmatch(line)
            if found is None:
                if kind not in _STRUCTURE:
                    self._refuse_text(index)
                index += 1
            elif found[1] in ("RELATIONS", "REFS"):
                index = self._relations(index + 1, relations)
            elif (found[2] or "").strip() == _OPEN:
                text, index = self._block(index + 1, found[1], _OPEN, _CLOSE)
                fields[free(found[1], fields)] = text
            else:
                fields[free(found[1], fields)] = (found[2] or "").strip()
                index += 1
        return fields, relations, index

    def _refuse_text(self, index: int) -> None:
        """A line that belongs to nothing would be gone in silence."""
        text = self._lines[index].strip()
        if text:
            raise FormatError(
                f"'{self._name}' has text in line {index + 1} that is not a field: {shortened(text)!r}.",
                hint=f"A text of several lines stands between {_OPEN} and {_CLOSE}. Nothing was changed.",
            )

    def _free(self, index: int) -> tuple[dict[str, str], list[dict[str, str]], int]:
        text, index = self._block(index, "a text", f"[{_FREE}]", f"[/{_FREE}]")
        return {"STATEMENT": text}, [], index

    def _block(self, index: int, name: str, opening: str, closing: str) -> tuple[str, int]:
        begin = index
        while index < len(self._lines) and self._lines[index].strip() != closing:
            index += 1
        if index == len(self._lines):
            raise FormatError(
                f"'{self._name}' opens {name} with {opening} in line {begin} and never closes it with {closing}.",
                hint="Correct the file. Nothing was changed.",
            )
        return "\n".join(self._lines[begin:index]).strip("\n"), index + 1

    def _relations(self, index: int, relations: list[dict[str, str]]) -> int:
        while index < len(self._lines) and (found := _ITEM.fullmatch(self._lines[index])):
            if found[1]:
                relations.append({})
            if relations:
                relations[-1][found[1] or found[3]] = (found[2] or found[4] or "").strip()
            index += 1
        return index

    def _structure(self, kind: str, line: int, text: str) -> Item:
        """An item for a statement of a file about itself, such as its title or its grammar, in the file's own text."""
        self._structures[kind] += 1
        number = f"-{self._structures[kind]}" if self._structures[kind] > 1 else ""
        word = kind.lower().replace("_", " ")
        id = f"{self._stem}-{word.replace(' ', '-')}{number}"
        return Item(id=id, kind=word, text=text, path=self._name, line=line)

    def _item(
        self, kind: str, fields: dict[str, str], relations: list[dict[str, str]], parent: str | None, line: int
    ) -> Item:
        self._count += 1
        id = fields.pop("UID", "") or fields.pop("MID", "") or f"{self._stem}-{self._count}"
        title, text = fields.pop("TITLE", ""), fields.pop("STATEMENT", "")
        attributes = {_NAMES.get(name, name.replace("_", " ").capitalize()): value for name, value in fields.items()}
        if kind == "SECTION":
            kind = HEADING
        elif kind in _TEXTS:
            kind = INFORMATION
        elif kind not in ("REQUIREMENT", *_COMPOSITE):
            attributes["type"] = kind
        return Item(
            id=id,
            kind=kind if kind in (HEADING, INFORMATION) else REQUIREMENT,
            title=title,
            text=text,
            attributes={name: value for name, value in attributes.items() if value},
            relations=tuple(Relation(_kind(each), each["VALUE"]) for each in relations if each.get("VALUE")),
            parent=parent,
            path=self._name,
            line=line,
        )


_NAMES = {"STATUS": "status", "TAGS": "tags", "LEVEL": "level", "PRIORITY": "priority", "PREFIX": "prefix"}


def _kind(relation: dict[str, str]) -> str:
    role = relation.get("ROLE", "").casefold().replace(" ", "_")
    return role or _RELATIONS.get(relation.get("TYPE", ""), "relates")


def free(name: str, taken: dict[str, str]) -> str:
    """A field that comes again, such as COMMENT, gets a number."""
    number, spelled = 1, name
    while spelled in taken:
        number += 1
        spelled = f"{name} {number}"
    return spelled
