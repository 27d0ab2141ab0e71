"""Whether a register in a folder is whole. Its checksum is taken of all files at once; a reader sees one at a time."""

import os
import threading
from pathlib import Path

from clew.edit.journal import journals
from clew.errors import FormatError
from clew.formats.register import read_directory
from clew.formats.register.directory import ENDING, FOLDER, INDEX
from clew.workspace.paths import raw

Refused = tuple[tuple[str, str], ...]
"""Folders that cannot be trusted, each with the reason."""
Marks = tuple[tuple[str, int, int], ...]
"""Name, size and time of every file."""


class FolderSeals:
    """Looks into a folder again only where a file of it changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[Marks, str]] = {}

    def refused(self, places: tuple[str, ...]) -> Refused:
        """The folders among these registers that cannot be trusted, each with the reason."""
        with self._lock:
            found = ((place, self._fault(place)) for place in places if (self._root / raw(place)).is_dir())
            return tuple((place, fault) for place, fault in found if fault)

    def _fault(self, place: str) -> str:
        folder = self._root / raw(place)
        marks, fault = self._seen.get(place, ((), ""))
        if journals(folder):
            # Somebody is in the middle of writing; what was true before is true until they are done.
            return fault
        now = _marks(folder)
        if now != marks:
            fault = _examined(folder, [name for name, _, _ in now])
            self._seen[place] = now, fault
        return fault


def _marks(folder: Path) -> Marks:
    found = [mark for mark in _files(folder, "") if mark[0] == INDEX]
    found += [mark for mark in _files(folder / FOLDER, f"{FOLDER}/") if mark[0].endswith(ENDING)]
    return tuple(sorted(found))


def _files(folder: Path, prefix: str) -> list[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
            return [(f"{prefix}{each.name}", each.stat().st_size, each.stat().st_mtime_ns) for each in shown]
    except OSError:
        return []


def _examined(folder: Path, paths: list[str]) -> str:
    try:
        read_directory({path: (folder / path).read_bytes() for path in paths}, folder.name)
    except FormatError as error:
        return str(error)
    except (OSError, KeyError):
        # Files that come and go are looked at again the next time, and the reader reports those it cannot read.
        return ""
    return ""
