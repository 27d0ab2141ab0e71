"""How errors look on the wire.

Inside there is one tree; each toolset speaks its source's dialect. A dialect turns an error into the structured body of
a result marked `isError`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from clew.errors import ClewError
from clew.register.error_codes import envelope
from clew.surfaces.mcp.registry import Toolset

Dialect = Callable[[ClewError], dict[str, Any]]


def plain(error: ClewError) -> dict[str, Any]:
    """Code, message and hint; `error` repeats the message under the key that users of elspais look for."""
    body: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint, "error": error.message}
    if error.data:
        body["data"] = dict(error.data)
    return body


_DIALECTS: Mapping[Toolset, Dialect] = {Toolset.CORE: plain, Toolset.TRACE: plain, Toolset.REGISTER: envelope}


def dialect_of(toolset: Toolset) -> Dialect:
    return _DIALECTS.get(toolset, plain)
