"""A register in a folder: `index.req`, and one file for each requirement below `requirements`.

All functions work on the contents of the files by their path below the folder; reading and writing them is the
business of others.
"""

from collections.abc import Mapping
from typing import Any

from clew.formats.register import envelope
from clew.formats.register.canonical import canonical, digest, parse, pretty, pretty_as_declared
from clew.formats.register.model import Register, RegisterLayout
from clew.formats.register.records import encode_requirement, requirement_object
from clew.formats.register.single import decode_register, head_payload, optional_payload

MAX_BYTES = 256 * 1024 * 1024
"""No file of a register that is larger is read."""
INDEX = "index.req"
FOLDER = "requirements"
ENDING = ".req"

_HEAD = (
    *("name", "next_id", "created", "updated"),
    *("hazards", "safety_functions", "safety_requirements", "next_haz_id", "next_sf_id", "next_sr_id"),
)


def path_of(id: str) -> str:
    return f"{FOLDER}/{id}{ENDING}"


def read_directory(files: Mapping[str, bytes], name: str = "the register", *, trusted: bool = False) -> Register:
    """The register in the files of a folder, by path; `index.req` must be among them."""
    index = parse(files[INDEX], f"{name}/{INDEX}").document
    envelope.check_format(index, f"{name}/{INDEX}", RegisterLayout.DIRECTORY)
    requirements: dict[str, Any] = {}
    for path in sorted(files):
        if path.startswith(f"{FOLDER}/") and path.endswith(ENDING):
            id = path.removeprefix(f"{FOLDER}/").removesuffix(ENDING)
            requirements[id] = parse(files[path], f"{name}/{path}").document
    if not trusted:
        stored = envelope.stored_integrity(index, f"{name}/{INDEX}")
        envelope.check_integrity(stored, _seal(_head(index), requirements), name)
    return decode_register(index, requirements, name, RegisterLayout.DIRECTORY)


def _head(index: Mapping[str, Any]) -> dict[str, Any]:
    return {key: index[key] for key in _HEAD if key in index}


def _seal(head: Mapping[str, Any], requirements: Mapping[str, Any]) -> str:
    return digest(canonical(head), *(canonical(requirements[id]) for id in sorted(requirements)))


def write_directory(register: Register) -> dict[str, bytes]:
    """Every file of the register by its path. Purpose and configuration are in the index, outside of the checksum,
    because req does not count them in."""
    head = head_payload(register)
    requirements = {id: encode_requirement(requirement) for id, requirement in register.requirements.items()}
    index = {
        **head,
        **optional_payload(register),
        **(register.notice or envelope.NOTICE),
        "requirement_ids": sorted(requirements),
        envelope.FORMAT: envelope.DIRECTORY_TAG,
        envelope.INTEGRITY: _seal(head, requirements),
    }
    parts = {
        path_of(id): pretty_as_declared(requirement_object(requirement))
        for id, requirement in register.requirements.items()
    }
    return {INDEX: pretty(index), **parts}
