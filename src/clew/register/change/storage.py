"""The files of a register: reading them no more often than they change, and writing them whole.

A register in one file is written by one rename. One in a folder is many files; so that they change together, all of
them are first written to a journal, which whoever comes next carries out if its writer was killed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from clew.edit.durable import remove_file, replace_file, sweep
from clew.errors import FormatError, NotFound, Tampered
from clew.formats.register import read_directory, read_single, write_directory, write_single
from clew.formats.register.canonical import parse
from clew.formats.register.directory import ENDING, FOLDER, INDEX, JOURNAL, MAX_BYTES
from clew.formats.register.envelope import INTEGRITY
from clew.formats.register.model import Layout, Register
from clew.formats.register.single import Renderings
from clew.register.change import backups
from clew.workspace.find import names_in
from clew.workspace.follow import FileContents

SINGLE = ""
"""The name of the only file of a register that is one."""

Files = Mapping[str, bytes]


class Journal(msgspec.Struct, frozen=True):
    before: str
    """The checksum in the index that the journal was written against."""
    after: str
    files: dict[str, str | None]
    """The new text of each file by its path; None removes it."""


class Storage(Protocol):
    """Where a register is kept."""

    place: Path
    layout: Layout

    def exists(self) -> bool: ...

    def load(self) -> Files: ...

    def decode(self, files: Files, *, trusted: bool = False) -> Register: ...

    def save(self, register: Register) -> Files:
        """Write the register and return what was written."""
        ...

    def keep(self, tag: str) -> Path | None:
        """Copy what is there, sound or not, beside it, and return where; None where there is nothing."""
        ...


class _Contents(FileContents):
    """The files of a register; one that is not there says how to make one."""

    def __init__(self) -> None:
        super().__init__(MAX_BYTES)

    def read(self, place: Path) -> bytes:
        try:
            return super().read(place)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise missing(place) from error


def missing(place: Path) -> NotFound:
    return NotFound(
        f"There is no register at {place}.",
        hint="Create one with `clew req init --name NAME`, or name another with --file or REQ_FILE.",
    )


class SingleFile:
    layout = Layout.SINGLE

    def __init__(self, place: Path) -> None:
        self.place = place
        self._contents = _Contents()
        self._renderings: Renderings = {}

    def exists(self) -> bool:
        return self.place.exists()

    def load(self) -> Files:
        return {SINGLE: self._contents.read(self.place)}

    def decode(self, files: Files, *, trusted: bool = False) -> Register:
        return read_single(files[SINGLE], self.place.name, trusted=trusted)

    def save(self, register: Register) -> Files:
        sweep(self.place.parent)
        data = write_single(register, self._renderings)
        replace_file(self.place, data)
        return {SINGLE: data}

    def keep(self, tag: str) -> Path | None:
        if not self.place.is_file():
            return None
        named = self.place.with_name(f"{self.place.stem}{ENDING}{backups.MARK}{tag}")
        return backups.keep_copy(named, self.place.read_bytes())


class Folder:
    layout = Layout.DIRECTORY

    def __init__(self, place: Path) -> None:
        self.place = place
        self._contents = _Contents()

    def exists(self) -> bool:
        return (self.place / INDEX).exists()

    def load(self) -> Files:
        """The files as they are, or as they will be once a journal is carried out."""
        files = {INDEX: self._contents.read(self.place / INDEX)}
        folder = self.place / FOLDER
        for name in names_in(folder):
            if name.endswith(ENDING) and not name.startswith("."):
                files[f"{FOLDER}/{name}"] = self._contents.read(folder / name)
        journal = self._journal(files[INDEX])
        if journal is None:
            return files
        changed = {path: text.encode() for path, text in journal.files.items() if text is not None}
        return {path: data for path, data in {**files, **changed}.items() if journal.files.get(path, "") is not None}

    def _journal(self, index: bytes) -> Journal | None:
        """A journal that was not carried out to its end; one that others have overtaken is none."""
        place = self.place / JOURNAL
        try:
            journal = msgspec.json.decode(place.read_bytes(), type=Journal)
        except (FileNotFoundError, msgspec.DecodeError):
            # Carried out meanwhile, or damaged; then the checksum of the files decides whether they are whole.
            return None
        return journal if _seal(index) in (journal.before, journal.after) else None

    def decode(self, files: Files, *, trusted: bool = False) -> Register:
        return read_directory(files, self.place.name, trusted=trusted)

    def save(self, register: Register) -> Files:
        self._recover()
        before = self.load() if self.exists() else {}
        after = write_directory(register)
        texts: dict[str, str | None] = {path: None for path in before if path not in after}
        texts.update((path, data.decode()) for path, data in after.items() if before.get(path) != data)
        journal = Journal(_seal(before.get(INDEX, b"{}")), _seal(after[INDEX]), texts)
        replace_file(self.place / JOURNAL, msgspec.json.encode(journal))
        self._carry_out(journal)
        return after

    def keep(self, tag: str) -> Path | None:
        files = _raw_files(self.place)
        if not files:
            return None
        named = self.place.with_name(f"{self.place.name}{backups.MARK}{tag}")
        backup = backups.free_place(named, lambda there: _raw_files(there) == files)
        for path in sorted(files, key=lambda path: path == INDEX):
            replace_file(backup / path, files[path])
        return backup

    def _recover(self) -> None:
        for folder in (self.place, self.place / FOLDER):
            sweep(folder)
        if (self.place / JOURNAL).exists():
            journal = self._journal(self._contents.read(self.place / INDEX)) if self.exists() else None
            self._carry_out(journal or Journal("", "", {}))

    def _carry_out(self, journal: Journal) -> None:
        # The index comes last: as long as its checksum is the old one, no other program accepts what is half done.
        for path in sorted(journal.files, key=lambda path: path == INDEX):
            text = journal.files[path]
            if text is None:
                remove_file(self.place / path)
            else:
                replace_file(self.place / path, text.encode())
        remove_file(self.place / JOURNAL)


def _raw_files(folder: Path) -> dict[str, bytes]:
    """What lies in a folder of a register, with a journal that waits to be carried out."""
    names = [name for name in names_in(folder / FOLDER) if name.endswith(ENDING)]
    places = (folder / INDEX, folder / JOURNAL, *(folder / FOLDER / name for name in names))
    return {place.relative_to(folder).as_posix(): place.read_bytes() for place in places if place.is_file()}


def _seal(index: bytes) -> str:
    try:
        return str(parse(index, INDEX).document.get(INTEGRITY, ""))
    except (FormatError, Tampered):
        return ""


def storage_at(place: Path, layout: Layout | None = None) -> Storage:
    """The storage at a place: a folder where there is one or one is wanted, otherwise a file. Links are followed, so
    that everybody locks and replaces the same file."""
    real = place.resolve()
    if real.name == INDEX:
        return Folder(real.parent)
    if layout is Layout.DIRECTORY or (layout is None and real.is_dir()):
        return Folder(real)
    return SingleFile(real)
