"""Errors of the register as users of req know them: a code, a message and a hint."""

from typing import Any

from clew.errors import (
    AlreadyExists,
    ClewError,
    Conflict,
    FormatError,
    NotFound,
    OutsideProject,
    Refused,
    Rejected,
    StoreBusy,
    StoreError,
    Tampered,
    WouldCycle,
)

_CODES: tuple[tuple[type[ClewError], str], ...] = (
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


def code_of(error: ClewError) -> str:
    return next((code for type_, code in _CODES if isinstance(error, type_)), "REQ-E-INVALID-INPUT")


def envelope(error: ClewError) -> dict[str, Any]:
    body: dict[str, Any] = {"code": code_of(error), "hint": error.hint, "message": error.message}
    if error.data:
        body["data"] = dict(error.data)
    return body
