"""Errors of the tools on documents: six codes, and an envelope."""

from typing import Any

from clew.errors import (
    BadInput,
    ClewError,
    ConfigError,
    Conflict,
    FormatError,
    NotFound,
    Refused,
    ScopeViolation,
    StoreError,
    TimedOut,
    Unavailable,
)

INTERNAL_ERROR = "INTERNAL_ERROR"

_CODES: tuple[tuple[type[ClewError], str], ...] = (
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


def code_of(error: ClewError) -> str:
    return next((code for type_, code in _CODES if isinstance(error, type_)), INTERNAL_ERROR)


def envelope(error: ClewError) -> dict[str, Any]:
    """`details` has the reason as a word for programs, and the next step."""
    details = {"reason": error.code, **error.data, **({"hint": error.hint} if error.hint else {})}
    return {"error": {"code": code_of(error), "message": error.message, "details": details}}
