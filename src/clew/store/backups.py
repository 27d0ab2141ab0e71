"""Backups of a store: the manifest of a folder, and the verification of every byte before a restore.

The manifest names each file with its size and its hash, and ends with a hash of itself. A backup is read from a copy
that was hashed while it was made: what was verified is what is restored, and the backup stays as it is.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from clew.edit.replacing import replace_file, translated
from clew.errors import Conflict, NewerFormat, NotFound, StoreBusy, StoreError, Tampered
from clew.store.restoring import private_folder
from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.light_connection import log_of, size_of
from clew.store.transfer import Copied

MANIFEST = "manifest.json"
VERSION = 2
"""Backups of format 1 have no field `version`, and no hashes of their files."""
UNVERIFIED = (
    "This backup is of an older format and carries no checksums: its records, deletions and events were compared with"
    " its manifest, its settings could not be. Make a new backup."
)
_AT_ONCE = 1024 * 1024
_ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
"""Errors of the operating system for a file that does not exist."""
_USE_ANOTHER = "Restore from another backup. Nothing was restored, and the backup was not changed."


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a backup."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table of contents of a backup, with a hash of each part."""

    project: Copied
    memory: Copied
    version: int = 1
    files: dict[str, Part] = {}
    sha256: str = ""
    """Of the manifest without this field's value."""

    @property
    def has_checksums(self) -> bool:
        """True if the manifest has checksums. Its `version` may be damaged, so its fields decide: only format 1 has
        none."""
        return bool(self.version != 1 or self.files or self.sha256)


class _Format(msgspec.Struct):
    version: int = 1


def prepare(folder: Path, names: tuple[str, ...]) -> None:
    """Make the files of a backup for the user alone, before anything is in them: they will hold a whole memory. What is
    there has to be a file of the folder itself, as an interrupted backup leaves it; a link would lead elsewhere."""
    for file in (folder / name for name in (*names, MANIFEST)):
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise Conflict(
                f"'{file}' is a link, or no file: a backup is written only into its folder.",
                hint="Remove it, or name another folder. Nothing was written.",
            )
    for name in names:
        open_sqlite(folder / name).close()
        (folder / name).chmod(0o600)


def seal(folder: Path, names: tuple[str, ...], project: Copied, memory: Copied) -> None:
    """Write the manifest of a backup whose files are complete. A folder without one holds no backup. StoreBusy where a
    part of a file is still in the log beside it, which nobody would copy or restore."""
    files = {name: _part(folder / name) for name in names}
    for name in names:
        if size_of(log_of(folder / name)):
            raise StoreBusy(
                f"'{folder / name}' of the backup is not complete: somebody writes it, or has it open.",
                hint="Close what has it open, and run the command again. There is no backup yet.",
            )
    replace_file(folder / MANIFEST, _rendered(Manifest(project, memory, VERSION, files)))
    (folder / MANIFEST).chmod(0o600)


@contextmanager
def verified(folder: Path, names: tuple[str, ...], root: Path) -> Iterator[tuple[Path, Manifest]]:
    """A verified copy of a backup's files, and the manifest. The copy is in the state folder of the project at `root`.
    Tampered or NotFound if the backup is not complete and unchanged."""
    manifest = _manifest(folder)
    with private_folder(root) as place:
        for name in names:
            copied = _copied(folder / name, place / name)
            made = manifest.files.get(name)
            if manifest.has_checksums and made != copied:
                raise damaged(folder / name, _difference(made, copied))
        yield place, manifest


def _manifest(folder: Path) -> Manifest:
    file = folder / MANIFEST
    _demand_file(file)
    try:
        data = file.read_bytes()
    except _ABSENT:
        raise NotFound(
            f"'{folder}' holds no complete backup: there is no {MANIFEST} in it.",
            hint="Name a folder that `clew store backup` made.",
        ) from None
    except OSError as error:
        raise _unreadable(file, error) from error
    try:
        found = msgspec.json.decode(data, type=_Format).version
        if found > VERSION:
            raise NewerFormat(
                f"The manifest '{file}' says that the backup is of format {found}; this Clew knows formats up to"
                f" {VERSION}.",
                hint="Restore it with a newer Clew. If none made it, the manifest is damaged: use another backup.",
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise damaged(file, f"it cannot be read as a manifest ({error})") from None
    if manifest.has_checksums and data != _rendered(manifest):
        raise damaged(file, "it does not match the checksum in it")
    return manifest


def _rendered(manifest: Manifest) -> bytes:
    """A manifest with its own hash, in its only spelling, so that every changed byte shows."""
    bare = msgspec.json.encode(msgspec.structs.replace(manifest, sha256=""))
    sealed = msgspec.structs.replace(manifest, sha256=hashlib.sha256(bare).hexdigest())
    return msgspec.json.format(msgspec.json.encode(sealed), indent=2) + b"\n"


def _part(file: Path) -> Part:
    with file.open("rb") as opened:
        return Part(file.stat().st_size, hashlib.file_digest(opened, "sha256").hexdigest())


def _copied(file: Path, target: Path) -> Part:
    """Copy a file; returns the bytes that were read."""
    size, hashed = 0, hashlib.sha256()
    with translated(target), target.open("xb") as copy:
        for chunk in _chunks(file):
            size += len(chunk)
            hashed.update(chunk)
            copy.write(chunk)
    return Part(size, hashed.hexdigest())


def _chunks(file: Path) -> Iterator[bytes]:
    """The content of a file of a backup. Errors while reading are about the backup, not about the target of the
    copy."""
    _demand_file(file)
    try:
        with file.open("rb") as source:
            while chunk := source.read(_AT_ONCE):
                yield chunk
    except _ABSENT:
        raise damaged(file, "it is missing") from None
    except OSError as error:
        raise _unreadable(file, error) from error


def _demand_file(file: Path) -> None:
    """A pipe or a device would be read without end."""
    if file.exists() and not file.is_file():
        raise damaged(file, "it is not a file")


def _unreadable(file: Path, error: OSError) -> StoreError:
    return StoreError(
        f"'{file}' of the backup cannot be read: {error.strerror or error}.",
        hint="Let your user read it, check the disk it is on, or use another backup. Nothing was restored.",
    )


def _difference(made: Part | None, found: Part) -> str:
    if made is None:
        return f"{MANIFEST} says nothing"
    if made.bytes != found.bytes:
        return f"it has {found.bytes:,} bytes instead of {made.bytes:,}"
    return f"its SHA-256 is {found.sha256[:16]}… instead of {made.sha256[:16]}…"


def damaged(file: Path, cause: str) -> Tampered:
    return Tampered(f"The backup is damaged, or was changed: of '{file}', {cause}.", hint=_USE_ANOTHER)
