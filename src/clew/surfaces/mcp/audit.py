"""Audit log: one line of JSON for each call of a tool, in a file that only grows."""

# Implements: REQ-d00486

import logging
import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from clew.errors import ConfigError

log = logging.getLogger(__name__)


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the audit log. Arguments are left out, because they are texts of people and agents."""

    at: str
    principal: str | None
    """None where nobody was authenticated, as over stdio."""
    address: str | None
    tool: str
    writes: bool
    outcome: str
    """ok, or the code of the error."""
    milliseconds: int


class AuditLog:
    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigError(
                f"The audit log '{path}' cannot be written: {error.strerror}.", hint="Name a file in a writable folder."
            ) from error

    def note(self, entry: AuditEntry) -> None:
        try:
            # One write for each line: several processes may share the file.
            os.write(self._file, msgspec.json.encode(entry) + b"\n")
        except OSError as error:
            log.error("The audit log cannot be written (%s): %s called %s.", error, entry.principal, entry.tool)

    def close(self) -> None:
        os.close(self._file)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
