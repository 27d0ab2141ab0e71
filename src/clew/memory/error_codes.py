"""Errors of the memory as users of Context Graph know them: nine numbers of JSON-RPC, and a way out of each."""

from typing import Any

from clew.errors import (
    BadInput,
    ClewError,
    Forgotten,
    MissingRationale,
    NotFound,
    PriorsIncompatible,
    RecoveryExpired,
    SemanticCancer,
    WouldCycle,
)

INVALID_PARAMS = -32002
INTERNAL = -32603

_NUMBERS: tuple[tuple[type[ClewError], int, str], ...] = (
    (MissingRationale, -32009, "MISSING_RATIONALE"),
    (PriorsIncompatible, -32010, "PRIORS_INCOMPATIBLE"),
    (RecoveryExpired, -32011, "RECOVERY_WINDOW_EXPIRED"),
    (NotFound, -32012, "NODE_NOT_FOUND"),
    (WouldCycle, -32013, "CIRCULAR_DEPENDENCY"),
    (Forgotten, -32014, "TOMBSTONE_EXISTS"),
    (SemanticCancer, -32015, "SEMANTIC_CANCER_DETECTED"),
    (BadInput, INVALID_PARAMS, "INVALID_PARAMS"),
)
"""The first that fits. -32016, SSE_SESSION_EXPIRED, is an error of the transport."""
_STANDARD_INVALID_PARAMS = -32602


def number_of(error: ClewError) -> int:
    return next((number for type_, number, _ in _NUMBERS if isinstance(error, type_)), INTERNAL)


def data_of(error: ClewError) -> dict[str, Any]:
    """What an error says beside its number and message."""
    name = next((name for type_, _, name in _NUMBERS if isinstance(error, type_)), error.code.upper())
    data: dict[str, Any] = {"name": name, "code": error.code, "recovery": error.hint, **error.data}
    if number_of(error) == INVALID_PARAMS:
        data["jsonrpc_code"] = _STANDARD_INVALID_PARAMS
    return data
