"""The file that a path means, and whether it may be read and written."""

import os
import stat
from pathlib import Path

from clew.errors import ConfigError, OutsideProject
from clew.workspace.regular import ANY_BYTES, contents


def read_if_there(path: Path) -> bytes | None:
    """The content of a file; None where there is none."""
    try:
        return contents(path, ANY_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"'{path}' cannot be read: {error.strerror or error}.", hint="Check what it is and who may read it."
        ) from error


def real_target(path: Path, *, within: Path | None = None) -> Path:
    """The file behind a path, with links followed, so that a link stays a link when its file is replaced.

    `within` refuses a link that leads out of a folder: a cloned project must not be able to aim a write at the
    home folder of the user who runs `clew init` in it.
    """
    try:
        real = path.resolve()
    except (OSError, RuntimeError) as error:
        raise ConfigError(
            f"'{path}' is a link to a file that does not exist: {error}.", hint="Remove the link."
        ) from error
    if within is not None and not real.is_relative_to(within.resolve()):
        raise OutsideProject(
            f"'{path}' is a link to '{real}', outside the project.",
            hint="Remove the link, or edit the file it points at yourself.",
        )
    return real


def is_write_protected(place: Path) -> bool:
    """True if this user may not write a file. The permission counts even for a user who could ignore it."""
    try:
        mode = place.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and (not mode & 0o222 or not os.access(place, os.W_OK))
