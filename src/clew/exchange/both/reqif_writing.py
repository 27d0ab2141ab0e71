"""Items as a bundle of the library `reqif`."""

import re
from collections.abc import Iterator
from typing import Any

from clew.exchange.flat import flattened, relation_name
from clew.exchange.model import HEADING, REQUIREMENT, Exchange, Item
from clew.exchange.xhtml import is_sound, of_plain, plain_of
from clew.text.hashing import content_hash

CRITERION = "Criterion"
"""The type of spec objects that are criteria of the requirement above them."""
NAMES = {"id": "ReqIF.ForeignID", "title": "ReqIF.Name", "text": "ReqIF.Text"}
"""ReqIF's own names of these fields."""
_TIME = "2020-01-01T00:00:00Z"
"""The same items always give the same file, so no clock is asked."""
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_STRING, _XHTML = "_clew-string", "_clew-xhtml"


def _identifier(*parts: str) -> str:
    return f"_{content_hash('|'.join(parts).encode())}"


def bundle_of(exchange: Exchange, project: str) -> Any:
    from reqif.models.reqif_core_content import ReqIFCoreContent
    from reqif.models.reqif_namespace_info import ReqIFNamespaceInfo
    from reqif.models.reqif_req_if_content import ReqIFReqIFContent
    from reqif.models.reqif_reqif_header import ReqIFReqIFHeader
    from reqif.object_lookup import ReqIFObjectLookup
    from reqif.reqif_bundle import ReqIFBundle

    writing = _Writing(exchange, project)
    content = ReqIFReqIFContent(
        data_types=writing.data_types(),
        spec_types=writing.spec_types(),
        spec_objects=writing.spec_objects(),
        spec_relations=writing.spec_relations(),
        specifications=writing.specifications(),
    )
    header = ReqIFReqIFHeader(
        identifier=_identifier("header", project),
        creation_time=_TIME,
        req_if_tool_id="clew",
        req_if_version="1.0",
        source_tool_id="clew",
        title=_xml(project),
    )
    return ReqIFBundle(
        namespace_info=ReqIFNamespaceInfo.create_default(),
        req_if_header=header,
        core_content=ReqIFCoreContent(req_if_content=content),
        tool_extensions_tag_exists=False,
        lookup=ReqIFObjectLookup.empty(),
        exceptions=[],
    )


def _xml(text: str) -> str:
    return _UNSAFE.sub("", text)


class _Writing:
    def __init__(self, exchange: Exchange, project: str) -> None:
        self._items = exchange.items
        self._project = project
        self._ids = {item.id for item in exchange.items}
        self._labels = {item.id: {each.label for each in item.criteria} for item in exchange.items}
        self._fields = {item.id: self._fields_of(item) for item in exchange.items}
        self._types = {item.kind: None for item in exchange.items}
        self._relation_kinds = sorted({kind for _, kind, _ in self._pairs()})
        self._long = {name for fields in self._fields.values() for name, value in fields.items() if "\n" in value} | {
            "text"
        }
        for item in exchange.items:
            self._long |= set(self._rich(item))

    def _rich(self, item: Item) -> dict[str, str]:
        """The XHTML of attributes, as far as they still say the same."""
        given = item.kept.get("xhtml")
        rich = {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}
        if item.rich:
            rich["text"] = item.rich
        texts = {**item.attributes, "text": item.text}
        return {
            name: value
            for name, value in rich.items()
            if name in texts and is_sound(value) and plain_of(value, name) == texts[name]
        }

    def _fields_of(self, item: Item) -> dict[str, str]:
        """The texts that are attributes of a spec object; relations and criteria are objects of their own."""
        flat = flattened(item)
        for kind in {each.kind for each in item.relations}:
            if all(self._is_here(each.target, each.labels) for each in item.relations if each.kind == kind):
                flat.pop(relation_name(kind), None)
        labels = [each.label for each in item.criteria]
        if len(set(labels)) == len(labels) and all(labels):
            flat.pop("criteria", None)
        flat.pop("xhtml", None)
        if item.parent in self._ids:
            flat.pop("parent", None)
        if item.kind == REQUIREMENT:
            flat.pop("kind", None)
        return {name: _xml(value) for name, value in flat.items()}

    def _is_here(self, target: str, labels: tuple[str, ...]) -> bool:
        return target in self._ids and self._labels[target].issuperset(labels)

    def _criteria(self, item: Item) -> bool:
        return "criteria" not in self._fields[item.id] and bool(item.criteria)

    def data_types(self) -> list[Any]:
        from reqif.models.reqif_data_type import ReqIFDataTypeDefinitionString, ReqIFDataTypeDefinitionXHTML

        return [
            ReqIFDataTypeDefinitionString(_STRING, last_change=_TIME, long_name="String", max_length="2147483647"),
            ReqIFDataTypeDefinitionXHTML(_XHTML, last_change=_TIME, long_name="XHTML", is_self_closed=True),
        ]

    def spec_types(self) -> list[Any]:
        from reqif.models.reqif_spec_object_type import ReqIFSpecObjectType
        from reqif.models.reqif_spec_relation_type import ReqIFSpecRelationType
        from reqif.models.reqif_specification_type import ReqIFSpecificationType

        found: list[Any] = []
        for kind in self._types:
            names = dict.fromkeys(name for item in self._items if item.kind == kind for name in self._fields[item.id])
            found.append(
                ReqIFSpecObjectType(
                    identifier=_identifier("type", kind),
                    last_change=_TIME,
                    long_name=_xml(kind.capitalize()) if kind in (REQUIREMENT, HEADING) else _xml(kind),
                    attribute_definitions=[self._definition(kind, name) for name in names],
                )
            )
        found.append(
            ReqIFSpecObjectType(
                identifier=_identifier("type", CRITERION),
                last_change=_TIME,
                long_name=CRITERION,
                attribute_definitions=[self._definition(CRITERION, name) for name in ("id", "label", "title", "text")],
            )
        )
        found += [
            ReqIFSpecRelationType(identifier=_identifier("relation", kind), last_change=_TIME, long_name=_xml(kind))
            for kind in self._relation_kinds
        ]
        found.append(
            ReqIFSpecificationType(
                identifier=_identifier("specification type"),
                last_change=_TIME,
                long_name="Document",
                is_self_closed=True,
            )
        )
        return found

    def _definition(self, kind: str, name: str) -> Any:
        from reqif.models.reqif_spec_object_type import SpecAttributeDefinition

        return SpecAttributeDefinition(
            attribute_type=self._attribute_type(name),
            identifier=_identifier("attribute", kind, name),
            datatype_definition=_XHTML if name in self._long else _STRING,
            last_change=_TIME,
            long_name=_xml(NAMES.get(name, name)),
        )

    def _attribute_type(self, name: str) -> Any:
        from reqif.models.reqif_types import SpecObjectAttributeType

        return SpecObjectAttributeType.XHTML if name in self._long else SpecObjectAttributeType.STRING

    def spec_objects(self) -> list[Any]:
        found: list[Any] = []
        for item in self._items:
            found.append(self._object(item.id, item.kind, self._fields[item.id], self._rich(item)))
            if self._criteria(item):
                for each in item.criteria:
                    fields = {
                        "id": f"{item.id}##{each.label}",
                        "label": each.label,
                        "title": each.title,
                        "text": each.text,
                    }
                    found.append(
                        self._object(fields["id"], CRITERION, {n: _xml(v) for n, v in fields.items() if v}, {})
                    )
        return found

    def _object(self, id: str, kind: str, fields: dict[str, str], rich: dict[str, str]) -> Any:
        from reqif.models.reqif_spec_object import ReqIFSpecObject, SpecObjectAttribute

        attributes = [
            SpecObjectAttribute(
                attribute_type=self._attribute_type(name),
                definition_ref=_identifier("attribute", kind, name),
                value=rich.get(name) or of_plain(value) if name in self._long else value,
            )
            for name, value in fields.items()
        ]
        return ReqIFSpecObject(
            identifier=_identifier("object", id),
            attributes=attributes,
            spec_object_type=_identifier("type", kind),
            last_change=_TIME,
        )

    def _pairs(self) -> Iterator[tuple[str, str, str]]:
        """Every relation whose ends are both here: from, kind, to."""
        for item in self._items:
            for kind in dict.fromkeys(each.kind for each in item.relations):
                own = [each for each in item.relations if each.kind == kind]
                if not all(self._is_here(each.target, each.labels) for each in own):
                    continue
                for each in own:
                    ends = [f"{each.target}##{label}" for label in each.labels] or [each.target]
                    yield from ((item.id, kind, end) for end in ends)

    def spec_relations(self) -> list[Any]:
        from reqif.models.reqif_spec_relation import ReqIFSpecRelation

        return [
            ReqIFSpecRelation(
                identifier=_identifier("relation", source, kind, target),
                relation_type_ref=_identifier("relation", kind),
                source=_identifier("object", source),
                target=_identifier("object", target),
                last_change=_TIME,
            )
            for source, kind, target in dict.fromkeys(self._pairs())
        ]

    def specifications(self) -> list[Any]:
        from reqif.models.reqif_specification import ReqIFSpecification

        below: dict[str | None, list[Item]] = {}
        for item in self._items:
            below.setdefault(item.parent if item.parent in self._ids else None, []).append(item)
        return [
            ReqIFSpecification(
                identifier=_identifier("specification"),
                last_change=_TIME,
                long_name=_xml(self._project),
                specification_type=_identifier("specification type"),
                children=[self._node(item, below, 1) for item in below.get(None, [])],
            )
        ]

    def _node(self, item: Item, below: dict[str | None, list[Item]], level: int) -> Any:
        inner = (
            [self._leaf(f"{item.id}##{each.label}", level + 1) for each in item.criteria]
            if self._criteria(item)
            else []
        )
        inner += [self._node(each, below, level + 1) for each in below.get(item.id, [])]
        return self._leaf(item.id, level, inner)

    def _leaf(self, id: str, level: int, children: "list[Any] | None" = None) -> Any:
        from reqif.models.reqif_spec_hierarchy import ReqIFSpecHierarchy

        return ReqIFSpecHierarchy(
            identifier=_identifier("hierarchy", id),
            spec_object=_identifier("object", id),
            level=level,
            children=children or None,
            last_change=_TIME,
            editable=None,
            is_table_internal=None,
        )
