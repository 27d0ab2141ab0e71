"""Additions of the memory's tools to the protocol: the pulse, and errors with the nine numbers of Context Graph."""

from typing import Any

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

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
from clew.operation.call import Call
from clew.operation.declare import Toolset

TOOLSETS = (Toolset.MEMORY, Toolset.COGNITION)
PROFILE = "context-graph"
PULSE = "_cognitive_pulse"

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


def protocol_error(error: ClewError, call: Call) -> MCPError:
    """A failure of a memory tool as an error of the protocol, with the way out of it."""
    message = f"{error.message} {error.hint}".strip()
    return MCPError(code=number_of(error), message=message, data={**data_of(error), "pulse": _pulse(call)})


def with_pulse(result: types.CallToolResult, call: Call, server_name: str) -> types.CallToolResult:
    """The result with the pulse: in the data where clients of Context Graph look for it, beside it elsewhere."""
    pulse = _pulse(call)
    if server_name != PROFILE:
        return result.model_copy(update={"meta": {**(result.meta or {}), PULSE: pulse}})
    return result.model_copy(update={"structured_content": {**(result.structured_content or {}), PULSE: pulse}})


def _pulse(call: Call) -> dict[str, Any]:
    memory = call.project.memory
    data: dict[str, Any] = msgspec.to_builtins(memory.pulse(memory.session_of(call)))
    return data


def number_of(error: ClewError) -> int:
    return next((number for type_, number, _ in _NUMBERS if isinstance(error, type_)), INTERNAL)


def data_of(error: ClewError) -> dict[str, Any]:
    """The data of an error besides its number and message."""
    name = next((name for type_, _, name in _NUMBERS if isinstance(error, type_)), error.code.upper())
    data: dict[str, Any] = {"name": name, "code": error.code, "recovery": error.hint, **error.data}
    if number_of(error) == INVALID_PARAMS:
        data["jsonrpc_code"] = _STANDARD_INVALID_PARAMS
    return data
