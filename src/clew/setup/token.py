"""The user's own token for HTTP: a file in the user's configuration that nobody else may read.

Over HTTP, tools that write need a token. It never stands in a file of a project, which git tracks or could track: the
server reads it from here or from the environment, and a client's configuration names only the variable.
"""

import os
import secrets
import stat
from pathlib import Path

from clew.errors import ConfigError

TOKEN_VARIABLE = "CLEW_TOKEN"  # noqa: S105 - the name of a variable, not a token


def token_path() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "clew" / "token"


def own_token() -> str | None:
    """The token of this user; None where none was made. Refused where others may read it."""
    path = token_path()
    try:
        mode = path.stat().st_mode
        token = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The token file '{path}' cannot be read: {error}.", hint="Remove it, or mend it.") from error
    if os.name != "nt" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(
            f"The token file '{path}' can be read by other users.", hint=f"Run: chmod 600 {path}, or make a new one."
        )
    return token


def make_token() -> Path:
    """Make the token of this user, unless there is one; where it stands."""
    path = token_path()
    if own_token() is None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Never readable by others, not even for a moment, and never over one that another process made just now.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    return path
