"""Transactions: many writers, killed writers, held locks, and changes that fail."""

import json
import random
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.register.edits import delete, update

from clew.edit.edits import FileEdit
from clew.edit.transaction import FileTransaction
from clew.errors import (
    AlreadyExists,
    Conflict,
    FormatError,
    NotFound,
    Refused,
    Rejected,
    StoreBusy,
    StoreReadOnly,
    Tampered,
)
from clew.formats.register.canonical import canonical, digest, pretty
from clew.formats.register.model import LinkKind, Register, RegisterLayout
from clew.formats.register.single import payload_of, read_single
from clew.register.change.batch import apply_batch
from clew.register.change.changes import add
from clew.register.change.draft import Author, Draft
from clew.register.change.transaction import RegisterFile, lock_file, new_register
from clew.register.operations.edit import AddToRegister
from clew.register.rules.validator import validate_register

New = Callable[..., AddToRegister]

WRITER = Path(__file__).with_name("writer.py")


def start(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WRITER), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answers(writers: "list[subprocess.Popen[str]]") -> Iterator[list[str]]:
    for writer in writers:
        out, err = writer.communicate(timeout=300)
        assert writer.returncode == 0, err
        yield from (line.split() for line in out.splitlines())


# Verifies: REQ-d00082-A
def test_six_processes_that_add_ten_each_leave_sixty(file: RegisterFile) -> None:
    told = list(answers([start("add", file.place, 10) for _ in range(6)]))

    register = file.read().register
    assert len(register.requirements) == 60
    assert {id for _, id in told} == set(register.requirements) == {f"REQ-{number:04d}" for number in range(1, 61)}
    assert register.next_id == 61


# Verifies: REQ-d00082-B
def test_processes_that_do_different_things_lose_nothing(single: RegisterFile) -> None:
    told = list(answers([start("mix", single.place, seed) for seed in range(3)]))

    requirements = single.read().register.requirements
    assert len(told) == 3 * 51
    for what, id, *rest in told:
        found = requirements[id]
        if what == "tagged":
            assert rest[0] in found.tags
        elif what == "linked":
            assert rest[0] in found.targets(LinkKind.REFINES)
        elif what == "recorded":
            assert rest[0] in [record.notes for record in found.tests]
        elif what == "batched":
            assert rest[0] in [link.target for link in found.links]
    errors = [each for each in validate_register(single.read().register) if each.is_error]
    assert errors == []


# Verifies: REQ-d00082-B
def test_threads_of_one_process_wait_for_each_other(single: RegisterFile, now: Author, new: New) -> None:
    def work() -> None:
        for _ in range(5):
            single.transaction(now, lambda draft: add(draft, new()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(single.read().register.requirements) == 20


# Verifies: REQ-d00082-C, REQ-o00031-C
def test_a_writer_that_is_killed_anywhere_loses_nothing_it_acknowledged(file: RegisterFile) -> None:
    chance = random.Random(20261115)
    acknowledged: set[str] = set()
    with start("nursery", file.place) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        for seed in range(60):
            print(seed, chance.randrange(1, 1500), file=nursery.stdin, flush=True)
            while (line := nursery.stdout.readline().split()) != ["dead"]:
                acknowledged.add(line[1])
            register = RegisterFile(file.place).read().register
            assert acknowledged <= register.requirements.keys()
            assert all(each.history and each.id == id for id, each in register.requirements.items())
        nursery.stdin.close()
    assert len(acknowledged) > 10

    file.transaction(Author("t", "ann"), lambda draft: delete(draft, sorted(acknowledged)[0], "why"))
    left = [path for path in file.place.parent.rglob("*") if "clew" in path.name]
    assert left == [], "what killed writers left is swept away by the next"


# Verifies: REQ-d00082-D
def test_a_lock_held_by_another_process_gives_up_in_time(single: RegisterFile, now: Author, new: New) -> None:
    before = single.place.read_bytes()
    with start("hold", single.place) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        hasty = RegisterFile(single.place, patience=0.05)
        with pytest.raises(StoreBusy) as caught:
            hasty.transaction(now, lambda draft: add(draft, new()))
        assert hasty.read().register.requirements == {}, "reading needs no lock"
        holder.communicate()

    assert caught.value.data["lock"] == str(lock_file(single.place))
    assert lock_file(single.place).name == ".project.req.lock"
    assert single.place.read_bytes() == before
    single.transaction(now, lambda draft: add(draft, new()))


# Verifies: REQ-d00082-E, REQ-d00087-A
def test_a_change_that_fails_or_changes_nothing_leaves_the_file_alone(
    single: RegisterFile, now: Author, new: New
) -> None:
    single.transaction(now, lambda draft: add(draft, new()))
    before = single.place.read_bytes(), single.place.stat().st_ino
    good = {"kind": "update", "id": "1", "title": "Another title"}

    with pytest.raises(Rejected):
        single.transaction(now, lambda draft: add(draft, new(title="")))
    with pytest.raises(NotFound):
        single.transaction(now, lambda draft: apply_batch(draft, [*[good] * 99, {"kind": "delete", "id": "9"}]))
    single.transaction(now, lambda draft: update(draft, "1", "why", title="Lock the account"))
    single.transaction(now, lambda draft: apply_batch(draft, []))

    assert (single.place.read_bytes(), single.place.stat().st_ino) == before
    assert single.transaction(now, lambda draft: add(draft, new())).id == "REQ-0002"


# Verifies: REQ-d00082-F
def test_a_change_that_expects_another_version_is_refused(file: RegisterFile, now: Author, new: New) -> None:
    seen = file.read().version
    file.transaction(now, lambda draft: add(draft, new()), expected=seen)
    with pytest.raises(Conflict):
        file.transaction(now, lambda draft: add(draft, new()), expected=seen)
    assert len(file.read().register.requirements) == 1


# Verifies: REQ-d00082-F
def test_a_change_made_elsewhere_is_seen_at_once(file: RegisterFile, now: Author, new: New) -> None:
    other = RegisterFile(file.place)
    for number in range(1, 4):
        other.transaction(now, lambda draft: add(draft, new()))
        assert len(file.read().register.requirements) == number
        assert file.read().version == other.read().version


# Verifies: REQ-d00081-A
def test_a_file_edited_by_hand_is_neither_read_nor_written_until_repaired(
    single: RegisterFile, now: Author, new: New
) -> None:
    single.transaction(now, lambda draft: add(draft, new()))
    edited = single.place.read_bytes().replace(b"five failed", b"nine failed")
    single.place.write_bytes(edited)

    with pytest.raises(Tampered):
        single.read()
    with pytest.raises(Tampered):
        single.transaction(now, lambda draft: add(draft, new()))
    assert single.place.read_bytes() == edited

    def refuse(register: Register) -> None:
        raise Refused("not like this")

    with pytest.raises(Refused):
        single.repair(now, refuse)
    assert single.place.read_bytes() == edited
    single.repair(now, lambda register: None)
    assert "nine failed" in single.read().register.requirements["REQ-0001"].statement


@pytest.fixture
def old(tmp_path: Path, now: Author) -> Path:
    """A file of the first format."""
    place = tmp_path / "old" / "project.req"
    made = RegisterFile(place)
    made.create(new_register("old", now))
    document = json.loads(place.read_bytes()) | {"_format": "req-v1"}
    place.write_bytes(pretty(document | {"_integrity": digest(canonical(payload_of(document)))}))
    return place


# Verifies: REQ-d00080-C
def test_the_first_write_to_an_older_file_keeps_a_backup(old: Path, now: Author, new: New) -> None:
    before = old.read_bytes()
    file = RegisterFile(old)
    assert file.read().register.format_tag == "req-v1"
    assert old.read_bytes() == before, "reading changes nothing"

    file.transaction(now, lambda draft: add(draft, new()))

    assert read_single(old.read_bytes()).format_tag == "req-v3"
    assert old.with_name("project.req.bak-req-v1").read_bytes() == before


# Verifies: REQ-d00080-C
def test_migration_reports_what_it_did(old: Path, single: RegisterFile, now: Author, new: New) -> None:
    before = old.read_bytes()
    strict = RegisterFile(old, auto_migrate=False)
    with pytest.raises(FormatError, match="REQ_NO_AUTO_MIGRATE"):
        strict.transaction(now, lambda draft: add(draft, new()))
    assert old.read_bytes() == before
    old.with_name("project.req.bak-req-v1").write_text("somebody's own")

    done = strict.migrate()

    assert (done.migrated, done.from_, done.to) == (True, "req-v1", "req-v3")
    assert done.backup == str(old.with_name("project.req.bak-req-v1-2"))
    assert Path(done.backup).read_bytes() == before
    assert not strict.migrate().migrated
    old.write_bytes(before.replace(b"old", b"new"))
    with pytest.raises(Tampered):
        strict.migrate()
    assert not single.migrate().migrated


def test_a_folder_needs_no_migration(tmp_path: Path, now: Author) -> None:
    file = RegisterFile(tmp_path / "register", layout=RegisterLayout.DIRECTORY)
    file.create(msgspec.structs.replace(new_register("demo", now), layout=RegisterLayout.DIRECTORY))
    assert not file.migrate().migrated


def test_nothing_is_replaced_without_force(file: RegisterFile, now: Author, new: New) -> None:
    file.transaction(now, lambda draft: add(draft, new()))
    fresh = msgspec.structs.replace(new_register("fresh", now), layout=file.layout)
    with pytest.raises(AlreadyExists):
        file.create(fresh)
    file.create(fresh, force=True)
    assert RegisterFile(file.place).read().register.requirements == {}


# Verifies: REQ-d00237-C
def test_what_is_replaced_is_kept_whole_beside_it(file: RegisterFile, now: Author, new: New) -> None:
    fresh = file.read().register
    kept = []
    for title in ("Lock the account", "Lock the account", "Tell the owner"):
        file.transaction(now, lambda draft, title=title: add(draft, new(title=title)))
        kept.append(file.create(fresh, force=True))

    first, again, other = (RegisterFile(place).read().register.requirements for place in kept if place)
    assert kept[0] == kept[1] != kept[2]
    assert first["REQ-0001"].title == again["REQ-0001"].title == "Lock the account"
    assert other["REQ-0001"].title == "Tell the owner"


# Verifies: REQ-d00237-C
def test_a_damaged_folder_is_kept_as_it_is(tmp_path: Path, now: Author, new: New) -> None:
    file = RegisterFile(tmp_path / "many", layout=RegisterLayout.DIRECTORY)
    empty = msgspec.structs.replace(new_register("demo", now), layout=RegisterLayout.DIRECTORY)
    assert file.create(empty) is None
    file.transaction(now, lambda draft: add(draft, new()))
    (tmp_path / "many" / "requirements" / "REQ-0001.req").write_text("{ by hand")
    (tmp_path / "many" / "notes.txt").write_text("not the register's")

    kept = file.create(empty, force=True)

    assert kept == tmp_path / "many.bak-replaced"
    assert (kept / "requirements" / "REQ-0001.req").read_text() == "{ by hand"
    assert not (kept / "notes.txt").exists()


def test_a_missing_register_is_answered_with_the_way_to_make_one(tmp_path: Path, now: Author) -> None:
    for call in (
        lambda: RegisterFile(tmp_path / "project.req").read(),
        lambda: RegisterFile(tmp_path / "project.req").transaction(now, lambda draft: None),
    ):
        with pytest.raises(NotFound) as caught:
            call()
        assert "clew req init" in caught.value.hint


def test_a_linked_file_is_replaced_where_it_lies(single: RegisterFile, tmp_path: Path, now: Author, new: New) -> None:
    link = tmp_path / "elsewhere" / "link.req"
    link.parent.mkdir()
    link.symlink_to(single.place)
    RegisterFile(link).transaction(now, lambda draft: add(draft, new()))
    assert link.is_symlink()
    assert len(single.read().register.requirements) == 1


def test_permissions_survive_a_write(single: RegisterFile, now: Author, new: New) -> None:
    single.place.chmod(0o640)
    single.transaction(now, lambda draft: add(draft, new()))
    assert stat.S_IMODE(single.place.stat().st_mode) == 0o640


def test_a_lock_that_cannot_be_opened_gives_an_error(single: RegisterFile, now: Author, new: New) -> None:
    lock_file(single.place).unlink()
    lock_file(single.place).mkdir()
    with pytest.raises(StoreReadOnly, match="cannot be opened"):
        single.transaction(now, lambda draft: add(draft, new()))


# Verifies: REQ-o00031-D
@pytest.mark.parametrize("spoil", ["history", "tests", "id", "counter", "reuse"])
def test_a_change_that_would_rewrite_the_past_is_refused(
    spoil: str, single: RegisterFile, now: Author, new: New
) -> None:
    for _ in range(2):
        single.transaction(now, lambda draft: add(draft, new()))
    single.transaction(now, lambda draft: delete(draft, "2", "why", hard=True))
    before = single.place.read_bytes()

    def change(draft: Draft) -> None:
        import msgspec

        made = draft.requirements["REQ-0001"]
        if spoil == "counter":
            draft._next_id = 0
            draft.put(made)
        elif spoil == "reuse":
            draft.put(msgspec.structs.replace(made, id="REQ-0002"))
        elif spoil == "id":
            draft.requirements["REQ-0009"] = made
            draft.put(msgspec.structs.replace(made, title="Another title"))
        elif spoil == "history":
            draft.put(msgspec.structs.replace(made, history=()))
        else:
            draft.change(made, tests=())
            draft.put(msgspec.structs.replace(made, history=made.history[:0]))

    with pytest.raises(Refused, match=r"rewritten|given before|under another id|go back"):
        single.transaction(now, change)
    assert single.place.read_bytes() == before


def test_a_register_of_ten_megabytes_is_read_and_changed(single: RegisterFile, now: Author, new: New) -> None:
    rationale = "Guessing has to stop. " * 200

    def fill(draft: Draft) -> None:
        for number in range(2500):
            add(draft, new(title=f"Requirement {number}", rationale=rationale))

    single.transaction(now, fill)
    assert single.place.stat().st_size > 10_000_000
    assert RegisterFile(single.place).transaction(now, lambda draft: add(draft, new())).id == "REQ-2501"


def test_what_req_wrote_since_a_writer_died_is_not_undone(tmp_path: Path, now: Author, new: New) -> None:
    """An interrupted transaction is completed only on the files it was written against."""
    file = RegisterFile(tmp_path / "register", layout=RegisterLayout.DIRECTORY)
    file.create(msgspec.structs.replace(new_register("demo", now), layout=RegisterLayout.DIRECTORY))
    index = file.place / "index.req"
    ours = FileTransaction(file.place, [FileEdit("index.req", index.read_bytes(), b"{}")], in_project=False)
    ours.prepare()
    ours.release()
    # What req writes: other bytes, the same register.
    index.write_bytes(index.read_bytes() + b"\n")

    assert RegisterFile(file.place).read().register.name == "demo"
    assert [path.name for path in file.place.iterdir() if "clew" in path.name] == []
    file.transaction(now, lambda draft: add(draft, new()))
    assert len(RegisterFile(file.place).read().register.requirements) == 1
