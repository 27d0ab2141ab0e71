"""Folder of the derived files: the state folder of the project, or a temporary folder if nothing can be written there,
because it is protected or the disk is full. Files that are made from others can be made anywhere."""

import errno
import logging
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from clew.derived.file import throw_away
from clew.edit.admission import admit

log = logging.getLogger(__name__)

_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT})
_LEAST_BYTES = 1024 * 1024
"""The free space that the index of a small project needs."""


class DerivedPlace:
    def __init__(self, folder: Path, parts: tuple[str, ...], name: str = "The search index") -> None:
        """`parts` are the folders of derived files; a temporary folder begins with copies of them. `name` is the
        beginning of sentences about the content."""
        self.folder = folder
        self._is_temporary = False
        standing = admit(folder)
        refusal = _refusal(folder) if standing.is_ours else f"the folder {standing.why}"
        if refusal is None:
            return
        with suppress(OSError):
            self.folder = Path(tempfile.mkdtemp(prefix="clew-"))
            self._is_temporary = True
            log.warning(
                "%s is kept in %s until Clew ends, because nothing can be written to %s: %s.",
                *(name, self.folder, folder, refusal),
            )
        for part in parts if self._is_temporary and standing.is_ours else ():
            with suppress(OSError, shutil.Error):
                # A link stays one: what it leads to may lie anywhere, and be endless.
                shutil.copytree(folder / part, self.folder / part, symlinks=True)

    def close(self) -> None:
        if self._is_temporary:
            throw_away(self.folder)


def _refusal(folder: Path) -> str | None:
    """The reason why nothing can be written to a folder; None if it can, or if something else is wrong, which the write
    itself reports better."""
    try:
        existing = next(each for each in (folder, *folder.parents) if each.exists())
        with tempfile.TemporaryFile(dir=existing) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, _LEAST_BYTES)
    except OSError as error:
        return error.strerror if error.errno in _REFUSED else None
    return None
