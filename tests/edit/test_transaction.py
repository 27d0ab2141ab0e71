"""One transaction over files: what it changes, refuses, records and takes back."""

import logging
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest

from clew.edit import journal as journal_module
from clew.edit import locking
from clew.edit.backups import MOST_KEPT
from clew.edit.edits import FileEdit, FolderMove, Inverse, folder_contents
from clew.edit.recovery import COLLECTION, RecordAccess, recover
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import ConfigError, FileChanged, OutsideProject, StoreError
from clew.project import Project
from clew.store.interface import Store
from clew.text.hashing import content_hash

WHY = EditPurpose("test", "ada", {"subject": "files"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, text in {"clew.toml": "", "a.txt": "a", "b.txt": "b", "folder/c.txt": "c"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def store(root: Path, opened: Callable[[Path], Project]) -> Store:
    store = opened(root).store
    assert store is not None
    return store


def texts(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file() and path.relative_to(root).parts[0] != ".clew"]
    return {path.relative_to(root).as_posix(): path.read_text() for path in files}


def every_kind(root: Path) -> list[FileEdit | FolderMove]:
    return [
        FileEdit("a.txt", b"a", b"A"),
        FileEdit("new/deep/made.txt", None, b"made"),
        FileEdit("b.txt", b"b", None),
        FolderMove("folder", "archive/moved", folder_contents(root / "folder")),
    ]


# Verifies: REQ-d00051-E
def test_the_event_holds_who_why_and_the_way_back(root: Path, store: Store) -> None:
    FileTransaction(root, every_kind(root), WHY).commit(store)
    assert texts(root) == {"clew.toml": "", "a.txt": "A", "new/deep/made.txt": "made", "archive/moved/c.txt": "c"}
    (event,) = store.events(collection=COLLECTION)
    assert (event.actor, event.reason, event.after["subject"]) == ("ada", "test", "files")
    assert event.after["moves"] == [["folder", "archive/moved"]]
    inverses = {each.path: each for each in msgspec.convert(event.after["inverse"], list[Inverse])}
    assert inverses["a.txt"].applied(b"A") == b"a"
    assert (inverses["b.txt"].after, inverses["b.txt"].applied(b"")) == (None, b"b")
    assert inverses["new/deep/made.txt"].made


# Verifies: REQ-o00022-B
@pytest.mark.parametrize("path", ["b.txt", "new/deep/made.txt", "folder/c.txt", "folder/unseen.txt", "archive/moved"])
def test_a_file_that_somebody_changed_stops_everything(root: Path, store: Store, path: str) -> None:
    steps = every_kind(root)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("theirs")
    before = texts(root)
    with pytest.raises(FileChanged, match=path):
        FileTransaction(root, steps, WHY).commit(store)
    assert texts(root) == before
    assert store.count(COLLECTION) == 0


class Refusing:
    """A store that cannot commit."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def transaction(self, **arguments: Any) -> AbstractContextManager[RecordAccess]:
        from contextlib import contextmanager

        @contextmanager
        def failing() -> Any:
            with self._store.transaction(**arguments) as records:
                yield records
                raise StoreError("No space.", hint="Free some.")

        return failing()


# Verifies: REQ-d00048-D
def test_what_cannot_be_recorded_is_taken_back_with_permissions_and_folders(root: Path, store: Store) -> None:
    (root / "b.txt").chmod(0o600)
    before = texts(root)
    with pytest.raises(StoreError, match="No space"):
        FileTransaction(root, every_kind(root), WHY).commit(Refusing(store))
    assert texts(root) == before
    assert stat.S_IMODE((root / "b.txt").stat().st_mode) == 0o600
    assert not (root / "new").exists()
    assert not (root / "archive").exists()
    assert list((root / ".clew").glob(".*-journal")) == []


# Verifies: REQ-d00048-D
def test_what_is_completed_without_a_store_is_recorded_by_the_next_who_has_one(root: Path, store: Store) -> None:
    files = FileTransaction(root, every_kind(root), WHY)
    files.prepare()
    files.release()
    recover(root, None)
    assert texts(root)["a.txt"] == "A"
    (root / "a.txt").write_text("edited since")
    recover(root, store)
    assert [record.id for record in store.scan(COLLECTION)] == [files.id]
    assert texts(root)["a.txt"] == "edited since"
    assert list((root / ".clew").glob(".*-journal")) == []


# Verifies: REQ-d00048-D
def test_the_transaction_of_a_living_process_is_left_alone(root: Path, store: Store) -> None:
    files = FileTransaction(root, every_kind(root), WHY)
    files.prepare()
    recover(root, store)
    assert texts(root)["a.txt"] == "a"
    files.carry_out()
    files.finish()
    assert texts(root)["a.txt"] == "A"


def test_a_journal_that_came_with_a_copied_project_is_ignored(
    root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever clones a project must not have files changed by what lies in it."""
    files = FileTransaction(root, every_kind(root))
    files.prepare()
    files.release()
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    before = texts(copy)
    with caplog.at_level(logging.WARNING):
        recover(copy, None)
    assert texts(copy) == before
    assert "your key did not sign it" in caplog.text


# Verifies: REQ-d00624-A+C
def test_journals_that_came_along_are_not_read_and_named_once(root: Path) -> None:
    for number in range(40):
        (root / f".{number:032x}.clew-journal").write_bytes(b"short\n" if number % 2 else b"x" * 100 + b"\n")
    (root / ".clew").mkdir(exist_ok=True)
    with (root / ".clew" / f".{99:032x}.clew-journal").open("wb") as huge:
        huge.truncate(1 << 40)
    (said,) = recover(root, None)
    assert "40 other journals" in said
    assert len(list(root.glob(".*.clew-journal"))) == 40


@pytest.mark.parametrize("path", ["link/a.txt", "../outside/a.txt", "."])
def test_nothing_outside_of_the_root_is_written(root: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(OutsideProject):
        FileTransaction(root, [FileEdit("a.txt", b"a", b"A"), FileEdit(path, None, b"x")]).commit()
    assert list((tmp_path / "outside").iterdir()) == []
    assert (root / "a.txt").read_text() == "a"


def test_a_link_stays_a_link_and_its_file_is_replaced(root: Path) -> None:
    (root / "link.txt").symlink_to("a.txt")
    FileTransaction(root, [FileEdit("link.txt", b"a", b"A")]).commit()
    assert (root / "link.txt").is_symlink()
    assert (root / "a.txt").read_text() == "A"


def test_without_a_store_a_copy_of_what_is_replaced_is_kept(root: Path) -> None:
    FileTransaction(root, [FileEdit("a.txt", b"a", b"A"), FileEdit("n.txt", None, b"n")]).commit()
    (copy,) = (root / ".clew" / "backups").iterdir()
    assert (copy.name.startswith("a.txt."), copy.read_bytes()) == (True, b"a")
    FileTransaction(root / "folder", [FileEdit("c.txt", b"c", b"C")], in_project=False).commit()
    assert sorted(path.read_text() for path in (root / "folder").iterdir()) == ["C", "c"]


# Verifies: REQ-d00246-D
def test_of_each_file_the_latest_copies_are_kept(root: Path) -> None:
    contents = [str(number).encode() for number in range(MOST_KEPT + 5)]
    for number, (before, after) in enumerate(pairwise([b"a", *contents])):
        FileTransaction(root, [FileEdit("a.txt", before, after)]).commit()
        (copy,) = (root / ".clew" / "backups").glob(f"a.txt.{content_hash(before)[:12]}.*")
        os.utime(copy, (number, number))
    FileTransaction(root, [FileEdit("b.txt", b"b", b"B")]).commit()
    copies = sorted((root / ".clew" / "backups").glob("a.txt.*"), key=lambda copy: copy.stat().st_mtime)
    assert [copy.read_bytes() for copy in copies] == contents[-MOST_KEPT - 1 : -1]
    assert len(list((root / ".clew" / "backups").glob("b.txt.*"))) == 1


# Verifies: REQ-d00268-B
def test_a_transaction_over_many_files_of_one_name_keeps_a_copy_of_each(root: Path) -> None:
    paths = [f"change{number:02}/spec.md" for number in range(MOST_KEPT + 5)]
    for path in paths:
        (root / path).parent.mkdir()
        (root / path).write_bytes(path.encode())
    FileTransaction(root, [FileEdit(path, path.encode(), b"new") for path in paths]).commit()
    copies = (root / ".clew" / "backups").rglob("*.clew-backup")
    assert sorted(copy.read_bytes().decode() for copy in copies) == paths


# Verifies: REQ-d00268-B
def test_the_copy_made_last_stays_even_where_it_seems_to_be_the_oldest(root: Path) -> None:
    for number, (before, after) in enumerate(pairwise([b"a", *(str(each).encode() for each in range(MOST_KEPT + 2))])):
        FileTransaction(root, [FileEdit("a.txt", before, after)]).commit()
        (copy,) = (root / ".clew" / "backups").glob(f"a.txt.{content_hash(before)[:12]}.*")
        # As if the clock had been far ahead at first.
        os.utime(copy, (4_000_000_000 - number, 4_000_000_000 - number))
    assert len(list((root / ".clew" / "backups").iterdir())) == MOST_KEPT


def test_a_copy_is_as_private_as_the_file(root: Path) -> None:
    (root / "a.txt").chmod(0o600)
    FileTransaction(root, [FileEdit("a.txt", b"a", b"A")]).commit()
    (copy,) = (root / ".clew" / "backups").iterdir()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert (root / ".clew" / ".gitignore").read_text() == "*\n"


class Names:
    """Notes in which folders names changed since the folder was synced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.unsynced: dict[tuple[int, int], Path] = {}
        real = os.fsync
        for name in ("mkdir", "rename", "replace", "unlink", "rmdir"):
            monkeypatch.setattr(Path, name, self._noting(getattr(Path, name)))

        def fsync(descriptor: int) -> None:
            real(descriptor)
            status = os.fstat(descriptor)
            self.unsynced.pop((status.st_dev, status.st_ino), None)

        monkeypatch.setattr(os, "fsync", fsync)

    def _noting(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def noting(place: Path, *args: Any, **options: Any) -> Any:
            paths = (place, *(each for each in args if isinstance(each, Path)))
            inodes = [path.stat().st_ino if path.exists() else None for path in paths]
            result = work(place, *args, **options)
            for path, inode in zip(paths, inodes, strict=True):
                if inode != (path.stat().st_ino if path.exists() else None) and not path.name.endswith("-journal"):
                    status = path.parent.stat()
                    self.unsynced[status.st_dev, status.st_ino] = path.parent
            return result

        return noting


# Verifies: REQ-d00246-B
@pytest.mark.parametrize("recorded", [True, False])
def test_every_folder_in_which_a_name_changed_is_synced(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    (root / "old" / "deep").mkdir(parents=True)
    (root / "old" / "deep" / "removed.txt").write_bytes(b"x")
    steps = [*every_kind(root), FileEdit("old/deep/removed.txt", b"x", None, prune=".")]
    names = Names(monkeypatch)
    FileTransaction(root, steps, WHY if recorded else None).commit(store if recorded else None)
    assert [folder for folder in names.unsynced.values() if folder.exists()] == []
    assert not (root / "old").exists()


# Verifies: REQ-d00246-B
def test_a_transaction_that_is_done_stays_done_when_the_machine_dies(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The removal of the journal may be lost, but not that the transaction was done: what was edited since stays."""
    synced: dict[str, bytes] = {}
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        for journal in root.glob(".*-journal"):
            if os.path.samestat(journal.stat(), os.fstat(descriptor)):
                synced["journal"] = journal.read_bytes()

    monkeypatch.setattr(os, "fsync", fsync)
    FileTransaction(root, [FileEdit("a.txt", b"a", b"A"), FileEdit("b.txt", b"b", b"B")], backups=False).commit()
    assert synced["journal"].endswith(b"\ndone\n")


def test_a_folder_in_the_way_of_a_file_is_an_error_and_nothing_is_written(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"a\.txt/below\.txt"):
        FileTransaction(root, [FileEdit("b.txt", b"b", b"B"), FileEdit("a.txt/below.txt", None, b"x")]).commit()
    assert (root / "b.txt").read_text() == "b"


# Verifies: REQ-d00048-D
def test_a_transaction_begins_though_others_look_for_interrupted_ones_in_that_moment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def locked(file: IO[bytes], patience: float) -> AbstractContextManager[bool]:
        if len(looked) < 3:
            # The journal is there, and nobody holds it yet.
            looked.extend(place.name for place in root.glob(".*.clew-journal"))
            monkeypatch.setattr(journal_module, "locked", locking.locked)
            assert recover(root, None) == ()
            monkeypatch.setattr(journal_module, "locked", locked)
        return locking.locked(file, patience)

    monkeypatch.setattr(journal_module, "locked", locked)
    FileTransaction(root, [FileEdit("a.txt", b"a", b"A")], in_project=False, backups=False).commit()
    # Whoever took one away may try to remove its name once more: that of the next is another.
    assert len(set(looked)) == len(looked) == 3
    assert texts(root)["a.txt"] == "A"
    assert not any(root.glob(".*.clew-journal"))


# Verifies: REQ-d00048-D
def test_a_recorded_transaction_is_over_though_the_end_of_its_journal_was_lost(root: Path, store: Store) -> None:
    files = FileTransaction(root, every_kind(root), WHY)
    with store.transaction(actor="ada", reason="test") as records:
        files.prepare()
        (journal,) = (root / ".clew").glob(".*-journal")
        prepared = journal.stat().st_size
        files.carry_out()
        files.record(records)
    files.release()
    os.truncate(journal, prepared)
    (root / "a.txt").write_text("edited since")
    after = texts(root)
    recover(root, store)
    assert texts(root) == after
    assert not journal.exists()
