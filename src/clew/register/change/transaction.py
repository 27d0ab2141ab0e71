"""Transactions: the only way in which a register is written.

A transaction takes the lock that req takes too, completes what a killed writer left, reads the file again, compares it
with what the caller expects, applies the change to a draft, checks that the past was left alone, and writes the files
all or none. Whatever fails on the way, the register is as it was before.

There is one writer at a time over all processes, whether they run Clew or req.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from clew.edit.edits import FileEdit, diff_of
from clew.edit.locking import locked
from clew.edit.replacing import make_folder, replace_file, translated
from clew.errors import (
    AlreadyExists,
    Conflict,
    FormatError,
    InvalidArgument,
    NotFound,
    Refused,
    StoreBusy,
    StoreError,
    StoreReadOnly,
    Tampered,
)
from clew.formats.register.canonical import canonical, digest
from clew.formats.register.envelope import DIRECTORY_TAG, FORMAT_TAG, NOTICE
from clew.formats.register.ids import PREFIX, number_of
from clew.formats.register.model import Register, RegisterLayout, Requirement
from clew.formats.register.single import migrate
from clew.register.change.draft import Author, Draft
from clew.register.change.storage import REPLACED, SINGLE, Files, Storage, storage_at

PATIENCE_SECONDS = 30.0


def lock_file(register: Path) -> Path:
    return register.with_name(f".{register.name}.lock")


@contextmanager
def writing(register: Path, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the register's lock. StoreBusy where another holds it for longer than `patience` seconds."""
    place = lock_file(register)
    try:
        file = place.open("a+b")
    except OSError as error:
        raise StoreReadOnly(
            f"The lock {place} cannot be opened: {error.strerror or error}.",
            hint="Make the folder of the register writable. Nothing was written.",
        ) from error
    with file, locked(file, patience) as held:
        if not held:
            raise StoreBusy(
                f"Another process has held the lock {place} for more than {patience:g} seconds.",
                hint="Try again. If it remains locked, find the program that hangs and end it. Nothing was written.",
                data={"lock": str(place)},
            )
        yield


Result = TypeVar("Result")

MOST_PURPOSE = 500
REPAIRED = "accepted a direct edit of the file"


@dataclass(frozen=True)
class RegisterVersion:
    """A register as it was at one moment."""

    register: Register
    files: Files

    @cached_property
    def version(self) -> str:
        """Changes with every byte of the files."""
        return digest(canonical(sorted(self.files)), *(self.files[path] for path in sorted(self.files)))


@dataclass(frozen=True, slots=True)
class LockedRegister:
    """A register that nobody else can write meanwhile."""

    read: Callable[[], Register]
    keep: Callable[[], Path | None]
    """Leaves it as it is beside its place, and returns where; None where there is none."""
    write: Callable[[Register], None]


class MigrationReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    ok: bool
    migrated: bool
    from_: str = msgspec.field(name="from")
    to: str
    message: str
    backup: str | None = None


class RegisterFile:
    """A register on disk. Safe to use from many threads and many processes."""

    def __init__(
        self,
        place: Path,
        *,
        patience: float = PATIENCE_SECONDS,
        auto_migrate: bool = True,
        layout: RegisterLayout | None = None,
    ) -> None:
        self._storage: Storage = storage_at(place, layout)
        self.place = self._storage.place
        self.layout = self._storage.layout
        self._patience = patience
        self._auto_migrate = auto_migrate
        self._known: RegisterVersion | None = None
        self._reading = threading.Lock()

    def exists(self) -> bool:
        return self._storage.exists()

    def read(self) -> RegisterVersion:
        """The register as it is now. Needs no lock for a single file: a rename shows the old one or the new one. The
        files of a folder change one after another, so they are read once their writer is done."""
        if self._known is None:
            self.remove_leftovers()
        with translated(self.place):
            try:
                if not self._storage.is_interrupted():
                    return self._read()
            except (Tampered, NotFound):
                if self.layout is RegisterLayout.SINGLE or not self.exists():
                    raise
        try:
            with self._locked():
                return self._read()
        except StoreReadOnly:
            # Where nobody can write, nobody is in the middle of writing.
            with translated(self.place):
                return self._read()

    def remove_leftovers(self) -> None:
        """Remove the files that a killed writer left, unless somebody is writing now."""
        if self._storage.has_leftovers():
            with suppress(StoreError, OSError), writing(self.place, 0.0):
                self._storage.recover()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Exclude other writers, and complete the work of a killed one."""
        with translated(self.place), writing(self.place, self._patience):
            self._storage.recover()
            yield

    def _read(self) -> RegisterVersion:
        with self._reading:
            files = self._storage.load()
            known = self._known
            # Files that did not change are the same objects, which costs no comparison.
            if (
                known is None
                or known.files.keys() != files.keys()
                or any(data is not known.files[path] and data != known.files[path] for path, data in files.items())
            ):
                known = self._known = RegisterVersion(self._storage.decode(files), files)
            return known

    def _write(self, register: Register) -> None:
        with self._reading:
            files = self._storage.save(register)
            # What was written need not be read to be known.
            self._known = RegisterVersion(as_written(register), files)

    def transaction(self, author: Author, change: Callable[[Draft], Result], *, expected: str | None = None) -> Result:
        """Carry out a change and return its result, once it is safely on disk. A change without effect writes nothing;
        one that raises changes nothing."""
        if not lock_file(self.place).exists():
            # A file that was locked once stays, so a change that will be refused must not even lock it.
            self._tried(self.read(), author, change, expected)
        with self._locked():
            before = self._read()
            after, result = self._tried(before, author, change, expected)
            if after is not before.register:
                self._back_up(before.register)
                self._write(after)
        return result

    def _tried(
        self, before: RegisterVersion, author: Author, change: Callable[[Draft], Result], expected: str | None
    ) -> tuple[Register, Result]:
        """The register after a change, and the result of the change."""
        if expected is not None and expected != before.version:
            raise Conflict(
                f"{self.place.name} is no longer at the version you saw.",
                hint="Read it again, and repeat the change if it still makes sense.",
                data={"expected": expected, "actual": before.version},
            )
        draft = Draft(before.register, author)
        result = change(draft)
        after = draft.finished()
        if after is not before.register:
            check_succession(before.register, after)
        return after, result

    def difference(self, author: Author, change: Callable[[Draft], object]) -> tuple[str, str]:
        """The difference that a change would make, as a unified diff, and the version on which it is based. Raises the
        errors of the change, and writes nothing."""
        before = self.read()
        draft = Draft(before.register, author)
        change(draft)
        after = self._storage.encode(draft.finished())
        folder = "" if self.layout is RegisterLayout.SINGLE else f"{self.place.name}/"
        names = {path: self.place.name if self.layout is RegisterLayout.SINGLE else f"{folder}{path}" for path in after}
        edits = [FileEdit(names[path], before.files.get(path), after[path]) for path in sorted(after)]
        return diff_of(edits), before.version

    @contextmanager
    def held(self) -> Iterator["LockedRegister"]:
        """Exclude other writers, so that a change of the present register does not lose theirs."""
        with self._locked():
            yield LockedRegister(lambda: self._read().register, lambda: self._storage.keep(REPLACED), self._write)

    def create(self, register: Register, *, force: bool = False) -> Path | None:
        """Create a register, with `force` in place of another. Returns the path of the copy of the former one."""
        if self.exists() and not force:
            raise self._there_is_one()
        with translated(self.place):
            make_folder(self.place.parent)
        with self.held() as held:
            if self.exists() and not force:
                raise self._there_is_one()
            kept = held.keep()
            held.write(register)
        return kept

    def _there_is_one(self) -> AlreadyExists:
        return AlreadyExists(f"{self.place} exists already.", hint="Name another file, or pass --force to replace it.")

    def repair(self, author: Author, check: Callable[[Register], None]) -> Register:
        """Accept a file that was edited by hand: renew its checksum, and note who did. `check` raises for a file that
        should not be accepted. A file that matches its checksum stays as it is."""
        with self._locked():
            files = self._storage.load()
            register = self._storage.decode(files, trusted=True)
            check(register)
            if self._is_whole(files):
                return register
            repaired = msgspec.structs.replace(register, history=(*register.history, author.entry(REPAIRED)))
            self._write(repaired)
            return repaired

    def _is_whole(self, files: Files) -> bool:
        try:
            self._storage.decode(files)
        except Tampered:
            return False
        return True

    def migrate(self) -> MigrationReport:
        """Bring the file to the format of today, keeping the old one beside it."""
        with self._locked():
            if self.layout is RegisterLayout.DIRECTORY:
                tag = self._read().register.format_tag
                return MigrationReport(
                    ok=True, migrated=False, from_=tag, to=tag, message="a directory has one format so far"
                )
            old = self._storage.load()[SINGLE]
            done = migrate(old, self.place.name)
            if done.data is None:
                message = f"already at {done.after}; nothing to do"
                return MigrationReport(ok=True, migrated=False, from_=done.before, to=done.after, message=message)
            backup = self._storage.keep(done.before)
            replace_file(self.place, done.data)
            return MigrationReport(
                ok=True,
                migrated=True,
                from_=done.before,
                to=done.after,
                message=f"migrated from {done.before} to {done.after}",
                backup=str(backup),
            )

    def _back_up(self, before: Register) -> None:
        """Keep a file of an older format before the first write in the newer one."""
        if before.layout is RegisterLayout.DIRECTORY or before.format_tag == FORMAT_TAG:
            return
        if not self._auto_migrate:
            raise FormatError(
                f"{self.place.name} has the older format '{before.format_tag}', and REQ_NO_AUTO_MIGRATE forbids to "
                "write it in the format of today.",
                hint="Run `clew req migrate`, which keeps a backup, or unset the variable.",
            )
        self._storage.keep(before.format_tag)


def as_written(register: Register) -> Register:
    """The register as it is read back after writing: in the current format, with a notice."""
    tag = DIRECTORY_TAG if register.layout is RegisterLayout.DIRECTORY else FORMAT_TAG
    return msgspec.structs.replace(register, format_tag=tag, notice=register.notice or NOTICE)


def check_succession(before: Register, after: Register) -> None:
    """Refuse a change that would rewrite the past: shorten a history, reuse an id, or turn the counter back."""
    if after.history[: len(before.history)] != before.history:
        raise Refused("The register's history would be rewritten.", hint="This is a fault in Clew; please report it.")
    if after.next_id < before.next_id:
        raise Refused("The counter of ids would go back.", hint="This is a fault in Clew; please report it.")
    for id, requirement in after.requirements.items():
        earlier = before.requirements.get(id)
        if earlier is requirement:
            continue
        if fault := _rewritten(id, requirement, earlier, before):
            raise Refused(f"{id}: {fault}", hint="This is a fault in Clew; please report it. Nothing was written.")


def _rewritten(id: str, now: Requirement, earlier: Requirement | None, before: Register) -> str:
    if now.id != id:
        return f"It would stand under another id than {now.id}."
    if earlier is None:
        number = number_of(id)
        reused = id.startswith(PREFIX) and number is not None and number < before.next_id
        return "Its id was given before." if reused else ""
    if now.history[: len(earlier.history)] != earlier.history:
        return "Its history would be rewritten."
    return "Its test records would be rewritten." if now.tests[: len(earlier.tests)] != earlier.tests else ""


def check_purpose(purpose: str) -> None:
    if len(purpose) > MOST_PURPOSE:
        raise InvalidArgument(
            f"The purpose has {len(purpose)} characters; {MOST_PURPOSE} are the most.", hint="Shorten it."
        )


def new_register(
    name: str, author: Author, *, purpose: str | None = None, config: Mapping[str, object] | None = None
) -> Register:
    if not name.strip():
        raise InvalidArgument("A register needs a name.", hint="Name the project.")
    check_purpose(purpose or "")
    return Register(
        name=name,
        created=author.at,
        updated=author.at,
        next_id=1,
        requirements={},
        purpose=purpose,
        config=config,
    )
