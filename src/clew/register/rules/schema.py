"""JSON Schemas of what the register takes in."""

from collections.abc import Mapping
from typing import Any

from clew.errors import InvalidArgument
from clew.formats.register import FORMAT_TAG
from clew.formats.register.model import Kind, Priority, Status
from clew.register.spelling import LINK_KINDS

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_FLAG = {"type": "boolean", "default": False}
_ID = {"type": "string", "description": "REQ-0001; req-1 and 1 are understood; $3 is what mutation 3 of a batch made"}
_KIND = {"type": "string", "enum": [each.word for each in Kind], "default": Kind.FUNCTIONAL.word}
_PRIORITY = {"type": "string", "enum": [each.word for each in Priority], "default": Priority.SHOULD.word}
_STATUS = {"type": "string", "enum": [each.word for each in Status]}
_REASON = {"type": "string", "description": "Kept in the history of the requirement"}

_CANDIDATE: Mapping[str, Any] = {
    "title": {"type": "string", "minLength": 5, "maxLength": 120},
    "statement": {"type": "string", "description": "At least five words, with shall, must, should or will"},
    "rationale": {"type": "string", "minLength": 1},
    "kind": _KIND,
    "priority": _PRIORITY,
    "acceptance": {**_TEXTS, "description": "At least one where the kind is functional"},
    "tags": _TEXTS,
}
_REQUIRED = ("title", "statement", "rationale")


def _object(properties: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": dict(properties)}


def _renamed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """In a batch `kind` is the kind of mutation, so a requirement's own is `req_kind`."""
    return {("req_kind" if name == "kind" else name): value for name, value in properties.items()}


def _mutation(kind: str, properties: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return _object({"kind": {"const": kind}, **properties, "reason": _REASON}, ("kind", *required))


def _add() -> dict[str, Any]:
    return _object({**_CANDIDATE, "parent": _ID}, _REQUIRED)


def _import() -> dict[str, Any]:
    return {"type": "array", "items": _object(_CANDIDATE, _REQUIRED)}


def _batch() -> dict[str, Any]:
    amendable = {name: value for name, value in _renamed(_CANDIDATE).items() if name != "tags"}
    update = {
        "id": _ID,
        **amendable,
        "status": _STATUS,
        "add_acceptance": _TEXTS,
        "remove_acceptance": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "add_tag": _TEXTS,
        "remove_tag": _TEXTS,
        "force": _FLAG,
    }
    link_kind = {"type": "string", "enum": [each.word for each in LINK_KINDS], "default": "parent"}
    verify = {
        "id": _ID,
        "by": {"type": "string", "enum": ["composition", "inspection"]},
        "notes": _TEXT,
        "cites": _TEXTS,
        "promote": _FLAG,
        "force": _FLAG,
    }
    mutations = [
        _mutation("add", {**_renamed(_CANDIDATE), "parent": _ID}, _REQUIRED),
        _mutation("update", update, ("id",)),
        _mutation("delete", {"id": _ID, "hard": _FLAG}, ("id",)),
        _mutation("link", {"from": _ID, "to": _ID, "link_kind": link_kind, "remove": _FLAG}, ("from", "to")),
        _mutation("verify", verify, ("id", "by", "notes")),
    ]
    properties = {"reason": _REASON, "mutations": {"type": "array", "items": {"oneOf": mutations}}}
    return _object(properties, ("mutations",))


def _test_map() -> dict[str, Any]:
    ids = {"type": "array", "items": _ID}
    return {"type": "object", "additionalProperties": ids, "description": "Names of tests, each with what it verifies"}


_SCHEMAS = {"add": _add, "batch": _batch, "import": _import, "test-map": _test_map}


def schema(which: str) -> dict[str, Any]:
    build = _SCHEMAS.get(which)
    if build is None:
        raise InvalidArgument(f"There is no schema '{which[:80]}'.", hint=f"Schemas are {', '.join(_SCHEMAS)}.")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:req-cli:schema:{FORMAT_TAG}:{which}",
        "_format": FORMAT_TAG,
        "title": f"Input of {which}",
        **build(),
    }
