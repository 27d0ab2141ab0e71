"""JSON Schemas of the register's inputs. Names, types and required fields come from the operations."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.envelope import FORMAT_TAG
from clew.formats.register.model import LINK_KINDS, Priority, RequirementKind, Status
from clew.operation.schemas import arguments_schema, names_and_types
from clew.register.change.batch import OPERATIONS, name_in_batch
from clew.register.requests import Addition
from clew.text.display import shortened

_ID = {"description": "REQ-0001; req-1 and 1 are understood; $3 is what mutation 3 of a batch made"}
_REASON = {"type": "string", "description": "Kept in the history of the requirement"}
_RULES: Mapping[str, Mapping[str, Any]] = {
    "title": {"minLength": 5, "maxLength": 120},
    "statement": {"description": "At least five words, with shall, must, should or will"},
    "rationale": {"minLength": 1},
    "acceptance": {"description": "At least one where the kind is functional"},
    "remove_acceptance": {"items": {"type": "integer", "minimum": 1}},
    "kind": {"enum": [each.word for each in RequirementKind], "default": RequirementKind.FUNCTIONAL.word},
    "link_kind": {"enum": [each.word for each in LINK_KINDS], "default": "parent"},
    "priority": {"enum": [each.word for each in Priority], "default": Priority.SHOULD.word},
    "status": {"enum": [each.word for each in Status]},
    "reason": _REASON,
    **dict.fromkeys(("id", "from", "to", "parent"), _ID),
}
"""The validator's demands on a field beyond its type, and words in the order of a requirement's life."""
_RULES_OF = {"req_kind": "kind"}


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": dict(properties)}


def _fields(operation: type[msgspec.Struct], batch_kind: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """The fields of an operation under the names of a batch's mutation, and the required ones."""
    schema = arguments_schema(operation)
    properties = {}
    for name, field in schema["properties"].items():
        named = name if batch_kind is None else name_in_batch(batch_kind, name)
        described = {"type": "string", **names_and_types(field)}
        if field.get("default") is False:
            described["default"] = False
        properties[named] = {**described, **_RULES.get(_RULES_OF.get(named, named), {})}
    return properties, schema.get("required", [])


def _add() -> dict[str, Any]:
    return _object(*_fields(Addition))


def _import() -> dict[str, Any]:
    properties, required = _fields(Addition)
    # The ids in the file are those of another register.
    del properties["parent"]
    return {"type": "array", "items": _object(properties, required)}


def _mutation(kind: str, operation: type[msgspec.Struct]) -> dict[str, Any]:
    properties, required = _fields(operation, kind)
    return _object({"kind": {"const": kind}, **properties, "reason": _REASON}, ["kind", *required])


def _batch() -> dict[str, Any]:
    mutations = [_mutation(kind, operation) for kind, operation in OPERATIONS.items()]
    properties = {"reason": _REASON, "mutations": {"type": "array", "items": {"oneOf": mutations}}}
    return _object(properties, ["mutations"])


def _test_map() -> dict[str, Any]:
    ids = {"type": "array", "items": {"type": "string", **_ID}}
    return {"type": "object", "additionalProperties": ids, "description": "Names of tests, each with what it verifies"}


_SCHEMAS = {"add": _add, "batch": _batch, "import": _import, "test-map": _test_map}


def schema(which: str) -> dict[str, Any]:
    build = _SCHEMAS.get(which)
    if build is None:
        raise InvalidArgument(f"There is no schema '{shortened(which)}'.", hint=f"Schemas are {', '.join(_SCHEMAS)}.")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:req-cli:schema:{FORMAT_TAG}:{which}",
        "_format": FORMAT_TAG,
        "title": f"Input of {which}",
        **build(),
    }
