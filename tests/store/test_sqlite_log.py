"""A log of which bytes were changed: acknowledged writes are never dropped in silence."""

import os
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew.errors import StoreCorrupt
from clew.store.processes import boot_id
from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.note import note_of, read_note

# Verifies: REQ-d00247-A

HEADER = 32
FRAME = 24 + 4096
WRITES = 4


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store as a killed process leaves it: with a log and its index beside it."""
    path = tmp_path / "living" / "clew.db"
    with closing(open_sqlite(path)) as store:
        for number in range(WRITES):
            with store.transaction(actor="ada") as transaction:
                transaction.put("notes", str(number), "x" * 500)
        # By another process: to close a store's file here would drop the locks that this process has on it.
        subprocess.run(["cp", "-r", path.parent, tmp_path / "killed"], check=True)
    return tmp_path / "killed" / "clew.db"


def log_of(path: Path) -> Path:
    return path.with_name("clew.db-wal")


def flip(path: Path, place: int) -> None:
    data = bytearray(log_of(path).read_bytes())
    data[place] ^= 0xFF
    log_of(path).write_bytes(data)


def assert_refused_and_left_alone(path: Path) -> None:
    before = path.read_bytes(), log_of(path).read_bytes()
    with pytest.raises(StoreCorrupt, match="log beside it"):
        open_sqlite(path)
    assert (path.read_bytes(), log_of(path).read_bytes()) == before


def frames(path: Path) -> int:
    return (log_of(path).stat().st_size - HEADER) // FRAME


def test_a_sound_log_is_read_and_so_is_one_whose_index_is_gone(killed: Path) -> None:
    killed.with_name("clew.db-shm").unlink()
    with closing(open_sqlite(killed)) as store:
        assert store.count("notes") == WRITES


@pytest.mark.parametrize("offset", [0, 9, 17, 24, 2000], ids=["page", "salt", "checksum", "content", "middle"])
def test_a_changed_byte_in_any_committed_page_is_damage(killed: Path, offset: int) -> None:
    healthy = log_of(killed).read_bytes()
    assert frames(killed) > WRITES
    for frame in range(frames(killed)):
        flip(killed, HEADER + frame * FRAME + offset)
        assert_refused_and_left_alone(killed)
        log_of(killed).write_bytes(healthy)
    with closing(open_sqlite(killed)) as store:
        assert store.count("notes") == WRITES


@pytest.mark.parametrize("place", [0, 9, 17, 30])
def test_a_changed_byte_in_the_head_is_damage(killed: Path, place: int) -> None:
    flip(killed, place)
    assert_refused_and_left_alone(killed)


def test_a_log_that_was_cut_off_is_damage_while_its_index_knows_better(killed: Path) -> None:
    data = log_of(killed).read_bytes()
    log_of(killed).write_bytes(data[: -FRAME // 2])
    assert_refused_and_left_alone(killed)


# Verifies: REQ-d00268-C
def test_an_index_of_another_start_of_the_machine_is_not_believed(killed: Path) -> None:
    data = log_of(killed).read_bytes()
    log_of(killed).write_bytes(data[: -FRAME // 2])
    assert read_note(killed).start == boot_id()
    note = note_of(killed).read_text()
    note_of(killed).write_text(note.replace(boot_id(), "another-start"))
    # As if the clock had been set back since.
    os.utime(killed.with_name("clew.db-shm"), (4_000_000_000, 4_000_000_000))
    with closing(open_sqlite(killed)) as store:
        assert store.count("notes") == WRITES - 1
        assert read_note(killed).start == boot_id()


def test_without_an_index_a_commit_behind_an_unreadable_page_proves_the_damage(killed: Path) -> None:
    killed.with_name("clew.db-shm").unlink()
    flip(killed, HEADER + FRAME + 100)
    assert_refused_and_left_alone(killed)


UNFINISHED: dict[str, Callable[[bytes], bytes]] = {
    "a part of a page": lambda log: log + log[HEADER : HEADER + FRAME // 2],
    "a page of an earlier log": lambda log: log + bytes(8) + b"another." + log[HEADER + 16 : HEADER + FRAME],
    "zeros": lambda log: log + bytes(FRAME),
}


@pytest.mark.parametrize("unfinished", UNFINISHED.values(), ids=UNFINISHED)
def test_a_write_that_was_never_finished_is_no_damage(killed: Path, unfinished: Callable[[bytes], bytes]) -> None:
    log_of(killed).write_bytes(unfinished(log_of(killed).read_bytes()))
    with closing(open_sqlite(killed)) as store:
        assert store.count("notes") == WRITES
        assert store.check() == []
