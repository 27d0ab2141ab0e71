"""How errors look on the wire.

Inside there is one tree; each toolset speaks its source's dialect. A dialect turns an error into the structured body of
a result marked `isError`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from clew.errors import ClewError
from clew.kb.error_codes import code_of
from clew.kb.error_codes import envelope as documents
from clew.operation.declare import Toolset
from clew.register.error_codes import envelope

Dialect = Callable[[ClewError], dict[str, Any]]


def plain(error: ClewError) -> dict[str, Any]:
    """Code, message and hint; `error` repeats the message under the key that users of elspais look for."""
    body: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint, "error": error.message}
    if error.data:
        body["data"] = dict(error.data)
    return body


_DIALECTS: Mapping[Toolset, Dialect] = {
    Toolset.CORE: plain,
    Toolset.TRACE: plain,
    Toolset.REGISTER: envelope,
    Toolset.KB: documents,
    Toolset.GRAPH: documents,
}


def dialect_of(toolset: Toolset) -> Dialect:
    return _DIALECTS.get(toolset, plain)


def said(error: ClewError, toolset: Toolset) -> str:
    """The error as text. Where the code tells what to do, a host that shows only text shows it too."""
    return f"{code_of(error)}: {error}" if _DIALECTS.get(toolset) is documents else str(error)


def unexpected(toolset: Toolset, name: str) -> ClewError | None:
    """The error that a result shows for an unexpected failure; None if the failure is an error of the protocol."""
    if _DIALECTS.get(toolset) is not documents:
        return None
    return ClewError(f"{name} failed unexpectedly.", hint="The server's log has the details.")
