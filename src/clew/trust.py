"""What a project's files may not decide alone: which service gets texts and keys, and which program runs.

Such keys count where the user's own configuration holds them, or where the user has trusted the project. Trust is kept
in the user's own folder, for the project's path and exactly these keys and values: another value is asked about again.
"""

# Implements: REQ-d00261

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from clew.errors import ConfigError, Refused

RESERVED: Mapping[str, tuple[str, ...]] = {
    "ai": ("command", "url", "model", "key_variable", "timeout_seconds"),
    "embedder": ("url", "key_variable", "model"),
}
"""By table, the keys that need trust. `embedder.kind` needs it too where it asks for a service, and `embedder.folder`
where it leads out of the project."""


class Record(msgspec.Struct, frozen=True):
    """That the user trusted a project once."""

    hash: str
    keys: tuple[str, ...]
    at: str


class _Records(msgspec.Struct, frozen=True):
    projects: dict[str, Record] = {}


class Trust(msgspec.Struct, frozen=True):
    """How far a project is trusted."""

    root: Path
    asked: dict[str, Any]
    """The reserved keys that the project's configuration gives, such as `embedder.url`, with their values."""
    state: Literal["trusted", "changed", "untrusted"]
    """`changed`: it was trusted with other keys or values."""

    @property
    def is_trusted(self) -> bool:
        return self.state == "trusted"

    @property
    def ignored(self) -> tuple[str, ...]:
        """The keys that do not count."""
        return () if self.is_trusted else tuple(self.asked)

    @property
    def note(self) -> str | None:
        """What to tell the user about keys that do not count."""
        if not self.ignored:
            return None
        named = ", ".join(f"`{key}`" for key in self.ignored)
        why = "what it asks for changed since you trusted it" if self.state == "changed" else "it is not trusted"
        used = "is not used" if len(self.ignored) == 1 else "are not used"
        return f"{named} of this project's clew.toml {used}, because {why}. `clew trust` shows and allows it."

    def require(self, what: str) -> None:
        """Refused for what only a trusted project may do."""
        if not self.is_trusted:
            changed = "changed since you trusted it" if self.state == "changed" else "is not trusted"
            raise Refused(f"{what}, and the project at '{self.root}' {changed}.", hint="Look at it, then `clew trust`.")


def trust_of(root: Path, said: Mapping[str, Any]) -> Trust:
    """The trust in a project whose clew.toml says this."""
    asked = reserved_keys(root, said)
    try:
        record = _read().projects.get(str(root))
    except ConfigError:
        # Nobody is trusted then; `clew trust` says what is wrong with the file.
        record = None
    if record is None:
        return Trust(root, asked, "untrusted")
    return Trust(root, asked, "trusted" if record.hash == _hash(asked) else "changed")


def reserved_keys(root: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    """What a configuration says that needs trust, by the whole names of the keys."""
    tables = {name: said[name] for name in RESERVED if isinstance(said.get(name), dict)}
    found = {f"{name}.{key}": table[key] for name, table in tables.items() for key in RESERVED[name] if key in table}
    embedder = tables.get("embedder", {})
    if embedder.get("kind") == "endpoint":
        found["embedder.kind"] = "endpoint"
    folder = embedder.get("folder")
    if isinstance(folder, str) and not _is_inside(root, folder):
        found["embedder.folder"] = folder
    return dict(sorted(found.items()))


def without(said: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """A configuration without some of its keys."""
    return {
        name: {key: value for key, value in table.items() if f"{name}.{key}" not in keys}
        if isinstance(table, dict)
        else table
        for name, table in said.items()
    }


def record(trust: Trust, now: datetime) -> None:
    """Trust a project with the keys it asks for now."""
    made = Record(_hash(trust.asked), tuple(trust.asked), now.astimezone(UTC).isoformat(timespec="seconds"))
    _write({**_read().projects, str(trust.root): made})


def revoke(root: Path) -> bool:
    """Trust a project no longer. False where it was not trusted."""
    projects = _read().projects
    if str(root) not in projects:
        return False
    _write({name: each for name, each in projects.items() if name != str(root)})
    return True


def user_configuration() -> Path:
    """The user's own configuration."""
    return _own_folder("XDG_CONFIG_HOME", "APPDATA", ".config") / "clew" / "config.toml"


def records_file() -> Path:
    """Where trust is kept: a state of the user's, in no project."""
    return _own_folder("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state") / "clew" / "trust.json"


def _own_folder(variable: str, on_windows: str, usual: str) -> Path:
    given = os.environ.get(variable) or (os.environ.get(on_windows) if os.name == "nt" else None)
    # A relative path would be a folder of a project.
    if given and Path(given).is_absolute():
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    return (home if home.is_absolute() else Path(os.devnull)) / usual


def _read() -> _Records:
    file = records_file()
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Records)
    except FileNotFoundError:
        return _Records()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{file}, which says what projects you trust, cannot be read: {error}.",
            hint="Mend or remove it; then trust your projects again.",
        ) from error


def _write(projects: dict[str, Record]) -> None:
    from clew.edit.faults import translated
    from clew.edit.replacing import replace_file

    file = records_file()
    with translated(file):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(file, msgspec.json.format(msgspec.json.encode(_Records(projects)), indent=2) + b"\n")


def _hash(asked: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(dict(asked), order="sorted")).hexdigest()


def _is_inside(root: Path, folder: str) -> bool:
    try:
        return (root / folder).resolve().is_relative_to(root.resolve())
    except (OSError, ValueError):
        return False
