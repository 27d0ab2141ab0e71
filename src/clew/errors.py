"""Every error Clew raises on purpose.

ClewError
├── BadInput                 the caller sent something that breaks a rule
│   ├── InvalidArgument      a value is of the wrong type, shape or range
│   ├── UnknownTool          no tool has this name
│   ├── InvalidPattern       a regular expression does not compile or runs too long
│   ├── InvalidCursor        a cursor is damaged or belongs to another query
│   ├── OutsideProject       a path leaves the project's folder
│   ├── ScopeViolation       a request asks for documents outside of the configured scope
│   ├── Rejected             a requirement breaks the rules of the register's validator
│   ├── WouldCycle           a link would lead in a circle
│   ├── MissingRationale     a change of the memory without its reason
│   └── AlreadyExists        what should be added is there already
├── NotFound                 nothing has this id
│   └── WrongKind            the id exists, but names another kind of node
├── Conflict                 the state is not the one the caller last saw
│   ├── FileChanged          a file is not as it was when it was read
│   └── Forgotten            the memory was forgotten and can be restored
├── Refused                  the operation is allowed only under a condition that is not met
│   ├── OverBudget           more was asked for than may be given
│   ├── PriorsIncompatible   memories that rest on different assumptions are not merged
│   ├── RecoveryExpired      a change is too old to be undone
│   └── SemanticCancer       a memory would become important to everything and about nothing
├── TimedOut                 the work took longer than it may
├── Cancelled                the caller took the request back
├── Unavailable              a configured service does not answer, or answers with something else
├── ConfigError              clew.toml, .elspais.toml or an option cannot be used
├── StoreError               the store cannot do what was asked
│   ├── StoreTooNew          written by a newer version of Clew
│   ├── StoreCorrupt         the file is damaged
│   ├── StoreFull            the disk is full
│   ├── StoreReadOnly        the folder or file may not be written
│   ├── StoreBusy            another process held the writer's lock for too long
│   └── StoreUnreachable     a team's database does not answer
└── FormatError              a file cannot be read at all (most problems are diagnostics instead)
    ├── NewerFormat          written by a newer program
    └── Tampered             changed by something that did not renew its checksum

Every error carries `code` (stable, for programs), `message` (names the bad value and the rule) and `hint` (the next
step). The surfaces turn these three into their own dialect; nothing is ever guessed from the text of a message.
"""

# Implements: REQ-d00010

from collections.abc import Mapping
from typing import Any, ClassVar


class ClewError(Exception):
    """The root of the tree."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.data: Mapping[str, Any] = data or {}

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class BadInput(ClewError):
    code = "bad_input"


class InvalidArgument(BadInput):
    code = "invalid_argument"


class UnknownTool(BadInput):
    code = "unknown_tool"


class InvalidPattern(BadInput):
    code = "invalid_pattern"


class InvalidCursor(BadInput):
    code = "invalid_cursor"


class OutsideProject(BadInput):
    code = "outside_project"


class ScopeViolation(BadInput):
    code = "scope_violation"


class Rejected(BadInput):
    code = "rejected"


class WouldCycle(BadInput):
    code = "cycle"


class MissingRationale(BadInput):
    code = "missing_rationale"


class AlreadyExists(BadInput):
    code = "already_exists"


class NotFound(ClewError):
    code = "not_found"


class WrongKind(NotFound):
    code = "wrong_kind"


class Conflict(ClewError):
    code = "conflict"


class FileChanged(Conflict):
    code = "file_changed"


class Forgotten(Conflict):
    code = "forgotten"


class Refused(ClewError):
    code = "refused"


class OverBudget(Refused):
    code = "over_budget"


class PriorsIncompatible(Refused):
    code = "priors_incompatible"


class RecoveryExpired(Refused):
    code = "recovery_expired"


class SemanticCancer(Refused):
    code = "semantic_cancer"


class TimedOut(ClewError):
    code = "timed_out"


class Cancelled(ClewError):
    code = "cancelled"


class Unavailable(ClewError):
    code = "unavailable"


class ConfigError(ClewError):
    code = "config"


class StoreError(ClewError):
    code = "store"


class StoreTooNew(StoreError):
    code = "store_too_new"


class StoreCorrupt(StoreError):
    code = "store_corrupt"


class StoreFull(StoreError):
    code = "store_full"


class StoreReadOnly(StoreError):
    code = "store_read_only"


class StoreBusy(StoreError):
    code = "store_busy"


class StoreUnreachable(StoreError):
    code = "store_unreachable"


class FormatError(ClewError):
    code = "format"


class NewerFormat(FormatError):
    code = "newer_format"


class Tampered(FormatError):
    code = "tampered"
