"""Folders and files that may not be written: reading works, writing says why not."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unprivileged import is_root

from clew.errors import StoreReadOnly
from clew.store.sqlite.engine import SqliteStore, open_sqlite
from clew.store.sqlite.light_connection import light_connection
from clew.store.sqlite.migrations import MIGRATIONS, SCHEMA_VERSION, migrate

# Verifies: REQ-d00006-D

Confined = Callable[[Path], dict[str, Any]]


def fill(path: Path) -> None:
    with closing(open_sqlite(path)) as store, store.transaction(actor="ada") as transaction:
        transaction.put("notes", "n1", "one")


def assert_readable_but_not_writable(store: SqliteStore) -> None:
    assert [record.data for record in store.scan("notes")] == ["one"]
    assert len(store.events()) == 1
    assert store.describe()["read_only"] is True
    for refused in (
        lambda: store.start_job("index"),
        lambda: store.setting("key", b"default"),
    ):
        with pytest.raises(StoreReadOnly, match="read-only here"):
            refused()
    with pytest.raises(StoreReadOnly), store.transaction(actor="ada"):
        pass


def test_a_store_opened_read_only_can_be_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    fill(path)
    before = path.read_bytes()
    with closing(open_sqlite(path, read_only=True)) as store:
        assert_readable_but_not_writable(store)
    assert path.read_bytes() == before


# Verifies: REQ-d00310-A
def test_a_glance_at_a_store_that_is_locked_does_not_read_past_its_log(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    fill(path)
    with closing(light_connection(path, 0.0)) as reader:
        assert reader.execute("SELECT count(*) FROM records").fetchone() == (1,)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("DELETE FROM jobs")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            light_connection(path, 0.0)


def test_a_read_only_reader_follows_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    fill(path)
    with closing(open_sqlite(path)) as writer, closing(open_sqlite(path, read_only=True)) as reader:
        with writer.transaction(actor="ada") as transaction:
            transaction.put("notes", "n2", "two")
        assert [record.data for record in reader.scan("notes")] == ["one", "two"]


def test_read_only_access_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnly, match="does not exist"):
        open_sqlite(tmp_path / ".clew" / "clew.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_read_only_access_migrates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:1])
    before = path.read_bytes()
    with pytest.raises(StoreReadOnly, match=f"from schema version 1 to {SCHEMA_VERSION}"):
        open_sqlite(path, read_only=True)
    assert path.read_bytes() == before


@pytest.fixture
def as_nobody(pytestconfig: pytest.Config) -> Confined:
    """Use a store as a user without rights."""
    if not is_root():
        pytest.skip("only root can become a user without rights")

    def confined(path: Path) -> dict[str, Any]:
        command = [sys.executable, "-m", "tests.store.confined", "as_nobody", str(path)]
        answer = subprocess.run(command, cwd=pytestconfig.rootpath, check=True, stdout=subprocess.PIPE)
        report: dict[str, Any] = json.loads(answer.stdout)
        return report

    return confined


@pytest.mark.parametrize(
    ("folder_mode", "file_mode"), [(0o755, 0o644), (0o755, 0o666), (0o777, 0o644)], ids=["both", "folder", "file"]
)
def test_a_write_protected_folder_or_file_can_be_read(
    open_folder: Path, as_nobody: Confined, folder_mode: int, file_mode: int
) -> None:
    path = open_folder / ".clew" / "clew.db"
    fill(path)
    path.chmod(file_mode)
    path.parent.chmod(folder_mode)
    report = as_nobody(path)
    assert (report["opening"], report["found"], report["read_only"]) == (None, ["n1"], True)
    assert report["writing"][0] == report["caching"][0] == "store_read_only"
    assert str(path) in report["writing"][1]
    with closing(open_sqlite(path)) as store:
        assert store.count("notes") == 1


def test_a_write_protected_store_in_use_shows_the_latest_writes(open_folder: Path, as_nobody: Confined) -> None:
    path = open_folder / ".clew" / "clew.db"
    fill(path)
    with closing(open_sqlite(path)) as writer:
        with writer.transaction(actor="ada") as transaction:
            transaction.put("notes", "n2", "two")
        # A store is its user's alone; here somebody opened it to all.
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).chmod(0o644)
        assert as_nobody(path)["found"] == ["n1", "n2"]


def test_a_write_protected_store_never_hides_writes_it_cannot_reach(open_folder: Path, as_nobody: Confined) -> None:
    path = open_folder / ".clew" / "clew.db"
    fill(path)
    copy = open_folder / "copy"
    with closing(open_sqlite(path)) as writer:
        with writer.transaction(actor="ada") as transaction:
            transaction.put("notes", "n2", "two")
        # By another process: to close a store's file here would drop the locks that this process has on it.
        subprocess.run(["cp", "-r", path.parent, copy], check=True)
    (copy / "clew.db-shm").unlink()
    code, message, _ = as_nobody(copy / "clew.db")["opening"]
    assert code == "store_read_only"
    assert "its last writes are in the log" in message


@pytest.mark.parametrize("name", ["clew.db", ".clew/clew.db"])
def test_a_store_cannot_be_created_in_a_write_protected_folder(
    open_folder: Path, as_nobody: Confined, name: str
) -> None:
    code, message, _ = as_nobody(open_folder / name)["opening"]
    assert code == "store_read_only"
    assert str(open_folder / name) in message
    assert list(open_folder.iterdir()) == []


def test_a_folder_without_permission_is_named(open_folder: Path, as_nobody: Confined) -> None:
    path = open_folder / ".clew" / "clew.db"
    fill(path)
    path.parent.chmod(0o700)
    code, message, _ = as_nobody(path)["opening"]
    assert code == "store_read_only"
    assert str(path) in message
