"""Writing a file that belongs to somebody else: all of it or nothing, and never over a change that was not seen."""

import glob
import os
import stat
from pathlib import Path

from clew.edit import replacing
from clew.errors import ConfigError, Conflict, OutsideProject

_ENDING = ".tmp"


def read_if_there(path: Path) -> bytes | None:
    """The content of a file; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"'{path}' cannot be read: {error.strerror or error}.", hint="Check what it is and who may read it."
        ) from error


def real_target(path: Path, *, within: Path | None = None) -> Path:
    """The file that a path means, links followed, so that a link stays a link when its file is replaced.

    `within` refuses a link that leads out of a folder: a cloned project must not be able to aim a write at the
    home folder of whoever runs `clew init` in it.
    """
    try:
        real = path.resolve()
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"'{path}' is a link that leads nowhere: {error}.", hint="Remove the link.") from error
    if within is not None and not real.is_relative_to(within.resolve()):
        raise OutsideProject(
            f"'{path}' is a link to '{real}', outside the project.",
            hint="Remove the link, or edit the file it points at yourself.",
        )
    return real


def is_write_protected(place: Path) -> bool:
    """Whether nobody may write a file, or we may not. The permission counts even for one who is above it."""
    try:
        mode = place.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and (not mode & 0o222 or not os.access(place, os.W_OK))


def replace_file(path: Path, content: bytes, *, expected: bytes | None, within: Path | None = None) -> None:
    """Put content in place of `expected`, which is what the file held when the content was made; None for no file."""
    target = real_target(path, within=within)
    if read_if_there(target) != expected:
        raise Conflict(f"'{path}' changed while it was being edited.", hint="Run the command again.")
    if expected is not None and not os.access(target, os.W_OK):
        raise ConfigError(f"'{path}' is write-protected.", hint="Make it writable, or edit it yourself.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replacing.replace_file(target, content, _ENDING)
    except OSError as error:
        raise ConfigError(
            f"'{path}' cannot be written: {error.strerror or error}.", hint="Check the folder's permissions and space."
        ) from error


def remove_leftovers(path: Path) -> None:
    """Remove what processes left that were killed while they replaced this file. Only for those who know that nobody
    replaces it now."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 2 * replacing.TOKEN_BYTES}{_ENDING}"):
        leftover.unlink(missing_ok=True)
