"""What the tools of the memory add to the protocol: errors with the numbers of Context Graph, and the pulse."""

from typing import Any

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from clew.errors import ClewError
from clew.memory.error_codes import data_of, number_of
from clew.operation.call import Call
from clew.operation.declare import Toolset

TOOLSETS = (Toolset.MEMORY, Toolset.COGNITION)
PROFILE = "context-graph"
PULSE = "_cognitive_pulse"


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
