"""Errors as they go over the wire.

Inside there is one tree; each toolset speaks its source's dialect. A dialect turns an error into the structured body of
a result marked `isError`: tools on documents have six codes and an envelope, those of the register the codes that users
of req know.
"""

from collections.abc import Callable, Mapping
from typing import Any

from clew.errors import (
    AlreadyExists,
    BadInput,
    ClewError,
    ConfigError,
    Conflict,
    FormatError,
    NotFound,
    OutsideProject,
    Refused,
    Rejected,
    ScopeViolation,
    StoreBusy,
    StoreError,
    Tampered,
    TimedOut,
    Unavailable,
    WouldCycle,
)
from clew.operation.declare import Toolset

Dialect = Callable[[ClewError], dict[str, Any]]

INTERNAL_ERROR = "INTERNAL_ERROR"

_DOCUMENT_CODES: tuple[tuple[type[ClewError], str], ...] = (
    (ScopeViolation, "SCOPE_VIOLATION"),
    (BadInput, "INVALID_ARGUMENT"),
    (NotFound, "INVALID_ARGUMENT"),
    (Conflict, "INVALID_ARGUMENT"),
    (Refused, "BUDGET_EXCEEDED"),
    (TimedOut, "TIMEOUT"),
    (Unavailable, "BACKEND_UNAVAILABLE"),
    (StoreError, "BACKEND_UNAVAILABLE"),
    (ConfigError, "BACKEND_UNAVAILABLE"),
    (FormatError, "BACKEND_UNAVAILABLE"),
)
"""The first that fits; all others are faults of the server."""

_REGISTER_CODES: tuple[tuple[type[ClewError], str], ...] = (
    (Tampered, "REQ-E-INTEGRITY"),
    (FormatError, "REQ-E-FORMAT"),
    (NotFound, "REQ-E-NOT-FOUND"),
    (Rejected, "REQ-E-VALIDATION"),
    (WouldCycle, "REQ-E-CYCLE"),
    (AlreadyExists, "REQ-E-DUPLICATE"),
    (OutsideProject, "REQ-E-INVALID-INPUT"),
    (Refused, "REQ-E-REFUSED"),
    (Conflict, "REQ-E-CONFLICT"),
    (StoreBusy, "REQ-E-LOCKED"),
    (StoreError, "REQ-E-IO"),
)
"""The first that fits; all others are faults of the input."""


def register_code(error: ClewError) -> str:
    return next((code for type_, code in _REGISTER_CODES if isinstance(error, type_)), "REQ-E-INVALID-INPUT")


def register_envelope(error: ClewError) -> dict[str, Any]:
    body: dict[str, Any] = {"code": register_code(error), "hint": error.hint, "message": error.message}
    if error.data:
        body["data"] = dict(error.data)
    return body


def document_code(error: ClewError) -> str:
    return next((code for type_, code in _DOCUMENT_CODES if isinstance(error, type_)), INTERNAL_ERROR)


def document_envelope(error: ClewError) -> dict[str, Any]:
    """`details` has the reason as a word for programs, and the next step."""
    details = {"reason": error.code, **error.data, **({"hint": error.hint} if error.hint else {})}
    return {"error": {"code": document_code(error), "message": error.message, "details": details}}


def plain(error: ClewError) -> dict[str, Any]:
    """Code, message and hint; `error` repeats the message under the key that users of elspais look for."""
    body: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint, "error": error.message}
    if error.data:
        body["data"] = dict(error.data)
    return body


_DIALECTS: Mapping[Toolset, Dialect] = {
    Toolset.CORE: plain,
    Toolset.TRACE: plain,
    Toolset.REGISTER: register_envelope,
    Toolset.KB: document_envelope,
    Toolset.GRAPH: document_envelope,
}


def dialect_of(toolset: Toolset) -> Dialect:
    return _DIALECTS.get(toolset, plain)


def said(error: ClewError, toolset: Toolset) -> str:
    """The error as text. A code that asks for an action is part of it, for hosts that show only text."""
    return f"{document_code(error)}: {error}" if _DIALECTS.get(toolset) is document_envelope else str(error)


def unexpected(toolset: Toolset, name: str) -> ClewError | None:
    """The error that a result shows for an unexpected failure; None if the failure is an error of the protocol."""
    if _DIALECTS.get(toolset) is not document_envelope:
        return None
    return ClewError(f"{name} failed unexpectedly.", hint="The server's log has the details.")
