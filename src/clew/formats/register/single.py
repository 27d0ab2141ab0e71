"""A register in one file, `project.req`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from clew.errors import FormatError
from clew.formats.register import envelope
from clew.formats.register.canonical import canonical, digest, encoded_parts, joined, parse, pretty
from clew.formats.register.model import Register, RegisterLayout, Requirement
from clew.formats.register.records import decode_history, decode_requirement, encode_history, encode_requirement

Value = TypeVar("Value")

_REQUIREMENTS = "requirements"
_ARTEFACTS = ("hazards", "safety_functions", "safety_requirements")
_COUNTERS = ("next_haz_id", "next_sf_id", "next_sr_id")
_HISTORY = "_history"
_PAYLOAD = frozenset(
    {"name", "created", "updated", "next_id", "requirements", "_purpose", "_config", "_schema_rev"}
    | set(_ARTEFACTS)
    | set(_COUNTERS)
)


class RegisterHead(msgspec.Struct, frozen=True, kw_only=True):
    """The register without its requirements, in the types of the file."""

    name: str
    created: str
    updated: str
    next_id: int
    purpose: str | None = msgspec.field(default=None, name="_purpose")
    config: dict[str, Any] | None = msgspec.field(default=None, name="_config")
    schema_rev: int | None = msgspec.field(default=None, name="_schema_rev")
    hazards: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    safety_functions: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    safety_requirements: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    next_haz_id: int = 1
    next_sf_id: int = 1
    next_sr_id: int = 1


class FormatUpgrade(msgspec.Struct, frozen=True):
    before: str
    after: str
    data: bytes | None
    """The new content of the file; None where the file is up to date."""


def read_single(data: bytes, name: str = "project.req", *, trusted: bool = False) -> Register:
    """The register in a file of any format so far: none of them gave an old key another meaning.

    A file that does not match its checksum is refused unless it is `trusted`, which is for repair and for old versions
    out of git.
    """
    parsed = parse(data, name)
    document = parsed.document
    envelope.check_format(document, name, RegisterLayout.SINGLE)
    if not trusted:
        stored = envelope.stored_integrity(document, name)
        envelope.check_integrity(stored, digest(joined(payload_of(parsed.parts))), name)
    return decode_register(document, document.get("requirements"), name, RegisterLayout.SINGLE)


def migrate(data: bytes, name: str = "project.req") -> FormatUpgrade:
    """From req-v1 or v2 to the format of today. Each of the steps so far leaves the requirements as they are and only
    renews the tag and the checksum. A file that does not match its old checksum is refused."""
    parsed = parse(data, name)
    document = parsed.document
    version = envelope.check_format(document, name, RegisterLayout.SINGLE)
    tag: str = document[envelope.FORMAT]
    if version == envelope.CURRENT:
        return FormatUpgrade(tag, tag, None)
    seal = digest(joined(payload_of(parsed.parts)))
    envelope.check_integrity(envelope.stored_integrity(document, name), seal, name)
    migrated: dict[str, Any] = {
        **payload_of(document),
        **envelope.notice_in(document),
        envelope.FORMAT: envelope.FORMAT_TAG,
        envelope.INTEGRITY: seal,
    }
    return FormatUpgrade(tag, envelope.FORMAT_TAG, pretty(migrated))


def payload_of(document: Mapping[str, Value]) -> dict[str, Value]:
    """Payload of the checksum, of an object or of its parts."""
    return {key: value for key, value in document.items() if key not in envelope.ENVELOPE}


def decode_register(document: Mapping[str, Any], requirements: Any, name: str, layout: RegisterLayout) -> Register:
    if not isinstance(requirements, dict):
        raise FormatError(f"{name} has no object 'requirements'.", hint=envelope.repair_hint(name))
    try:
        head = msgspec.convert(document, RegisterHead)
    except msgspec.ValidationError as error:
        raise FormatError(f"{name} cannot be read: {error}.", hint=envelope.repair_hint(name)) from error
    known = _PAYLOAD | envelope.ENVELOPE | ({"requirement_ids"} if layout is RegisterLayout.DIRECTORY else set())
    history = decode_history(document.get(_HISTORY, ()))
    known |= set() if history is None else {_HISTORY}
    return Register(
        requirements={key: decode_requirement(raw, key, name) for key, raw in requirements.items()},
        layout=layout,
        format_tag=document[envelope.FORMAT],
        notice=envelope.notice_in(document),
        history=history or (),
        extras={key: value for key, value in document.items() if key not in known},
        **{field: getattr(head, field) for field in RegisterHead.__struct_fields__},
    )


def head_payload(register: Register) -> dict[str, Any]:
    """The keys that every layout writes, requirements left out."""
    payload: dict[str, Any] = {
        "name": register.name,
        "created": register.created,
        "updated": register.updated,
        "next_id": register.next_id,
    }
    payload.update((key, value) for key in _ARTEFACTS if (value := getattr(register, key)))
    payload.update((key, value) for key in _COUNTERS if (value := getattr(register, key)) != 1)
    return payload


def optional_payload(register: Register) -> dict[str, Any]:
    values: dict[str, Any] = {
        "_purpose": register.purpose,
        "_config": register.config,
        "_schema_rev": register.schema_rev,
    }
    if register.history:
        values[_HISTORY] = encode_history(register.history)
    return {key: value for key, value in values.items() if value is not None} | dict(register.extras)


class Rendering(NamedTuple):
    """Forms of a requirement in a file."""

    requirement: Requirement
    canonical: bytes
    pretty: bytes


Renderings = dict[str, Rendering]
"""Earlier renderings by id: an unchanged requirement is not rendered again."""


def write_single(register: Register, known: Renderings | None = None) -> bytes:
    """The file of a register, byte for byte as req writes it; the notice is that of the file it came from.

    A caller that writes often passes the same `known` each time; it is updated here.
    """
    known = {} if known is None else known
    for id, requirement in register.requirements.items():
        rendering = known.get(id)
        if rendering is None or rendering.requirement is not requirement:
            text = canonical(encode_requirement(requirement))
            known[id] = Rendering(requirement, text, _indented(msgspec.json.format(text, indent=2), 2))
    for id in known.keys() - register.requirements.keys():
        del known[id]
    ids = sorted(register.requirements)
    parts = encoded_parts({**head_payload(register), **optional_payload(register)})
    seal = digest(*_canonical_chunks(parts, [known[id] for id in ids]))
    sealed = {
        **parts,
        **encoded_parts(register.notice or envelope.NOTICE),
        **encoded_parts({envelope.FORMAT: envelope.FORMAT_TAG, envelope.INTEGRITY: seal}),
    }
    return b"".join(_pretty_chunks(sealed, [known[id] for id in ids]))


def _canonical_chunks(parts: Mapping[str, bytes], renderings: Sequence[Rendering]) -> Iterator[bytes]:
    """The canonical text in pieces: a register has megabytes that are better not copied."""
    for number, key in enumerate(sorted((*parts, _REQUIREMENTS))):
        yield (b"," if number else b"{") + canonical(key) + b":"
        if key != _REQUIREMENTS:
            yield parts[key]
            continue
        yield b"{"
        for position, rendering in enumerate(renderings):
            yield (b"," if position else b"") + canonical(rendering.requirement.id) + b":"
            yield rendering.canonical
        yield b"}"
    yield b"}"


def _pretty_chunks(parts: Mapping[str, bytes], renderings: Sequence[Rendering]) -> Iterator[bytes]:
    for number, key in enumerate(sorted((*parts, _REQUIREMENTS))):
        yield (b",\n  " if number else b"{\n  ") + canonical(key) + b": "
        if key != _REQUIREMENTS or not renderings:
            yield _indented(msgspec.json.format(parts.get(key, b"{}"), indent=2), 1)
            continue
        for position, rendering in enumerate(renderings):
            yield (b",\n    " if position else b"{\n    ") + canonical(rendering.requirement.id) + b": "
            yield rendering.pretty
        yield b"\n  }"
    yield b"\n}"


def _indented(text: bytes, depth: int) -> bytes:
    """Text of JSON further to the right. A line feed inside a string is spelled, so each one here ends a line."""
    return text.replace(b"\n", b"\n" + b"  " * depth)
