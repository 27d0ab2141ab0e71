"""ReqIF, with the library `reqif` (the extra of that name).

A spec object is an item, its place in a specification its parent, and a spec relation a relation by the name of its
type. Texts in XHTML are read as plain text, and the XHTML is kept. Criteria are spec objects of their own below their
requirement, so that a relation can lead to one.
"""

import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import ClewError, FormatError, Unavailable
from clew.exchange.both.reqif_writing import CRITERION, NAMES, bundle_of
from clew.exchange.flat import unflattened
from clew.exchange.model import HEADING, INFORMATION, REQUIREMENT, Criterion, Exchange, Item, Relation, relation_kind
from clew.exchange.sources import MOST_BYTES, ImportSource, text_of, xml_of
from clew.exchange.xhtml import canonical, of_plain, plain_of

_NOTHING = "Nothing was changed."
_MEANINGS = {name: meaning for meaning, name in NAMES.items()} | {
    "ReqIF.ChapterName": "title",
    "ReqIF.Description": "text",
    "Object Heading": "title",
    "Object Text": "text",
    "UID": "id",
    "TITLE": "title",
    "STATEMENT": "text",
    "STATUS": "status",
}
_HEADINGS = re.compile(r"head|chapter|section", re.IGNORECASE)
_INFORMATION = re.compile(r"info|note|comment|text\b", re.IGNORECASE)
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def _need_library() -> None:
    try:
        import reqif  # noqa: F401
    except ImportError as error:
        raise Unavailable(
            "ReqIF files need the library reqif, which is not installed.",
            hint="Install Clew with the extra: `pip install 'clew-mcp[reqif]'`.",
        ) from error


def read(source: ImportSource) -> Exchange:
    _need_library()
    data = _unpacked(source)
    xml_of(data, source.name)  # refuses document types and entities, and says where XML is broken
    try:
        return _Reading(data, source.name).exchange()
    except ClewError:
        raise
    except Exception as error:  # whatever a strange file makes of the library
        raise FormatError(
            f"'{source.name}' cannot be read as ReqIF: {type(error).__name__}: {error}.",
            hint=f"Check it against the schema of ReqIF 1.2. {_NOTHING}",
        ) from error


def _unpacked(source: ImportSource) -> bytes:
    """The XML of the file; of a .reqifz the first ReqIF in it."""
    data = source.data()
    if not data.startswith(b"PK"):
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            part = next((each for each in packed.infolist() if each.filename.lower().endswith(".reqif")), None)
            if part is None or part.file_size > MOST_BYTES:
                raise FormatError(
                    f"'{source.name}' holds no ReqIF file of at most {MOST_BYTES:,} bytes.",
                    hint=f"Unpack it, and import its parts. {_NOTHING}",
                )
            return packed.read(part)
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise FormatError(f"'{source.name}' cannot be unpacked: {error}.", hint=_NOTHING) from error


class _Reading:
    def __init__(self, data: bytes, name: str) -> None:
        from reqif.parser import ReqIFParser

        text = _DECLARATION.sub('<?xml version="1.0" encoding="UTF-8"?>', text_of(data, name))
        self._name = name
        self._bundle = ReqIFParser.parse_from_string(text)
        core = self._bundle.core_content
        self._content: Any = core.req_if_content if core is not None else None
        if self._content is None:
            raise FormatError(f"'{name}' has no REQ-IF-CONTENT.", hint=_NOTHING)
        self._definitions: dict[str, tuple[str, str]] = {}
        """The name and the datatype of an attribute, by its id."""
        self._types: dict[str, str] = {}
        self._relation_types: dict[str, str] = {}
        self._enums: dict[str, str] = {}
        self._index()

    def _index(self) -> None:
        for each in self._content.data_types or ():
            for value in getattr(each, "values", None) or ():
                self._enums[value.identifier] = value.long_name or value.key or value.identifier
        for each in self._content.spec_types or ():
            name = each.long_name or each.identifier
            if type(each).__name__ == "ReqIFSpecRelationType":
                self._relation_types[each.identifier] = name
            elif type(each).__name__ == "ReqIFSpecObjectType":
                self._types[each.identifier] = name
                for attribute in each.attribute_definitions or ():
                    named = attribute.long_name or attribute.identifier
                    self._definitions[attribute.identifier] = (named, attribute.datatype_definition)

    def exchange(self) -> Exchange:
        objects = {each.identifier: each for each in self._content.spec_objects or ()}
        values = {id: self._values(each) for id, each in objects.items()}
        own = [fields.get("id", "") for fields, _ in values.values()]
        unique = _unique(own)
        ids = {key: fields["id"] if fields.get("id", "") in unique else key for key, (fields, _) in values.items()}
        parents, order = self._hierarchy(objects)
        criteria = {key for key, each in objects.items() if self._types.get(each.spec_object_type) == CRITERION}
        labels = {key: _label(values[key][0]) for key in criteria if parents.get(key)}
        relations = self._relations(ids, parents, labels)
        below: dict[str, list[tuple[str, dict[str, str]]]] = {}
        for key in order:
            if key in labels:
                below.setdefault(parents[key], []).append((labels[key], values[key][0]))
        items: list[Item] = []
        for key in order:
            if key not in labels:
                item = self._item(key, objects[key], values[key], ids, parents, relations.get(key, []))
                items.append(_with_criteria(item, below.get(key, [])))
        return Exchange(items=tuple(items))

    def _values(self, spec_object: Any) -> tuple[dict[str, str], dict[str, str]]:
        """The texts of an object by field, and the XHTML of those that have it."""
        fields: dict[str, str] = {}
        rich: dict[str, str] = {}
        for each in spec_object.attributes or ():
            name: str = self._definitions.get(each.definition_ref, (each.definition_ref, ""))[0]
            meaning = _MEANINGS.get(name, name)
            if isinstance(each.value, list):
                text = ", ".join(self._enums.get(value) or str(value) for value in each.value)
            elif each.attribute_type.name == "XHTML":
                where = f"'{name}' of '{spec_object.identifier}'"
                text = plain_of(each.value or "", where)
                rich[meaning] = canonical(each.value or "", where)
            else:
                text = each.value or ""
            if text or meaning not in fields:
                fields[meaning] = text
            if name == "ReqIF.ChapterName" and text:
                fields["chapter"] = "true"
        if spec_object.long_name and not fields.get("title"):
            fields["title"] = spec_object.long_name
        return fields, rich

    def _hierarchy(self, objects: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
        """The parent of each object, and all objects in the order of the documents."""
        parents: dict[str, str] = {}
        order: dict[str, None] = {}
        for specification in self._content.specifications or ():
            stack: list[tuple[Any, str]] = [(each, "") for each in reversed(specification.children or [])]
            while stack:
                node, above = stack.pop()
                key = node.spec_object
                if key in objects and key not in order:
                    order[key] = None
                    if above:
                        parents[key] = above
                stack.extend((each, key) for each in reversed(node.children or []))
        for key in objects:
            order.setdefault(key)
        return parents, list(order)

    def _relations(
        self, ids: dict[str, str], parents: dict[str, str], labels: dict[str, str]
    ) -> dict[str, list[Relation]]:
        found: dict[str, list[Relation]] = {}
        for each in self._content.spec_relations or ():
            kind = relation_kind(self._relation_types.get(each.relation_type_ref, "relates"))
            label = labels.get(each.target)
            target = parents[each.target] if label is not None else each.target
            found.setdefault(each.source, []).append(
                Relation(kind, ids.get(target, target), (label,) if label is not None else ())
            )
        return {key: _joined(relations) for key, relations in found.items()}

    def _item(
        self,
        key: str,
        spec_object: Any,
        values: tuple[dict[str, str], dict[str, str]],
        ids: dict[str, str],
        parents: dict[str, str],
        relations: list[Relation],
    ) -> Item:
        fields, rich = dict(values[0]), values[1]
        word = self._types.get(spec_object.spec_object_type, "")
        is_chapter = bool(fields.pop("chapter", "")) and not fields.get("text")
        fields.setdefault("kind", HEADING if is_chapter else _kind_of(word))
        if word and word.casefold() not in (fields["kind"].casefold(), REQUIREMENT) and "type" not in fields:
            fields["type"] = word
        fields = {name: value for name, value in fields.items() if value}
        parsed = unflattened({**fields, "id": ids[key]}, f"'{ids[key]}'")
        others = {name: value for name, value in rich.items() if name in parsed.attributes}
        kept = {**parsed.kept, **({"xhtml": others} if others else {})}
        above = parents.get(key)
        return Item(
            id=ids[key],
            kind=parsed.kind,
            title=parsed.title,
            text=parsed.text,
            criteria=parsed.criteria,
            attributes=parsed.attributes,
            relations=tuple(dict.fromkeys((*relations, *parsed.relations))),
            parent=ids.get(above) if above else parsed.parent,
            rich="" if _is_ours(rich.get("text", ""), parsed.text) else rich.get("text", ""),
            kept=_without_ours(kept, parsed.attributes),
            version=parsed.version,
        )


def _label(fields: dict[str, str]) -> str:
    return fields.get("label") or fields.get("id", "").rpartition("##")[2]


def _unique(ids: list[str]) -> set[str]:
    once: set[str] = set()
    twice: set[str] = set()
    for id in ids:
        (twice if id in once else once).add(id)
    return {id for id in once - twice if id}


def _kind_of(word: str) -> str:
    if _HEADINGS.search(word):
        return HEADING
    return INFORMATION if _INFORMATION.search(word) else REQUIREMENT


def _joined(relations: list[Relation]) -> list[Relation]:
    """Relations to several criteria of one requirement are one relation with several labels."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for each in relations:
        found.setdefault((each.kind, each.target, bool(each.labels)), []).extend(each.labels)
    return [Relation(kind, target, tuple(labels)) for (kind, target, _), labels in found.items()]


def _with_criteria(item: Item, below: "list[tuple[str, dict[str, str]]]") -> Item:
    if not below:
        return item
    found = tuple(Criterion(label, fields.get("text", ""), fields.get("title", "")) for label, fields in below)
    return msgspec.structs.replace(item, criteria=(*item.criteria, *found))


def _is_ours(rich: str, text: str) -> bool:
    """True if the XHTML says no more than the plain text does."""
    return not rich or rich == of_plain(text)


def _without_ours(kept: dict[str, Any], attributes: Mapping[str, str]) -> dict[str, Any]:
    rich = {name: value for name, value in kept.get("xhtml", {}).items() if not _is_ours(value, attributes[name])}
    rest = {name: value for name, value in kept.items() if name != "xhtml"}
    return {**rest, "xhtml": rich} if rich else rest


def write(exchange: Exchange, project: str) -> bytes:
    _need_library()
    from reqif.unparser import ReqIFUnparser

    text: str = ReqIFUnparser.unparse(bundle_of(exchange, project))
    return text.encode()
