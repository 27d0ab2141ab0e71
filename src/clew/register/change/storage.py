"""The files of a register: reading them no more often than they change, and writing them whole.

A register in one file is written by one rename. One in a folder is many files, which one transaction changes together.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from clew.edit.edits import FileEdit
from clew.edit.journal import journals
from clew.edit.recovery import recover
from clew.edit.replacing import leftovers, make_folder, replace_file, sweep
from clew.edit.targets import read_if_there
from clew.edit.transaction import commit_outside, replace_alone
from clew.errors import NotFound
from clew.formats.register.directory import ENDING, FOLDER, INDEX, MAX_BYTES, read_directory, write_directory
from clew.formats.register.model import Register, RegisterLayout
from clew.formats.register.single import Renderings, read_single, write_single
from clew.register.change import kept_history
from clew.workspace.find import names_in
from clew.workspace.follow import FileContents
from clew.workspace.paths import display
from clew.workspace.regular import ANY_BYTES, contents

SINGLE = ""
"""The name of the only file of a register that is one."""
HISTORY = kept_history.ENDING
"""The name of the copy of a register's history among its files."""

Files = Mapping[str, bytes]


class Storage(Protocol):
    """The storage of a register."""

    place: Path
    layout: RegisterLayout

    def exists(self) -> bool: ...

    def is_interrupted(self) -> bool:
        """True if a writer is in the middle of a change, or was killed in the middle of one."""
        ...

    def has_leftovers(self) -> bool:
        """True if there are files of a writer that is at work now, or was killed."""
        ...

    def recover(self) -> None:
        """Complete or undo the interrupted work of a killed writer. Only for the holder of the lock."""
        ...

    def load(self) -> Files: ...

    def decode(self, files: Files, *, trusted: bool = False) -> Register: ...

    def encode(self, register: Register) -> Files:
        """The files that saving would write."""
        ...

    def save(self, register: Register) -> Files:
        """Write the register and return the written files."""
        ...

    def keep(self, tag: str) -> Path | None:
        """Copy the present register, sound or not, to a file beside it, and return its path; None if there is no
        register."""
        ...


class _Contents(FileContents):
    """The files of a register; the error for a missing one says how to create it."""

    def __init__(self) -> None:
        super().__init__(MAX_BYTES)

    def read(self, place: Path) -> bytes:
        try:
            return super().read(place)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise missing(place) from error

    def read_copy(self, place: Path) -> bytes | None:
        """The copy of a history; None if there is no readable one."""
        try:
            return super().read(place)
        except OSError:
            return None


def missing(place: Path) -> NotFound:
    return NotFound(
        f"There is no register at {place}.",
        hint="Create one with `clew req init --name NAME`, or name another with --file or REQ_FILE.",
    )


class SingleFile:
    layout = RegisterLayout.SINGLE

    def __init__(self, place: Path) -> None:
        self.place = place
        self._history = place.with_name(place.name + HISTORY)
        self._contents = _Contents()
        self._renderings: Renderings = {}

    def exists(self) -> bool:
        return self.place.exists()

    def is_interrupted(self) -> bool:
        return False

    def has_leftovers(self) -> bool:
        return bool(leftovers(self.place))

    def recover(self) -> None:
        sweep(self.place)

    def load(self) -> Files:
        files = {SINGLE: self._contents.read(self.place)}
        copy = self._contents.read_copy(self._history)
        return files if copy is None else {**files, HISTORY: copy}

    def decode(self, files: Files, *, trusted: bool = False) -> Register:
        register = read_single(files[SINGLE], self.place.name, trusted=trusted)
        return kept_history.with_copy(register, files.get(HISTORY))

    def encode(self, register: Register) -> Files:
        return {SINGLE: write_single(register, self._renderings)}

    def save(self, register: Register) -> Files:
        files = self.encode(register)
        replace_file(self.place, files[SINGLE])
        copy = kept_history.keep(self._history, register)
        return files if copy is None else {**files, HISTORY: copy}

    def keep(self, tag: str) -> Path | None:
        if not self.place.is_file():
            return None
        named = self.place.with_name(f"{self.place.stem}{ENDING}{MARK}{tag}")
        return keep_copy(named, contents(self.place, MAX_BYTES))


class Folder:
    layout = RegisterLayout.DIRECTORY

    def __init__(self, place: Path) -> None:
        self.place = place
        self._contents = _Contents()

    def exists(self) -> bool:
        return (self.place / INDEX).exists()

    def is_interrupted(self) -> bool:
        return self.has_leftovers()

    def has_leftovers(self) -> bool:
        return bool(journals(self.place))

    def recover(self) -> None:
        recover(self.place, None)

    def load(self) -> Files:
        files = {INDEX: self._contents.read(self.place / INDEX)}
        if (copy := self._contents.read_copy(self._history)) is not None:
            files[HISTORY] = copy
        folder = self.place / FOLDER
        for name in names_in(folder):
            if name.endswith(ENDING) and not name.startswith("."):
                files[f"{FOLDER}/{name}"] = self._contents.read(folder / name)
        return files

    def decode(self, files: Files, *, trusted: bool = False) -> Register:
        register = read_directory(
            {path: data for path, data in files.items() if path != HISTORY}, self.place.name, trusted=trusted
        )
        return kept_history.with_copy(register, files.get(HISTORY))

    @property
    def _history(self) -> Path:
        return self.place / (INDEX + HISTORY)

    def encode(self, register: Register) -> Files:
        return write_directory(register)

    def save(self, register: Register) -> Files:
        make_folder(self.place)
        before = {path: data for path, data in (self.load() if self.exists() else {}).items() if path != HISTORY}
        after = self.encode(register)
        # The index comes last: as long as its checksum is the old one, no other program accepts what is half done.
        paths = sorted(before.keys() | after.keys(), key=lambda path: (path == INDEX, path))
        edits = [FileEdit(path, before.get(path), after.get(path)) for path in paths]
        commit_outside(self.place, edits)
        copy = kept_history.keep(self._history, register)
        return after if copy is None else {**after, HISTORY: copy}

    def keep(self, tag: str) -> Path | None:
        files = _raw_files(self.place)
        if not files:
            return None
        named = self.place.with_name(f"{self.place.name}{MARK}{tag}")
        backup = free_place(named, lambda there: _raw_files(there) == files)
        copies = {f"{backup.name}/{path}": data for path, data in files.items()}
        commit_outside(
            backup.parent,
            [FileEdit(display(path), read_if_there(backup.parent / path), data) for path, data in copies.items()],
        )
        return backup


def _raw_files(folder: Path) -> dict[str, bytes]:
    """The files of a register in a folder."""
    names = [name for name in names_in(folder / FOLDER) if name.endswith(ENDING)]
    places = (folder / INDEX, *(folder / FOLDER / name for name in names))
    return {place.relative_to(folder).as_posix(): contents(place, MAX_BYTES) for place in places if place.is_file()}


def storage_at(place: Path, layout: RegisterLayout | None = None) -> Storage:
    """The storage at a place: a folder if there is one or one is wanted, otherwise a file. Links are followed, so that
    everybody locks and replaces the same file."""
    real = place.resolve()
    if real.name == INDEX:
        return Folder(real.parent)
    if layout is RegisterLayout.DIRECTORY or (layout is None and real.is_dir()):
        return Folder(real)
    return SingleFile(real)


MARK = ".bak-"
REPLACED = "replaced"
"""The usual reason of a copy."""


def keep_copy(named: Path, data: bytes) -> Path:
    """Leave a copy under a name, or under one with a number where something else has that name; returns its place."""
    place = free_place(named, lambda there: there.is_file() and contents(there, ANY_BYTES) == data)
    replace_alone(place, data)
    return place


def free_place(named: Path, is_the_same: Callable[[Path], bool]) -> Path:
    place, number = named, 1
    while place.exists() and not is_the_same(place):
        number += 1
        place = named.with_name(f"{named.name}-{number}")
    return place
