"""Writing a file that belongs to somebody else: all of it or nothing, and never over a change that was not seen."""

import contextlib
import glob
import os
import secrets
import stat
from pathlib import Path

from clew.errors import ConfigError, Conflict, OutsideProject

_TOKEN_BYTES = 6
"""Tell apart the temporary files of those who replace one file at the same time."""


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


def replace_file(path: Path, content: bytes, *, expected: bytes | None, within: Path | None = None) -> None:
    """Put content in place of `expected`, which is what the file held when the content was made; None for no file."""
    target = real_target(path, within=within)
    if read_if_there(target) != expected:
        raise Conflict(f"'{path}' changed while it was being edited.", hint="Run the command again.")
    if expected is not None and not os.access(target, os.W_OK):
        raise ConfigError(f"'{path}' is write-protected.", hint="Make it writable, or edit it yourself.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, content)
    except OSError as error:
        raise ConfigError(
            f"'{path}' cannot be written: {error.strerror or error}.", hint="Check the folder's permissions and space."
        ) from error


def remove_leftovers(path: Path) -> None:
    """Remove what processes left that were killed while they replaced this file. Only for those who know that nobody
    replaces it now."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 2 * _TOKEN_BYTES}.tmp"):
        leftover.unlink(missing_ok=True)


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(_TOKEN_BYTES)}.tmp")
    try:
        # Not through tempfile, which makes private files: a new configuration follows the user's umask.
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
