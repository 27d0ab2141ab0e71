"""A backup is restored as it was written to the last byte, or not at all."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from clew.errors import ClewError, NewerFormat, NotFound, Tampered
from clew.memory.storage.moving import Opener, Place, keep, restore
from clew.store.backups import MANIFEST
from clew.store.sqlite.engine import open_sqlite
from clew.store.transfer import content
from clew.text.database_address import Address

FILES = (MANIFEST, "project.db", "memory.db")
_EVERY = 97
"""Of the bytes of a file of SQLite, one in so many is changed; a prime, so that all places within a page are met."""


def files(folder: Path) -> Opener:
    def opened(stack: ExitStack) -> Place:
        project, memory = (stack.enter_context(closing(open_sqlite(folder / name))) for name in ("p.db", "m.db"))
        return Place(str(folder), project, memory)

    return opened


def fill(store: Any, collection: str, number: int = 12) -> None:
    for each in range(number):
        with store.transaction(actor="ada", reason=f"because {each}") as transaction:
            transaction.put(collection, f"n{each % 5}", {"text": f"é {each}", "half": each / 2})
            if each % 5 == 3:
                transaction.delete(collection, f"n{each % 5}")


def unopened(_: ExitStack) -> Place:
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


# Verifies: REQ-d00482-C
@pytest.mark.parametrize("name", FILES)
def test_a_backup_with_one_changed_bit_is_refused_wherever_it_is(kept: Path, name: str) -> None:
    written = (kept / name).read_bytes()
    tried = 0
    for changed in flips(written, every=1 if name == MANIFEST else _EVERY):
        (kept / name).write_bytes(changed)
        with pytest.raises((Tampered, NewerFormat)) as refusal:
            restore(kept, unopened, quiet)
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
                restore(kept, unopened, quiet)


# Verifies: REQ-d00482-C
def test_a_setting_that_was_changed_is_noticed(kept: Path) -> None:
    memory = kept / "memory.db"
    data = memory.read_bytes()
    assert data.count(b"the one that this is") == 1
    memory.write_bytes(data.replace(b"the one that this is", b"the one that that is"))
    with pytest.raises(Tampered, match=r"memory\.db"):
        restore(kept, unopened, quiet)


# Verifies: REQ-d00482-C
@pytest.mark.parametrize("name", FILES)
def test_a_backup_that_lacks_bytes_or_has_more_is_refused(kept: Path, name: str) -> None:
    written = (kept / name).read_bytes()
    shorter = [written[:size] for size in (0, 1, len(written) // 2, len(written) - 1)]
    for changed in (*shorter, written + b"\0", written + b"\n", written + written):
        (kept / name).write_bytes(changed)
        with pytest.raises(Tampered, match=name.replace(".", r"\.")):
            restore(kept, unopened, quiet)
    (kept / name).unlink()
    with pytest.raises((Tampered, NotFound), match=name.replace(".", r"\.")):
        restore(kept, unopened, quiet)


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
                restore(mixed, unopened, quiet)
    (kept / "project.db").rename(kept / "x")
    (kept / "memory.db").rename(kept / "project.db")
    (kept / "x").rename(kept / "memory.db")
    with pytest.raises(Tampered):
        restore(kept, unopened, quiet)


# Verifies: REQ-d00482-C
def test_a_restore_leaves_the_backup_as_it_is(kept: Path, tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in kept.iterdir()}
    for target in ("first", "second"):
        assert restore(kept, files(tmp_path / target), quiet).notes == ()
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
    (note,) = restore(kept, files(tmp_path / "there"), quiet).notes
    assert "no checksums" in note
    with ExitStack() as stack:
        here, there = files(tmp_path / "here")(stack), files(tmp_path / "there")(stack)
        assert (content(here.project), content(here.memory)) == (content(there.project), content(there.memory))
    data = (kept / "memory.db").read_bytes()
    (kept / "memory.db").write_bytes(data.replace(b"because 3", b"because 4"))
    with pytest.raises(Tampered, match="kept"):
        restore(kept, unopened, quiet)
    (kept / "memory.db").write_bytes(b"\xff" * 5000)
    with pytest.raises(Tampered) as refusal:
        restore(kept, unopened, quiet)
    assert str(kept) in refusal.value.message
    (kept / MANIFEST).write_text(json.dumps({**manifest, "version": 3}), encoding="utf-8")
    with pytest.raises(NewerFormat, match="format 3"):
        restore(kept, unopened, quiet)


# Verifies: REQ-d00482-C
def test_a_backup_of_a_database_is_verified_in_the_same_way(database: str, tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    from clew.store.postgres.engine import open_postgres

    def team(schema: str) -> Opener:
        def opened(stack: ExitStack) -> Place:
            store = stack.enter_context(closing(open_postgres(Address(database), schema, create=True)))
            return Place(schema, store, store, is_team=True)

        return opened

    with ExitStack() as stack:
        fill(team("clew_one")(stack).memory, "notes")
    keep(team("clew_one"), tmp_path / "kept", quiet)
    for name in FILES:
        written = (tmp_path / "kept" / name).read_bytes()
        for changed in flips(written, every=len(written) // 20):
            (tmp_path / "kept" / name).write_bytes(changed)
            with pytest.raises(ClewError):
                restore(tmp_path / "kept", unopened, quiet)
        (tmp_path / "kept" / name).write_bytes(written)
    restore(tmp_path / "kept", team("clew_two"), quiet)
    with ExitStack() as stack:
        assert content(team("clew_one")(stack).memory) == content(team("clew_two")(stack).memory)
