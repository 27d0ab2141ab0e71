"""A backup is restored as it was written to the last byte, or not at all."""

import errno
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.errors import ClewError, NewerFormat, NotFound, StoreBusy, StoreError, StoreTooNew, Tampered
from clew.memory.storage.moving import Opener, StoreLocation, keep, restore
from clew.project import Project
from clew.store.backups import MANIFEST, Manifest, seal
from clew.store.restoring import delete_leftover, private_folder
from clew.store.sqlite.engine import open_sqlite
from clew.store.transfer import content
from clew.text.database_address import Address

FILES = (MANIFEST, "project.db", "memory.db")
_EVERY = 97
"""Of the bytes of a file of SQLite, one in so many is changed; a prime, so that all places within a page are met."""


def files(folder: Path) -> Opener:
    def opened(stack: ExitStack) -> StoreLocation:
        project, memory = (stack.enter_context(closing(open_sqlite(folder / name))) for name in ("p.db", "m.db"))
        return StoreLocation(str(folder), project, memory)

    return opened


def fill(store: Any, collection: str, number: int = 12) -> None:
    for each in range(number):
        with store.transaction(actor="ada", reason=f"because {each}") as transaction:
            transaction.put(collection, f"n{each % 5}", {"text": f"é {each}", "half": each / 2})
            if each % 5 == 3:
                transaction.delete(collection, f"n{each % 5}")


def unopened(_: ExitStack) -> StoreLocation:
    raise AssertionError("The place was opened before the backup was verified.")


def quiet(_: str, __: int) -> None:
    pass


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a backup of two small stores."""
    with ExitStack() as stack:
        here = files(tmp_path / "here")(stack)
        fill(here.project, "link_decisions")
        fill(here.memory, "notes")
        here.memory.setting("repository", b"the one that this is")
    keep(files(tmp_path / "here"), tmp_path / "kept", quiet)
    return tmp_path / "kept"


def flips(data: bytes, *, every: int) -> Iterator[bytes]:
    """The bytes with one bit of them changed, each time another one."""
    for place in range(0, len(data), every):
        yield data[:place] + bytes((data[place] ^ 1 << place // every % 8,)) + data[place + 1 :]


# Verifies: REQ-d00482-F
@pytest.mark.parametrize("name", FILES[1:])
def test_a_backup_that_somebody_reads_meanwhile_is_refused_and_completed_later(tmp_path: Path, name: str) -> None:
    here, folder = tmp_path / "here", tmp_path / "kept"
    with ExitStack() as stack:
        place = files(here)(stack)
        fill(place.project, "link_decisions", 60)
        fill(place.memory, "notes", 60)
    readers: list[sqlite3.Connection] = []

    def look(_: str, __: int) -> None:
        if not readers:
            readers.append(sqlite3.connect(folder / name, isolation_level=None))
            readers[0].execute("BEGIN")
            readers[0].execute("SELECT count(*) FROM sqlite_master").fetchone()

    with pytest.raises(StoreBusy, match=name.replace(".", r"\.")) as refusal:
        keep(files(here), folder, look, patience=0)
    assert "run the command again" in refusal.value.hint
    assert not (folder / MANIFEST).exists()
    with pytest.raises(NotFound):
        restore(folder, unopened, quiet, tmp_path)
    readers[0].close()
    keep(files(here), folder, quiet, patience=0)
    assert sorted(file.name for file in folder.iterdir()) == sorted(FILES)
    restore(folder, files(tmp_path / "there"), quiet, tmp_path)
    with ExitStack() as stack:
        first, second = files(here)(stack), files(tmp_path / "there")(stack)
        assert content(first.project) == content(second.project)
        assert content(first.memory) == content(second.memory)


# Verifies: REQ-d00482-F
@pytest.mark.parametrize("name", FILES[1:])
def test_a_reader_of_a_backup_makes_no_log_beside_it(kept: Path, name: str) -> None:
    with closing(sqlite3.connect(kept / name)) as reader:
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (14,)
        assert sorted(file.name for file in kept.iterdir()) == sorted(FILES)


# Verifies: REQ-d00482-F
def test_a_backup_may_be_named_from_where_one_is(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kept.parent)
    keep(files(Path("here")), Path("again"), quiet)
    assert sorted(file.name for file in Path("again").iterdir()) == sorted(FILES)


# Verifies: REQ-d00482-F
def test_a_file_with_a_log_beside_it_is_not_sealed(kept: Path) -> None:
    made = msgspec.json.decode((kept / MANIFEST).read_bytes(), type=Manifest)
    (kept / MANIFEST).unlink()
    (kept / "memory.db-wal").write_bytes(b"a write")
    with pytest.raises(StoreBusy, match=r"memory\.db"):
        seal(kept, FILES[1:], made.project, made.memory)
    assert not (kept / MANIFEST).exists()


# Verifies: REQ-d00482-C
@pytest.mark.parametrize("name", FILES[1:])
def test_a_backup_whose_files_hold_something_else_than_was_copied_is_refused(kept: Path, name: str) -> None:
    """As one is that was sealed while what was copied still lay in a log."""
    made = msgspec.json.decode((kept / MANIFEST).read_bytes(), type=Manifest)
    (kept / name).unlink()
    open_sqlite(kept / name).close()
    seal(kept, FILES[1:], made.project, made.memory)
    with pytest.raises(Tampered, match=r"content is not what manifest\.json says") as refusal:
        restore(kept, unopened, quiet, kept.parent)
    assert name in refusal.value.message


# Verifies: REQ-d00482-D
@pytest.mark.parametrize("name", FILES[1:])
def test_a_backup_of_a_newer_clew_is_not_taken_for_a_damaged_one(kept: Path, name: str) -> None:
    made = msgspec.json.decode((kept / MANIFEST).read_bytes(), type=Manifest)
    with closing(sqlite3.connect(kept / name)) as newer:
        newer.execute("PRAGMA user_version = 99")
    seal(kept, FILES[1:], made.project, made.memory)
    with pytest.raises(StoreTooNew, match=rf"{kept / name} has schema version 99") as refusal:
        restore(kept, unopened, quiet, kept.parent)
    assert "Update Clew" in refusal.value.hint


# Verifies: REQ-d00482-E
@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited here")
def test_a_disk_without_room_for_the_copy_is_not_taken_for_damage(kept: Path, pytestconfig: pytest.Config) -> None:
    command = [sys.executable, "-c", _NO_ROOM, str(kept.parent)]
    done = subprocess.run(command, cwd=pytestconfig.rootpath, check=False, capture_output=True, text=True)
    assert done.stdout.startswith("StoreFull"), done.stdout + done.stderr


# Verifies: REQ-d00482-C
@pytest.mark.parametrize("name", FILES)
def test_a_backup_with_one_changed_bit_is_refused_wherever_it_is(kept: Path, name: str) -> None:
    written = (kept / name).read_bytes()
    tried = 0
    for changed in flips(written, every=1 if name == MANIFEST else _EVERY):
        (kept / name).write_bytes(changed)
        with pytest.raises((Tampered, NewerFormat)) as refusal:
            restore(kept, unopened, quiet, kept.parent)
        assert name in refusal.value.message
        assert "another backup" in refusal.value.hint
        tried += 1
    assert tried > 300


# Verifies: REQ-d00482-C
def test_every_bit_of_a_manifest_counts(kept: Path) -> None:
    manifest = kept / MANIFEST
    written = manifest.read_bytes()
    for place in range(len(written)):
        for bit in range(8):
            manifest.write_bytes(written[:place] + bytes((written[place] ^ 1 << bit,)) + written[place + 1 :])
            with pytest.raises((Tampered, NewerFormat)):
                restore(kept, unopened, quiet, kept.parent)


# Verifies: REQ-d00482-C
def test_a_setting_that_was_changed_is_noticed(kept: Path) -> None:
    memory = kept / "memory.db"
    data = memory.read_bytes()
    assert data.count(b"the one that this is") == 1
    memory.write_bytes(data.replace(b"the one that this is", b"the one that that is"))
    with pytest.raises(Tampered, match=r"memory\.db"):
        restore(kept, unopened, quiet, kept.parent)


# Verifies: REQ-d00482-C
@pytest.mark.parametrize("name", FILES)
def test_a_backup_that_lacks_bytes_or_has_more_is_refused(kept: Path, name: str) -> None:
    written = (kept / name).read_bytes()
    shorter = [written[:size] for size in (0, 1, len(written) // 2, len(written) - 1)]
    for changed in (*shorter, written + b"\0", written + b"\n", written + written):
        (kept / name).write_bytes(changed)
        with pytest.raises(Tampered, match=name.replace(".", r"\.")):
            restore(kept, unopened, quiet, kept.parent)
    (kept / name).unlink()
    with pytest.raises((Tampered, NotFound), match=name.replace(".", r"\.")):
        restore(kept, unopened, quiet, kept.parent)


# Verifies: REQ-d00482-C
def test_parts_that_were_exchanged_are_noticed(kept: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        fill(files(tmp_path / "here")(stack).memory, "notes", 3)
    keep(files(tmp_path / "here"), tmp_path / "later", quiet)
    for name in FILES:
        mixed = Path(shutil.copytree(kept, tmp_path / f"mixed-{name}"))
        shutil.copyfile(tmp_path / "later" / name, mixed / name)
        if (mixed / name).read_bytes() != (kept / name).read_bytes():
            with pytest.raises(Tampered):
                restore(mixed, unopened, quiet, tmp_path)
    (kept / "project.db").rename(kept / "x")
    (kept / "memory.db").rename(kept / "project.db")
    (kept / "x").rename(kept / "memory.db")
    with pytest.raises(Tampered):
        restore(kept, unopened, quiet, kept.parent)


# Verifies: REQ-d00482-C
def test_a_restore_leaves_the_backup_as_it_is(kept: Path, tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in kept.iterdir()}
    for target in ("first", "second"):
        assert restore(kept, files(tmp_path / target), quiet, tmp_path).notes == ()
        with ExitStack() as stack:
            here, there = files(tmp_path / "here")(stack), files(tmp_path / target)(stack)
            assert content(here.memory) == content(there.memory)
            assert there.memory.found_setting("repository") == b"the one that this is"
    assert {file.name: file.read_bytes() for file in kept.iterdir()} == before


# Verifies: REQ-d00482-C
def test_a_backup_without_checksums_is_restored_with_a_note(kept: Path, tmp_path: Path) -> None:
    manifest = json.loads((kept / MANIFEST).read_bytes())
    older = {name: manifest[name] for name in ("project", "memory")}
    (kept / MANIFEST).write_text(json.dumps(older), encoding="utf-8")
    (note,) = restore(kept, files(tmp_path / "there"), quiet, tmp_path).notes
    assert "no checksums" in note
    with ExitStack() as stack:
        here, there = files(tmp_path / "here")(stack), files(tmp_path / "there")(stack)
        assert (content(here.project), content(here.memory)) == (content(there.project), content(there.memory))
    data = (kept / "memory.db").read_bytes()
    (kept / "memory.db").write_bytes(data.replace(b"because 3", b"because 4"))
    with pytest.raises(Tampered, match="kept"):
        restore(kept, unopened, quiet, kept.parent)
    (kept / "memory.db").write_bytes(b"\xff" * 5000)
    with pytest.raises(Tampered) as refusal:
        restore(kept, unopened, quiet, kept.parent)
    assert str(kept) in refusal.value.message
    (kept / MANIFEST).write_text(json.dumps({**manifest, "version": 3}), encoding="utf-8")
    with pytest.raises(NewerFormat, match="format 3"):
        restore(kept, unopened, quiet, kept.parent)


_NO_ROOM = """
import resource, sys
from pathlib import Path
from clew.errors import ClewError
from clew.memory.storage import moving
from tests.store.test_backups import quiet, unopened

place, backup = Path(sys.argv[1]), moving.backup
def filled_up(name, folder):
    # The files were copied, and no other byte can be written.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return backup(name, folder)
moving.backup = filled_up
try:
    moving.restore(place / "kept", unopened, quiet, place)
except ClewError as error:
    print(type(error).__name__, error)
"""
_KILLED = """
import os, signal, sys
from pathlib import Path
from tests.store.test_backups import files, restore

place = Path(sys.argv[1])
restore(place / "kept", files(place / "there"), lambda *_: os.kill(os.getpid(), signal.SIGTERM), place / "project")
"""


# Verifies: REQ-d00482-E
def test_a_killed_restore_leaves_a_private_copy_that_the_next_start_deletes(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], cwd=pytestconfig.rootpath, check=False)
    assert killed.returncode == -signal.SIGTERM
    assert list((tmp_path / "temporary").iterdir()) == []
    left = tmp_path / "project" / ".clew" / "restoring"
    assert (left / "memory.db").read_bytes().startswith(b"SQLite")
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    with closing(Project.open(tmp_path / "project")) as project:
        assert project.context.store is not None
        assert not left.exists()
        assert restore(kept, files(tmp_path / "there"), quiet, tmp_path / "project").memory.content.events
        assert not left.exists()


# Verifies: REQ-d00482-E
def test_the_copy_of_a_restore_that_is_under_way_stays(kept: Path, tmp_path: Path) -> None:
    with private_folder(tmp_path) as place:
        (place / "memory.db").write_bytes(b"kestrel")
        assert not delete_leftover(tmp_path / ".clew")
        with pytest.raises(StoreBusy, match="Another process restores"):
            restore(kept, unopened, quiet, tmp_path)
        assert (place / "memory.db").exists()
    assert not place.exists()
    # A link that came with a project leads nowhere.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.symlink_to(elsewhere)
    (elsewhere / "file").write_text("stays", encoding="utf-8")
    assert delete_leftover(tmp_path / ".clew")
    assert not place.is_symlink()
    assert (elsewhere / "file").exists()


# Verifies: REQ-d00482-E
def test_what_a_killed_restore_left_goes_also_where_its_lock_is_gone(tmp_path: Path) -> None:
    state = tmp_path / ".clew"
    (state / "restoring").mkdir(parents=True)
    (state / "restoring" / "memory.db").write_bytes(b"kestrel")
    assert delete_leftover(state)
    assert not (state / "restoring").exists()
    # A lock that came with a project and leads elsewhere makes no file there.
    (state / "restoring.lock").unlink()
    (state / "restoring.lock").symlink_to(tmp_path / "elsewhere")
    (state / "restoring").mkdir()
    assert not delete_leftover(state)
    assert not (tmp_path / "elsewhere").exists()


_UNREADABLE = Path("/proc/self/mem")
"""To read it from its beginning is an input/output error, for everybody."""


# Verifies: REQ-d00482-E
@pytest.mark.skipif(not _UNREADABLE.exists(), reason="no file here is known to be unreadable")
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_backup_that_cannot_be_read_is_named_with_the_reason(kept: Path, tmp_path: Path, name: str) -> None:
    (kept / name).unlink()
    (kept / name).symlink_to(_UNREADABLE)
    with pytest.raises(StoreError) as refusal:
        restore(kept, unopened, quiet, tmp_path)
    assert (type(refusal.value), refusal.value.code) == (StoreError, StoreError.code)
    assert refusal.value.message == f"'{kept / name}' of the backup cannot be read: {os.strerror(errno.EIO)}."
    assert "another backup" in refusal.value.hint
    assert not (tmp_path / ".clew" / "restoring").exists()


_CONFINED = """
import resource, signal, sys
from pathlib import Path
from tests.store.test_backups import quiet, restore, unopened

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    restore(Path(sys.argv[1]), unopened, quiet, Path(sys.argv[2]))
except Exception as error:
    print(error.code, error)
"""


# Verifies: REQ-d00482-E
@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of a file's size")
def test_a_copy_that_cannot_be_written_is_named_with_the_reason(
    kept: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    command = [sys.executable, "-c", _CONFINED, str(kept), str(tmp_path)]
    done = subprocess.run(command, cwd=pytestconfig.rootpath, check=True, capture_output=True, text=True)
    copy = tmp_path / ".clew" / "restoring" / "project.db"
    assert done.stdout.startswith(f"store_full {copy} cannot be written: {os.strerror(errno.EFBIG)}. Free some space.")
    assert not copy.parent.exists()


# Verifies: REQ-d00482-C
def test_a_backup_of_a_database_is_verified_in_the_same_way(database: str, tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    from clew.store.postgres.engine import open_postgres

    def team(schema: str) -> Opener:
        def opened(stack: ExitStack) -> StoreLocation:
            store = stack.enter_context(closing(open_postgres(Address(database), schema, create=True)))
            return StoreLocation(schema, store, store, is_team=True)

        return opened

    with ExitStack() as stack:
        fill(team("clew_one")(stack).memory, "notes")
    keep(team("clew_one"), tmp_path / "kept", quiet)
    for name in FILES:
        written = (tmp_path / "kept" / name).read_bytes()
        for changed in flips(written, every=len(written) // 20):
            (tmp_path / "kept" / name).write_bytes(changed)
            with pytest.raises(ClewError):
                restore(tmp_path / "kept", unopened, quiet, tmp_path)
        (tmp_path / "kept" / name).write_bytes(written)
    restore(tmp_path / "kept", team("clew_two"), quiet, tmp_path)
    with ExitStack() as stack:
        assert content(team("clew_one")(stack).memory) == content(team("clew_two")(stack).memory)


# Verifies: REQ-d00672-A
def test_a_backup_is_for_its_user_alone_also_in_a_folder_that_others_may_enter(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    # What an interrupted backup of an earlier version left.
    open_sqlite(folder / FILES[1]).close()
    (folder / FILES[1]).chmod(0o644)
    keep(files(tmp_path / "here"), folder, quiet)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == dict.fromkeys(FILES, 0o600)


# Verifies: REQ-d00672-A
@pytest.mark.parametrize("name", FILES)
def test_a_backup_is_written_through_no_link(kept: Path, tmp_path: Path, name: str) -> None:
    folder, elsewhere = tmp_path / "linked", tmp_path / "elsewhere.db"
    folder.mkdir()
    open_sqlite(elsewhere).close()
    before = elsewhere.read_bytes()
    (folder / name).symlink_to(elsewhere)
    with pytest.raises(ClewError, match=r"is a link|holds a backup already"):
        keep(files(tmp_path / "here"), folder, quiet)
    assert elsewhere.read_bytes() == before
    assert [file.name for file in folder.iterdir()] == [name]
