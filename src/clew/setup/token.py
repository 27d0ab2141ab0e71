"""The user's own token for HTTP: a file in the user's configuration that nobody else may read.

Over HTTP, tools that write need a token. It is never in a file of a project, which git tracks or could track: the
server reads it from here or from the environment, and a client's configuration names only the variable.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from clew.errors import ConfigError
from clew.trust import user_configuration
from clew.workspace.regular import SETTINGS_BYTES, contents

TOKEN_VARIABLE = "CLEW_TOKEN"  # noqa: S105 - the name of a variable, not a token
MIN_TOKEN_LENGTH = 16
_MAKE = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe())'."


def token_path() -> Path:
    return user_configuration().with_name("token")


def check_token(token: str, what: str = "The token") -> None:
    """ConfigError for a token that could be guessed, such as an empty one, or that no HTTP header can carry."""
    if len(token) < MIN_TOKEN_LENGTH:
        raise ConfigError(
            f"{what} has {len(token)} characters; it needs at least {MIN_TOKEN_LENGTH}.",
            hint=f"{_MAKE} Set the environment variable {TOKEN_VARIABLE}, or pass --token-file PATH.",
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{what} holds characters that cannot travel in an HTTP header.",
            hint="Use only printable ASCII without spaces, and no line break at the end.",
        )


def own_token() -> str | None:
    """The token of this user; None without one. Refused if others may read its file, or if it is too weak."""
    path = token_path()
    try:
        mode = path.stat().st_mode
        token = contents(path, SETTINGS_BYTES).decode("ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The token file '{path}' cannot be read: {error}.", hint="Remove it, or correct it."
        ) from error
    if os.name != "nt" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(
            f"The token file '{path}' can be read by other users.", hint=f"Run: chmod 600 {path}, or make a new one."
        )
    try:
        check_token(token, f"The token in '{path}'")
    except ConfigError as error:
        raise ConfigError(
            error.message, hint="Remove the file; `clew init --client NAME --url URL` makes a new one."
        ) from error
    return token


def make_token() -> Path:
    """Make the token of this user, unless there is one; returns its path."""
    # Not at the start of a server, which only reads.
    from clew.edit.replacing import add_in_place, temporary_beside, translated, write_private

    path = token_path()
    if own_token() is None:
        temporary = temporary_beside(path)
        with translated(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                write_private(temporary, f"{secrets.token_urlsafe(32)}\n".encode())
                # Whole or not at all, and never over one that another process made just now.
                add_in_place(temporary, path)
            finally:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
        own_token()
    return path
