"""From the JSON of a file to values and back, without losing a key at any level."""

from typing import Any

import msgspec

from clew.errors import FormatError
from clew.formats.register.model import EXTRAS_KEY, HistoryEntry, Requirement, RequirementLink, TestRecord

_Raw = dict[str, Any]


def _keys(type_: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(type_)) - {EXTRAS_KEY}


_REQUIREMENT, _LINK, _HISTORY, _TEST = (
    _keys(Requirement),
    _keys(RequirementLink),
    _keys(HistoryEntry),
    _keys(TestRecord),
)
_TEST_ALWAYS = _TEST - {"content_hash", "linked_files", "sil_gate_exception"}


def decode_requirement(raw: Any, key: str, name: str) -> Requirement:
    """One requirement of a file; FormatError where a value has the wrong type or an id is under another one."""
    try:
        requirement = msgspec.convert(_prepared(raw) if isinstance(raw, dict) else raw, Requirement)
    except (msgspec.ValidationError, TypeError, AttributeError) as error:
        raise FormatError(
            f"{name}: {key} cannot be read: {error}.",
            hint="A newer program may have written it, or a hand edited it: compare with git.",
        ) from error
    if requirement.id != key:
        raise FormatError(
            f"{name}: the requirement under {key} calls itself {requirement.id}.",
            hint="Give both the same id by hand, then run `clew req repair --confirm-direct-edit`.",
        )
    return requirement


def _prepared(raw: _Raw) -> _Raw:
    """The raw object with what old files leave out filled in, and with unknown keys gathered where they are kept."""
    lists = {
        "links": [_gathered(link, _LINK) if link.keys() != _LINK else link for link in raw.get("links", ())],
        "history": [_history(entry) if entry.keys() != _HISTORY else entry for entry in raw.get("history", ())],
        "tests": [
            _gathered({"kind": "Automated", **record}, _TEST) if not _TEST_ALWAYS <= record.keys() <= _TEST else record
            for record in raw.get("tests", ())
        ],
    }
    present = {name: value for name, value in lists.items() if name in raw or name == "tests"}
    return _gathered(raw | present, _REQUIREMENT)


def _history(raw: _Raw) -> _Raw:
    return _gathered({"actor_kind": "Unknown", "reason": None, **raw}, _HISTORY)


def _gathered(raw: _Raw, known: frozenset[str]) -> _Raw:
    if raw.keys() <= known:
        return raw
    extras = {key: value for key, value in raw.items() if key not in known}
    return {EXTRAS_KEY: extras} | {key: value for key, value in raw.items() if key in known}


def decode_history(raw: Any) -> tuple[HistoryEntry, ...] | None:
    """Entries of a history; None for what is none, which belongs to a program that means something else by the key."""
    try:
        return tuple(msgspec.convert(_history(entry), HistoryEntry) for entry in raw)
    except (msgspec.ValidationError, TypeError, AttributeError):
        return None


def encode_history(entries: tuple[HistoryEntry, ...]) -> list[HistoryEntry | _Raw]:
    return [_spread(msgspec.to_builtins(entry)) if entry.extras else entry for entry in entries]


def encode_requirement(requirement: Requirement) -> Requirement | _Raw:
    """Value of a requirement in the file. Without unknown keys the struct encodes as it is, which is faster."""
    if not requirement.extras and not any(
        value.extras for value in (*requirement.links, *requirement.history, *requirement.tests)
    ):
        return requirement
    return requirement_object(requirement)


def requirement_object(requirement: Requirement) -> dict[str, Any]:
    """A requirement as plain data with the keys in the order of their declaration, unknown ones last."""
    plain = _spread(msgspec.to_builtins(requirement))
    for name in ("links", "history", "tests"):
        plain[name] = [_spread(item) for item in plain[name]]
    return plain


def _spread(plain: _Raw) -> _Raw:
    extras = plain.pop(EXTRAS_KEY, None)
    return {**plain, **extras} if extras else plain
