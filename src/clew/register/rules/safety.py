"""Safety: the rules for hazards, safety functions and safety requirements, and their integrity levels, derived from the
risk graph in the worked example of IEC 61508-5, Annex D.

A level is never entered: a hazard's comes from its four parameters, a safety function's from the hazards it mitigates,
a safety requirement's from the functions it realizes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clew.formats.register.model import Artefacts, LinkKind, Register, Requirement, RequirementKind, Status
from clew.register.rules.codes import RuleViolation, Severity, finding
from clew.register.rules.lifecycle import has_genuine_dossier, has_human_confirmation

RANK = {"none": 0, "a": 1, "SIL1": 2, "SIL2": 3, "SIL3": 4, "SIL4": 5, "b": 6}
PARAMETERS = ("consequence", "frequency", "avoidance", "probability")

_GRAPH: Mapping[tuple[str, str, str], tuple[str, str, str]] = {
    ("C_B", "F_A", "P_A"): ("a", "none", "none"),
    ("C_B", "F_A", "P_B"): ("SIL1", "a", "none"),
    ("C_B", "F_B", "P_A"): ("SIL1", "a", "none"),
    ("C_B", "F_B", "P_B"): ("SIL2", "SIL1", "a"),
    ("C_C", "F_A", "P_A"): ("SIL1", "a", "none"),
    ("C_C", "F_A", "P_B"): ("SIL2", "SIL1", "a"),
    ("C_C", "F_B", "P_A"): ("SIL2", "SIL1", "a"),
    ("C_C", "F_B", "P_B"): ("SIL3", "SIL2", "SIL1"),
    ("C_D", "F_A", "P_A"): ("SIL2", "SIL1", "a"),
    ("C_D", "F_A", "P_B"): ("SIL3", "SIL2", "SIL1"),
    ("C_D", "F_B", "P_A"): ("SIL3", "SIL2", "SIL1"),
    ("C_D", "F_B", "P_B"): ("b", "SIL3", "SIL2"),
}
"""The levels for W3, W2 and W1. A consequence C_A needs none."""
_COLUMN = {"W3": 0, "W2": 1, "W1": 2}


def is_live(artefact: Mapping[str, Any]) -> bool:
    return artefact.get("status") != Status.OBSOLETE.value


def targets(artefact: Mapping[str, Any], kind: LinkKind) -> list[str]:
    return [link.get("target", "") for link in artefact.get("links", ()) if link.get("kind") == kind.value]


def required_level(hazard: Mapping[str, Any], register: Register) -> str | None:
    """None while a parameter is missing."""
    values = [hazard.get(name) for name in PARAMETERS]
    if not all(isinstance(value, str) for value in values):
        return None
    consequence, frequency, avoidance, probability = (str(value) for value in values)
    calibrated = _calibration(register).get(f"{consequence}/{frequency}/{avoidance}")
    if isinstance(calibrated, Mapping):
        return str(calibrated.get(probability.lower(), "none"))
    leaf = _GRAPH.get((consequence, frequency, avoidance))
    column = _COLUMN.get(probability)
    return leaf[column] if leaf and column is not None else "none"


def _calibration(register: Register) -> Mapping[str, Any]:
    safety = (register.config or {}).get("safety")
    calibration = safety.get("calibration") if isinstance(safety, Mapping) else None
    return calibration if isinstance(calibration, Mapping) else {}


def allocated_level(function: Mapping[str, Any], register: Register) -> str | None:
    """None while no hazard that it mitigates is assessed."""
    hazards = _live(register.hazards, targets(function, LinkKind.MITIGATES))
    return highest(required_level(hazard, register) for hazard in hazards)


def inherited_level(requirement: Mapping[str, Any], register: Register) -> str | None:
    """None while no function that it realizes has a level."""
    functions = _live(register.safety_functions, targets(requirement, LinkKind.REALIZES))
    return highest(allocated_level(function, register) for function in functions)


def _live(artefacts: Artefacts, ids: Iterable[str]) -> list[Mapping[str, Any]]:
    return [artefacts[id] for id in ids if id in artefacts and is_live(artefacts[id])]


def highest(levels: Iterable[str | None]) -> str | None:
    known = (level for level in levels if level is not None)
    return max(known, key=lambda level: RANK.get(level, 0), default=None)


_Artefact = Mapping[str, Any]


def check_safety(register: Register) -> Iterator[RuleViolation]:
    mitigated = {
        target
        for function in register.safety_functions.values()
        if is_live(function)
        for target in targets(function, LinkKind.MITIGATES)
    }
    for id, hazard in register.hazards.items():
        if is_live(hazard):
            yield from _hazard(id, hazard, id in mitigated)
    for id, function in register.safety_functions.items():
        if is_live(function):
            yield from _function(id, function, register)
    for id, requirement in register.safety_requirements.items():
        if is_live(requirement):
            yield from _requirement(id, requirement, register)


def _hazard(id: str, hazard: _Artefact, is_mitigated: bool) -> Iterator[RuleViolation]:
    if not str(hazard.get("harm") or "").strip():
        yield finding("0025", id, "The hazard names no harm.")
    missing = [name for name in PARAMETERS if not hazard.get(name)]
    if hazard.get("status") != "Identified" and missing:
        yield finding("0026", id, f"The hazard is {_word(hazard)} but lacks {', '.join(missing)}.")
    if hazard.get("status") in ("Mitigated", "Verified") and not is_mitigated:
        yield finding("0027", id, f"The hazard is {_word(hazard)}, but no live safety function mitigates it.")


def _function(id: str, function: _Artefact, register: Register) -> Iterator[RuleViolation]:
    hazards = targets(function, LinkKind.MITIGATES)
    for target in hazards:
        if target not in register.hazards:
            yield finding("0028", id, f"It mitigates {target}, which does not exist.")
    if function.get("status") != "Proposed" and not hazards:
        yield finding("0029", id, f"The safety function is {_word(function)} but mitigates no hazard.")


def _requirement(id: str, requirement: _Artefact, register: Register) -> Iterator[RuleViolation]:
    for target in targets(requirement, LinkKind.REALIZES):
        if target not in register.safety_functions:
            yield finding("0028", id, f"It realizes {target}, which does not exist.")
    if requirement.get("status") != "Verified":
        return
    passing = [record for record in requirement.get("tests", ()) if record.get("outcome") == "Pass"]
    if not passing:
        yield finding("0030", id, "It is verified without a passing test record.")
    elif passing[-1].get("kind") == "Inspection":
        level = inherited_level(requirement, register)
        if RANK.get(level or "", 0) >= RANK["SIL3"]:
            excepted = bool(passing[-1].get("sil_gate_exception"))
            yield finding(
                *("0031", id, f"It inherits {level}, and its last passing record is an inspection."),
                severity=Severity.WARNING if excepted else None,
            )
    if register.schema_rev:
        dossier = requirement.get("validation")
        if not has_genuine_dossier(dossier):
            yield finding("0033", id, "It is verified without a dossier that passed.")
        elif not has_human_confirmation(dossier):
            yield finding("0034", id, "Its dossier passed, but no person confirmed it.")


def as_requirement(id: str, artefact: _Artefact) -> Requirement:
    """A safety requirement as the rules for statements see it: functional."""
    from clew.formats.register.records import decode_requirement

    plain = {key: value for key, value in artefact.items() if key not in ("links", "kind")}
    return decode_requirement({**plain, "links": [], "kind": RequirementKind.FUNCTIONAL.value}, id, "the register")


def _word(artefact: _Artefact) -> str:
    return str(artefact.get("status", "without status")).lower()
