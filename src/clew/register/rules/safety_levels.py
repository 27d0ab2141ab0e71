"""Safety integrity levels, derived from the risk graph in the worked example of IEC 61508-5, Annex D.

A level is never entered: a hazard's comes from its four parameters, a safety function's from the hazards it mitigates,
a safety requirement's from the functions it realizes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from clew.formats.register.model import Artefacts, LinkKind, Register, Status

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


def allocated_level(function: Mapping[str, Any], register: Register) -> str:
    hazards = _live(register.hazards, targets(function, LinkKind.MITIGATES))
    return _highest(required_level(hazard, register) or "none" for hazard in hazards)


def inherited_level(requirement: Mapping[str, Any], register: Register) -> str:
    functions = _live(register.safety_functions, targets(requirement, LinkKind.REALIZES))
    return _highest(allocated_level(function, register) for function in functions)


def _live(artefacts: Artefacts, ids: Iterable[str]) -> list[Mapping[str, Any]]:
    return [artefacts[id] for id in ids if id in artefacts and is_live(artefacts[id])]


def _highest(levels: Iterable[str]) -> str:
    return max(levels, key=lambda level: RANK.get(level, 0), default="none")
