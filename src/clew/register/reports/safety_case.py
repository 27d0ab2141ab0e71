"""The safety case of a register: hazards, safety functions and safety requirements, each with its derived level."""

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

import msgspec

from clew.errors import NotFound
from clew.formats.register.ids import sort_key
from clew.formats.register.model import Artefacts, LinkKind, Register
from clew.register.rules.safety import (
    RANK,
    allocated_level,
    highest,
    inherited_level,
    is_live,
    required_level,
    targets,
)

HAZARD, FUNCTION, REQUIREMENT = "hazard", "safety_function", "safety_requirement"
KINDS = {HAZARD: "hazard", FUNCTION: "safety function", REQUIREMENT: "safety requirement"}
PREFIXES = {HAZARD: "HAZ", FUNCTION: "SF", REQUIREMENT: "SR"}
_ID = re.compile(r"(?:(haz|sf|sr)[-_ ]?)?0*([0-9]{1,18})", re.IGNORECASE)


class SafetyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One artefact of the safety case."""

    id: str
    kind: str
    """hazard, safety_function or safety_requirement."""
    title: str
    status: str
    level: str | None
    """Derived, never entered: null while a parameter of a hazard is missing."""
    cites: tuple[str, ...] = ()
    """The ids of the requirements that it mitigates or realizes."""
    cited_by: tuple[str, ...] = ()
    """Live artefacts that mitigate or realize it."""


class SafetyReport(msgspec.Struct, frozen=True):
    artefacts: tuple[SafetyRow, ...]
    artefact: Mapping[str, Any] | None = None
    """The one that was asked for, as the file has it."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A hazard with all that answers it."""

    hazard: Mapping[str, str]
    required_sil: str | None
    allocated_sil: str | None
    adequate: bool
    """True if the allocated level is at least the required one."""
    complete: bool
    """True if it is adequate, and all requirements that realize it are verified."""
    safety_requirements: Mapping[str, int]
    """The number of them, and the number of verified ones."""
    safety_functions: tuple[Mapping[str, Any], ...]
    blocking: tuple[str, ...]
    """The missing parts."""


def safety_report(register: Register, wanted: str | None) -> SafetyReport:
    """The whole safety case, or one artefact of it in full."""
    if wanted is None:
        return SafetyReport(rows(register))
    row = find(register, wanted)
    return SafetyReport((row,), artefacts_of(register, row.kind)[row.id])


def rows(register: Register) -> tuple[SafetyRow, ...]:
    return (*_hazards(register), *_functions(register), *_requirements(register))


def find(register: Register, wanted: str, kind: str | None = None) -> SafetyRow:
    """One artefact by an id in any of its spellings; a number alone means one of the given kind."""
    found = [each for each in rows(register) if kind in (None, each.kind)]
    exact = (each for each in found if each.id == wanted.strip())
    alike = (each for each in found if _spelled(each.id, each.kind) == _spelled(wanted, kind))
    row = next(chain(exact, alike), None)
    if row is None:
        known = ", ".join(each.id for each in found[:10]) or "none"
        said = KINDS[kind] if kind else "artefact"
        raise NotFound(f"There is no {said} '{wanted}' in the safety case.", hint=f"There are: {known}.")
    return row


def cases(register: Register, wanted: str) -> tuple[Case, ...]:
    """The cases of the hazards that an artefact belongs to."""
    row = find(register, wanted)
    if row.kind == HAZARD:
        ids = [row.id]
    elif row.kind == FUNCTION:
        ids = list(row.cites)
    else:
        functions = (register.safety_functions[id] for id in row.cites if id in register.safety_functions)
        ids = [id for each in functions for id in targets(each, LinkKind.MITIGATES)]
    return tuple(_case(register, id) for id in dict.fromkeys(ids) if id in register.hazards)


def artefacts_of(register: Register, kind: str) -> Artefacts:
    by_kind = {HAZARD: register.hazards, FUNCTION: register.safety_functions, REQUIREMENT: register.safety_requirements}
    return by_kind[kind]


def citing(register: Register, kind: str, id: str) -> tuple[str, ...]:
    """All that mitigates or realizes an artefact, retired ones too."""
    return tuple(other for other, each in _sorted(artefacts_of(register, kind)) if _cites(each, id))


def _spelled(wanted: str, kind: str | None) -> str:
    found = _ID.fullmatch(wanted.strip())
    prefix = found[1].upper() if found and found[1] else PREFIXES.get(kind or "", "")
    return f"{prefix}-{int(found[2]):04d}" if found and prefix else wanted.strip()


def _case(register: Register, id: str) -> Case:
    hazard, required = register.hazards[id], required_level(register.hazards[id], register)
    functions = [_told_function(register, each) for each in citing(register, FUNCTION, id)]
    allocated = highest(each["allocated_sil"] for each in functions)
    realizing = [each for function in functions for each in function["safety_requirements"]]
    blocking = [f"{each['id']} not verified" for each in realizing if each["status"] != "verified"]
    if not functions:
        blocking.append("no mitigating safety function")
    elif not realizing:
        blocking.append("no realizing safety requirement")
    adequate = required is None or (allocated is not None and RANK.get(allocated, 0) >= RANK.get(required, 0))
    verified = sum(each["status"] == "verified" for each in realizing)
    return Case(
        hazard={**_told(id, hazard), "harm": str(hazard.get("harm") or "")},
        required_sil=required,
        allocated_sil=allocated,
        adequate=adequate,
        complete=adequate and not blocking,
        safety_requirements={"total": len(realizing), "verified": verified},
        safety_functions=tuple(functions),
        blocking=tuple(blocking),
    )


def _told_function(register: Register, id: str) -> dict[str, Any]:
    function = register.safety_functions[id]
    realizing = [
        {
            **_told(each, (found := register.safety_requirements[each])),
            "inherited_sil": inherited_level(found, register),
            "evidence": _evidence(found.get("tests")),
        }
        for each in citing(register, REQUIREMENT, id)
    ]
    level = allocated_level(function, register)
    return {**_told(id, function), "allocated_sil": level, "safety_requirements": realizing}


def _evidence(tests: object) -> str | None:
    """The kind of the last test; None if the file has no record of a test."""
    last = tests[-1] if isinstance(tests, list) and tests else None
    return str(last.get("kind") or "automated").lower() if isinstance(last, Mapping) else None


def _told(id: str, artefact: Mapping[str, Any]) -> dict[str, str]:
    return {"id": id, "title": str(artefact.get("title") or ""), "status": str(artefact.get("status") or "").lower()}


def _hazards(register: Register) -> list[SafetyRow]:
    return [
        _row(id, HAZARD, each, required_level(each, register), (), _citing(id, register.safety_functions))
        for id, each in _sorted(register.hazards)
    ]


def _functions(register: Register) -> list[SafetyRow]:
    return [
        _row(
            *(id, FUNCTION, each, allocated_level(each, register)),
            *(targets(each, LinkKind.MITIGATES), _citing(id, register.safety_requirements)),
        )
        for id, each in _sorted(register.safety_functions)
    ]


def _requirements(register: Register) -> list[SafetyRow]:
    return [
        _row(id, REQUIREMENT, each, inherited_level(each, register), targets(each, LinkKind.REALIZES), ())
        for id, each in _sorted(register.safety_requirements)
    ]


def _row(
    id: str,
    kind: str,
    artefact: Mapping[str, Any],
    level: str | None,
    cites: list[str] | tuple[str, ...],
    cited_by: tuple[str, ...],
) -> SafetyRow:
    return SafetyRow(kind=kind, level=level, cites=tuple(cites), cited_by=cited_by, **_told(id, artefact))


def _citing(id: str, artefacts: Artefacts) -> tuple[str, ...]:
    return tuple(other for other, each in _sorted(artefacts) if is_live(each) and _cites(each, id))


def _cites(artefact: Mapping[str, Any], id: str) -> bool:
    return any(id in targets(artefact, kind) for kind in (LinkKind.MITIGATES, LinkKind.REALIZES))


def _sorted(artefacts: Artefacts) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(artefacts.items(), key=lambda item: sort_key(item[0]))
