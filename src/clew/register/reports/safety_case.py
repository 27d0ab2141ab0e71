"""The safety case of a register: hazards, what mitigates them and what realizes that, each with its derived level."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import NotFound
from clew.formats.register.ids import normalise, sort_key
from clew.formats.register.model import Artefacts, LinkKind, Register
from clew.register.rules.safety import allocated_level, inherited_level, is_live, required_level, targets


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
    """What it mitigates or realizes."""
    cited_by: tuple[str, ...] = ()
    """Live artefacts that mitigate or realize it."""


class SafetyReport(msgspec.Struct, frozen=True):
    artefacts: tuple[SafetyRow, ...]
    artefact: Mapping[str, Any] | None = None
    """The one that was asked for, as the file has it."""


def safety_report(register: Register, wanted: str | None) -> SafetyReport:
    """The whole safety case, or one artefact of it in full."""
    rows = (*_hazards(register), *_functions(register), *_requirements(register))
    if wanted is None:
        return SafetyReport(rows)
    id = normalise(wanted)
    row = next((each for each in rows if each.id in (wanted, id)), None)
    if row is None:
        known = ", ".join(each.id for each in rows[:10]) or "none"
        raise NotFound(f"There is no artefact '{wanted}' in the safety case.", hint=f"There are: {known}.")
    maps = (register.hazards, register.safety_functions, register.safety_requirements)
    return SafetyReport((row,), next(each[row.id] for each in maps if row.id in each))


def _hazards(register: Register) -> list[SafetyRow]:
    return [
        _row(id, "hazard", each, required_level(each, register), (), _citing(id, register.safety_functions))
        for id, each in _sorted(register.hazards)
    ]


def _functions(register: Register) -> list[SafetyRow]:
    return [
        _row(
            *(id, "safety_function", each, allocated_level(each, register)),
            *(targets(each, LinkKind.MITIGATES), _citing(id, register.safety_requirements)),
        )
        for id, each in _sorted(register.safety_functions)
    ]


def _requirements(register: Register) -> list[SafetyRow]:
    return [
        _row(id, "safety_requirement", each, inherited_level(each, register), targets(each, LinkKind.REALIZES), ())
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
    title, status = str(artefact.get("title") or ""), str(artefact.get("status") or "").lower()
    return SafetyRow(id=id, kind=kind, title=title, status=status, level=level, cites=tuple(cites), cited_by=cited_by)


def _citing(id: str, artefacts: Artefacts) -> tuple[str, ...]:
    kinds = (LinkKind.MITIGATES, LinkKind.REALIZES)
    return tuple(
        other
        for other, each in _sorted(artefacts)
        if is_live(each) and any(id in targets(each, kind) for kind in kinds)
    )


def _sorted(artefacts: Artefacts) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(artefacts.items(), key=lambda item: sort_key(item[0]))
