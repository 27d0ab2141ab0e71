"""Whether a register in a folder is whole. Its checksum is taken of all files at once; a reader sees one at a time."""

import threading
from glob import escape
from pathlib import Path

from clew.edit.journal import journals
from clew.errors import FormatError
from clew.formats.register import read_directory
from clew.formats.register.directory import ENDING, FOLDER, INDEX, MAX_BYTES
from clew.workspace.find import Selection
from clew.workspace.follow import Follower
from clew.workspace.paths import raw

Refused = tuple[tuple[str, str], ...]
"""Folders that cannot be trusted, each with the reason."""


class RegisterIntegrity:
    """Looks into a folder again only where a file of it changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._followers: dict[str, Follower] = {}
        self._faults: dict[str, str] = {}

    def refused(self, places: tuple[str, ...]) -> Refused:
        """The folders among these registers that cannot be trusted, each with the reason."""
        with self._lock:
            found = ((place, self._fault(place)) for place in places if (self._root / raw(place)).is_dir())
            return tuple((place, fault) for place, fault in found if fault)

    def _fault(self, place: str) -> str:
        folder = self._root / raw(place)
        if journals(folder):
            # Somebody is in the middle of writing; what was true before is true until they are done.
            return self._faults.get(place, "")
        follower = self._followers.get(place)
        if follower is None:
            follower = self._followers[place] = Follower(self._root, _selection(place), max_file_bytes=MAX_BYTES)
        if not follower.is_current():
            follower.note_all()
            start = "" if place == "." else f"{place}/"
            self._faults[place] = _examined(folder, [path.removeprefix(start) for path, _ in follower.keys])
        return self._faults[place]


def _selection(place: str) -> dict[str, Selection]:
    folder = "" if place == "." else f"{escape(raw(place))}/"
    return {"register": Selection((), (), globs=(f"{folder}{INDEX}", f"{folder}{FOLDER}/[!.]*{ENDING}"))}


def _examined(folder: Path, paths: list[str]) -> str:
    try:
        read_directory({path: (folder / raw(path)).read_bytes() for path in paths}, folder.name)
    except FormatError as error:
        return str(error)
    except (OSError, KeyError):
        # Files that come and go are looked at again the next time, and the reader reports those it cannot read.
        return ""
    return ""
