"""The keys and services in a project's configuration that work only with a grant of the user.

`configuration` is about clew.toml: a key that is not on the list of harmless ones counts where the user's own
configuration holds it, or where the user has trusted the project, for exactly these keys and values. The other grants
are about a project's path, and may be bound to something more. All are kept in the user's own folder.
"""

# Implements: REQ-d00261
# Implements: REQ-d00635

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from clew.errors import ConfigError, Refused, StoreBusy
from clew.grants import (
    ALLOWED,
    Grant,
    GrantRecord,
    TrustedConfiguration,
    TrustFile,
    given,
    is_granted,
    own_folder,
    path_of,
    read_records,
    records_file,
    require,
)
from clew.text.database_address import masked

__all__ = [
    "ALLOWED",
    "FREE",
    "ConfigurationTrust",
    "Grant",
    "give",
    "given",
    "is_granted",
    "own_folder",
    "record",
    "records_file",
    "require",
    "reserved_keys",
    "revoke",
    "trust_of",
    "user_configuration",
    "without",
]

_SELECTION = frozenset({"folders", "patterns", "skip"})
_KB_LIMITS = ("timeout_seconds", "calls_per_minute", "burst", "scratch_minutes", "scratch_mb", "session_scratch_mb")
FREE: Mapping[str, frozenset[str]] = {
    "project": frozenset({"name"}),
    "requirements": _SELECTION | {"namespace"},
    "code": _SELECTION | {"scip"},
    "tests": _SELECTION | {"results"},
    "specs": _SELECTION,
    "docs": _SELECTION,
    "kb": frozenset(
        {"project_id", "environment", "repository", "doc_tags", "tag_folder", "scheme", "graph", *_KB_LIMITS}
    ),
    "register": frozenset({"compat"}),
    "memory": frozenset({"keep"}),
    "push": frozenset({"requirements", "memories", "tests", "history", "after", "end"}),
    "server": frozenset({"toolsets", "names", "read_only"}),
    "graph": frozenset({"auto_refresh"}),
    "search": frozenset({"background"}),
    "embedder": frozenset({"kind"}),
    "reviews": frozenset({"file"}),
    "limits": frozenset({"max_file_bytes"}),
}
"""By table, the keys that every project may decide: what is read of it, and how it is shown. All others need trust,
also those that a later version adds, until they are named here."""
_HARMLESS_EMBEDDERS = ("minilm", "none")
"""The kinds that need nothing but Clew itself. A model of the project's own is read by a program that was not made for
hostile files."""
_LOCK_SECONDS = 10.0


class ConfigurationTrust(msgspec.Struct, frozen=True):
    """The trust of the user in a project's configuration."""

    root: Path
    asked: dict[str, Any]
    """The reserved keys that the project's configuration gives, such as `embedder.url`, with their values."""
    state: Literal["trusted", "changed", "untrusted"]
    """`changed`: it was trusted with other keys or values."""
    at: str | None = None
    """When it was trusted."""

    def __repr__(self) -> str:
        # It ends up in tracebacks and debug output; passwords must not.
        return f"ConfigurationTrust(root={self.root!r}, asked={self.shown!r}, state={self.state!r})"

    @property
    def is_trusted(self) -> bool:
        return self.state == "trusted"

    @property
    def ignored(self) -> tuple[str, ...]:
        """The keys that do not count."""
        return () if self.is_trusted else tuple(self.asked)

    @property
    def shown(self) -> dict[str, Any]:
        """The keys that need trust, with passwords masked."""
        return {key: masked(value) if isinstance(value, str) else value for key, value in self.asked.items()}

    @property
    def note(self) -> str | None:
        """A note for the user about keys without effect; None if all have effect."""
        if not self.ignored:
            return None
        named = ", ".join(f"`{key}`" for key in self.ignored)
        why = "what it asks for changed since you trusted it" if self.state == "changed" else "it is not trusted"
        used = "is not used" if len(self.ignored) == 1 else "are not used"
        return f"{named} of this project's clew.toml {used}, because {why}. `clew trust` shows and allows it."

    def require(self, what: str) -> None:
        """Refused without trust in the project."""
        if not self.is_trusted:
            changed = "changed since you trusted it" if self.state == "changed" else "is not trusted"
            raise Refused(f"{what}, and the project at '{self.root}' {changed}.", hint="Look at it, then `clew trust`.")


def trust_of(root: Path, said: Mapping[str, Any]) -> ConfigurationTrust:
    """The trust in a project with this clew.toml."""
    asked = reserved_keys(said)
    try:
        record = read_records().projects.get(str(root))
    except ConfigError:
        # Nothing is trusted then; `clew trust` says what is wrong with the file.
        record = None
    if record is None:
        return ConfigurationTrust(root, asked, "untrusted")
    return ConfigurationTrust(root, asked, "trusted" if record.hash == _hash(asked) else "changed", record.at)


def give(root: Path, grant: Grant, now: datetime, *, bound: str = "") -> None:
    """Give a project a grant other than `configuration`."""
    made = GrantRecord(_stamp(now), bound)
    with _alone():
        records = read_records()
        names = {**records.grants.get(path_of(root), {}), grant.value: made}
        _write(msgspec.structs.replace(records, grants={**records.grants, path_of(root): names}))


def reserved_keys(said: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a configuration that need trust, by the full names of the keys."""
    found: dict[str, Any] = {}
    for name, table in said.items():
        if not isinstance(table, dict):
            found[name] = table
            continue
        found |= {f"{name}.{key}": value for key, value in table.items() if not _is_free(name, key, value)}
    return dict(sorted(found.items()))


def _is_free(table: str, key: str, value: object) -> bool:
    if (table, key) == ("embedder", "kind"):
        return value in _HARMLESS_EMBEDDERS
    return key in FREE.get(table, ())


def without(said: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """A configuration without some of its keys."""
    return {
        name: {key: value for key, value in table.items() if f"{name}.{key}" not in keys}
        if isinstance(table, dict)
        else table
        for name, table in said.items()
        if name not in keys
    }


def record(trust: ConfigurationTrust, now: datetime) -> None:
    """Trust a project with the keys it asks for now."""
    made = TrustedConfiguration(_hash(trust.asked), tuple(trust.asked), _stamp(now))
    with _alone():
        records = read_records()
        _write(msgspec.structs.replace(records, projects={**records.projects, str(trust.root): made}))


def revoke(root: Path, grants: Collection[Grant] = tuple(Grant)) -> tuple[Grant, ...]:
    """Revoke grants of a project; returns those that it had."""
    with _alone():
        records, key = read_records(), path_of(root)
        names = records.grants.get(key, {})
        gone = tuple(
            grant for grant in Grant if grant in grants and (grant in names or _is_trusted(records, key, grant))
        )
        if gone:
            _write(_without(records, key, gone))
        return gone


def _is_trusted(records: TrustFile, key: str, grant: Grant) -> bool:
    return grant is Grant.CONFIGURATION and key in records.projects


def _without(records: TrustFile, key: str, gone: Collection[Grant]) -> TrustFile:
    left = {name: each for name, each in records.grants.get(key, {}).items() if name not in gone}
    grants = {path: names for path, names in records.grants.items() if path != key}
    is_kept = Grant.CONFIGURATION not in gone
    return TrustFile(
        projects={path: each for path, each in records.projects.items() if path != key or is_kept},
        grants={**grants, key: left} if left else grants,
    )


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")


def user_configuration() -> Path:
    """The user's own configuration."""
    return own_folder("XDG_CONFIG_HOME", "APPDATA", ".config", "clew/config.toml")


@contextmanager
def _alone() -> Iterator[None]:
    """Lock the record of trust during the block: a value read in it is still true when it is written."""
    from clew.edit.locking import locked
    from clew.edit.replacing import translated

    file = records_file()
    with translated(file):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(file.with_name("trust.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        opened = os.fdopen(lock, "r+b")
    with opened, locked(opened, _LOCK_SECONDS) as held:
        if not held:
            raise StoreBusy(
                f"Another process has been changing {file} for {_LOCK_SECONDS:.0f} s.",
                hint="Try again, or look for a `clew trust` that hangs. Nothing was changed.",
            )
        yield


# Implements: REQ-d00623-B
def _write(records: TrustFile) -> None:
    from clew.edit.replacing import put_in_place, sweep, sync_folder, temporary_beside, translated, write_private

    file = records_file()
    with translated(file):
        sweep(file)
        temporary = temporary_beside(file)
        try:
            # Also where an earlier version let others read which projects there are.
            write_private(temporary, msgspec.json.format(msgspec.json.encode(records), indent=2) + b"\n")
            put_in_place(temporary, file)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        sync_folder(file.parent)


def _hash(asked: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(dict(asked), order="sorted")).hexdigest()
