"""The grants that the user gave to projects: what each allows, and which a project has.

They are read here, below everything that asks for one; `clew.trust` gives them and takes them back.
"""

# Implements: REQ-d00635

import os
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import msgspec

from clew.errors import ConfigError, Refused


class Grant(StrEnum):
    """The grants of a user to a project, each for itself."""

    CONFIGURATION = "configuration"
    STORE = "store"
    HISTORY = "history"
    SESSIONS = "sessions"
    TESTS = "tests"
    ASSOCIATES = "associates"
    REPOSITORY = "repository"
    FOLDER = "folder"


class Allowed(msgspec.Struct, frozen=True):
    """A grant in words for the user."""

    what: str
    """Completes "It allows that ..."."""
    is_used: bool = True
    """False where nothing of this version asks for it."""


ALLOWED: Mapping[Grant, Allowed] = {
    Grant.CONFIGURATION: Allowed(
        "the keys of its clew.toml that need trust count as long as they stay as they are, and `clew req precheck` "
        "runs cargo"
    ),
    Grant.STORE: Allowed(
        "memories, decisions and drafts in a .clew folder that was not made on this machine count like your own"
    ),
    Grant.HISTORY: Allowed("sentences of merged commits may be pushed to agents unasked, before an edit"),
    Grant.SESSIONS: Allowed(
        "sessions of agents about it that lie on this machine, outside of the project, may be read"
    ),
    Grant.TESTS: Allowed("its own tests may be run, also when an agent asks for it", is_used=False),
    Grant.ASSOCIATES: Allowed(
        "associates that its .elspais.toml names may be read outside of its folder", is_used=False
    ),
    Grant.REPOSITORY: Allowed(
        "its .git may lead to the repository where it leads now, although that does not name this folder"
    ),
    Grant.FOLDER: Allowed(
        "it may be read although it is the root of a file system, your home, or very large and no repository"
    ),
}


class TrustedConfiguration(msgspec.Struct, frozen=True):
    """That the user trusted a project's configuration once."""

    hash: str
    keys: tuple[str, ...]
    at: str


class GrantRecord(msgspec.Struct, frozen=True):
    """That the user gave a project a grant."""

    at: str
    bound: str = ""
    """The grant holds only together with it, such as the folder to which a `.git` may lead; empty: for the path."""


class TrustFile(msgspec.Struct, frozen=True):
    projects: dict[str, TrustedConfiguration] = {}
    """Grants of the configuration, by path. Versions of Clew before there were others know these alone."""
    grants: dict[str, dict[str, GrantRecord]] = {}
    """All others, by path and name. A name that a later version gave is kept."""


def given(root: Path) -> Mapping[Grant, GrantRecord]:
    """The grants of a project but that of its configuration, which `trust_of` tells."""
    try:
        names = read_records().grants.get(path_of(root), {})
    except ConfigError:
        # Nothing is granted then; `clew trust` says what is wrong with the file.
        return {}
    return {grant: names[grant] for grant in Grant if grant in names}


def is_granted(root: Path, grant: Grant, *, bound: str = "") -> bool:
    """True if the user gave a project a grant other than `configuration`, for the thing it is bound to."""
    if grant is Grant.CONFIGURATION:
        raise ValueError("the grant of a configuration depends on its keys: ask trust_of")
    found = given(root).get(grant)
    return found is not None and found.bound == bound


def require(root: Path, grant: Grant, what: str, *, bound: str = "") -> None:
    """Refused without the grant. `what` says what is asked for, as a sentence without its full stop."""
    if not is_granted(root, grant, bound=bound):
        raise Refused(
            f"{what}, and the project at '{root}' has no grant `{grant}`.",
            hint=f"Look at the project, then `clew trust --grant {grant}`: {ALLOWED[grant].what}.",
        )


def records_file() -> Path:
    """The file of all grants: a state of the user's, in no project."""
    return own_folder("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state", "clew/trust.json")


def path_of(root: Path) -> str:
    """A project's path as the records have it: with no link in it."""
    return os.path.realpath(root)


def own_folder(variable: str, on_windows: str, usual: str, inside: str = "") -> Path:
    """A folder of the user's own: where the environment says, or at its usual place below the home folder. Or what is
    `inside` it."""
    given = os.environ.get(variable) or (os.environ.get(on_windows) if os.name == "nt" else None)
    return _own_folder(given, os.path.expanduser("~"), usual, inside)  # noqa: PTH111


@lru_cache(maxsize=16)
def _own_folder(given: str | None, home: str, usual: str, inside: str) -> Path:
    # A relative path would be a folder of a project.
    if given and Path(given).is_absolute():
        return Path(given, inside)
    return (Path(home) if Path(home).is_absolute() else Path(os.devnull)) / usual / inside


def read_records() -> TrustFile:
    file = records_file()
    try:
        return msgspec.json.decode(file.read_bytes(), type=TrustFile)
    except FileNotFoundError:
        return TrustFile()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{file}, which says what projects you trust, cannot be read: {error}.",
            hint="Repair or delete it; then trust your projects again.",
        ) from error
