"""The files of a vector space, and what their manifest says of them.

    manifest                what is valid: replaced as a whole, by renaming a finished file over it
    vectors-G.f32           rows of 32-bit floats, only ever appended to
    journal-G.i64           what became of which unit (vectors_entries.py), only ever appended to
    approximate-G-R.index   an approximate index of the first R rows, where one was built
    writer.lock             held by whoever writes

G is the generation. It changes when the rows are written anew without those that are dead. Rows and journal entries
beyond what the manifest counts are the remains of a writer that was stopped, and count for nothing.
"""

import errno
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from clew.edit.replacing import sync_folder
from clew.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly, StoreTooNew

FORMAT = 2
MANIFEST = "manifest"
LOCK = "writer.lock"

Stamp: TypeAlias = tuple[int, int, int] | None
"""Changes with every new manifest; None without one."""


class Approximate(msgspec.Struct, frozen=True):
    file: str
    rows: int
    """It covers the first so many rows."""
    checksum: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    format: int = FORMAT
    name: str
    dimensions: int
    generation: int = 0
    rows: int = 0
    entries: int = 0
    """Of the journal."""
    journal_checksum: int = 0
    block_checksums: bytes = b""
    """An unsigned 64-bit number for each block of rows."""
    approximate: Approximate | None = None

    def continues(self, earlier: "Manifest") -> bool:
        """Whether the earlier one counted the beginning of what this one counts."""
        return self.generation == earlier.generation and self.rows >= earlier.rows and self.entries >= earlier.entries

    @property
    def vectors_file(self) -> str:
        return f"vectors-{self.generation}.f32"

    @property
    def journal_file(self) -> str:
        return f"journal-{self.generation}.i64"


def read_manifest(folder: Path) -> Manifest | None:
    """None where nothing was ever written."""
    try:
        content = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{folder / MANIFEST} cannot be read: {error}.", hint="Check its permissions.") from error
    body, _, checksum = content.rpartition(b"\n")
    if checksum != _checksum(body):
        raise damaged(folder, "its manifest does not match its checksum")
    try:
        version = msgspec.json.decode(body, type=_Version).format
        if version > FORMAT:
            raise StoreTooNew(
                f"The vectors in {folder} have the format {version}; this Clew knows {FORMAT}.",
                hint="Use a newer Clew.",
            )
        return msgspec.json.decode(body, type=Manifest)
    except msgspec.DecodeError as error:
        raise damaged(folder, f"its manifest cannot be understood ({error})") from error


class _Version(msgspec.Struct, frozen=True):
    format: int


def write_manifest(folder: Path, manifest: Manifest) -> None:
    body = msgspec.json.encode(manifest)
    temporary = folder / f"{MANIFEST}.new"
    with temporary.open("wb") as file:
        file.write(body + b"\n" + _checksum(body))
        sync(file)
    temporary.replace(folder / MANIFEST)
    sync_folder(folder)


def stamp(folder: Path) -> Stamp:
    try:
        status = (folder / MANIFEST).stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def append(path: Path, at: int, data: bytes | memoryview) -> None:
    """Write behind the first `at` bytes, over whatever an unfinished writer left there."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.seek(at)
        file.write(data)
        sync(file)


def sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def next_generation(folder: Path) -> int:
    """One that no file here has, whatever the manifest says."""
    taken = [int(path.stem.split("-")[1]) for path in folder.glob("*-*.*") if path.stem.split("-")[1].isdecimal()]
    return max(taken, default=-1) + 1


def remove_all_but(folder: Path, manifest: Manifest) -> None:
    """Delete what the manifest no longer names. Readers who still have it open keep what they have."""
    kept = {manifest.vectors_file, manifest.journal_file}
    if manifest.approximate is not None:
        kept.add(manifest.approximate.file)
    for pattern in ("vectors-*.f32", "journal-*.i64", "approximate-*.index*"):
        for path in folder.glob(pattern):
            if path.name not in kept:
                path.unlink(missing_ok=True)


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """Errors of the file system, as errors of the store."""
    try:
        yield
    except PermissionError as error:
        raise StoreReadOnly(f"{folder} may not be written: {error}.", hint="Check its permissions.") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull(
                f"There is no room for more vectors in {folder}: {error.strerror}.",
                hint="Free some space and try again. What was there before is unharmed.",
            ) from error
        if error.errno == errno.EROFS:
            raise StoreReadOnly(f"{folder} may not be written: {error}.", hint="Check where it lies.") from error
        raise StoreError(f"Writing vectors to {folder} failed: {error}.", hint="Check the disk.") from error


def damaged(folder: Path, cause: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"The vectors in {folder} are damaged: {cause}.",
        hint="They are made from the store: run `clew index`.",
        data={"path": str(folder)},
    )


def busy(folder: Path) -> StoreBusy:
    return StoreBusy(
        f"Another process keeps writing vectors to {folder}.",
        hint="Try again when it has finished. Nothing was written.",
    )


def _checksum(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)
